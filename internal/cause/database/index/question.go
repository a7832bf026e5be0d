package index

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
	byTable := map[*Table]*Question{}
	for _, q := range w.Queries {
		st, err := s.Parse(p, q.SQL, q.DB)
		if err != nil {
			continue
		}
		for _, blk := range st.Blocks {
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

func (blk *Block) questions(byTable map[*Table]*Question) {
	ask := func(at ColumnAt, text string) {
		t := blk.Refs[at.Ref].Table
		if t == nil || t.ByName[at.Col] == nil {
			return
		}
		q := byTable[t]
		if q == nil {
			q = &Question{Schema: t.Schema, Table: t.Name}
			byTable[t] = q
		}
		if name := t.ByName[at.Col].Name; !slices.Contains(q.Columns, name) {
			q.Columns = append(q.Columns, name)
		}
		if text != "" && len(text) < longPredicate && len(q.Predicates) < mostPredicates && !slices.Contains(q.Predicates, text) {
			q.Predicates = append(q.Predicates, text)
		}
	}
	for _, p := range blk.Predicates {
		ask(p.ColumnAt, p.Text)
	}
	for r, ref := range blk.Refs {
		if ref.Table == nil {
			continue
		}
		for col, c := range ref.Table.ByName {
			if c.Long() && (blk.All[r] || blk.Used[r][col]) {
				ask(ColumnAt{r, col}, "") // its length
			}
		}
	}
	for _, o := range blk.ors {
		for _, arm := range o.arms {
			for _, p := range arm {
				ask(p.ColumnAt, p.Text)
			}
		}
	}
	for _, o := range blk.Order {
		ask(o.ColumnAt, "")
	}
	for _, c := range slices.Concat(blk.Group, blk.MinMax, blk.Outputs) {
		if blk.Distinct || !slices.Contains(blk.Outputs, c) {
			ask(c, "")
		}
	}
}
