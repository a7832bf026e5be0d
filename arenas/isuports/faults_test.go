package isuports

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena/arenatest"
	"github.com/iikanji/iikanji/internal/scenario"
)

// ease makes the app fast enough for many runs: ids come from memory, and SQLite
// does not wait for the disk.
var ease = []arenatest.Edit{
	{File: "go/admin.go", Old: `	"strconv"` + "\n", New: `	"strconv"` + "\n\t" + `"sync/atomic"` + "\n"},
	{File: "go/admin.go", Old: "(string, error) {\n	var last error\n", New: "(string, error) {\n" +
		"	if id := easeID.Add(1); id > 0 {\n		return strconv.FormatInt(1<<40+id, 16), nil\n	}\n	var last error\n"},
	{File: "go/admin.go", Old: "type tenantWithBilling struct {", New: "var easeID atomic.Int64\n\ntype tenantWithBilling struct {"},
	{File: "go/tenantdb.go", Old: "&_pragma=busy_timeout(5000)\")", New: "&_pragma=busy_timeout(5000)&_pragma=synchronous(0)\")"},
}

// faults are all planted faults.
var faults = slices.Concat(formFaults, listFaults, rankingFaults, billingFaults, refusalFaults, loadFaults, appFaults)

// by and on make the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

func on(kind iikanji.FaultKind, step scenario.Step) []arenatest.Caught {
	return []arenatest.Caught{arenatest.On(kind, stepNames[step])}
}

// plain wraps a hook without state.
func plain(h arenatest.Hook) func() arenatest.Hook { return func() arenatest.Hook { return h } }

// Patterns of the APIs.
const (
	atRanking     = "/api/player/competition/*/ranking"
	atDetail      = "/api/player/player/*"
	atScore       = "/api/organizer/competition/*/score"
	atFinish      = "/api/organizer/competition/*/finish"
	atBilling     = "/api/organizer/billing"
	atTenants     = "/api/admin/tenants/billing"
	atTenantAdd   = "/api/admin/tenants/add"
	atPlayers     = "/api/organizer/players"
	atPlayersAdd  = "/api/organizer/players/add"
	atHeld        = "/api/organizer/competitions"
	atPlayerLists = "/api/player/competitions"
)

// data changes the data of successful answers.
func data(method, pattern string, change func(d object)) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, arenatest.After(200, arenatest.JSON(func(_ *arenatest.Exchange, o object) object {
		if d, ok := o["data"].(object); ok {
			change(d)
		}
		return o
	}))))
}

// list changes a list in the data of successful answers to a GET.
func list(pattern, field string, change func(v []any) []any) func() arenatest.Hook {
	return data("GET", pattern, func(d object) {
		if v, ok := d[field].([]any); ok {
			d[field] = change(v)
		}
	})
}

// each changes each object of a list.
func each(pattern, field string, change func(o object)) func() arenatest.Hook {
	return list(pattern, field, func(v []any) []any {
		for _, o := range v {
			change(o.(object))
		}
		return v
	})
}

func reversed(v []any) []any { slices.Reverse(v); return v }

// add adds to a number of an object.
func add(o object, name string, n float64) { o[name] = o[name].(float64) + n }

// say answers as the app would.
func say(x *arenatest.Exchange, status int, body string) {
	x.Give(status, "application/json", body)
	x.Answer.Set("Cache-Control", "private")
}

const (
	accepted = `{"status":true,"data":{}}`
	refused  = `{"status":false,"message":""}`
)

// instead answers those requests otherwise that the app answers with a status.
func instead(method, pattern string, status, other int) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, arenatest.After(status, func(x *arenatest.Exchange) { answerAs(x, other) })))
}

func answerAs(x *arenatest.Exchange, status int) {
	body := refused
	if status == 200 {
		body = accepted
	}
	say(x, status, body)
}

// sessions accepts sessions that the app refuses, if accept returns true for the
// header and the claims of their tokens.
func sessions(accept func(x *arenatest.Exchange, header, claims object) bool) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", atPlayers, arenatest.After(401, func(x *arenatest.Exchange) {
		if header, claims := tokenOf(x); header != nil && accept(x, header, claims) {
			say(x, 200, accepted)
		}
	})))
}

// tokenOf returns the header and the claims of a request's token, nil if it has
// none.
func tokenOf(x *arenatest.Exchange) (header, claims object) {
	cookie, err := (&http.Request{Header: x.Header}).Cookie(sessionCookie)
	if err != nil {
		return nil, nil
	}
	parts := strings.Split(cookie.Value, ".")
	if len(parts) != 3 {
		return nil, nil
	}
	for i, to := range []*object{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(text, to) != nil {
			return nil, nil
		}
	}
	return header, claims
}
