package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/loop"
	"github.com/iikanji/iikanji/internal/report"
)

// printTrials is the table of all trials, in the order in which they were held.
func printTrials(e *env, out *loop.Outcome) error {
	t := report.Table{Columns: []report.Column{{Name: "#"}, {Name: "code", Left: true}, {Name: "change", Left: true, Shrink: true},
		{Name: "effect on the score", Left: true}, {Name: "runs"}, {Name: "verdict", Left: true}}}
	skipped := 0
	for _, a := range out.Attempts {
		if a.Skipped != "" {
			skipped++
			continue
		}
		id := "-"
		if n := len(a.Changes); n > 0 {
			id = fmt.Sprint(a.Changes[n-1])
		}
		effect := "-"
		if v := a.Verdict.Effect; v.Level > 0 {
			effect = effectText(v.Mid, v.Lo, v.Hi)
		}
		t.Rows = append(t.Rows, []string{id, cmp.Or(string(a.Code), "-"), report.Clean(a.Says), effect, fmt.Sprint(a.Runs), verdictWord(a)})
	}
	if len(t.Rows) == 0 {
		_, err := fmt.Fprintln(e.Stdout, "no change had its trial")
		return err
	}
	if _, err := fmt.Fprintln(e.Stdout, "\nTrials"); err != nil {
		return err
	}
	if err := t.Write(e.Stdout, report.Text, e.Cols); err != nil {
		return err
	}
	if skipped == 0 {
		return nil
	}
	_, err := fmt.Fprintf(e.Stdout, "%d remedies could not be tried: they need a person's patch, or nothing is to change\n", skipped)
	return err
}

// verdictWord is the end of an attempt and the rule that made it.
func verdictWord(a loop.Attempt) string {
	switch v := a.Verdict; {
	case a.Dropped:
		return "DROPPED, no longer needed"
	case v.Call == iikanji.Keep && a.Fast && len(v.Base) == 0:
		return "provisional"
	case v.Call == iikanji.Keep:
		return "KEPT, " + v.Reason.String()
	case v.Call == iikanji.Revert:
		return "reverted, " + v.Reason.String()
	}
	return "parked, " + a.Verdict.Reason.String()
}

// printHeadline is what it all came to.
func printHeadline(e *env, a *arena.Arena, out *loop.Outcome) error {
	var b strings.Builder
	if n := len(out.Final); n > 0 {
		fmt.Fprintf(&b, "\n%s: %.1f × the untouched score", a.Name, out.Ratio.Mid)
		if out.Ratio.Lo > 0 {
			fmt.Fprintf(&b, " (%.1f to %.1f, %.0f %% interval)", out.Ratio.Lo, out.Ratio.Hi, 100*out.Ratio.Level)
		}
		fmt.Fprintf(&b, "\n  %s → %s, geometric means of %d interleaved pairs of %s runs\n",
			report.Count(int64(out.Scores[0])), report.Count(int64(out.Scores[1])), n, report.Duration(out.Full))
	}
	for _, w := range slices.Concat(out.Work) {
		fmt.Fprintf(&b, "  %s per request: × %.2f (%.2f to %.2f)\n", w.Name, math.Exp(w.Effect.Mid), math.Exp(w.Effect.Lo), math.Exp(w.Effect.Hi))
	}
	if s := out.Short; s[0] > 0 && s[1] > 0 {
		fmt.Fprintf(&b, "  searching runs: %s → %s, %.1f ×\n", report.Count(int64(s[0])), report.Count(int64(s[1])), s[1]/s[0])
	}
	if g := out.Agreement; g != nil {
		fmt.Fprintf(&b, "  short and full runs rank %d states with Kendall's tau %.2f\n", g.States, g.Tau)
	}
	if out.Rehearsal.Done {
		fmt.Fprintf(&b, "  restart rehearsal: %s\n", out.Rehearsal.Says)
	}
	fmt.Fprintf(&b, "  %d runs, %d of them void, in %s; noise of a pair %.1f %%\n", out.Runs, out.Voided, report.Duration(out.Took), 100*out.Noise)
	for _, n := range out.Notes {
		fmt.Fprintf(&b, "  %s\n", report.Clean(n))
	}
	_, err := fmt.Fprint(e.Stdout, b.String())
	return err
}
