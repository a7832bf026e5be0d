package ui

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/report/document"
	"github.com/iikanji/iikanji/internal/summary"
)

// showChanges lists all changes.
func (s *Server) showChanges(r *http.Request) (*view, error) {
	_, sum, err := s.store.load()
	if err != nil {
		return nil, err
	}
	t := &Table{Name: "changes", Caption: "Changes", Columns: []Column{rightColumn("change", "change"), leftColumn("says", "what"), leftColumn("stage", "stage"), rightColumn("effect", "effect on the score (interval)"), leftColumn("kind", "kind"), leftColumn("target", "target"), leftColumn("finding", "finding")}}
	for i := range sum.Changes {
		c := &sum.Changes[i]
		effect := missing()
		if c.Verdict != nil && c.Verdict.Effect.Level > 0 {
			effect = number(c.Verdict.Effect.Mid, document.Effect(c.Verdict.Effect))
		}
		stage := c.Stage.String()
		t.Rows = append(t.Rows, []Cell{linked(int(c.ID), "/changes/"), text(c.Says), classed(stageMark(c.Stage)+" "+stage, resultClass(stage)), effect, text(c.Kind), text(c.Target), text(string(c.Code))})
	}
	return &view{name: "changes", title: "Changes", here: "/changes", tables: []*Table{t}, data: len(sum.Changes)}, nil
}

func stageMark(s iikanji.Stage) string {
	switch s {
	case iikanji.Kept:
		return "▲"
	case iikanji.Reverted:
		return "▼"
	}
	return "◆"
}

// changePage is the data of one change.
type changePage struct {
	*summary.Change
	Trial     *summary.Trial
	Lines     []document.DiffLine
	Cut       int
	Pairs     []pairOfRuns
	Removable bool
}

// A pairOfRuns is one pair of a verdict with its scores.
type pairOfRuns struct {
	A, B   *summary.Run
	Effect string
}

// showChange shows one change with its evidence, diff and verdict.
func (s *Server) showChange(r *http.Request) (*view, error) {
	n, err := pathNumber(r, "change")
	if err != nil {
		return nil, err
	}
	_, sum, err := s.store.load()
	if err != nil {
		return nil, err
	}
	for i := range sum.Changes {
		if c := &sum.Changes[i]; int(c.ID) == n {
			return &view{name: "change", title: "Change " + strconv.Itoa(n), here: "/changes", data: changePageOf(sum, c)}, nil
		}
	}
	return nil, notFound("there is no change %d in this history", n)
}

func changePageOf(sum *summary.Summary, c *summary.Change) *changePage {
	p := &changePage{Change: c, Removable: c.Stage == iikanji.Kept}
	if c.Trial > 0 {
		p.Trial = &sum.Trials[c.Trial-1]
	}
	diff := c.Diff[:min(len(c.Diff), maxDiff)]
	p.Cut, p.Lines = len(c.Diff)-len(diff), document.DiffLines(diff)
	if c.Verdict == nil {
		return p
	}
	for i, id := range c.Verdict.Base {
		if i == len(c.Verdict.Tried) {
			break
		}
		a, _ := sum.RunOf(id)
		b, _ := sum.RunOf(c.Verdict.Tried[i])
		if a == nil || b == nil {
			continue
		}
		x := pairOfRuns{A: a, B: b, Effect: "-"}
		if a.Clean && b.Clean && a.Score > 0 {
			x.Effect = fmt.Sprintf("%+.1f %%", 100*(b.Score/a.Score-1))
		}
		p.Pairs = append(p.Pairs, x)
	}
	return p
}
