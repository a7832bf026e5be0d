package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
)

// recordLoad is the longest load during which requests are recorded: in 6 s a site
// sends more requests than are compared.
const recordLoad = 6 * time.Second

// leastCompared is the least number of equal answers that a rewrite needs that
// nothing else proves. With as many, fewer than one answer in seven (14 %) differs, with a
// confidence of 95 %: 1 − 0.05^(1/20).
const leastCompared = 20

// compareAnswers compares the answers before and after the changes of source among those on
// trial, and keeps what was compared for the verdict. why is the reason to undo them; "" if
// all answers are the same or if nothing can be compared.
func (t *Tuner) compareAnswers(ctx context.Context) (why string, err error) {
	if t.on.isRung() { // a rung may move answers to the web server, past which they are compared
		return "", nil
	}
	tr := t.on.trial
	tr.Answered, why, err = t.sameAnswers(ctx, tr.Arms.Changes, tr.Arms.Put)
	return why, err
}

// sameAnswers compares the answers with and without changes, between which swap switches. why
// is the reason to undo them. The report is nil if nothing can be compared.
func (t *Tuner) sameAnswers(ctx context.Context, changes []*iikanji.Change, swap func(context.Context, bool) error) (_ *iikanji.Answered, why string, err error) {
	field, able := t.Field.(Comparer)
	i := slices.IndexFunc(changes, func(c *iikanji.Change) bool { return c.Remedy != nil && traitsOf(*c.Remedy).Rewrites })
	if !able || i < 0 {
		return nil, "", nil
	}
	t.display.show(func(v *View) { v.Doing = "comparing the answers of both builds to recorded requests" })
	report, err := field.SameAnswers(ctx, load.AnswerSpec{
		Service: changes[i].Target, Seed: t.Options.Seed, Load: min(t.Options.Short, recordLoad),
		AnyOrder: slices.Contains(t.Acts.Policy.Allow, iikanji.RowOrder),
		Swap:     swap,
	})
	if err != nil {
		return nil, "", fmt.Errorf("comparing answers: %w", err)
	}
	t.display.say("compared the answers of both builds: %s", report.Answered)
	testedOnly := slices.ContainsFunc(changes, func(c *iikanji.Change) bool { return slices.Contains(c.Weakens, iikanji.TestedOnly) })
	if len(report.Unlike) == 0 && report.Requests < leastCompared && testedOnly {
		return &report.Answered, fmt.Sprintf("it is proven by equal answers only, and only %s could be compared", report.Answered), nil
	}
	return &report.Answered, report.Difference(), nil
}
