package observe

import (
	"testing"

	"github.com/iikanji/iikanji"
)

// TestProveSteps checks that a missing route is detected even if the total of the
// access log is correct.
func TestProveSteps(t *testing.T) {
	steps := func() []iikanji.StepStat {
		return []iikanji.StepStat{
			{Step: "POST /post/:uuid", Count: 9000, Cut: 20, QuietTimeouts: 400},
			{Step: "GET /list", Count: 60, Timeouts: 50},
			{Step: "GET /list?page=:n (second page)", Count: 40},
			{Step: "GET /files/*", Count: 400, Cached: 300},
			{Step: "GET /user/:id", Count: 100},
			{Step: "GET /user/me", Count: 200, Timeouts: 150},
			{Step: "DELETE /never"},
		}
	}
	lines := func() map[string]int64 {
		return map[string]int64{"POST /post/:id": 9000, "GET /list": 100, "GET /files/:file.js": 250, "GET /files/:file.css": 150, "GET /user/:id": 100, "GET /user/me": 200}
	}
	for _, c := range []struct {
		name  string
		line  string
		n     int64
		other string // gets the missing requests, so that the total is correct
		why   string
	}{
		{"exact", "GET /list", 100, "", ""},
		{"a few on their way", "GET /list", 90, "GET /user/me", ""},
		{"a small route without a log", "GET /list", 0, "", "GET /list: 0 in the log, 50 sent"}, // 50 of 100 were given up
		{"the lines of a client that gave up", "GET /list", 51, "", ""},
		{"timeouts of requests whose errors do not count", "POST /post/:id", 8600, "", ""},
		{"more lines are missing than such timeouts", "POST /post/:id", 8400, "", "POST /post/:uuid: 8400 in the log, 8600 sent"},
		{"timeouts of one step do not pay for another's lines", "GET /user/:id", 0, "", "GET /user/:id: 0 in the log, 100 sent"},
		{"one too few, another too many", "GET /files/:file.css", 50, "POST /post/:id", "GET /files/*: 300 in the log, 400 sent"},
		{"requests of another client", "GET /admin", 90, "", "requests of no step: 90 in the log, 0 sent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := lines()
			if c.other != "" {
				rows[c.other] += rows[c.line] - c.n
			}
			rows[c.line] = c.n
			p := profileOf(10_000, 0)
			for key, n := range rows {
				p.Rows = append(p.Rows, iikanji.Row{Key: key, Count: n})
			}
			run := &iikanji.Run{Steps: steps(), Load: iikanji.Generator{PeakConns: 300}}
			s := proveAccess(p, run, nil)
			if !s.Proofs[1].Holds {
				t.Errorf("not even the total holds: %s", s.Proofs[1].Says)
			}
			wants(t, c.name, s, c.why)
			if c.why != "" {
				run.Steps = append(run.Steps, iikanji.StepStat{Step: "sign in", Count: 1}) // without a route, so that any line may belong to it
				wants(t, "not by route", proveAccess(p, run, nil), "")
			}
		})
	}
}

func TestAlikeRoutes(t *testing.T) {
	for _, c := range []struct {
		step, row string
		words     int // -1: another route
	}{
		{"GET /", "GET /", 2}, {"GET /a/:uuid", "GET /a/:id", 2}, {"GET /a/me", "GET /a/:id", 2}, {"GET /a/me", "GET /a/me", 3},
		{"GET /a/*", "GET /a/:file.js", 2}, {"GET /a/*", "GET /a/b/c", 2}, {"GET /a/*", "GET /b/c", -1}, {"GET /a/*", "GET /a", -1},
		{"GET /a", "GET /a/b", -1}, {"GET /a/b", "GET /a", -1}, {"POST /a", "GET /a", -1},
	} {
		words, ok := alikeRoutes(c.step, c.row)
		if ok != (c.words >= 0) || ok && words != c.words {
			t.Errorf("%s and %s: %d, %v", c.step, c.row, words, ok)
		}
	}
	for name, want := range map[string]string{"GET /a?b (c)": "GET /a", "sign in": "", "GET": ""} {
		if got := stepRoute(name); got != want {
			t.Errorf("the route of %q is %q", name, got)
		}
	}
}
