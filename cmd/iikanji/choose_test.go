package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// TestChoose: the last hour of a team that ended with a state that passed one run in three.
// The command names the other state.
func TestChoose(t *testing.T) {
	dir := t.TempDir()
	h, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := func(score float64) {
		t.Helper()
		id, _, err := h.NewRun()
		if err != nil {
			t.Fatal(err)
		}
		r := &iikanji.Run{ID: id, Took: time.Minute, Outcome: iikanji.Passed, Score: score}
		if score == 0 {
			r.Outcome, r.Faults = iikanji.Failed, []iikanji.Fault{{Check: "clarification", Fatal: true}}
		}
		if err := h.SaveRun(r); err != nil {
			t.Fatal(err)
		}
	}
	note := func(id iikanji.RunID, text string) {
		t.Helper()
		if err := h.Append(history.Event{What: history.Noted, Run: id, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	for _, score := range []float64{31800, 32173, 32910, 30950, 32400} {
		run(score)
	}
	c := &iikanji.Change{Kind: "patch", Says: "capacity 60 → 120"}
	if err := h.AddChange(c, ""); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []iikanji.Stage{iikanji.Applying, iikanji.Applied} {
		if err := h.MoveChange(c.ID, stage, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, score := range []float64{0, 44269, 0} {
		run(score)
	}
	note(1, "capacity 60")
	note(6, "capacity 120")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := invoke(t, "choose", "isucondition", "--history", dir)
	if status != exitDone || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	const want = `
                                          chance to
state               runs  passed  median  pass keep 75 %   worth
run 6 capacity 120     3       1  44,269  38 %    > 99 %  16,593
run 1 capacity 60      5       5  32,173  92 %    > 99 %  29,478  ← end here
5 of 5 still allows a failure rate of 45 %; 5 more clean runs: 26 %
press again: the last run must be of the state to end with, and pass
`
	if !strings.HasPrefix("\n"+stdout, want) {
		t.Errorf("got:\n%s\nwant:%s", stdout, want)
	}
	for line := range strings.Lines(stdout) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("more than 80 columns: %s", line)
		}
	}
	if _, _, status := invoke(t, "choose", "isucondition", "--history", dir, "--floor", "2"); status != exitUsage {
		t.Errorf("a floor of 2: status %d", status)
	}
}
