package sites

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// publications are sites of things to read.
var publications = []Site{
	{Name: "WordPress with an archive by date", Model: Content, Pools: map[string]Pool{"dd": {dayOfMonth, 28, false}, "slug": {headline, 900, true}, "cat": {from(everyday), 25, true}, "tag": {dashed, 120, true}, "n": upTo(30),
		"image": {func(r *rand.Rand) string {
			return headline(r) + pick(r, list("-150x150 -300x200 -1024x683")) + ".jpg"
		}, 600, true}, "author": {from(people), 9, true}}, Routes: `
		GET / 6 by=browser
		GET /{year}/{mm}/{dd}/{slug}/ 14 by=browser
		GET /{year}/{mm}/ 1 by=bot
		GET /category/{cat}/ 3 by=browser
		GET /tag/{tag}/ 3 by=bot
		GET /author/{author}/ 1 by=bot
		GET /page/{n}/ 2 by=browser
		GET /wp-content/uploads/{year}/{mm}/{image} 14 by=browser
		GET /wp-includes/js/jquery/jquery.min.js 4 by=browser
		GET /wp-content/themes/astra/style.css 4 by=browser
		POST /wp-admin/admin-ajax.php 3 by=browser
		POST /wp-login.php 2 by=script
		POST /xmlrpc.php 2 by=script
		POST /wp-cron.php 1 by=cron
		GET /feed/ 2 by=bot
		GET /wp-json/wp/v2/posts/{id} 1 by=app`},
	{Name: "newspaper with months as words", Model: Content, Pools: map[string]Pool{"section": {from(list("world politics business sport culture science technology money environment travel")), 10, true}, "mon": {monthName, 12, false},
		"dd": {dayOfMonth, 28, false}, "slug": {headline, 0, false}}, Routes: `
		GET / 8
		GET /{section}/{year}/{mon}/{dd}/{slug} 20
		GET /live 3
		GET /search 2
		GET /newsletters 1
		GET /crosswords 1
		GET /assets/app.js 5
		GET /assets/app.css 5`},
	{Name: "encyclopedia of everyday words", Model: Content, Pools: map[string]Pool{"title": {entry, 2500, true}}, Routes: `
		GET /wiki/{title} 30
		GET /wiki/Talk:{title} 2
		GET /wiki/Category:{title} 2
		GET /wiki/Special:RecentChanges 1
		GET /wiki/Special:Search 2
		GET /w/index.php 4
		GET /w/load.php 10
		GET /w/api.php 3
		GET /static/images/logo.png 4`},
	{Name: "discussion board with slugs and numbers", Pools: map[string]Pool{"slug": {headline, 400, true}, "cat": {dashed, 18, true}, "user": {member, 200, true}, "n": upTo(90)}, Routes: `
		GET /t/{slug}/{id} 12
		GET /t/{slug}/{id}/{n} 6
		GET /c/{cat}/{n} 3
		GET /u/{user}/summary 2
		GET /u/{user}/activity 1
		GET /latest.json 3
		GET /categories 1
		GET /posts/{id}/replies 2
		POST /posts 1
		POST /topics/timings 5
		GET /user_avatar/forum.example.com/{user}/{n}/{id}_2.png 8`},
	{Name: "recipes in four languages", Model: Content, Pools: map[string]Pool{"lang": {from(list("en de fr ja")), 4, true}, "slug": {headline, 300, true}, "chef": {from(people), 20, true}, "cat": {from(everyday), 12, true}}, Routes: `
		GET /{lang}/ 3
		GET /{lang}/recipes/{slug} 12
		GET /{lang}/recipes/{slug}/print 1
		GET /{lang}/chefs/{chef} 2
		GET /{lang}/categories/{cat} 3
		GET /{lang}/search 2
		GET /robots.txt 1
		POST /{lang}/recipes/{slug}/rating 1`},
	{Name: "manual in several releases", Model: Content, Pools: map[string]Pool{"release": {from(list("latest stable v1.17 v1.18 v1.19 v2.0 v2.1")), 7, true}, "page": {dashed, 80, true}, "module": {from(everyday), 40, true}}, Routes: `
		GET /en/{release}/ 3
		GET /en/{release}/{page}.html 14
		GET /en/{release}/api/{module}.html 6
		GET /en/{release}/search.html 1
		GET /en/{release}/_static/theme.css 5
		GET /en/{release}/_static/searchindex.js 2
		GET /en/{release}/objects.inv 1`},
	{Name: "posts by year and month, all alike", Model: Flat, Pools: map[string]Pool{"slug": {headline, 0, false}, "dd": {dayOfMonth, 28, false}}, Routes: `
		GET /p/{year}/{mm}/{slug} 20
		GET /archive/{year}/{mm} 3
		GET /archive/{year}/{mm}/{dd} 4
		GET /about 3
		GET /contact 1
		GET /feed.xml 2`},
	{Name: "hotels by country and city", Model: Content, Pools: map[string]Pool{"country": {from(list("japan france italy spain peru chile kenya india nepal egypt norway canada")), 12, true}, "city": {from(places), 33, true}, "hotel": {headline, 600, true}}, Routes: `
		GET /hotels/{country} 2
		GET /hotels/{country}/{city} 5
		GET /hotels/{country}/{city}/{hotel}.html 12
		GET /hotels/{country}/{city}/{hotel}/reviews 3
		GET /deals 2
		GET /my-trips 1
		POST /search 4
		GET /autocomplete 6`},
	{Name: "dictionary, all alike", Model: Flat, Pools: map[string]Pool{"word": {from(everyday), 350, true}, "letter": {random("", lower, 1), 26, false}}, Routes: `
		GET /word/{word} 20
		GET /word/{word}/synonyms 5
		GET /word/{word}/examples 3
		GET /browse/{letter} 2
		GET /random 2
		GET /word-of-the-day 2`},
	{Name: "museum with paths in Japanese", Model: Content, Pools: map[string]Pool{"work": {japanese, 200, true}, "artist": {japanese, 70, true}, "hall": {func(r *rand.Rand) string {
		return url.PathEscape(pick(r, strings.Split("東館 西館 南館 北館 別館", " ")))
	}, 5, false}}, Routes: `
		GET / 4
		GET /` + url.PathEscape("作品") + `/{work} 10
		GET /` + url.PathEscape("作家") + `/{artist} 5
		GET /` + url.PathEscape("展示") + `/{hall}/{year} 3
		GET /access 1
		GET /image/{work}.webp 12
		GET /tickets 2
		POST /tickets 1`},
}

// versus is a pair of names in one segment.
func versus(r *rand.Rand) string { return fmt.Sprintf("%s-vs-%s", pick(r, nouns), pick(r, nouns)) }
