package work

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/comparison"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/proof/stats"
	"github.com/iikanji/iikanji/internal/show/report"
)

// score is a score for people.
func score(v float64) string { return report.Count(int64(math.Round(v))) }

// whole is an effect on ln in whole percents with its sign.
func whole(effect float64) string {
	p := math.Round(stats.Percent(effect))
	if p == 0 {
		p = 0 // no −0
	}
	return strings.Replace(fmt.Sprintf("%+.0f", p), "-", "−", 1)
}

// tenth is whole with one decimal.
func tenth(effect float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", stats.Percent(effect)), "-", "−", 1)
}

// baseName is the kept state for people.
func (c *Comparison) baseName() string {
	if c.Kept {
		return fmt.Sprintf("run %d (kept)", c.Base)
	}
	return fmt.Sprintf("run %d (the first state; none is kept yet)", c.Base)
}

// Head says what the run and the kept state reached.
func (c *Comparison) Head() string {
	run := fmt.Sprintf("run %d %s", c.ID, c.Run.Outcome)
	if c.Run.Outcome == iikanji.Passed {
		run += " " + score(c.Run.Score)
	}
	switch {
	case c.Same && c.KeptRuns <= 1:
		return run + ": the first run of its state"
	case c.Same:
		text := fmt.Sprintf("%s: the state of %s again, %d of %s passed", run, c.baseName(), c.Passed, report.Number(c.KeptRuns, "run"))
		if c.Score.KeptRuns > 0 {
			text += ", mean " + score(c.Score.Kept)
		}
		if c.Spread > 0 {
			text += fmt.Sprintf(", spread %.1f %%", 100*c.Spread)
		}
		return text
	}
	kept := c.baseName() + ": "
	if c.Score.KeptRuns == 0 {
		return run + "; " + kept + fmt.Sprintf("%d of %s passed", c.Passed, report.Number(c.KeptRuns, "run"))
	}
	kept += score(c.Score.Kept)
	if c.Score.KeptRuns > 1 {
		kept += fmt.Sprintf(", mean of %d", c.Score.KeptRuns)
	}
	if c.Score.NowRuns > 1 {
		run += fmt.Sprintf(" (mean of %d: %s)", c.Score.NowRuns, score(c.Score.Now))
	}
	return run + "; " + kept
}

// Verdict says what the scores show, and no more; "" if there is nothing to compare.
func (c *Comparison) Verdict() string {
	r := c.Score
	if r.Word == comparison.None {
		return ""
	}
	text := fmt.Sprintf("%s %%, 90 %% interval %s to %s %%: ", tenth(r.Effect.Mid), whole(r.Effect.Lo), whole(r.Effect.Hi))
	switch r.Word {
	case comparison.Gain:
		return text + "a gain, as far as runs one after the other can show"
	case comparison.Loss:
		return text + "a loss, as far as runs one after the other can show"
	}
	text += "open"
	switch {
	case r.More > 0:
		text += fmt.Sprintf("; %s of this state would decide +10 %%", report.Number(r.More, "more run"))
		if r.Pairs > 0 {
			text += fmt.Sprintf(", or %s (iikanji work prove)", report.Number(r.Pairs, "pair"))
		}
	case r.Pairs > 0:
		text += fmt.Sprintf("; the kept state has too few runs: %s would decide +10 %% (iikanji work prove)", report.Number(r.Pairs, "pair"))
	default:
		text += "; the scores vary too much to decide +10 % within 20 runs"
	}
	return text
}

// shownCosts is how many costs are shown.
const shownCosts = 4

// PerRequest says which costs per request differ; "" for none. A cost that is open is
// shown after those that differ.
func (c *Comparison) PerRequest() string {
	costs := slices.Clone(c.Costs)
	slices.SortStableFunc(costs, func(a, b Cost) int {
		return cmp.Compare(open(a), open(b))
	})
	var parts []string
	for _, k := range costs[:min(len(costs), shownCosts)] {
		word := map[comparison.Word]string{comparison.Gain: "more", comparison.Loss: "less", comparison.Open: "open"}[k.Word]
		parts = append(parts, fmt.Sprintf("%s ×%.2f (%s)", k.Name, math.Exp(k.Effect.Mid), word))
	}
	if len(parts) == 0 {
		return ""
	}
	return "per request: " + strings.Join(parts, ", ")
}

func open(c Cost) int {
	if c.Word == comparison.Open {
		return 1
	}
	return 0
}

// Advice is what a steady cost says where the score is open; "" for nothing.
func (c *Comparison) Advice() string {
	if c.Score.Word != comparison.Open {
		return ""
	}
	for _, k := range c.Costs {
		if k.Word == comparison.Loss && k.Effect.Mid < math.Log(0.8) {
			return fmt.Sprintf("the score is open and %s per request fell: keep it, unless something else rose", k.Name)
		}
	}
	return ""
}

// Sum says how many edits the effect is of.
func (c *Comparison) Sum() string {
	hand := len(ByHand(c.Edits))
	switch {
	case len(c.Edits) == 0:
		return ""
	case len(c.Edits) == 1:
		return "1 edit"
	case hand == len(c.Edits):
		return fmt.Sprintf("%d edits: this is their sum", len(c.Edits))
	}
	return fmt.Sprintf("%d edits, %d of them by hand: this is their sum", len(c.Edits), hand)
}

// shownFaults is how many kinds of faults are shown.
const shownFaults = 5

// Failures says how the faults of a failed run differ from those of the kept state.
func (c *Comparison) Failures() (lines []string) {
	for _, f := range c.Faults[:min(len(c.Faults), shownFaults)] {
		word := "more"
		switch {
		case f.Kept == 0:
			word = "new"
		case f.Now == 0:
			word = "gone"
		case f.Now < f.Kept:
			word = "fewer"
		}
		lines = append(lines, fmt.Sprintf("%s: %s, %s a run instead of %s", word, report.Clean(f.Message), number(f.Now), number(f.Kept)))
	}
	return lines
}

func number(v float64) string {
	if v == math.Trunc(v) {
		return report.Count(int64(v))
	}
	return fmt.Sprintf("%.1f", v)
}

// Limit is where the CPU time of the load went.
func Limit(run *iikanji.Run) string {
	shares, names := map[string]float64{}, []string(nil)
	for _, u := range run.Usage {
		if _, known := shares[u.Host]; !known {
			names = append(names, u.Host)
		}
		shares[u.Host] += u.Share
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(shares[b], shares[a]) })
	var words []string
	for i, name := range names {
		parts := usedBy(run, name)
		if len(parts) == 0 {
			continue
		}
		said := "CPU"
		if len(names) > 1 {
			said = cmp.Or(name, "local")
		}
		text := fmt.Sprintf("%s %.0f %%", said, 100*min(shares[name], 1))
		if i == 0 {
			text += " (" + strings.Join(parts, ", ") + ")"
		}
		words = append(words, text)
	}
	if len(words) == 0 {
		return ""
	}
	return "limit: " + strings.Join(words, "; ")
}

// usedBy are the shares of a machine's cores, the largest first.
func usedBy(run *iikanji.Run, on string) (words []string) {
	parts := slices.DeleteFunc(slices.Clone(run.Usage), func(u iikanji.Usage) bool { return u.Host != on || u.Share < 0.005 })
	slices.SortStableFunc(parts, func(a, b iikanji.Usage) int { return cmp.Compare(b.Share, a.Share) })
	for _, u := range parts {
		words = append(words, fmt.Sprintf("%s %.0f", u.Who, 100*u.Share))
	}
	return words
}

// Subject is the first line of the commit of a run.
func (c *Comparison) Subject(note string) string {
	text := fmt.Sprintf("run %d: %s", c.ID, c.Run.Outcome)
	if c.Run.Outcome == iikanji.Passed {
		text = fmt.Sprintf("run %d: %s", c.ID, score(c.Run.Score))
	}
	switch c.Score.Word {
	case comparison.None:
	case comparison.Open:
		text += fmt.Sprintf(" (%s %%, open)", whole(c.Score.Effect.Mid))
	default:
		text += fmt.Sprintf(" (%s %%)", whole(c.Score.Effect.Mid))
	}
	if note = strings.Join(strings.Fields(note), " "); note != "" {
		text += " " + note
	}
	return text
}

// bodyRoutes is how many routes the body of a commit has.
const bodyRoutes = 10

// Body is the rest of the message: interval, limit, heaviest routes with their change
// since the run before, edits, who.
func (c *Comparison) Body(routes, before *iikanji.Profile, who string) string {
	var b strings.Builder
	put := func(lines ...string) {
		for _, l := range lines {
			if l != "" {
				b.WriteString(l + "\n")
			}
		}
	}
	put(c.Head(), c.Verdict(), c.PerRequest(), Limit(c.Run))
	put(c.Failures()...)
	if routes != nil && len(routes.Rows) > 0 {
		put("", "routes: count, total")
		old := map[string]iikanji.Row{}
		if before != nil {
			for _, r := range before.Rows {
				old[r.Key] = r
			}
		}
		for _, r := range routes.Rows[:min(len(routes.Rows), bodyRoutes)] {
			line := fmt.Sprintf("  %s  %d", r.Key, r.Count)
			if !r.Untimed {
				line += fmt.Sprintf("  %.1f s", r.Total.Seconds())
			}
			if o, ok := old[r.Key]; ok && o.Count > 0 {
				line += fmt.Sprintf("  (count ×%.2f", float64(r.Count)/float64(o.Count))
				if !r.Untimed && o.Total > 0 {
					line += fmt.Sprintf(", total ×%.2f", r.Total.Seconds()/o.Total.Seconds())
				}
				line += ")"
			}
			put(line)
		}
	}
	if len(c.Edits) > 0 {
		put("", fmt.Sprintf("edits since run %d:", c.Base))
		for _, e := range c.Edits[:min(len(c.Edits), 40)] {
			put("  " + Line(e))
		}
	}
	if who != "" {
		put("", "by "+who)
	}
	return b.String()
}

// shownNames is how many names of one edit are shown.
const shownNames = 4

// Line is an edit on one line.
func Line(e difference.Edit) string {
	var parts []string
	for _, p := range []string{e.Host, e.Service} {
		if p != "" && !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	parts = append(parts, e.Place)
	if e.Added+e.Removed > 0 {
		parts = append(parts, fmt.Sprintf("+%d −%d", e.Added, e.Removed))
	}
	if what := What(e); what != "" {
		parts = append(parts, what)
	}
	return strings.Join(parts, "  ")
}

// What is what differs at a place, with its warning and the changes that explain it.
func What(e difference.Edit) string {
	var parts []string
	if len(e.Changes) > 0 {
		var numbers []string
		for _, id := range e.Changes {
			numbers = append(numbers, fmt.Sprint(id))
		}
		text := "change " + strings.Join(numbers, ", ")
		if e.ByHand {
			text += ", and by hand since"
		}
		parts = append(parts, text)
	}
	names := strings.Join(e.Names[:min(len(e.Names), shownNames)], "; ")
	if more := len(e.Names) - shownNames; more > 0 {
		names += fmt.Sprintf("; %d more", more)
	}
	if names != "" {
		parts = append(parts, names)
	}
	if e.Warning != "" {
		parts = append(parts, string(e.Warning)+": "+e.Why)
	}
	if text := touchedText(e.Touched); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
