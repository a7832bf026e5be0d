package cause_test

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// saidRun is a run with messages, on a machine that is half idle.
func saidRun(messages ...iikanji.Message) cause.Input {
	run := &iikanji.Run{Outcome: iikanji.Passed, Took: 60 * time.Second, Place: iikanji.Placement{Cores: 2}, Messages: messages,
		Usage: []iikanji.Usage{{Who: "app", Share: 0.3}, {Who: "database", Share: 0.2}}, Steps: []iikanji.StepStat{{Count: 10000}}}
	return cause.Input{Run: run, Target: iikanji.Target{Services: []iikanji.Service{{Name: "app", Role: iikanji.RoleApp}, {Name: "database", Role: iikanji.RoleDatabase, Host: "db"}}}}
}

func usedUp(in cause.Input) cause.Input {
	in.Run.Usage[1].Share = 0.68
	return in
}

func withTimes(in cause.Input) cause.Input {
	row := iikanji.Row{Key: "GET /api/trend", Count: 100, Total: 90 * time.Second, Max: 2300 * time.Millisecond, Web: &iikanji.WebRow{Method: "GET"}}
	in.Profiles = append(in.Profiles, iikanji.Profile{Source: iikanji.Access, Rows: []iikanji.Row{row}})
	return in
}

func withConstant(in cause.Input) cause.Input {
	in.Facts = append(in.Facts, fact.TopicConstant.Fact("app", "main.go:31", fact.Constant{File: "main.go", Line: 31, Name: "capacityLimit", Value: "60", Text: "capacityLimit = 60"}, false))
	return in
}

func withInit(in cause.Input, took, limit, usual time.Duration, since iikanji.RunID) cause.Input {
	in.Run.Phases = append(in.Run.Phases, iikanji.PhaseStat{Phase: "initialize", Took: took, Limit: limit, Usual: usual, Since: since})
	return in
}

// TestBenchmarkersWords: each rule about a benchmarker's words fires on what it is about, with
// a line for a person, and not on what is near it.
func TestBenchmarkersWords(t *testing.T) {
	still := iikanji.Message{Means: iikanji.MeansNoGrowth, Text: "users did not increase", Count: 3}
	grew := iikanji.Message{Means: iikanji.MeansGrowth, Text: "users increased", Count: 5}
	often := iikanji.Message{Means: iikanji.MeansGrowth, Text: "users increased", Count: 60}
	late := iikanji.Message{Means: iikanji.MeansTimeout, Text: "timeout", Count: 14, Route: "GET /api/trend"}
	stale := iikanji.Message{Means: iikanji.MeansStale, Text: "icon is stale", Count: 2, Route: "GET /icon"}
	margin := func(n, of float64) iikanji.Message {
		return iikanji.Message{Means: iikanji.MeansMargin, Text: "errors", Count: 1, Value: n, Limit: of}
	}
	named := still
	named.Route = "GET /api/trend"
	for name, c := range map[string]struct {
		in   cause.Input
		want map[string]string // code → part of the claim; the other codes must not be there
	}{
		"it names the route":             {withTimes(usedUp(saidRun(named, grew))), map[string]string{"BEN104": "×3; it names GET /api/trend, 900ms on average, 2.3s at most"}},
		"answers are stale":              {usedUp(saidRun(still, stale)), map[string]string{"BEN104": "answers of GET /icon were stale"}},
		"the slowest page":               {withTimes(usedUp(saidRun(still))), map[string]string{"BEN104": "perhaps because of the slowest page, GET /api/trend"}},
		"nothing to name":                {usedUp(saidRun(still)), map[string]string{"BEN104": `the load did not grow: "users did not increase" ×3`}},
		"it grew nearly always":          {saidRun(still, often), nil},
		"it grew":                        {saidRun(grew), nil},
		"nothing was said":               {withConstant(saidRun()), nil},
		"idle, with a constant":          {withConstant(saidRun(still)), map[string]string{"BEN104": "did not grow", "BEN107": "capacityLimit = 60 (main.go:31)"}},
		"idle, without one":              {saidRun(still), map[string]string{"BEN104": "did not grow"}},
		"busy, with a constant":          {withConstant(usedUp(saidRun(still))), map[string]string{"BEN104": "did not grow"}},
		"timeouts, the database is full": {withTimes(usedUp(saidRun(late))), map[string]string{"BEN105": "14 requests timed out: GET /api/trend ×14 (900ms on average, 2.3s at most); the CPU (database) of host db was used up"}},
		"timeouts, nothing is full":      {saidRun(late), map[string]string{"BEN105": "14 requests timed out: GET /api/trend ×14"}},
		"errors near the limit":          {saidRun(margin(87, 100)), map[string]string{"BEN106": "87 of 100 errors"}},
		"errors far from it":             {saidRun(margin(40, 100)), nil},
		"a warning without numbers":      {saidRun(margin(0, 0)), map[string]string{"BEN106": "warns of the limit"}},
		"initialize by its own words":    {saidRun(iikanji.Message{Means: iikanji.MeansInit, Text: "initialize", Count: 1, Value: 24, Limit: 30}), map[string]string{"BEN108": "initialize takes 24 of 30 s"}},
		"initialize since a run":         {withInit(saidRun(), 24*time.Second, 30*time.Second, 11*time.Second, 9), map[string]string{"BEN108": "24 of 30 s, and more since run 9: 11 s before"}},
		"initialize in time":             {withInit(saidRun(), 9*time.Second, 30*time.Second, 2*time.Second, 9), nil},
		"initialize without a limit":     {withInit(saidRun(), 24*time.Second, 0, 0, 0), nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := findAll(c.in)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, f := range found {
				if f.Code < "BEN104" || f.Code > "BEN108" {
					continue
				}
				got[string(f.Code)] = true
				want, expected := c.want[string(f.Code)]
				if !expected || !strings.Contains(f.Claim, want) || len(f.Remedies) == 0 || f.Remedies[0].Says == "" {
					t.Errorf("%s %s: %s, %v; want %q", f.Code, f.Where, f.Claim, f.Remedies, want)
				}
			}
			for code := range c.want {
				if !got[code] {
					t.Errorf("%s was not found", code)
				}
			}
		})
	}
}
