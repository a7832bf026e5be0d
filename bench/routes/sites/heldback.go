package sites

import (
	"fmt"
	"math/rand/v2"
)

var (
	tickers  = list("AAPL MSFT GOOG AMZN TSLA NVDA META NFLX INTC AMD IBM ORCL CRM ADBE CSCO QCOM TXN AVGO UBER SHOP SNAP PYPL")
	airports = list("HND NRT KIX ITM CTS FUK OKA LHR CDG FRA AMS MAD FCO JFK LAX SFO SEA ORD SYD SIN HKG ICN BKK DXB")
)

func mac(r *rand.Rand) string {
	s := ""
	for i := range 6 {
		if i > 0 {
			s += "-"
		}
		s += letters(r, digit+"ABCDEF", 2)
	}
	return s
}

// Heldback are sites that were written after the learner. Its first run on them
// had 92.5 % of the requests on the right route; then errors that the run showed
// were corrected.
var Heldback = []Site{
	{Name: "livestreaming contest", Lines: 12000, Pools: map[string]Pool{"user": {user, 80, true}}, Routes: `
		POST /api/register
		POST /api/login 2
		GET /api/tag 2
		GET /api/user/me 2
		GET /api/user/{user} 3
		GET /api/user/{user}/theme 6
		GET /api/user/{user}/icon 15
		GET /api/user/{user}/statistics 2
		GET /api/livestream/search 4
		GET /api/livestream/{id} 4
		GET /api/livestream/{id}/livecomment 8
		POST /api/livestream/{id}/livecomment 3
		POST /api/livestream/{id}/enter 2
		DELETE /api/livestream/{id}/exit 2
		GET /api/payment`},
	{Name: "mixed case API", Lines: 5000, Routes: `
		GET /Api/V1/Customers/{id} 5
		GET /Api/V1/Customers 2
		POST /Api/V1/Customers/{id}/Contacts
		GET /Api/V1/Orders/{uuid} 5
		GET /Api/V2/Orders/{uuid} 2
		GET /Home/Index 3
		GET /Account/Login`},
	{Name: "ten thousand users at the root", Lines: 30000, Pools: map[string]Pool{"name": {func(r *rand.Rand) string { return letters(r, lower, 5+r.IntN(6)) }, 10000, false}}, Routes: `
		GET /{name} 20
		GET /{name}/media 4
		GET /login 2
		GET /about
		POST /api/like 3`},
	{Name: "Japanese slugs", Lines: 4000, Pools: map[string]Pool{"slug": {japanese, 60, true}, "tag": {japanese, 15, true}}, Routes: `
		GET /articles/{slug} 10
		GET /tags/{tag} 3
		GET / 4
		GET /contact`},
	{Name: "map tiles", Lines: 8000, Routes: `
		GET /tiles/{id}/{id}/{id}.png 20
		GET /style.json 2
		GET /fonts/{id}.pbf 2
		GET /search 2`},
	{Name: "index server", Lines: 6000, Pools: map[string]Pool{"index": {func(r *rand.Rand) string { return pick(r, nouns) + "-logs" }, 25, true}}, Routes: `
		GET /_cluster/health 2
		GET /{index}/_search 8
		POST /{index}/_search 8
		PUT /{index}/_doc/{id} 6
		GET /{index}/_doc/{id} 4
		POST /_bulk 4`},
	{Name: "image registry", Lines: 6000, Pools: map[string]Pool{"image": {from(nouns), 30, true}, "sha": {random("sha256:", hex, 64), 300, true}, "version": {func(r *rand.Rand) string { return fmt.Sprintf("1.%d.%d", r.IntN(30), r.IntN(10)) }, 40, true}}, Routes: `
		GET /v2/ 3
		HEAD /v2/{image}/manifests/{version} 5
		GET /v2/{image}/manifests/{version} 5
		GET /v2/{image}/blobs/{sha} 10
		POST /v2/{image}/blobs/uploads 2
		GET /v2/_catalog`},
	{Name: "packages", Lines: 8000, Pools: map[string]Pool{"package": {shortSlug, 90, true}}, Routes: `
		GET /{package} 10
		GET /{package}/latest 4
		GET /-/ping
		PUT /{package}
		GET /-/v1/search 3`},
	{Name: "stocks", Lines: 5000, Pools: map[string]Pool{"ticker": {from(tickers), 20, true}}, Routes: `
		GET /quote/{ticker} 10
		GET /quote/{ticker}/history 4
		GET /quote/{ticker}/options 2
		GET /markets 2
		GET /watchlist 2`},
	{Name: "flights", Lines: 4000, Pools: map[string]Pool{"from": {from(airports), 22, true}, "to": {from(airports), 22, true}, "day": {func(r *rand.Rand) string { return fmt.Sprintf("2026-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)) }, 0, false}}, Routes: `
		GET /flights/{from}/{to} 8
		GET /flights/{from}/{to}/{day} 10
		GET /airport/{from} 3
		GET /deals 2
		POST /bookings`},
	{Name: "devices", Lines: 8000, Pools: map[string]Pool{"mac": {mac, 60, false}}, Routes: `
		POST /device/{mac}/telemetry 20
		GET /device/{mac}/config 4
		POST /device/{mac}/ack 3
		GET /firmware/latest
		GET /ota/{id}.bin`},
	{Name: "files of a drive", Lines: 5000, Pools: map[string]Pool{"file": {random("1", base64, 32), 200, true}, "folder": {random("0B", base64, 26), 30, true}}, Routes: `
		GET /file/d/{file}/view 8
		GET /file/d/{file}/edit 3
		GET /drive/folders/{folder} 5
		GET /drive/my-drive 3
		POST /upload`},
	{Name: "streaming words", Lines: 5000, Routes: crud("/api/", "chairs estates isus livestreams reservations moods")},
	{Name: "streaming words, same times", Lines: 5000, Model: Same, Routes: words("GET /api/", "livestreams reactions livecomments ngwords moderations spams rankings superchats polls watchtimes icons emotes") + words("POST /api/", "livestreams reactions livecomments polls")},
	{Name: "gateway of services", Lines: 5000, Routes: `
		GET /catalog-service/products/{id} 5
		GET /catalog-service/health
		GET /pricing-service/prices/{id} 4
		GET /pricing-service/health
		POST /order-service/orders 3
		GET /order-service/orders/{uuid} 3
		GET /order-service/health
		POST /mail-service/send 2
		GET /mail-service/health
		GET /auth-service/token 4
		GET /auth-service/health`},
	{Name: "procedures with dots", Lines: 5000, Routes: rpc("POST /api/", "chat. users. files. conversations.", "list info create archive history members invite kick rename open")},
	{Name: "weblog with slugs at the root", Lines: 4000, Model: Content, Pools: map[string]Pool{"slug": {longSlug, 45, true}, "category": {from(tags), 10, true}}, Routes: `
		GET / 6
		GET /{slug} 15
		GET /category/{category} 4
		GET /about 2
		GET /contact
		GET /feed
		GET /wp-content/uploads/{year}/{mm}/photo{id}.jpg 10`},
	{Name: "200 lines of slugs", Lines: 200, Pools: map[string]Pool{"slug": {slug, 20, false}}, Routes: `
		GET /posts/{slug} 15
		GET / 5
		GET /posts 2`},
	{Name: "teams", Lines: 5000, Model: Same, Pools: map[string]Pool{"team": {from(companies), 22, false}}, Routes: `
		GET /teams/{team} 4
		GET /teams/{team}/members 4
		GET /teams/{team}/standings 4
		POST /teams/{team}/invite
		GET /teams/new
		GET /league 2`},
	{Name: "e-mail and uuids", Lines: 3000, Pools: map[string]Pool{"mail": {func(r *rand.Rand) string { return user(r) + "@example.com" }, 100, true}}, Routes: `
		GET /verify/{mail} 3
		GET /invoice/{uuid}.pdf 4
		GET /session/{uuid} 5
		POST /session 2
		DELETE /session/{uuid}`},
	{Name: "pages with settings beside users", Lines: 5000, Pools: map[string]Pool{"user": {from(people), 45, true}}, Routes: `
		GET /{user} 15
		GET /{user}/status/{id} 10
		GET /home 6
		GET /settings/account
		GET /settings/security
		GET /compose 2
		POST /compose
		GET /i/bookmarks
		GET /leaderboard 3`},
	{Name: "courses", Lines: 6000, Pools: map[string]Pool{"course": {shortSlug, 25, true}, "lesson": {slug, 120, true}}, Routes: `
		GET /learn/{course} 5
		GET /learn/{course}/lessons/{lesson} 12
		POST /learn/{course}/lessons/{lesson}/complete 3
		GET /catalog 2
		GET /certificates/{uuid}`},
	{Name: "short links", Lines: 6000, Pools: map[string]Pool{"code": {random("", base62, 7), 300, true}}, Routes: `
		GET /{code} 20
		POST /shorten 3
		GET /stats/{code} 3
		GET /pricing
		GET /login`},
	{Name: "webpack files", Lines: 5000, Pools: map[string]Pool{"chunk": {random("", hex, 20), 20, false}, "css": {random("", hex, 20), 4, false}}, Routes: `
		GET / 4
		GET /static/js/main.{chunk}.js 8
		GET /static/js/{id}.{chunk}.chunk.js 8
		GET /static/css/main.{css}.css 4
		GET /manifest.json 2
		GET /api/me 4`},
	{Name: "cities and hotels", Lines: 9000, Model: Content, Pools: map[string]Pool{"city": {from(places), 30, true}, "hotel": {slug, 150, true}}, Routes: `
		GET /{city} 5
		GET /{city}/hotels 5
		GET /{city}/hotels/{hotel} 12
		GET /{city}/restaurants 3
		GET /search 5
		GET /help`},
	{Name: "scanners and users", Lines: 6000, Noise: 0.25, Pools: map[string]Pool{"user": {user, 30, false}}, Routes: `
		GET /u/{user} 8
		GET /u/{user}/feed 3
		GET /login 2
		POST /login
		GET / 5`},
	{Name: "help in two dozen pages", Lines: 3000, Model: Content, Pools: map[string]Pool{"page": {longSlug, 24, true}}, Routes: `
		GET /help/{page} 10 like=help
		GET /help 3
		GET /help/search 2
		POST /help/feedback
		GET /status`},
	{Name: "experiments and flags", Lines: 3000, Pools: map[string]Pool{"flag": {func(r *rand.Rand) string { return pick(r, adjectives) + "_" + pick(r, nouns) }, 35, false}}, Routes: `
		GET /flags/{flag} 10
		PUT /flags/{flag}
		GET /flags 3
		GET /experiments/{id} 4`},
	{Name: "words of a game", Lines: 6000, Routes: words("POST /game/", "attack defend heal jump crouch reload trade craft mine smelt equip drop loot spawn respawn teleport") + words("GET /game/", "inventory map minimap leaderboard quests achievements friends")},
	{Name: "static pages", Lines: 2500, Routes: words("GET /", "index.html about.html team.html products.html garden.html kitchen.html bathroom.html lighting.html flooring.html sale.html stores.html returns.html")},
}
