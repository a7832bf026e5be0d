package isucondition_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// plain wraps a hook without state.
func plain(h arenatest.Hook) func() arenatest.Hook { return func() arenatest.Hook { return h } }

// checkFaults are caught before any load: faults of pages, logins, refusals and
// transport.
var checkFaults = []arenatest.Fault{
	{Name: "wrong asset", Want: by("asset-crc"),
		Spoil: plain(arenatest.When("", "GET", "/assets/*", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Reply = append(bytes.Clone(x.Reply), '\n')
		})))},
	{Name: "page without its script", Want: by("page-assets"),
		Spoil: plain(arenatest.When("", "GET", "/register", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Reply = bytes.ReplaceAll(x.Reply, []byte("src="), []byte("data-src-of="))
		})))},
	{Name: "HS256 token accepted", Want: by("auth-hs256"), Spoil: plain(token("eyJhbGciOiJIUzI1NiIs"))},
	{Name: "every token accepted", Want: by("auth-hs256", "auth-expired", "auth-missing", "auth-key"), Spoil: plain(token(""))},
	{Name: "no claim is forbidden, not bad", Want: by("auth-no-claim"),
		Spoil: plain(arenatest.When("", "POST", "/api/auth", arenatest.After(400, func(x *arenatest.Exchange) {
			x.Give(403, "text/plain", "forbidden")
		})))},
	{Name: "stale session accepted", Want: by("session-stale"),
		Spoil: plain(arenatest.When("", "GET", "/api/user/me", arenatest.After(401, func(x *arenatest.Exchange) {
			if x.Header.Get("Cookie") != "" {
				x.Give(200, "application/json", `{"jia_user_id":"before_initialize"}`)
			}
		})))},
	{Name: "sign-out without effect", Want: by("signout"),
		Spoil: plain(arenatest.When("prepare", "POST", "/api/signout", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Answer.Del("Set-Cookie")
		})))},
	{Name: "list for people who are not signed in", Want: by("unauthorized"),
		Spoil: plain(arenatest.When("", "GET", "/api/isu", arenatest.After(401, func(x *arenatest.Exchange) {
			x.Give(200, "application/json", "[]")
		})))},
	{Name: "icon given to a stranger", Want: by("foreign-isu", "unauthorized"), Spoil: cachedByPath("/api/isu/*/icon")},
	{Name: "foreign ISU visible", Want: by("foreign-isu", "unauthorized"), Spoil: cachedByPath("/api/isu/*")},
	{Name: "wrong error text", Want: by("foreign-isu"),
		Spoil: plain(arenatest.When("", "GET", "/api/isu/*/graph", arenatest.After(404, func(x *arenatest.Exchange) {
			x.Give(404, "text/plain", "not found")
		})))},
	{Name: "error text as JSON", Want: by("graph-datetime"),
		Spoil: plain(arenatest.When("", "GET", "/api/isu/*/graph", arenatest.After(400, func(x *arenatest.Exchange) {
			x.Give(400, "application/json", `"`+string(x.Reply)+`"`)
		})))},
	{Name: "bad end_time taken as now", Want: by("condition-end"),
		Spoil: plain(arenatest.When("", "GET", "/api/condition/*", arenatest.After(400, func(x *arenatest.Exchange) {
			if string(x.Reply) == "bad format: end_time" {
				x.Give(200, "application/json", "[]")
			}
		})))},
	{Name: "500 without a reason", Want: on(iikanji.FaultStatus, onMe),
		Spoil: plain(arenatest.When("prepare", "GET", "/api/user/me", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Give(500, "", "")
		})))},
	{Name: "wrong content type", Want: on(iikanji.FaultContentType, onList),
		Spoil: plain(arenatest.When("", "GET", "/api/isu", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Answer.Set("Content-Type", "text/html")
		})))},
	{Name: "broken JSON", Want: on(iikanji.FaultBody, onTrend),
		Spoil: plain(arenatest.When("", "GET", "/api/trend", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Reply = bytes.TrimRight(x.Reply, "]\n")
		})))},
	{Name: "answer cut off", Want: on(iikanji.FaultClosed, onGraph),
		Spoil: plain(arenatest.When("", "GET", "/api/isu/*/graph", arenatest.After(200, func(x *arenatest.Exchange) { x.Cut = 100 })))},
	{Name: "answer of 4 s", Want: on(iikanji.FaultTimeout, onISU),
		Spoil: plain(arenatest.When("", "GET", "/api/isu/*", arenatest.Slow(4*time.Second)))},
	{Name: "304 that was not asked for", Want: on(iikanji.FaultStatus, onIcon),
		Spoil: plain(arenatest.When("", "GET", "/api/isu/*/icon", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Give(304, "", "")
		})))},
	{Name: "304 for someone who has signed out", Want: by("signout"), Spoil: plain(timeless)},
}

// token makes the app accept login tokens that begin with a prefix.
func token(prefix string) arenatest.Hook {
	return arenatest.When("", "POST", "/api/auth", func(x *arenatest.Exchange, forward func()) {
		forward()
		if x.Status == 403 && strings.HasPrefix(strings.TrimPrefix(x.Header.Get("Authorization"), "Bearer "), prefix) {
			x.Give(200, "", "")
		}
	})
}

// cachedByPath is a shared cache that ignores the session.
func cachedByPath(pattern string) func() arenatest.Hook {
	return func() arenatest.Hook {
		var cache sync.Map
		return arenatest.When("prepare", "GET", pattern, func(x *arenatest.Exchange, forward func()) {
			forward()
			if x.Status == http.StatusOK {
				cache.Store(x.Path, *x)
			} else if had, ok := cache.Load(x.Path); ok {
				was := had.(arenatest.Exchange)
				x.Status, x.Answer, x.Reply = was.Status, was.Answer, was.Reply
			}
		})
	}
}

// timeless adds a validator that never changes to an answer that depends on the
// session.
func timeless(x *arenatest.Exchange, forward func()) {
	if !x.Is("GET", "/api/user/me") {
		forward()
		return
	}
	if x.Header.Get("If-None-Match") == `"me"` {
		x.Give(304, "", "")
	} else {
		forward()
	}
	if x.Status != 401 {
		x.Answer.Set("ETag", `"me"`)
	}
}
