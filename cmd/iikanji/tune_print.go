package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/report"
)

// printTrials lists all trials in their order: a row for each, and below it its
// change, which needs the whole width.
func printTrials(e *env, out *tune.Outcome) error {
	t := &report.Table{Columns: []report.Column{{Name: "change"}, {Name: "code", Left: true}, {Name: "verdict", Left: true, Shrink: true}, {Name: "effect"}, {Name: "from"}, {Name: "to"}, {Name: "runs"}}}
	for _, a := range out.Attempts {
		if a.Skipped == "" {
			t.Rows, t.Below = append(t.Rows, trialRow(&a)), append(t.Below, trialText(&a))
		}
	}
	o := &output{w: e.Stdout}
	if len(t.Rows) == 0 {
		o.line("no change was tried")
	} else {
		o.line("\nTrials: effect on the score (of kept changes: the effect to expect), interval")
		o.table(t, e.Cols)
	}
	if skipped := len(out.Attempts) - len(t.Rows); skipped > 0 {
		o.line("%s could not be tried: --json has the reasons", report.Number(skipped, "remedy"))
	}
	return o.err
}

// trialRow is the row of one trial.
func trialRow(a *search.Attempt) []string {
	id := "-"
	if n := len(a.Changes); n > 0 && !a.HasSeveral() {
		id = fmt.Sprint(a.Changes[n-1])
	}
	code := string(a.Candidate.Code)
	if a.HasSeveral() {
		id, code = fmt.Sprint(len(a.Planned()))+"×", "together"
	}
	effect := a.Verdict.Effect
	if x := a.Verdict.Expect; a.Verdict.Call == iikanji.Keep && effect.Level > 0 && x.Level > 0 {
		effect = x
	}
	row := []string{id, cmp.Or(code, "-"), verdictWord(a)}
	return append(append(row, effectCells(effect)...), report.Count(int64(a.Runs)))
}

// effectCells are an effect on ln(score) and its interval as cells, in percent.
func effectCells(v iikanji.Interval) []string {
	if v.Level <= 0 {
		return []string{"-", "-", "-"}
	}
	return []string{percentCell(v.Mid), percentCell(v.Lo), percentCell(v.Hi)}
}

func percentCell(x float64) string { return fmt.Sprintf("%+.1f%%", inPercent(x)) }

// trialText are the lines below the row of a trial: what was changed.
func trialText(a *search.Attempt) (lines []string) {
	if !a.HasSeveral() {
		if text := a.PredictedText(); text != "" {
			return []string{"→ " + a.Says, "  " + text}
		}
		return []string{"→ " + a.Says}
	}
	for _, p := range a.Planned() {
		lines = append(lines, fmt.Sprintf("→ %d %s: %s", p.Change, p.Code(), p.Says))
		if a.Verdict.Call == iikanji.Keep && !a.Dropped {
			lines = append(lines, "  "+partWord(p))
		}
	}
	return lines
}

// partWord returns what is proven of one part of a kept bundle.
func partWord(p search.Part) string {
	if p.Dropped {
		return "dropped: it showed no gain beside the others"
	}
	if p.Alone != nil {
		v := p.Alone.Expect
		return "proven alone: expect " + effectText(v.Mid, v.Lo, v.Hi)
	}
	return "kept with a bundle, unproven alone"
}

// verdictWord returns the verdict of an attempt with its reason.
func verdictWord(a *search.Attempt) string {
	switch v := a.Verdict; {
	case a.Dropped:
		return "DROPPED, no longer needed"
	case a.Undone:
		return "reverted by hand"
	case v.Call == iikanji.Keep && a.Fast && len(v.Base) == 0:
		return "provisional"
	case v.Call == iikanji.Keep && a.Again != nil && a.Again.Call == iikanji.Keep:
		return "KEPT, " + v.Reason.String() + " twice"
	case v.Call == iikanji.Keep && a.HasSeveral():
		return "KEPT together"
	case v.Call == iikanji.Keep && v.Reason == iikanji.Cheaper:
		return "KEPT for its cost, score undecided"
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
	writeProofs(&b, out.Proofs)
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
		writePlace(b, out.Place)
	}
	if len(out.Work) > 0 {
		t := &report.Table{Columns: []report.Column{{Name: "  per request", Left: true}, {Name: "factor"}, {Name: "from"}, {Name: "to"}}}
		for _, w := range out.Work {
			row := []string{"  " + w.Name}
			for _, v := range []float64{w.Effect.Mid, w.Effect.Lo, w.Effect.Hi} {
				row = append(row, fmt.Sprintf("×%.2f", math.Exp(v)))
			}
			t.Rows = append(t.Rows, row)
		}
		_ = t.Write(b, report.Text, 0) // a strings.Builder has no errors
	}
}

// writeProofs writes how the changes in force are proven.
func writeProofs(b *strings.Builder, p search.Proofs) {
	if p.Alone+p.Unproven+p.Neutral == 0 {
		return
	}
	text := fmt.Sprintf("  in force: %d proven alone", p.Alone)
	if p.Neutral > 0 {
		text += fmt.Sprintf(", %d without a proven gain for what they save", p.Neutral)
	}
	if p.Unproven > 0 {
		text += fmt.Sprintf(", %d kept together and unproven alone; about %s more would decide on these", p.Unproven, search.Brief(p.Time))
	}
	fmt.Fprintln(b, text)
}

// writePlace writes the CPUs of the runs, on which a ratio depends: a site that shares
// its CPUs with the load generator gains less from the same changes.
func writePlace(b *strings.Builder, p *iikanji.Placement) {
	switch {
	case p == nil:
	case p.Generator == p.Stack:
		fmt.Fprintf(b, "  generator and site shared CPUs: %s of %d\n", p.Stack, p.Cores)
	default:
		fmt.Fprintf(b, "  generator on CPU %s, site on CPU %s of %d\n", p.Generator, p.Stack, p.Cores)
	}
}

// writeEnd writes the rehearsal, the runs and the notes of a search.
func writeEnd(b *strings.Builder, e *env, out *tune.Outcome) {
	if out.Rehearsal.Says != "" {
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
	b.WriteString(strings.Join(report.Wrap("  ", "    ", text, cols), "\n") + "\n")
}

// learntText says in a sentence what a search has come to know: how many of the changes that
// it tried are in force, and how the limit has moved.
func learntText(out *tune.Outcome) string {
	tried, kept, first, last := 0, 0, "", ""
	for i := range out.Attempts {
		a := &out.Attempts[i]
		if a.Skipped != "" {
			continue
		}
		n := max(1, len(a.Planned()))
		tried += n
		if r := a.Result(); r == iikanji.Keep.String() || r == "provisional" {
			kept += n
		}
		if last = a.Binding; first == "" {
			first = last
		}
	}
	switch {
	case tried == 0:
		return ""
	case last != "" && last != first && first != "":
		return fmt.Sprintf("learnt: %s tried, %d of them kept; the limit was %s and is %s\n", report.Number(tried, "change"), kept, first, last)
	case first != "":
		return fmt.Sprintf("learnt: %s tried, %d of them kept; the limit is %s\n", report.Number(tried, "change"), kept, first)
	}
	return fmt.Sprintf("learnt: %s tried, %d of them kept\n", report.Number(tried, "change"), kept)
}
