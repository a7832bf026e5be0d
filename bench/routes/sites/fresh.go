package sites

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var (
	birds  = list("sparrow finch robin heron stork crane falcon osprey kestrel merlin plover dunlin curlew godwit avocet teal wigeon pintail garganey shoveler smew goosander")
	colors = list("crimson scarlet vermilion amber ochre saffron olive emerald jade teal turquoise azure cobalt indigo violet magenta")
)

func pascal(r *rand.Rand) string {
	up := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	return up(pick(r, people)) + up(pick(r, nouns))
}

// Fresh are sites that were written after these corrections, without any change
// of the learner for them.
var Fresh = []Site{
	{Name: "bird photographs", Lines: 4000, Model: Content, Pools: map[string]Pool{"bird": {from(birds), 20, true}}, Routes: `
		GET /species/{bird} 8
		GET /species/{bird}/photos 6
		GET /species 2
		GET /map 2
		POST /sightings`},
	{Name: "company intranet", Lines: 6000, Routes: crud("/intranet/", "ledgers stipends rosters timesheets vacancies applicants interviews contracts lockers shuttles")},
	{Name: "paint shop, same times", Lines: 3000, Model: Same, Pools: map[string]Pool{"color": {from(colors), 15, true}}, Routes: `
		GET /paint/{color} 8
		GET /paint/{color}/samples 3
		POST /paint/{color}/order 1
		GET /basket 2
		GET /stores 2`},
	{Name: "guilds of players", Lines: 9000, Pools: map[string]Pool{"guild": {pascal, 40, true}, "player": {pascal, 120, true}}, Routes: `
		GET /guild/{guild} 5
		GET /guild/{guild}/roster 5
		GET /player/{player} 10
		GET /player/{player}/matches 6
		POST /match/{uuid}/result 3
		GET /ladder 3`},
	{Name: "first segments by word, pages below", Lines: 5000, Routes: words("GET /", "ledger stipend payroll roster timesheet vacancy canteen parking shuttle") + words("GET /payroll/", "january february march april may june") + words("POST /", "ledger vacancy timesheet")},
	{Name: "file shares", Lines: 4000, Pools: map[string]Pool{"key": {random("", lower+digit, 10), 80, true}, "name": {func(r *rand.Rand) string { return pick(r, nouns) + "_" + pick(r, nouns) + ".bin" }, 60, true}}, Routes: `
		GET /d/{key}/{name} 10
		GET /s/{key} 5
		POST /upload 2
		GET /quota`},
	{Name: "podcasts", Lines: 7000, Pools: map[string]Pool{"show": {shortSlug, 18, true}, "episode": {func(r *rand.Rand) string { return fmt.Sprintf("%d-%s", 1+r.IntN(300), shortSlug(r)) }, 150, true}}, Routes: `
		GET /{show} 4
		GET /{show}/feed.xml 6
		GET /{show}/episodes/{episode} 8
		GET /{show}/episodes/{episode}/audio.mp3 6
		GET /top 2
		GET /about`},
	{Name: "graph of services", Lines: 5000, Routes: rpc("POST /v1/", "compute. storage. billing. identity.", "instances disks snapshots networks budgets invoices tokens policies")},
	{Name: "wards of a city", Lines: 5000, Pools: map[string]Pool{"ward": {func(r *rand.Rand) string { return pick(r, places) + "-ku" }, 24, false}}, Routes: `
		GET /api/wards/{ward} 5
		GET /api/wards/{ward}/shelters 4
		GET /api/wards/{ward}/alerts 4
		GET /api/wards 1
		GET /api/weather/today 2`},
	{Name: "language packs", Lines: 3000, Pools: map[string]Pool{"locale": {from(locales), 12, true}, "bundle": {random("", hex, 12), 5, false}}, Routes: `
		GET /locales/{locale}.json 6
		GET /locales/{locale}/plurals 3
		GET /bundle.{bundle}.js 4
		GET / 3
		POST /report`},
	{Name: "kanban boards", Lines: 8000, Pools: map[string]Pool{"workspace": {from(companies), 16, true}, "board": {shortSlug, 30, true}}, Routes: `
		GET /w/{workspace}/boards 3
		GET /w/{workspace}/boards/{board} 8
		POST /w/{workspace}/boards/{board}/cards 4
		PATCH /w/{workspace}/boards/{board}/cards/{id} 6
		GET /w/{workspace}/members 2
		GET /inbox 2`},
	{Name: "query endpoints with words", Lines: 3000, Model: Same, Routes: words("GET /stats/", "daily weekly monthly yearly hourly realtime cohort funnel retention churn revenue signups refunds latency uptime errors")},
}
