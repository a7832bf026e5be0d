package sites

import (
	"fmt"
	"math/rand/v2"
)

func deviceID(r *rand.Rand) string {
	return fmt.Sprintf("%s-%s-%s", pick(r, list("sensor pump valve gate meter")), pick(r, places), letters(r, digit, 2))
}

// interfaces are programs' interfaces.
var interfaces = []Site{
	{Name: "Rails with nested resources", Routes: crud("/", "households vessels permits inspections berths pilots tariffs") + forms("/office/", "notices clerks ledgers receipts") + `
		GET /households/{id}/members 2
		POST /households/{id}/members 1
		GET /vessels/{id}/inspections/{id} 3
		GET /up 3
		POST /session 1
		DELETE /session 1
		GET /assets/application-{digest}.js 5
		GET /assets/application-{digest}.css 5`, Pools: map[string]Pool{"digest": {random("", hex, 64), 4, false}}},
	{Name: "application of one page with stored queries", Pools: map[string]Pool{"sha": {random("", hex, 64), 40, true}, "chunk": {func(r *rand.Rand) string { return capital(pick(r, everyday)) + "-" + letters(r, base64, 8) }, 90, true}, "font": {chunk(base64, 8), 5, false}}, Routes: `
		GET / 4 by=browser
		POST /graphql 14 by=browser
		GET /graphql/{sha} 10 by=browser
		GET /assets/{chunk}.js 14 by=browser
		GET /assets/{chunk}.css 4 by=browser
		GET /assets/{font}.woff2 3 by=browser
		GET /manifest.webmanifest 2 by=browser
		GET /healthz 3 by=cron
		POST /webhooks/stripe 1 by=script`},
	{Name: "Matrix home server", Pools: map[string]Pool{"room": {func(r *rand.Rand) string { return "!" + letters(r, base62, 18) + ":example.org" }, 60, true}, "user": {func(r *rand.Rand) string { return "@" + member(r) + ":example.org" }, 90, true}, "event": {random("$", base64, 43), 0, false},
		"txn": {random("m17", digit, 11), 0, false}, "media": {random("", base62, 24), 300, true}}, Routes: `
		GET /_matrix/client/v3/sync 20
		PUT /_matrix/client/v3/rooms/{room}/send/m.room.message/{txn} 6
		GET /_matrix/client/v3/rooms/{room}/messages 4
		GET /_matrix/client/v3/rooms/{room}/context/{event} 2
		POST /_matrix/client/v3/rooms/{room}/receipt/m.read/{event} 5
		PUT /_matrix/client/v3/rooms/{room}/typing/{user} 5
		GET /_matrix/client/v3/profile/{user} 3
		GET /_matrix/client/v3/profile/{user}/displayname 2
		GET /_matrix/media/v3/download/example.org/{media} 4
		GET /_matrix/media/v3/thumbnail/example.org/{media} 6
		POST /_matrix/client/v3/keys/query 3
		POST /_matrix/client/v3/keys/upload 1
		GET /_matrix/client/versions 1`},
	{Name: "interface of a forge", Pools: map[string]Pool{"project": {func(r *rand.Rand) string { return pick(r, everyday) + "%2F" + dashed(r) }, 90, true}, "file": {func(r *rand.Rand) string { return pick(r, everyday) + "%2F" + pick(r, nouns) + ".go" }, 300, true}, "n": upTo(400)}, Routes: `
		GET /api/v4/projects 2
		GET /api/v4/projects/{id} 4
		GET /api/v4/projects/{project} 5
		GET /api/v4/projects/{project}/merge_requests 4
		GET /api/v4/projects/{project}/merge_requests/{n} 5
		POST /api/v4/projects/{project}/merge_requests/{n}/notes 2
		GET /api/v4/projects/{project}/repository/files/{file}/raw 6
		GET /api/v4/projects/{project}/pipelines/{id} 4
		POST /api/v4/jobs/request 20
		PATCH /api/v4/jobs/{id}/trace 10
		GET /api/v4/user 2
		GET /api/v4/version 1`},
	{Name: "groups and projects of a forge", Pools: map[string]Pool{"group": {dashed, 60, true}, "project": {dashed, 140, true}, "n": upTo(600), "ref": {from(list("main develop release-2 hotfix v1.2.0 v1.3.0")), 6, true}, "file": {repoFile, 600, true}, "sha": {random("", hex, 40), 0, false}}, Routes: `
		GET /{group}/{project} 8
		GET /{group}/{project}/-/merge_requests 3
		GET /{group}/{project}/-/merge_requests/{n} 6
		GET /{group}/{project}/-/merge_requests/{n}/diffs 3
		GET /{group}/{project}/-/pipelines/{id} 4
		GET /{group}/{project}/-/jobs/{id} 4
		GET /{group}/{project}/-/blob/{ref}/{file} 6
		GET /{group}/{project}/-/commit/{sha} 4
		GET /{group}/{project}/-/issues/{n} 5
		GET /{group} 3
		GET /explore 1
		GET /users/sign_in 2
		GET /dashboard/todos 1`},
	{Name: "entities of an OData service", Pools: map[string]Pool{"key": {key, 90, true}}, Routes: `
		GET /odata/v4/Products 3
		GET /odata/v4/Products({id}) 6
		GET /odata/v4/Customers('{key}') 5
		GET /odata/v4/Customers('{key}')/Orders 4
		GET /odata/v4/Orders({id})/Items 5
		GET /odata/v4/Orders({id})/Items/$count 2
		POST /odata/v4/Orders({id})/Default.Ship 1
		POST /odata/v4/$batch 8
		GET /odata/v4/$metadata 2
		PATCH /odata/v4/Products({id}) 2`},
	{Name: "identifiers of four kinds", Pools: map[string]Pool{"ulid": {commonULID, 0, false}, "nano": {random("", base64, 21), 400, true}, "cuid": {random("cl", base36, 23), 300, true}, "short": {random("", lower, 8), 300, true}}, Routes: `
		GET /v1/orders/{ulid} 6
		PATCH /v1/orders/{ulid} 2
		GET /v1/carts/{nano} 6
		PUT /v1/carts/{nano}/lines/{id} 3
		GET /v1/posts/{cuid} 5
		GET /v1/posts/{cuid}/comments 4
		GET /v1/invites/{short} 4
		POST /v1/invites/{short}/accept 2
		GET /v1/sessions/{uuid} 4
		GET /v1/me 3`},
	{Name: "paths in capitals and small letters", Pools: map[string]Pool{"api": {from(list("api API Api")), 3, false}, "users": {from(list("users Users")), 2, false}, "orders": {from(list("orders Orders ORDERS")), 3, false}}, Routes: `
		GET /{api}/{users}/{id} 8
		GET /{api}/{users} 3
		POST /{api}/{orders} 2
		GET /{api}/{orders}/{id} 6
		GET /{api}/{orders}/{id}/lines 4
		GET /health 1
		GET /Default.aspx 3`},
	{Name: "XRPC of a microblog", Pools: map[string]Pool{"handle": {func(r *rand.Rand) string { return member(r) + ".bsky.social" }, 200, true}, "tid": {random("3k", "234567abcdefghijklmnopqrstuvwxyz", 11), 0, false}, "did": {random("did:plc:", "234567abcdefghijklmnopqrstuvwxyz", 24), 150, true}}, Routes: `
		GET /profile/{handle} 5
		GET /profile/{handle}/post/{tid} 8
		GET /img/{did}/{tid}.jpeg 8` + each("GET /xrpc/", `app.bsky.feed.getTimeline app.bsky.feed.getAuthorFeed app.bsky.feed.getPostThread app.bsky.feed.getPosts app.bsky.feed.getLikes
		app.bsky.actor.getProfile app.bsky.actor.getProfiles app.bsky.actor.searchActors app.bsky.actor.getPreferences app.bsky.graph.getFollows app.bsky.graph.getFollowers
		app.bsky.graph.getLists app.bsky.notification.listNotifications app.bsky.notification.getUnreadCount com.atproto.sync.getRepo com.atproto.sync.getBlob
		com.atproto.sync.listRepos com.atproto.repo.getRecord com.atproto.repo.listRecords com.atproto.identity.resolveHandle com.atproto.server.getSession`, "") +
		each("POST /xrpc/", "com.atproto.repo.createRecord com.atproto.repo.deleteRecord com.atproto.repo.putRecord com.atproto.repo.uploadBlob com.atproto.server.createSession com.atproto.server.refreshSession", "")},
	{Name: "devices with telemetry", Pools: map[string]Pool{"device": {deviceID, 150, false}, "serial": {random("SN", digit+upper, 10), 200, false}, "release": {semver, 12, true}}, Routes: `
		GET /v1/devices/{device}/shadow 6 by=app
		POST /v1/devices/{device}/telemetry/temperature 8 by=script
		POST /v1/devices/{device}/telemetry/humidity 8 by=script
		POST /v1/devices/{device}/telemetry/pressure 4 by=script
		GET /v1/devices/{device} 2 by=app
		GET /v1/devices 1 by=app
		POST /v1/register/{serial} 2 by=script
		GET /firmware/{release}/image.bin 2 by=script
		GET /firmware/latest 4 by=script`},
}
