package sites

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var (
	branches   = list("main develop release-1.2 release-1.3 fix-login feature-search gh-pages")
	extensions = list("go md txt yaml json ts css")
	articles   = list("Photosynthesis Byzantium Magnetism Sonata Granite Estuary Parliament Algebra Tundra Enzyme Cartography Obelisk Plankton Rhetoric Viaduct Zeolite Fresco Isotope Lagoon Nebula Quartz Saxophone Turbine Volcano")
	currencies = list("USD EUR JPY GBP CHF AUD CAD SEK NOK DKK PLN CZK HUF TRY ZAR BRL MXN INR SGD HKD")
	countries  = list("en-US en-GB de-DE fr-FR es-ES it-IT ja-JP ko-KR pt-BR nl-NL sv-SE pl-PL")
	projects   = list("CORE WEB OPS DATA MOB SEC PAY DOC")
)

// sourceFile is a path of one to four parts.
func sourceFile(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(pick(r, nouns) + "/")
	}
	return b.String() + pick(r, nouns) + "." + pick(r, extensions)
}

func ulid(r *rand.Rand) string {
	return "01JD" + letters(r, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 22)
}

func day(r *rand.Rand) string {
	return fmt.Sprintf("202%d-%02d-%02d", 4+r.IntN(3), 1+r.IntN(12), 1+r.IntN(28))
}

// session is the session of a servlet container, which is in some paths only.
func session(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return ";jsessionid=" + letters(r, digit+"ABCDEF", 32)
	}
	return ""
}

func upTo(n int) Pool { return Pool{number(n), n, false} }

// OtherKinds are kinds of sites that the others are not. The learner was not read
// nor run while they were written.
var OtherKinds = []Site{
	{Name: "git forge", Lines: 20000, Pools: map[string]Pool{"owner": {user, 50, true}, "repo": {shortSlug, 70, true}, "branch": {from(branches), 7, true},
		"file": {sourceFile, 300, true}, "sha": {random("", hex, 40), 400, true}}, Routes: `
		GET /{owner} 4
		GET /{owner}/{repo} 10
		GET /{owner}/{repo}/issues 4
		GET /{owner}/{repo}/issues/{id} 6
		POST /{owner}/{repo}/issues/{id}/comments 2
		GET /{owner}/{repo}/pulls 3
		GET /{owner}/{repo}/pull/{id} 4
		GET /{owner}/{repo}/pull/{id}/files 3
		GET /{owner}/{repo}/commits/{branch} 3
		GET /{owner}/{repo}/commit/{sha} 4
		GET /{owner}/{repo}/blob/{branch}/{file} 6
		GET /{owner}/{repo}/settings
		GET /{owner}/{repo}.git/info/refs 5
		POST /{owner}/{repo}.git/git-upload-pack 4
		GET /explore 2
		GET /settings 1
		GET /notifications 3
		GET /login 2
		POST /login`},
	{Name: "shop with matrix parameters", Lines: 6000, Pools: map[string]Pool{"session": {session, 0, false}, "color": {from(colors), 12, true}, "size": {from(list("XS S M L XL XXL")), 6, false}}, Routes: `
		GET /shop/item/{id}{session} 8
		GET /shop/items;color={color};size={size} 5
		GET /shop/cart{session} 3
		POST /shop/cart{session} 2
		GET /shop/checkout{session} 1
		GET /shop/home{session} 4`},
	{Name: "an API in three versions", Lines: 9000, Routes: crud("/v1/", "users teams files") + crud("/v2/", "users teams files webhooks") + crud("/v3/", "users workspaces") +
		"GET /v2/users/{id}/teams 3\nGET /v3/users/{id}/workspaces 3\nGET /v3/users/me 4\n"},
	{Name: "twenty rooms by number", Lines: 2500, Model: Same, Pools: map[string]Pool{"room": upTo(20), "seat": upTo(40)}, Routes: `
		GET /rooms/{room} 5
		GET /rooms/{room}/seats 5
		POST /rooms/{room}/seats/{seat}/reserve 4
		DELETE /rooms/{room}/seats/{seat}/reserve 1
		GET /rooms 2
		GET /rooms/free 2`},
	{Name: "federated microblog", Lines: 15000, Pools: map[string]Pool{"user": {user, 70, true}, "status": {random("1134", digit, 14), 0, false}, "tag": {from(tags), 30, true}}, Routes: `
		GET /@{user} 6
		GET /@{user}/{status} 8
		GET /users/{user} 5
		GET /users/{user}/outbox 2
		POST /users/{user}/inbox 9
		GET /users/{user}/followers 1
		GET /api/v1/timelines/home 8
		GET /api/v1/timelines/public 3
		GET /api/v1/timelines/tag/{tag} 2
		GET /api/v1/accounts/verify_credentials 2
		GET /api/v1/accounts/relationships 2
		GET /api/v1/accounts/{status} 3
		GET /api/v1/accounts/{status}/statuses 3
		POST /api/v1/statuses 2
		POST /api/v1/statuses/{status}/favourite 3
		POST /api/v1/statuses/{status}/reblog 2
		GET /.well-known/webfinger 3
		GET /nodeinfo/2.0`},
	{Name: "objects by hash", Lines: 5000, Pools: map[string]Pool{"two": {random("", hex, 2), 200, false}, "rest": {random("", hex, 38), 0, false}, "md5": {random("", hex, 32), 150, true}, "short": {random("", hex, 7), 200, true}}, Routes: `
		GET /objects/{two}/{rest} 8
		GET /avatar/{md5} 6
		GET /avatar/{md5}/large 2
		GET /c/{short} 4
		GET /objects/info/packs 1
		GET /HEAD 1`},
	{Name: "reports with extensions", Lines: 4000, Pools: map[string]Pool{"name": {shortSlug, 40, true}, "thumb": {random("", hex, 16), 90, true}}, Routes: `
		GET /reports/{id} 6
		GET /reports/{id}.pdf 3
		GET /reports/{id}.csv 2
		GET /reports/{id}.xlsx 1
		GET /templates/{name}.html 4
		GET /thumbs/{thumb}.webp 8
		GET /thumbs/{thumb}@2x.webp 3
		GET /app.js 2
		GET /app.css 2`},
	{Name: "encyclopedia with special pages", Lines: 12000, Model: Content, Pools: map[string]Pool{"article": {from(articles), 24, true}, "upload": {func(r *rand.Rand) string { return title(r) + ".jpg" }, 40, true}}, Routes: `
		GET /wiki/{article} 12
		GET /wiki/Talk:{article} 2
		GET /wiki/File:{upload} 3
		GET /wiki/Special:Search 3
		GET /wiki/Special:RecentChanges 1
		GET /wiki/Special:RandomPage 1
		GET /w/index.php 3
		GET /w/load.php 9
		GET /w/api.php 4
		POST /w/api.php 1`},
	{Name: "documentation in twelve languages", Lines: 7000, Pools: map[string]Pool{"lang": {from(countries), 12, true}, "page": {shortSlug, 60, true}}, Routes: `
		GET /{lang}/ 3
		GET /{lang}/docs/{page} 10
		GET /{lang}/docs/{page}/history 1
		GET /{lang}/search 3
		GET /{lang}/blog/{page} 2
		GET /static/main.js 4
		GET /static/main.css 4
		GET /healthz 2`},
	{Name: "calendar by day", Lines: 3000, Pools: map[string]Pool{"day": {day, 0, false}, "week": {func(r *rand.Rand) string { return fmt.Sprintf("2026-W%02d", 1+r.IntN(52)) }, 30, false}, "compact": {func(r *rand.Rand) string { return strings.ReplaceAll(day(r), "-", "") }, 0, false}}, Routes: `
		GET /calendar/{day} 6
		GET /calendar/{day}/events 4
		GET /calendar/today 3
		GET /calendar/week/{week} 3
		GET /export/{compact}.ics 2
		POST /events 2
		PUT /events/{uuid} 1`},
	{Name: "weblog with pages and uploads", Lines: 9000, Model: Content, Pools: map[string]Pool{"dd": {func(r *rand.Rand) string { return fmt.Sprintf("%02d", 1+r.IntN(28)) }, 28, false}, "slug": {slug, 90, true}, "cat": {from(tags), 14, true},
		"tag": {from(genres), 16, true}, "author": {from(people), 6, true}, "photo": {func(r *rand.Rand) string { return pick(r, nouns) + "-300x200.jpg" }, 50, true}, "n": upTo(12)}, Routes: `
		GET / 6
		GET /page/{n}/ 3
		GET /{year}/{mm}/{dd}/{slug}/ 10
		GET /category/{cat}/ 4
		GET /category/{cat}/page/{n}/ 2
		GET /tag/{tag}/ 3
		GET /author/{author}/ 2
		GET /wp-json/wp/v2/posts/{id} 2
		GET /wp-json/wp/v2/posts 2
		GET /wp-content/uploads/{year}/{mm}/{photo} 9
		GET /wp-content/themes/main/style.css 5
		POST /wp-comments-post.php 1
		GET /feed/ 3
		GET /comments/feed/`},
	{Name: "questions and answers", Lines: 10000, Pools: map[string]Pool{"slug": {longSlug, 300, true}, "tag": {from(tags), 25, true}, "name": {user, 90, true}}, Routes: `
		GET /questions/{id}/{slug} 14
		GET /questions/tagged/{tag} 4
		GET /questions/ask 1
		GET /questions 4
		GET /users/{id}/{name} 3
		GET /users/login 1
		GET /users 1
		GET /a/{id} 2
		GET /posts/{id}/edit 1
		POST /posts/{id}/vote/up 2
		POST /posts/{id}/vote/down 1
		GET /tags 1`},
	{Name: "issue tracker", Lines: 5000, Pools: map[string]Pool{"project": {from(projects), 8, true}, "n": {number(900), 0, false}}, Routes: `
		GET /browse/{project}-{n} 8
		GET /rest/api/2/issue/{project}-{n} 8
		POST /rest/api/2/issue/{project}-{n}/comment 2
		GET /rest/api/2/issue/{project}-{n}/transitions 2
		GET /rest/api/2/search 4
		POST /rest/api/2/issue 1
		GET /projects/{project} 3
		GET /projects/{project}/boards/{id} 2
		GET /rest/api/2/myself 2`},
	{Name: "cluster API", Lines: 12000, Pools: map[string]Pool{"ns": {func(r *rand.Rand) string { return pick(r, companies) + "-" + pick(r, list("prod dev staging")) }, 14, true}, "pod": {func(r *rand.Rand) string {
		return pick(r, nouns) + "-" + letters(r, hex, 9) + "-" + letters(r, lower, 5)
	}, 200, false}, "deployment": {from(nouns), 25, true}, "node": {func(r *rand.Rand) string { return fmt.Sprintf("ip-10-0-%d-%d", r.IntN(4), r.IntN(255)) }, 12, false}}, Routes: `
		GET /api/v1/namespaces/{ns}/pods 5
		GET /api/v1/namespaces/{ns}/pods/{pod} 6
		GET /api/v1/namespaces/{ns}/pods/{pod}/log 2
		PATCH /api/v1/namespaces/{ns}/pods/{pod}/status 3
		GET /api/v1/namespaces/{ns}/services 2
		GET /apis/apps/v1/namespaces/{ns}/deployments/{deployment} 3
		PUT /apis/apps/v1/namespaces/{ns}/deployments/{deployment}/scale 1
		GET /api/v1/nodes 2
		GET /api/v1/nodes/{node} 3
		PATCH /api/v1/nodes/{node}/status 4
		GET /healthz 3
		GET /readyz 3`},
	{Name: "buckets of objects", Lines: 8000, Pools: map[string]Pool{"bucket": {func(r *rand.Rand) string { return pick(r, companies) + "-" + pick(r, list("assets backups media")) }, 16, true}, "key": {sourceFile, 500, true}}, Routes: `
		GET /{bucket} 3
		GET /{bucket}/{key} 12
		PUT /{bucket}/{key} 4
		HEAD /{bucket}/{key} 3
		GET /minio/health/live 2`},
	{Name: "exchange rates", Lines: 1500, Model: Same, Pools: map[string]Pool{"base": {from(currencies), 20, false}, "quote": {from(currencies), 20, false}, "day": {day, 0, false}}, Routes: `
		GET /rates/{base} 4
		GET /rates/{base}/{quote} 6
		GET /history/{base}/{quote}/{day} 4
		GET /currencies 2
		GET /status 1`},
	{Name: "university contest with ULIDs", Lines: 10000, Pools: map[string]Pool{"course": {ulid, 60, false}, "class": {ulid, 200, false}, "announcement": {ulid, 300, false}}, Routes: `
		POST /initialize 0.01
		POST /login 1
		POST /logout 0.5
		GET /api/users/me 3
		GET /api/users/me/courses 3
		PUT /api/users/me/courses 1
		GET /api/users/me/grades 3
		GET /api/courses 3
		POST /api/courses 0.3
		GET /api/courses/{course} 3
		PUT /api/courses/{course}/status 0.5
		GET /api/courses/{course}/classes 2
		POST /api/courses/{course}/classes 0.4
		POST /api/courses/{course}/classes/{class}/assignments 3
		GET /api/courses/{course}/classes/{class}/assignments/export 0.4
		PUT /api/courses/{course}/classes/{class}/assignments/scores 0.4
		GET /api/announcements 4
		POST /api/announcements 0.3
		GET /api/announcements/{announcement} 3`},
	{Name: "weather by coordinates", Lines: 2000, Pools: map[string]Pool{"where": {func(r *rand.Rand) string { return fmt.Sprintf("%.4f,%.4f", r.Float64()*90, r.Float64()*180-90) }, 0, false}, "station": {random("K", upper, 3), 25, false}}, Routes: `
		GET /points/{where} 6
		GET /points/{where}/forecast 4
		GET /stations/{station} 3
		GET /stations/{station}/observations/latest 5
		GET /alerts/active 3`},
	{Name: "two hundred lines of a shop", Lines: 200, Pools: map[string]Pool{"sku": {func(r *rand.Rand) string { return strings.ToUpper(letters(r, lower, 3)) + "-" + letters(r, digit, 4) }, 40, true}}, Routes: `
		GET / 4
		GET /p/{sku} 8
		POST /cart/add/{sku} 2
		GET /cart 2
		GET /search 3`},
	{Name: "homes with a tilde", Lines: 3000, Pools: map[string]Pool{"user": {from(people), 20, true}, "paper": {shortSlug, 60, true}}, Routes: `
		GET /~{user}/ 5
		GET /~{user}/cv.html 2
		GET /~{user}/papers/{paper}.pdf 5
		GET /departments/physics 2
		GET /departments/biology 2
		GET /departments/history 2
		GET /admissions 3`},
	{Name: "entities in parentheses", Lines: 4000, Routes: `
		GET /odata/Products({id}) 6
		GET /odata/Products({id})/Category 3
		GET /odata/Products 4
		GET /odata/Orders({id}) 5
		PATCH /odata/Orders({id}) 2
		GET /odata/Orders({id})/Lines 4
		GET /odata/$metadata 1`},
	{Name: "verbs behind a colon", Lines: 5000, Pools: map[string]Pool{"project": {shortSlug, 18, true}, "book": {random("", base62, 12), 200, true}}, Routes: `
		GET /v1/projects/{project}/books 4
		GET /v1/projects/{project}/books/{book} 8
		POST /v1/projects/{project}/books/{book}:publish 2
		POST /v1/projects/{project}/books/{book}:archive 1
		POST /v1/projects/{project}/books:batchGet 3
		GET /v1/projects/{project}:describe 2`},
	{Name: "metrics between two instants", Lines: 6000, Pools: map[string]Pool{"host": {func(r *rand.Rand) string {
		return fmt.Sprintf("%s-%02d", pick(r, list("web db cache queue")), 1+r.IntN(12))
	}, 30, false}, "t": {func(r *rand.Rand) string { return fmt.Sprint(1763500000 + r.IntN(90000)) }, 0, false}}, Routes: `
		GET /hosts/{host}/cpu/{t}/{t} 5
		GET /hosts/{host}/memory/{t}/{t} 5
		GET /hosts/{host}/disk/{t}/{t} 4
		GET /hosts/{host} 2
		GET /hosts 1
		POST /ingest 8`},
	{Name: "cinema with seasons", Lines: 30000, Pools: map[string]Pool{"show": {func(r *rand.Rand) string { return "tt" + letters(r, digit, 7) }, 500, true}, "season": upTo(9), "episode": upTo(24), "person": {func(r *rand.Rand) string { return "nm" + letters(r, digit, 7) }, 500, true}}, Routes: `
		GET /title/{show} 10
		GET /title/{show}/season/{season} 4
		GET /title/{show}/season/{season}/episode/{episode} 6
		GET /title/{show}/reviews 3
		POST /title/{show}/reviews 1
		GET /name/{person} 5
		GET /chart/top 2
		GET /chart/moviemeter 2
		GET /chart/boxoffice 1
		GET /watchlist 2`},
}
