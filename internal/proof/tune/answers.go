package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
)

// A Comparer is a Field that can compare the answers of the site before and after a
// change of its source.
type Comparer interface {
	SameAnswers(ctx context.Context, spec load.AnswerSpec) (load.AnswerReport, error)
}

// compareAnswers is sameAnswers for a trial. It keeps what was compared for the verdict.
func (tr *trial) compareAnswers(ctx context.Context) (why string, err error) {
	if tr.rung != nil { // a rung may move answers to the web server, past which they are compared
		return "", nil
	}
	tr.answered, why, err = tr.sameAnswers(ctx)
	return why, err
}

// sameAnswers compares the answers before and after the changes of source among the
// arms' changes. why is the reason to undo them; "" if all answers are the same or if
// nothing can be compared.
func (ar *arms) sameAnswers(ctx context.Context) (answered *iikanji.Answered, why string, err error) {
	field, able := ar.field.(Comparer)
	i := slices.IndexFunc(ar.changes, func(c *iikanji.Change) bool { return rewrites(c.Remedy) })
	if !able || i < 0 {
		return nil, "", nil
	}
	ar.show(func(v *View) { v.Doing = "comparing the answers of both builds to recorded requests" })
	weakens := func(p iikanji.Promise) bool {
		return slices.ContainsFunc(ar.changes, func(c *iikanji.Change) bool { return slices.Contains(c.Weakens, p) })
	}
	report, err := field.SameAnswers(ctx, load.AnswerSpec{
		Service: ar.changes[i].Target, Seed: ar.options.Seed, Load: min(ar.options.Short, recordLoad),
		AnyOrder: slices.Contains(ar.acts.Policy.Allow, iikanji.RowOrder),
		Swap:     ar.put,
	})
	if err != nil {
		return nil, "", fmt.Errorf("comparing answers: %w", err)
	}
	ar.say("compared the answers of both builds: %s", report.Answered)
	switch {
	case len(report.Unlike) > 0:
		return &report.Answered, report.Difference(), nil
	case report.Requests < leastCompared && weakens(iikanji.TestedOnly):
		return &report.Answered, fmt.Sprintf("it is proven by equal answers only, and only %s could be compared", report.Answered), nil
	}
	return &report.Answered, "", nil
}

// recordLoad is the longest load during which requests are recorded: in 6 s a site
// sends more requests than are compared.
const recordLoad = 6 * time.Second

// leastCompared is the least number of equal answers that a rewrite needs that
// nothing else proves.
const leastCompared = 20
