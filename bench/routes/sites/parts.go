package sites

import (
	"math/rand/v2"
	"strings"
)

var regions = list("eu-north us-east ap-south sa-west")

// key is a key of capitals, as those of customers in sample databases.
func key(r *rand.Rand) string { return strings.ToUpper(letters(r, lower, 5)) }

// Parts are sites with segments of two parts. They were written after the learner divided
// such segments.
var Parts = []Site{
	{Name: "wiki with lower-case namespaces", Lines: 9000, Model: Content, Pools: map[string]Pool{"page": {from(nouns), 40, true}, "guide": {shortSlug, 45, true}, "name": {user, 60, true}}, Routes: `
		GET /doku/{page} 10
		GET /doku/guide:{guide} 6
		GET /doku/user:{name} 3
		GET /doku/start 3
		POST /doku/start 1
		GET /lib/exe/css.php 4
		GET /lib/exe/js.php 4`},
	{Name: "titles with colons and parentheses", Lines: 6000, Model: Content, Pools: map[string]Pool{"title": {func(r *rand.Rand) string {
		switch t := title(r); r.IntN(5) {
		case 0:
			return t + "_(film)"
		case 1:
			return t + ":_" + title(r)
		default:
			return t
		}
	}, 300, true}}, Routes: `
		GET /wiki/{title} 20
		GET /w/api.php 4
		GET /w/load.php 6`},
	{Name: "entities with keys of text", Lines: 6000, Pools: map[string]Pool{"key": {key, 60, true}, "region": {from(regions), 4, false}}, Routes: `
		GET /service/Customers('{key}') 6
		GET /service/Customers('{key}')/Orders 4
		DELETE /service/Customers('{key}') 1
		GET /service/Customers 3
		GET /service/Invoices({uuid}) 5
		GET /service/Lines(Order={id},No={id}) 4
		GET /service/$metadata 1`},
	{Name: "verbs of numbered and named members", Lines: 8000, Pools: map[string]Pool{"zone": {shortSlug, 24, true}}, Routes: `
		GET /v1/zones/{zone}/machines 4
		GET /v1/zones/{zone}/machines/{id} 8
		POST /v1/zones/{zone}/machines/{id}:start 2
		POST /v1/zones/{zone}/machines/{id}:stop 2
		POST /v1/zones/{zone}:drain 1
		POST /v1/jobs/{uuid}:cancel 3
		GET /v1/jobs/{uuid} 5
		POST /v1/jobs:search 4
		GET /v1/jobs 2`},
	{Name: "keys with a kind before a colon", Lines: 5000, Pools: map[string]Pool{"name": {user, 80, true}}, Routes: `
		GET /cache/user:{id} 8
		PUT /cache/user:{id} 3
		GET /cache/session:{uuid} 6
		GET /cache/team:{name} 4
		DELETE /cache/team:{name} 1
		GET /stats 1`},
}
