package isucondition_test

import (
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// cheats make the app answer faster by breaking a promise to its users. The first
// ones fail before any load; the last ones need it.
var cheats = []arenatest.Fault{
	{Name: "keep a personal page for everyone", Want: by("foreign-isu", "unauthorized"), Spoil: cachedByPath("/api/isu/*")},
	{Name: "keep every icon by its path", Want: by("foreign-isu", "unauthorized"), Spoil: cachedByPath("/api/isu/*/icon")},
	{Name: "keep a user's list for a second", Want: by("list-length"), Spoil: cachedList},
	{Name: "send one icon for all", Want: by("icon-md5"), Spoil: sameIcon},
	{Name: "skip the check of tokens", Want: by("auth-hs256", "auth-expired", "auth-missing", "auth-key"), Spoil: plain(token(""))},
	{Name: "answer 200 with an empty list", Want: by("list-length", "list-uuid"), Spoil: list("/api/isu", func(v []object) []object { return v[:0] })},
	{Name: "shorten pages of conditions", Want: by("condition-missing"), Spoil: list("/api/condition/*", func(v []object) []object { return v[:min(len(v), 5)] })},
	{Name: "leave out the newest condition", Want: by("list-latest"), Spoil: each("/api/isu", func(o object) { o["latest_isu_condition"] = nil })},
	{Name: "ignore the filter by level", Want: by("condition-filter"), Spoil: query("/api/condition/*", func(q url.Values) {
		if q.Get("condition_level") != "" {
			q.Set("condition_level", "info,warning,critical")
		}
	})},
	{Name: "answer 304 without being asked", Want: on(iikanji.FaultStatus, onIcon),
		Spoil: plain(arenatest.When("", "GET", "/api/isu/*/icon", arenatest.After(200, func(x *arenatest.Exchange) { x.Give(304, "", "") })))},
	{Name: "refuse some users", Want: on(iikanji.FaultStatus, onMe), Spoil: everyThird("", "GET", "/api/user/me", 503)},
	{Name: "keep the session after sign-out", Want: by("signout"),
		Spoil: plain(arenatest.When("prepare", "POST", "/api/signout", arenatest.After(200, func(x *arenatest.Exchange) { x.Answer.Del("Set-Cookie") })))},
	{Name: "answer a registration early and do not store it", Spoil: early,
		Want: append(by("list-length", "list-uuid", "duplicate", "isu-character"), arenatest.On(iikanji.FaultStatus, onISU), arenatest.On(iikanji.FaultStatus, onIcon))},
	{Name: "drop work when busy", UnderLoad: true, Want: on(iikanji.FaultStatus, onCondition), Spoil: everyThird("load", "GET", "/api/condition/*", 503)},
	{Name: "keep the trend for ever", UnderLoad: true, Set: fewUsers, Want: by("trend-stale", "trend-missing"), Spoil: frozenTrend},
	{Name: "stale beyond the promise", UnderLoad: true, Set: fewUsers, Want: by("trend-backwards", "trend-shrunk"), Spoil: staleTrend},
}

// everyThird answers every third request with an error and without work.
func everyThird(phase scenario.Phase, method, pattern string, status int) func() arenatest.Hook {
	return func() arenatest.Hook {
		var n atomic.Int64
		return arenatest.When(phase, method, pattern, func(x *arenatest.Exchange, forward func()) {
			if n.Add(1)%3 == 0 {
				x.Give(status, "text/plain", "busy")
				return
			}
			forward()
		})
	}
}

var formName = regexp.MustCompile(`name="isu_name"\r\n\r\n([^\r]*)`)

// early answers every registration of a user as if it had succeeded, before any
// work.
func early() arenatest.Hook {
	return arenatest.When("", "POST", "/api/isu", func(x *arenatest.Exchange, forward func()) {
		if x.Header.Get("Cookie") == "" {
			forward()
			return
		}
		name := formName.FindSubmatch(x.Body)
		if name == nil {
			forward()
			return
		}
		x.Give(201, "application/json", `{"id":1,"jia_isu_uuid":"`+string(formUUID.Find(x.Body))+`","name":"`+string(name[1])+`","character":""}`)
	})
}

// staleTrend sends every second client the trend as it was after a few answers.
func staleTrend() arenatest.Hook { return repeatedTrend(4, 2) }

// repeatedTrend sends answer number nth of the load again, instead of every
// so-many-th answer after it.
func repeatedTrend(nth, every int) arenatest.Hook {
	var mu sync.Mutex
	var kept []byte
	n := 0
	return arenatest.When("load", "GET", "/api/trend", arenatest.After(200, func(x *arenatest.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == nth {
			kept = x.Reply
		}
		if n > nth && n%every == 0 {
			x.Reply = kept
		}
	}))
}
