package cause

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
)

// A Question lists the counts in a table that reliable index advice needs: distinct
// values of columns, and selectivities of predicates.
type Question struct {
	Schema, Table string
	Columns       []string // as the schema spells them
	Predicates    []string
}

const (
	mostPredicates = 40  // for one table
	longPredicate  = 500 // bytes
)

// Questions lists the counts that the advice for a workload needs, by table.
func (s *Schema) Questions(w Workload) []Question {
	p := parser.New()
	byTable := map[*table]*Question{}
	for _, q := range w.Queries {
		st, err := s.parse(p, q.SQL, q.DB)
		if err != nil {
			continue
		}
		for _, blk := range st.blocks {
			blk.questions(byTable)
		}
	}
	var out []Question
	for _, q := range byTable {
		slices.Sort(q.Columns)
		slices.Sort(q.Predicates)
		out = append(out, *q)
	}
	slices.SortFunc(out, func(a, b Question) int { return strings.Compare(a.Schema+"."+a.Table, b.Schema+"."+b.Table) })
	return out
}

func (blk *block) questions(byTable map[*table]*Question) {
	ask := func(at colAt, text string) {
		t := blk.refs[at.ref].table
		if t == nil || t.columns[at.col] == nil {
			return
		}
		q := byTable[t]
		if q == nil {
			q = &Question{Schema: t.Schema, Table: t.Name}
			byTable[t] = q
		}
		if name := t.columns[at.col].Name; !slices.Contains(q.Columns, name) {
			q.Columns = append(q.Columns, name)
		}
		if text != "" && len(text) < longPredicate && len(q.Predicates) < mostPredicates && !slices.Contains(q.Predicates, text) {
			q.Predicates = append(q.Predicates, text)
		}
	}
	for _, p := range blk.preds {
		ask(p.colAt, p.text)
	}
	for r, ref := range blk.refs {
		if ref.table == nil {
			continue
		}
		for col, c := range ref.table.columns {
			if c.Long() && (blk.all[r] || blk.used[r][col]) {
				ask(colAt{r, col}, "") // its length
			}
		}
	}
	for _, o := range blk.ors {
		for _, arm := range o.arms {
			for _, p := range arm {
				ask(p.colAt, p.text)
			}
		}
	}
	for _, o := range blk.order {
		ask(o.colAt, "")
	}
	for _, c := range slices.Concat(blk.group, blk.minmax, blk.outs) {
		if blk.distinct || !slices.Contains(blk.outs, c) {
			ask(c, "")
		}
	}
}
