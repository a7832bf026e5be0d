package ui

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
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
	Removable bool
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
			v := &view{name: "change", title: "Change " + strconv.Itoa(n), here: "/changes", data: changePageOf(sum, c)}
			if pairs := pairsOf(sum, c.Verdict); len(pairs.Rows) > 0 {
				v.tables = append(v.tables, pairs)
			}
			return v, nil
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
	return p
}

// pairsTable is a table of pairs without rows.
func pairsTable() *Table {
	return &Table{Name: "pairs", Caption: "Pairs of runs", Columns: []Column{rightColumn("pair", "pair"), rightColumn("without", "run without"), rightColumn("score", "score"),
		rightColumn("with", "run with"), rightColumn("scorewith", "score"), rightColumn("difference", "difference"), leftColumn("compare", "compare")}}
}

// addPair adds a pair. A ratio of 0 is unknown.
func (t *Table) addPair(a, b iikanji.RunID, scoreA, scoreB, ratio float64) {
	difference := missing()
	if ratio > 0 {
		difference = number(ratio, fmt.Sprintf("%+.1f %%", 100*(ratio-1)))
	}
	t.Rows = append(t.Rows, []Cell{whole(len(t.Rows) + 1), linked(int(a), "/runs/"), number(scoreA, document.Points(scoreA)), linked(int(b), "/runs/"), number(scoreB, document.Points(scoreB)), difference,
		link(fmt.Sprintf("run %d and run %d", a, b), fmt.Sprintf("%s?vs=%d", runPath(b), a))})
}

// pairsOf are the pairs of a verdict.
func pairsOf(sum *summary.Summary, v *iikanji.Verdict) *Table {
	t := pairsTable()
	if v == nil {
		return t
	}
	for i, id := range v.Base[:min(len(v.Base), len(v.Tried))] {
		a, _ := sum.RunOf(id)
		b, _ := sum.RunOf(v.Tried[i])
		if a == nil || b == nil {
			continue
		}
		ratio := 0.0
		if a.Clean && b.Clean && a.Score > 0 {
			ratio = b.Score / a.Score
		}
		t.addPair(a.ID, b.ID, a.Score, b.Score, ratio)
	}
	return t
}
