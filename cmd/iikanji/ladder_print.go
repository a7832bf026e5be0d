package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/ladder"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/show/report"
)

// printRungs lists the rungs of a ladder.
func (c *ladderCmd) printRungs(e *env, rungs []ladder.Rung) error {
	if c.JSON {
		return writeJSON(e.Stdout, rungs)
	}
	out := &output{w: e.Stdout}
	for _, r := range rungs {
		if r.Number < c.From {
			continue
		}
		out.line("%2d  %s", r.Number, report.Shorten(r.Row, e.Cols-4))
		told := "told: " + r.Told
		if r.Hosts > 0 {
			told += fmt.Sprintf("; %d machines", r.Hosts)
		}
		if r.Hurts {
			told += " (hurts)"
		}
		out.line("    %s", report.Shorten(told+"; "+r.File, e.Cols-4))
	}
	return out.err
}

// print writes the table, the chart and the headline.
func (c *ladderCmd) print(e *env, a *namedTarget, done *climb) error {
	if c.JSON {
		return writeJSON(e.Stdout, done)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nLadder of %s: row; told effect; measured effect on the score, verdict\n", a.Name)
	for _, r := range done.Rungs {
		r.write(&b, e.Cols)
	}
	writeScores(&b, done.Rungs, e.Cols)
	writeRatio(&b, a, done.Outcome)
	writeEnd(&b, e, done.Outcome)
	fmt.Fprintf(&b, "\nevidence and diffs: iikanji history %s%s\n", a.Name, c.flags())
	if c.again == "" {
		fmt.Fprintf(&b, "undo: iikanji revert %s%s --all\n", a.Name, c.flags())
	}
	_, err := fmt.Fprint(e.Stdout, b.String())
	return err
}

// write writes a rung in three lines: the row, the told effect, the measured one.
func (r climbedRung) write(b *strings.Builder, cols int) {
	fmt.Fprintf(b, "%2d  %s\n", r.Number, report.Shorten(r.Row, cols-4))
	fmt.Fprintf(b, "    told %s\n", report.Shorten(r.Told, cols-9))
	what := r.measured() + r.verdict()
	if n := r.Climbed.Attempt.Runs; n > 0 {
		what += "; " + report.Number(n, "run")
	}
	fmt.Fprintf(b, "    %s\n", report.Shorten(what, cols-4))
	if r.Climbed.Attempt.Skipped == "" {
		for _, m := range r.Climbed.Missing {
			fmt.Fprintf(b, "    %s\n", report.Shorten("without "+report.Clean(m), cols-4))
		}
	}
}

// measured is the effect with its interval, in percent; as factors where the
// percentages have four digits.
func (r climbedRung) measured() string {
	v := r.Climbed.Attempt.Verdict.Effect
	switch {
	case v.Level <= 0:
		return ""
	case v.Mid > math.Log(4):
		return fmt.Sprintf("× %.1f (%.1f to %.1f), ", math.Exp(v.Mid), math.Exp(v.Lo), math.Exp(v.Hi))
	}
	return effectText(v.Mid, v.Lo, v.Hi) + ", "
}

// verdict is the result of a rung in words.
func (r climbedRung) verdict() string {
	c := r.Climbed
	v := c.Attempt.Verdict
	switch {
	case c.Attempt.Skipped != "":
		return "not climbed: " + report.Clean(c.Attempt.Skipped)
	case c.Unjudged:
		return "applied without a trial"
	case c.Attempt.Undone:
		return "undone by hand since"
	case v.Reason == iikanji.Gate:
		return "UNDONE: " + report.Clean(v.Why)
	case c.Alone:
		return aloneVerdict(v)
	case c.Stays && v.Call == iikanji.Keep:
		return "STAYS, " + v.Reason.String()
	case c.Stays && v.Effect.Level > 0 && v.Effect.Lo > 0:
		return "STAYS, likely a gain"
	case c.Stays:
		return "STAYS, not proven"
	case search.Loses(v) && len(v.Tried) > 1:
		return "UNDONE, hurts"
	case search.Loses(v):
		return "UNDONE, likely hurts"
	}
	return "UNDONE as told, loss not proven"
}

// aloneVerdict is the result of a rung that was judged by itself.
func aloneVerdict(v iikanji.Verdict) string {
	switch {
	case v.Call == iikanji.Keep:
		return "a gain, " + v.Reason.String()
	case v.Effect.Level > 0 && v.Effect.Lo > 0:
		return "likely a gain"
	case search.Loses(v) && len(v.Tried) > 1:
		return "hurts"
	case search.Loses(v):
		return "likely hurts"
	}
	return "no effect proven"
}

// writeScores draws the score with each rung, of those that were judged.
func writeScores(b *strings.Builder, rungs []climbedRung, cols int) {
	most := 0.0
	for _, r := range rungs {
		most = max(most, r.Climbed.Scores[0], r.Climbed.Scores[1])
	}
	if most <= 0 {
		return
	}
	b.WriteString("\nScore of the runs with each rung (▒: undone)\n")
	room := cols - 4 - 10
	for _, r := range rungs {
		score := r.Climbed.Scores[1]
		if score <= 0 {
			continue
		}
		mark := "█"
		if !r.Climbed.Stays {
			mark = "▒"
		}
		fmt.Fprintf(b, "%2d %9s %s\n", r.Number, report.Count(int64(math.Round(score))), strings.Repeat(mark, max(1, int(math.Round(score/most*float64(room))))))
	}
}
