package rewrite

import (
	"slices"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Where a condition on the key of a derived table can be asked of the rows that it reads.

// Reasons why a derived table cannot be restricted. The first one is none: it is already.
const (
	narrowAlready = "the derived table is restricted already"
	narrowForm    = "the derived table has a LIMIT, a UNION, a lock, a variable or another form that a restriction would change"
	narrowKey     = "the key is no plain column of what the derived table reads"
	narrowGroup   = "the derived table is not grouped by the key"
	narrowWindow  = "a window function of the derived table is not partitioned by the key"
)

// locate finds the SELECT of a derived table in the text: the one that its alias follows.
func (n *narrowing) locate(d joinedTable) bool {
	for i := range n.s.tokens {
		from, to, next, ok := derivedAt(n.s.tokens, i)
		if ok && n.s.tokens[i].Depth == 0 && next < len(n.s.tokens) && n.s.tokens[next].IsName() && strings.EqualFold(n.s.tokens[next].Name(), d.alias) {
			n.from, n.to = from, to
			return true
		}
	}
	return false
}

// derivedAt reads ( SELECT … ) [AS] at a token: the bytes of the SELECT, and the token behind.
func derivedAt(tokens []sqltext.Token, i int) (from, to, next int, ok bool) {
	if tokens[i].Text != "(" || i+1 >= len(tokens) || !tokens[i+1].Is("SELECT") {
		return 0, 0, 0, false
	}
	end := i + 1
	for end < len(tokens) && (tokens[end].Text != ")" || tokens[end].Depth != tokens[i].Depth) {
		end++
	}
	if end == len(tokens) {
		return 0, 0, 0, false
	}
	next = end + 1
	if next < len(tokens) && tokens[next].Is("AS") {
		next++
	}
	return tokens[i+1].Start, tokens[end-1].End, next, true
}

// into restricts the SELECT from one byte of the text to another by a column of its result: the
// edits, or why not.
func (n *narrowing) into(from, to int, column string) (edits []sqltext.Edit, why string) {
	s, err := parse(n.s.sql[from:to])
	if err != nil || s.selects() == nil || s.selects().From == nil || s.selects().Limit != nil || len(s.selects().WindowSpecs) > 0 || sqltext.Locks(s.tokens) || assigns(s.node) {
		return nil, narrowForm
	}
	sel := s.selects()
	x := sourceColumn(sel, column)
	if x == nil {
		return nil, narrowKey
	}
	if why := keepsKeys(sel, x); why != "" {
		return nil, why
	}
	if slices.Contains(equalities(sel.Where), x.Name.L) {
		return nil, narrowAlready
	}
	begin := sqltext.Find(s.tokens, 0, "FROM") + 1
	where, end := sqltext.Find(s.tokens, begin, "WHERE"), sqltext.Find(s.tokens, begin, afterWhere...)
	if end < 0 {
		end = len(s.tokens)
	}
	if begin < 1 || begin >= end {
		return nil, narrowForm
	}
	if f, t, next, ok := derivedAt(s.tokens, begin); ok && (next+1 == end || next+1 == where) && s.tokens[next].IsName() {
		return n.into(from+f, from+t, x.Name.L)
	}
	if !writable(x.Name.O) || x.Table.O != "" && !writable(x.Table.O) {
		return nil, narrowKey
	}
	if t, ok := onlyTable(sel); ok {
		n.both = append(n.both, [2]string{t.name, x.Name.L})
	}
	name := x.Name.O
	if x.Table.O != "" {
		name = x.Table.O + "." + name
	}
	return moved(conditioned(s, where, end, name+" "+sqltext.Like(n.s.tokens, "IN")+" ("+n.keys+")"), from), ""
}

// moved are edits of a part of a text as those of the text.
func moved(edits []sqltext.Edit, by int) []sqltext.Edit {
	for i := range edits {
		edits[i].Start, edits[i].End = edits[i].Start+by, edits[i].End+by
	}
	return edits
}

// conditioned adds a condition to a SELECT whose WHERE clause is at a token, -1 without one, and
// ends before another one.
func conditioned(s *statement, where, end int, condition string) []sqltext.Edit {
	at := s.tokens[end-1].End
	if where < 0 {
		return []sqltext.Edit{{Start: at, End: at, New: " " + sqltext.Like(s.tokens, "WHERE") + " " + condition}}
	}
	first := s.tokens[where+1].Start
	and := " " + sqltext.Like(s.tokens, "AND") + " "
	if sqltext.Find(s.tokens[:end], where, "OR", "XOR") < 0 && !slices.ContainsFunc(s.tokens[where:end], func(t sqltext.Token) bool { return t.Text == "||" }) {
		return []sqltext.Edit{{Start: first, End: first, New: condition + and}}
	}
	return []sqltext.Edit{{Start: first, End: first, New: condition + and + "("}, {Start: at, End: at, New: ")"}}
}

// sourceColumn is the column that a SELECT returns under a name; nil if that is no plain one, or
// not one alone.
func sourceColumn(sel *tidb.SelectStmt, name string) (x *tidb.ColumnName) {
	stars, found := 0, 0
	for _, f := range sel.Fields.Fields {
		col, isColumn := f.Expr.(*tidb.ColumnNameExpr)
		switch {
		case f.WildCard != nil:
			stars++
		case f.AsName.L == name && isColumn, f.AsName.L == "" && isColumn && col.Name.Name.L == name:
			x = col.Name
			found++
		case f.AsName.L == name:
			return nil
		}
	}
	if found == 0 && stars == 1 && oneSource(sel) {
		return &tidb.ColumnName{Name: tidb.NewCIStr(name)}
	}
	if found != 1 || stars > 0 {
		return nil
	}
	return x
}

// oneSource reports whether a SELECT reads one table, or one derived table.
func oneSource(sel *tidb.SelectStmt) bool { return sel.From.TableRefs.Right == nil }

// keepsKeys reports whether the rows that a SELECT returns for a value of a column are made of the
// rows with this value alone: "" if so.
func keepsKeys(sel *tidb.SelectStmt, x *tidb.ColumnName) string {
	same := func(e tidb.ExprNode) bool {
		col, ok := e.(*tidb.ColumnNameExpr)
		return ok && col.Name.Name.L == x.Name.L && (col.Name.Table.L == x.Table.L || oneSource(sel))
	}
	among := func(items []*tidb.ByItem) bool {
		return slices.ContainsFunc(items, func(i *tidb.ByItem) bool { return same(i.Expr) })
	}
	if sel.GroupBy != nil && (sel.GroupBy.Rollup || !among(sel.GroupBy.Items)) || sel.GroupBy == nil && (aggregates(sel) || sel.Having != nil) {
		return narrowGroup
	}
	w := &windowFinder{}
	for _, f := range sel.Fields.Fields {
		if f.Expr != nil {
			f.Expr.Accept(w)
		}
	}
	if w.subquery {
		return narrowForm
	}
	for _, spec := range w.specs {
		if spec.Name.L != "" || spec.Ref.L != "" || spec.OnlyAlias || spec.PartitionBy == nil || !among(spec.PartitionBy.Items) {
			return narrowWindow
		}
	}
	return ""
}

// A windowFinder collects the windows of the columns of a SELECT.
type windowFinder struct {
	specs    []*tidb.WindowSpec
	subquery bool
}

func (w *windowFinder) Enter(n tidb.Node) (tidb.Node, bool) {
	switch n := n.(type) {
	case *tidb.WindowFuncExpr:
		w.specs = append(w.specs, &n.Spec)
	case *tidb.SubqueryExpr:
		w.subquery = true
	}
	return n, false
}

func (w *windowFinder) Leave(n tidb.Node) (tidb.Node, bool) { return n, true }

// assigns reports whether a statement names a variable: its value depends on the rows before.
func assigns(n tidb.Node) bool {
	v := &variableFinder{}
	n.Accept(v)
	return v.found
}

// A variableFinder looks for variables.
type variableFinder struct{ found bool }

func (v *variableFinder) Enter(n tidb.Node) (tidb.Node, bool) {
	if _, ok := n.(*tidb.VariableExpr); ok {
		v.found = true
	}
	return n, v.found
}

func (v *variableFinder) Leave(n tidb.Node) (tidb.Node, bool) { return n, true }
