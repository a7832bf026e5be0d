package dayreport_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/dayreport"
	"github.com/iikanji/iikanji/internal/day/turn"
)

func at(hhmm string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04", "2026-11-28 "+hhmm, time.Local)
	if err != nil {
		panic(err)
	}
	return t
}

// aDay has three people, four runs, a turn that was taken and one that ended with the day.
func aDay() dayreport.Input {
	run := func(id int, when, who string, o iikanji.Outcome, score float64) *iikanji.Run {
		return &iikanji.Run{ID: iikanji.RunID(id), Began: at(when), Took: time.Minute, Who: who, Outcome: o, Score: score}
	}
	return dayreport.Input{Site: "isu",
		Runs: []*iikanji.Run{run(1, "10:10", "aoi", iikanji.Passed, 1000), run(2, "10:20", "ren", iikanji.Passed, 1500),
			run(3, "12:00", "aoi", iikanji.Failed, 0), run(4, "12:30", "aoi", iikanji.Passed, 1200)},
		Edits: func(a, b iikanji.RunID) []string {
			if a == 1 && b == 2 {
				return []string{"db  isu  index | by_x"}
			}
			return nil
		},
		Notes:  map[iikanji.RunID][]string{4: {"<b>without the cache</b>"}},
		Proofs: []string{"aoi: work prove, 1 edit since run 1: a proven gain: +40 %; 2 pairs"},
		Turns: []turn.Entry{{At: at("11:00"), What: "take", Who: "ren", Until: at("11:45")}, {At: at("11:15"), What: "from", Who: "aoi", From: "ren", Why: "deploy", Until: at("11:30")},
			{At: at("17:50"), What: "take", Who: "mio", Until: at("18:30")}},
		Begin: at("10:00"), End: at("18:00"),
		Left: []iikanji.Finding{{Code: "DB101", Where: "db", Claim: "no index"}}}
}

func TestOf(t *testing.T) {
	d := dayreport.Of(aDay())
	if d.Passed != 3 || d.Best != 2 || d.Last != 4 {
		t.Errorf("passed %d, best %d, last %d", d.Passed, d.Best, d.Last)
	}
	ratios := []float64{0, 1.5, 0, 0.8}
	for i, r := range d.Runs {
		if r.Ratio != ratios[i] {
			t.Errorf("run %d: ratio %g, want %g", r.Run, r.Ratio, ratios[i])
		}
	}
	held := map[string]time.Duration{"ren": 15 * time.Minute, "aoi": 15 * time.Minute, "mio": 10 * time.Minute}
	for _, p := range d.People {
		if p.Held != held[p.Who] {
			t.Errorf("%s held the turn %v, want %v", p.Who, p.Held, held[p.Who])
		}
	}
	if d.People[0].Who != "aoi" || d.People[0].Runs != 3 {
		t.Errorf("%+v", d.People)
	}
	if g := d.Gaps; len(g) != 3 || g[0].Long != 5*time.Hour+29*time.Minute || g[0].Until != 0 || g[1].Until != 3 || g[1].Long != 99*time.Minute {
		t.Errorf("%+v", g)
	}
	if none := dayreport.Of(dayreport.Input{Site: "isu"}); len(none.Gaps)+len(none.People) > 0 || none.Best != 0 {
		t.Errorf("a day without a run: %+v", none)
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := dayreport.Of(aDay()).Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"10:00 to 18:00: 4 runs, 3 passed; best run 2, 1,500; last that passed run 4, 1,200.", `| 2 | 10:20 | ren | 1,500 | ×1.50 | db  isu  index \| by_x |`,
		"| 3 | 12:00 | aoi | failed |  |  |", "&lt;b&gt;without", "aoi took the turn from ren: deploy", "a proven gain", "DB101 db: no index"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := dayreport.Of(dayreport.Input{Site: "isu"}).Markdown(&b); err != nil || !strings.Contains(b.String(), "No run was made.") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
