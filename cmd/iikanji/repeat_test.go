package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/report"
)

// ranFor is a run with a score, or one that failed for a reason.
func ranFor(id iikanji.RunID, score float64, reason string) *iikanji.Run {
	run := &iikanji.Run{ID: id, Outcome: iikanji.Passed, Score: score, Took: time.Minute, Steps: []iikanji.StepStat{{Step: "GET /", Count: 10, Errors: 3, Timeouts: 2}},
		Gauges: []iikanji.Gauge{{Name: "offered work (digest)", Value: float64(id)}, {Name: "ticks lost", Value: 0.5 + float64(id), Unit: "%"}, {Name: "the same", Value: 7}}}
	if reason != "" {
		run.Outcome, run.Score, run.Reasons = iikanji.Failed, 0, []string{reason}
	}
	return run
}

// TestRepeatedRuns checks what repeated runs say: how many passed, the chance of the next one, the
// scores, and that void and cut runs count nothing.
func TestRepeatedRuns(t *testing.T) {
	void, cut := ranFor(4, 900, ""), ranFor(5, 900, "")
	void.Load.Void, cut.Partial = true, true
	few := &repeatedState{Says: "10 teams"}
	for _, run := range []*iikanji.Run{ranFor(1, 1000, ""), ranFor(2, 1100, ""), ranFor(3, 0, "more than 100 errors\x1b[31m"), void, cut} {
		few.add(run)
	}
	few.sum()
	if few.Passed != 2 || few.Of != 3 || few.Void != 2 || few.Chance != 2.5/4 || few.Median != 1050 || few.Least != 1000 || few.Most != 1100 || few.failed() == nil {
		t.Errorf("%+v", few)
	}
	if few.Spread < 0.067 || few.Spread > 0.068 { // ln(1.1)/√2
		t.Errorf("the spread is %v", few.Spread)
	}
	none := &repeatedState{Says: "120 teams", Missing: []string{"a part of rung 9: no file"}}
	none.sum()
	if none.Of != 0 || none.Chance != 0 || none.failed() != nil {
		t.Errorf("without runs: %+v", none)
	}
	var b strings.Builder
	r := &benchRun{benchCmd: &benchCmd{Repeat: 5}, e: &env{Stdout: &b, Cols: 80}, target: &namedTarget{Name: "shop"}}
	if err := r.printRepeated(few); err != nil {
		t.Fatal(err)
	}
	if err := (&ladderCmd{Load: time.Minute}).printRepeated(&env{Stdout: &b, Cols: 80}, r.target, []*repeatedState{few, none}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 3", "62 %", "1,050", "7 %", "run 3: failed, 1 error, 2 timeouts: more than 100 errors", "without a part of rung 9: no file", "ticks lost: 1.5 to 2.5 %\n", "120 teams"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	for _, no := range []string{"digest", "the same", "\x1b"} {
		if strings.Contains(b.String(), no) {
			t.Errorf("%q is in:\n%s", no, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if report.Width(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
}

// TestRepeatedJSON checks the document of repeated runs.
func TestRepeatedJSON(t *testing.T) {
	var b strings.Builder
	s := &repeatedState{Says: "10 teams"}
	s.add(ranFor(1, 1000, ""))
	s.sum()
	if err := (&ladderCmd{JSON: true}).printRepeated(&env{Stdout: &b}, &namedTarget{Name: "shop"}, []*repeatedState{s}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		States []struct {
			State  string
			Runs   []iikanji.Run
			Passed int
			Of     int
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil || len(doc.States) != 1 || doc.States[0].Passed != 1 || doc.States[0].Of != 1 || doc.States[0].Runs[0].Score != 1000 {
		t.Errorf("%v: %+v\n%s", err, doc, b.String())
	}
}

// TestRepeatRefused checks the flags that repeated runs exclude.
func TestRepeatRefused(t *testing.T) {
	for _, args := range [][]string{
		{"bench", "isucondition", "--repeat", "101"}, {"bench", "isucondition", "--repeat", "-1"}, {"bench", "isucondition", "--repeat", "2", "--price"},
		{"bench", "isucondition", "--repeat", "2", "--no-load"}, {"ladder", "isucondition", "--repeat", "2", "--alone"},
		{"ladder", "isucondition", "--repeat", "101"}, {"ladder", "isucondition", "--repeat", "2", "--hosts", "2"},
	} {
		var errs lockedBuffer
		if status, _ := command(t.Context(), &errs, append(args, "--dir", t.TempDir())...); status != exitUsage {
			t.Errorf("%q: status %d: %s", args, status, errs.String())
		}
	}
}
