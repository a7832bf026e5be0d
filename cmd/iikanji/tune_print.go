package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/tune"
)

// printTrials lists all trials in their order: the change on a line of its own,
// because it needs the width, and its verdict on the line below.
func printTrials(e *env, out *tune.Outcome) error {
	var b strings.Builder
	trials := 0
	for _, a := range out.Attempts {
		if a.Skipped != "" {
			continue
		}
		trials++
		id := "-"
		if n := len(a.Changes); n > 0 {
			id = fmt.Sprint(a.Changes[n-1])
		}
		code := ""
		if a.Code != "" {
			code = " (" + report.Clean(string(a.Code)) + ")"
		}
		if len(a.Parts) > 0 {
			fmt.Fprintf(&b, "%4s  %s together\n", "", report.Number(len(a.Parts), "change"))
			for i, says := range a.Parts {
				code, _, _ := strings.Cut(a.Causes[i], " ")
				fmt.Fprintf(&b, "%4d  + %s (%s)\n", a.Changes[i], report.Shorten(report.Clean(says), e.Cols-11-report.Width(code)), report.Clean(code))
				if a.Verdict.Call == iikanji.Keep && !a.Dropped {
					fmt.Fprintf(&b, "        %s\n", report.Shorten(partWord(a, i), e.Cols-8))
				}
			}
		} else {
			fmt.Fprintf(&b, "%4s  %s%s\n", id, report.Shorten(report.Clean(a.Says), e.Cols-6-report.Width(code)), code)
		}
		what := verdictWord(a)
		if v := a.Verdict; v.Effect.Level > 0 {
			what += ": " + effectText(v.Effect.Mid, v.Effect.Lo, v.Effect.Hi)
			if v.Call == iikanji.Keep && v.Expect.Level > 0 {
				what = verdictWord(a) + ": expect " + effectText(v.Expect.Mid, v.Expect.Lo, v.Expect.Hi)
			}
		}
		fmt.Fprintf(&b, "      %s; %s\n", report.Shorten(what, e.Cols-16), report.Number(a.Runs, "run"))
	}
	head := "\nTrials: change, verdict, effect to expect on the score with its interval\n"
	if trials == 0 {
		head = "no change was tried\n"
	}
	if skipped := len(out.Attempts) - trials; skipped > 0 {
		fmt.Fprintf(&b, "%s could not be tried: --json has the reasons\n", report.Number(skipped, "remedy"))
	}
	_, err := fmt.Fprint(e.Stdout, head+b.String())
	return err
}

// partWord says what is proven of one change of a kept bundle.
func partWord(a tune.Attempt, i int) string {
	if i < len(a.Alone) && a.Alone[i] != nil {
		v := a.Alone[i].Expect
		return "proven alone: expect " + effectText(v.Mid, v.Lo, v.Hi)
	}
	return "kept with a bundle, unproven alone"
}

// verdictWord returns the verdict of an attempt with its reason.
func verdictWord(a tune.Attempt) string {
	switch v := a.Verdict; {
	case a.Dropped:
		return "DROPPED, no longer needed"
	case a.Undone:
		return "reverted by hand"
	case v.Call == iikanji.Keep && a.Fast && len(v.Base) == 0:
		return "provisional"
	case v.Call == iikanji.Keep && a.Again != nil && a.Again.Call == iikanji.Keep:
		return "KEPT, " + v.Reason.String() + " twice"
	case v.Call == iikanji.Keep && len(a.Parts) > 0:
		return "KEPT together"
	case v.Call == iikanji.Keep:
		return "KEPT, " + v.Reason.String()
	case v.Call == iikanji.Revert:
		return "reverted, " + v.Reason.String()
	}
	return "parked, " + a.Verdict.Reason.String()
}

// printHeadline writes the result of the whole search.
func printHeadline(e *env, a *namedTarget, out *tune.Outcome) error {
	var b strings.Builder
	writeRatio(&b, a, out)
	if s := out.Short; s[0] > 0 && s[1] > 0 {
		fmt.Fprintf(&b, "  searching runs: %s → %s, %.*f ×; they are partly selected for high scores\n", report.Count(int64(math.Round(s[0]))), report.Count(int64(math.Round(s[1]))), decimals(s[1]/s[0]), s[1]/s[0])
	}
	if len(out.Final) > 0 {
		fmt.Fprintf(&b, "  of the changes in force, %.1f are expected to have no effect\n", out.FalseKeeps)
	}
	writeEnd(&b, e, out)
	_, err := fmt.Fprint(e.Stdout, b.String())
	return err
}

// writeRatio writes the result of the last comparison.
func writeRatio(b *strings.Builder, a *namedTarget, out *tune.Outcome) {
	if n := len(out.Final); n > 0 {
		digits := decimals(out.Ratio.Mid)
		fmt.Fprintf(b, "\n%s: %.*f × the untouched score", a.Name, digits, out.Ratio.Mid)
		if out.Ratio.Lo > 0 {
			fmt.Fprintf(b, " (%.*f to %.*f, %.0f %% interval)", digits, out.Ratio.Lo, digits, out.Ratio.Hi, 100*out.Ratio.Level)
		}
		fmt.Fprintf(b, "\n  %s → %s, geometric means of %d interleaved pairs of %s runs\n",
			report.Count(int64(math.Round(out.Scores[0]))), report.Count(int64(math.Round(out.Scores[1]))), n, report.Duration(out.Full))
	}
	for _, w := range out.Work {
		fmt.Fprintf(b, "  %s per request: × %.2f (%.2f to %.2f)\n", w.Name, math.Exp(w.Effect.Mid), math.Exp(w.Effect.Lo), math.Exp(w.Effect.Hi))
	}
}

// writeEnd writes the rehearsal, the runs and the notes of a search.
func writeEnd(b *strings.Builder, e *env, out *tune.Outcome) {
	if out.Rehearsal.Done {
		writeWrapped(b, report.Clean("restart rehearsal: "+out.Rehearsal.Says), e.Cols)
	}
	fmt.Fprintf(b, "  %d runs, %d of them void, in %s; noise of a pair %.1f %%\n", out.Runs, out.Voided, report.Duration(out.Took), 100*out.Noise)
	for _, n := range out.Notes {
		writeWrapped(b, report.Clean(n), e.Cols)
	}
}

// decimals is the number of decimals with which a ratio is printed: a gain of 4 %
// must not read as 1.0.
func decimals(ratio float64) int {
	if ratio < 1.995 {
		return 2
	}
	return 1
}

// writeWrapped writes a sentence, indented and wrapped at cols.
func writeWrapped(b *strings.Builder, text string, cols int) {
	line := " "
	for word := range strings.FieldsSeq(text) {
		if report.Width(line)+1+report.Width(word) > cols && strings.TrimSpace(line) != "" {
			b.WriteString(line + "\n")
			line = "   "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
