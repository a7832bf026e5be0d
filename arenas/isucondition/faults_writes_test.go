package isucondition_test

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

var formUUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// registered answers a registration as if it had succeeded.
func registered(status int) func() arenatest.Hook {
	return plain(arenatest.When("", "POST", "/api/isu", arenatest.After(status, func(x *arenatest.Exchange) {
		x.Give(201, "application/json", fmt.Sprintf(`{"id":1,"jia_isu_uuid":%q,"name":"","character":""}`, formUUID.Find(x.Body)))
	})))
}

// writeFaults are wrong answers to registrations, caught before any load.
var writeFaults = []arenatest.Fault{
	{Name: "duplicate registration accepted", Want: by("duplicate"), Spoil: registered(409)},
	{Name: "registration of an unknown ISU accepted", Want: by("unknown-isu"), Spoil: registered(404)},
	{Name: "broken form accepted", Want: by("icon-form"), Spoil: registered(400)},
	{Name: "JIA's refusal answered with 500", Want: by("unknown-isu"),
		Spoil: plain(arenatest.When("", "POST", "/api/isu", arenatest.After(404, func(x *arenatest.Exchange) { x.Give(500, "", "") })))},
	{Name: "registration answered with 200", Want: on(iikanji.FaultStatus, onRegister),
		Spoil: plain(arenatest.When("", "POST", "/api/isu", arenatest.After(201, func(x *arenatest.Exchange) { x.Status = 200 })))},
	{Name: "icon lost on the way", Want: by("icon-md5"),
		Spoil: plain(arenatest.When("", "POST", "/api/isu", arenatest.Before(func(x *arenatest.Exchange) {
			x.Body = bytes.Replace(x.Body, []byte(`name="image"`), []byte(`name="i-ge"`), 1)
		})))},
	{Name: "list of a second ago", Want: by("list-length"), Spoil: cachedList},
	{Name: "posts before the registration kept", Want: by("unregistered-accepted"), Spoil: queued},
}

// cachedList caches each user's list for a second.
func cachedList() arenatest.Hook {
	type entry struct {
		x  arenatest.Exchange
		at time.Time
	}
	var cache sync.Map
	return arenatest.When("", "GET", "/api/isu", func(x *arenatest.Exchange, forward func()) {
		cookie := x.Header.Get("Cookie")
		if had, ok := cache.Load(cookie); ok && time.Since(had.(entry).at) < time.Second {
			was := had.(entry).x
			x.Status, x.Answer, x.Reply = was.Status, was.Answer, was.Reply
			return
		}
		if forward(); x.Status == 200 {
			cache.Store(cookie, entry{*x, time.Now()})
		}
	})
}

// queued stores the posted conditions and shows them later, without checking
// whether the ISU was registered when they arrived.
func queued() arenatest.Hook {
	var mu sync.Mutex
	posts := map[string]bool{}
	return func(x *arenatest.Exchange, forward func()) {
		switch {
		case x.Is("POST", "/api/condition/*"):
			mu.Lock()
			posts[x.Path] = true
			mu.Unlock()
			x.Give(202, "", "")
		case x.Is("GET", "/api/condition/*"):
			forward()
			mu.Lock()
			defer mu.Unlock()
			if posts[x.Path] && x.Status == 200 {
				x.Reply = []byte(`[{"timestamp":1628348400}]`)
			}
		default:
			forward()
		}
	}
}

// loadFaults appear under load only.
var loadFaults = []arenatest.Fault{
	{Name: "load: trend going backwards", UnderLoad: true, Set: fewUsers, Want: by("trend-backwards"), Also: by("trend-missing"), Spoil: oldTrend},
	{Name: "load: trend losing an ISU", UnderLoad: true, Set: fewUsers, Want: by("trend-shrunk"), Also: by("trend-missing"), Spoil: shrunkTrend},
	{Name: "load: trend ahead of its ISU", UnderLoad: true, Set: fewUsers, Want: by("trend-unknown"), Also: by("trend-order"),
		Spoil: loaded("/api/trend", func(_ *arenatest.Exchange, v []object) []object {
			for _, o := range v {
				for _, isu := range o["info"].([]any) {
					isu.(object)["timestamp"] = isu.(object)["timestamp"].(float64) + 31
				}
			}
			return v
		})},
	{Name: "load: condition lost between two reads", UnderLoad: true, Want: by("condition-lost"), Spoil: forgetful},
	{Name: "load: graph lacks conditions of the history", UnderLoad: true, Want: by("graph-lost"),
		Spoil: loaded("/api/isu/*/graph", func(_ *arenatest.Exchange, v []object) []object {
			for _, o := range v {
				o["data"], o["condition_timestamps"] = nil, []int{}
			}
			return v
		})},
	{Name: "load: message altered", UnderLoad: true, Want: by("condition-altered"),
		Spoil: loaded("/api/condition/*", func(_ *arenatest.Exchange, v []object) []object {
			for _, o := range v {
				o["message"] = "?"
			}
			return v
		})},
	{Name: "load: limit 21", UnderLoad: true, Want: by("condition-limit", "condition-order"),
		Spoil: loaded("/api/condition/*", func(_ *arenatest.Exchange, v []object) []object {
			if len(v) == 20 {
				v = append(v, v[19])
			}
			return v
		})},
	{Name: "load: list without an ISU", UnderLoad: true, Want: by("list-length"),
		Spoil: loaded("/api/isu", func(_ *arenatest.Exchange, v []object) []object { return v[min(1, len(v)):] })},
	{Name: "load: icon of another user's ISU", UnderLoad: true, Want: by("icon-md5"),
		Spoil: plain(arenatest.When("load", "GET", "/api/isu/*/icon", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Reply = append(slices.Clone(x.Reply), 0)
		})))},
	{Name: "load: sign-out without effect", UnderLoad: true, Want: by("signout"),
		Spoil: plain(arenatest.When("load", "POST", "/api/signout", arenatest.After(200, func(x *arenatest.Exchange) {
			x.Answer.Del("Set-Cookie")
		})))},
	{Name: "load: tokens of strangers accepted", UnderLoad: true, Want: by("auth-key", "auth-tampered"), Also: by("auth-hs256",
		"auth-expired", "auth-missing", "auth-no-jwt", "unauthorized"),
		Spoil: plain(arenatest.When("load", "POST", "/api/auth", arenatest.After(403, func(x *arenatest.Exchange) { x.Give(200, "", "") })))},
	{Name: "load: 500s", UnderLoad: true, Want: on(iikanji.FaultStatus, onISU),
		Spoil: plain(arenatest.When("load", "GET", "/api/isu/*", arenatest.After(200, func(x *arenatest.Exchange) { x.Give(500, "", "") })))},
	{Name: "load: connections closed", UnderLoad: true, Want: on(iikanji.FaultClosed, onCondition),
		Spoil: plain(arenatest.When("load", "GET", "/api/condition/*", arenatest.After(200, func(x *arenatest.Exchange) { x.Cut = 1 })))},
	{Name: "load: slow answers", UnderLoad: true, Want: on(iikanji.FaultTimeout, onGraph), Survives: true,
		Spoil: plain(arenatest.When("load", "GET", "/api/isu/*/graph", arenatest.Slow(1200*time.Millisecond)))},
}

// loaded changes JSON arrays under load.
func loaded(pattern string, change func(x *arenatest.Exchange, v []object) []object) func() arenatest.Hook {
	return plain(arenatest.When("load", "GET", pattern, arenatest.After(200, arenatest.JSON(change))))
}

// fewUsers is a load that a starved machine can answer in time: after too many
// timeouts all viewers leave, and nothing checks the trend any more.
var fewUsers = arena.Values{"users": "1"}

// trendLevels are the lists of a character in the trend.
var trendLevels = []string{"info", "warning", "critical"}

// oldTrend acts like one of several caches that forgets to renew what it has: after the 20th
// answer, every third answer has each ISU as it was in the 20th. Later ISUs are as they are:
// an answer without them would be caught by other checks first.
func oldTrend() arenatest.Hook {
	var mu sync.Mutex
	type old struct{ level, isu any }
	kept := map[any]old{}
	n := 0
	return arenatest.When("load", "GET", "/api/trend", arenatest.After(200, arenatest.JSON(func(_ *arenatest.Exchange, v []object) []object {
		mu.Lock()
		defer mu.Unlock()
		n++
		for _, character := range v {
			lists := map[string][]any{}
			for _, level := range trendLevels {
				isus, _ := character[level].([]any)
				for _, isu := range isus {
					id := isu.(object)["isu_id"]
					if n == 20 {
						kept[id] = old{level, isu}
					}
					if was, ok := kept[id]; ok && n > 20 && n%3 == 0 {
						lists[was.level.(string)] = append(lists[was.level.(string)], was.isu)
					} else {
						lists[level] = append(lists[level], isu)
					}
				}
			}
			for _, level := range trendLevels {
				slices.SortStableFunc(lists[level], func(a, b any) int {
					return cmp.Compare(b.(object)["timestamp"].(float64), a.(object)["timestamp"].(float64))
				})
				character[level] = append([]any{}, lists[level]...)
			}
		}
		return v
	})))
}

// shrunkTrend omits the ISU of one character after a while.
func shrunkTrend() arenatest.Hook {
	var mu sync.Mutex
	n := 0
	return arenatest.When("load", "GET", "/api/trend", arenatest.After(200, arenatest.JSON(func(_ *arenatest.Exchange, v []object) []object {
		mu.Lock()
		defer mu.Unlock()
		if n++; n > 20 {
			v[3]["info"], v[3]["warning"], v[3]["critical"] = []int{}, []int{}, []int{}
		}
		return v
	})))
}

// forgetful omits conditions that it has returned before.
func forgetful() arenatest.Hook {
	var mu sync.Mutex
	given := map[string]bool{}
	return arenatest.When("load", "GET", "/api/condition/*", arenatest.After(200, arenatest.JSON(func(x *arenatest.Exchange, v []object) []object {
		mu.Lock()
		defer mu.Unlock()
		return slices.DeleteFunc(v, func(o object) bool {
			key := fmt.Sprint(x.Path, o["timestamp"])
			had := given[key]
			given[key] = true
			return had
		})
	})))
}
