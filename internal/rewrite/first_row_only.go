package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var firstRowOnly = Lever{Code: "APP201", Title: "only the first row is used",
	Line:    "all rows are read where the first one, or whether there is one, is enough",
	Promise: RowOrder, Order: 5, Saved: Share{Lo: 0.3, Hi: 1}, Of: OfStatements, OneRow: true,
	find: findFirstRowOnly,
}

// findFirstRowOnly finds queries whose first row alone is used, and counts that are
// only compared with zero.
func findFirstRowOnly(r *reporter) error {
	l := &firstRow{reporter: r, calls: callsOf(r.pass)}
	for _, c := range l.calls.Calls {
		if c.Text == nil || c.Text.Holes > 0 || leftAlone(r.pass, c) {
			continue
		}
		if s, err := parse(c.SQL()); err == nil && s.selects() != nil && s.selects().Limit == nil {
			l.visit(c, s)
		}
	}
	l.mapped()
	return nil
}

type firstRow struct {
	*reporter
	calls   *sqlcall.Result
	finding *mapperFind // that is being looked at
}

func (l *firstRow) visit(c *sqlcall.Call, s *statement) {
	switch c.Op {
	case sqlcall.Select:
		if v := localVar(l.pass.TypesInfo, c.Dests[0]); v != nil && l.firstOnly(v) {
			l.limit(c, s, l.reads(v))
		}
	case sqlcall.Query:
		if v := assignedTo(l.pass, c, 0); v != nil && l.calls.Writes[v] == 1 && l.nextOnce(v) {
			l.limit(c, s, true)
		}
	case sqlcall.Get, sqlcall.QueryRow:
		if len(c.Dests) == 1 {
			if v := localVar(l.pass.TypesInfo, c.Dests[0]); v != nil && countsAll(s.selects()) {
				l.exists(c, s, v)
				return
			}
		}
		if s.selects().OrderBy != nil && !l.facts.atMostOne(s.selects()) {
			l.limit(c, s, true)
		}
	}
}

// limit reports a query whose first row is enough. taken: the row itself is used,
// not only whether there is one.
func (l *firstRow) limit(c *sqlcall.Call, s *statement, taken bool) {
	sel := s.selects()
	if l.facts.atMostOne(sel) {
		return // LIMIT would change nothing
	}
	p := place{node: c.Expr, statements: []string{s.sql}, what: "all rows are read and only the first one is used", how: "add LIMIT 1"}
	switch {
	case sqltext.Locks(s.tokens):
		p.promise = Isolation // fewer rows are locked
	case taken && sel.OrderBy == nil:
		p.promise = RowOrder
	}
	e, ok := limited(s, "1")
	if l.needs(ok, c.Expr, "the statement takes no LIMIT at its end") {
		if edits, ok := c.Text.Edits(e); l.needs(ok, c.Expr, textSpread) {
			p.fixes = suggested("Read one row", edits)
		}
	}
	l.report(p)
}

// firstOnly reports whether a slice is used only as a destination, for its first
// element, and for whether it is empty.
func (l *firstRow) firstOnly(v *types.Var) bool {
	if _, ok := v.Type().Underlying().(*types.Slice); !ok || !l.startsEmpty(v) {
		return false
	}
	used := false
	for _, use := range usesOf(l.pass, v) {
		parent := above(use)
		switch p := parent.Node().(type) {
		case *ast.UnaryExpr:
			call, ok := above(parent).Node().(*ast.CallExpr)
			if !ok || !l.fills(call) {
				return false
			}
		case *ast.IndexExpr:
			if n, ok := intConstant(l.pass.TypesInfo, p.Index); !ok || n != 0 || ast.Unparen(p.X) != use.Node() {
				return false
			}
			used = true
		case *ast.CallExpr:
			b, ok := above(parent).Node().(*ast.BinaryExpr)
			if !isBuiltin(l.pass.TypesInfo, p, "len") || !ok || !comparesWithZero(l.pass.TypesInfo, b, p) {
				return false
			}
			used = true
		default:
			return false
		}
	}
	return used
}

// startsEmpty reports whether a local slice is declared without elements and is
// never assigned.
func (l *firstRow) startsEmpty(v *types.Var) bool {
	if l.finding != nil && l.finding.mapper == entMapper && l.finding.dest == v {
		return l.calls.Writes[v] == 1 // by All
	}
	for c := range rootOf(l.pass).Preorder((*ast.Ident)(nil)) {
		if l.pass.TypesInfo.Defs[c.Node().(*ast.Ident)] != v {
			continue
		}
		switch p := c.Parent().Node().(type) {
		case *ast.ValueSpec:
			return len(p.Values) == 0 || len(p.Values) == 1 && emptySlice(l.pass.TypesInfo, p.Values[0])
		case *ast.AssignStmt:
			return len(p.Lhs) == 1 && len(p.Rhs) == 1 && emptySlice(l.pass.TypesInfo, p.Rhs[0])
		}
		return false // a parameter or a loop variable
	}
	return false
}

// emptySlice reports whether an expression makes a slice without elements.
func emptySlice(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		if isBuiltin(info, e, "make") && len(e.Args) >= 2 {
			n, ok := intConstant(info, e.Args[1])
			return ok && n == 0
		}
	}
	return false
}

// reads reports whether an element of a slice is used.
func (l *firstRow) reads(v *types.Var) bool {
	for _, use := range usesOf(l.pass, v) {
		if _, ok := above(use).Node().(*ast.IndexExpr); ok {
			return true
		}
	}
	return false
}

// nextOnce reports whether rows are advanced at one place outside of loops, and
// otherwise only scanned and closed.
func (l *firstRow) nextOnce(v *types.Var) bool {
	nexts := 0
	for _, use := range usesOf(l.pass, v) {
		sel, ok := above(use).Node().(*ast.SelectorExpr)
		if !ok {
			return false
		}
		call, ok := above(above(use)).Node().(*ast.CallExpr)
		if !ok || call.Fun != sel {
			return false
		}
		switch sel.Sel.Name {
		case "Next":
			for c := range use.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil)) {
				if c.Node().Pos() > v.Pos() {
					return false
				}
			}
			nexts++
		case "Scan", "StructScan", "MapScan", "SliceScan", "Close", "Err", "Columns":
		default:
			return false
		}
	}
	return nexts == 1
}

// countsAll reports whether a SELECT has COUNT(*), or COUNT of a constant, as its
// only column, over all rows of its tables.
func countsAll(sel *tidb.SelectStmt) bool {
	if len(sel.Fields.Fields) != 1 || sel.GroupBy != nil || sel.Having != nil || sel.Distinct || sel.From == nil || sel.LockInfo != nil || sel.OrderBy != nil {
		return false
	}
	agg, ok := sel.Fields.Fields[0].Expr.(*tidb.AggregateFuncExpr)
	if !ok || !strings.EqualFold(agg.F, tidb.AggFuncCount) || agg.Distinct || len(agg.Args) != 1 {
		return false
	}
	_, constant := agg.Args[0].(*test_driver.ValueExpr)
	return constant
}

// exists reports a count that is only compared with zero.
func (l *firstRow) exists(c *sqlcall.Call, s *statement, v *types.Var) {
	sel := s.selects()
	if t, ok := onlyTable(sel); ok && l.facts.unique(t.name, equalities(sel.Where)) {
		return // it counts one row at most
	}
	if b, ok := v.Type().Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 || !l.zeroOnly(v) || isParameter(l.pass, v) {
		return // a result with a name may be returned without it
	}
	p := place{node: c.Expr, statements: []string{s.sql}, what: "all matching rows are counted to learn whether there is one", how: "ask with EXISTS"}
	edits, ok := existsEdits(s)
	if l.needs(ok, c.Expr, "the statement has a form that EXISTS cannot have around it") &&
		l.needs(sqltext.Marked(s.tokens), c.Expr, "the statement's placeholders are not ?, as those of MySQL and SQLite are") {
		if edits, ok := c.Text.Edits(edits...); l.needs(ok, c.Expr, textSpread) {
			p.fixes = suggested("Ask whether there is a row", edits)
		}
	}
	l.report(p)
}

// zeroOnly reports whether an integer is a destination and is otherwise only
// compared with zero.
func (l *firstRow) zeroOnly(v *types.Var) bool {
	used := false
	for _, use := range usesOf(l.pass, v) {
		switch p := above(use).Node().(type) {
		case *ast.UnaryExpr:
			call, ok := above(above(use)).Node().(*ast.CallExpr)
			if !ok || !l.isDest(call) {
				return false
			}
		case *ast.BinaryExpr:
			if !comparesWithZero(l.pass.TypesInfo, p, use.Node().(ast.Expr)) {
				return false
			}
			used = true
		default:
			return false
		}
	}
	return used
}

// isDest reports whether a call fills its arguments from a row.
func (l *firstRow) isDest(call *ast.CallExpr) bool {
	for _, c := range l.calls.Calls {
		if c.Expr == call && c.Op == sqlcall.Get || c.Scan == call && c.Scan != nil {
			return true
		}
	}
	return false
}

// existsEdits turns SELECT COUNT(*) FROM … into SELECT EXISTS (SELECT 1 FROM …).
// It returns one row, as COUNT does.
func existsEdits(s *statement) ([]sqltext.Edit, bool) {
	from := sqltext.Find(s.tokens, 0, "FROM")
	first := sqltext.Find(s.tokens, 0, "SELECT")
	if first != 0 || from < 2 {
		return nil, false
	}
	like := func(word string) string { return sqltext.Like(s.tokens, word) }
	end := sqltext.AddLimit(s.tokens, "1").Start
	edits := []sqltext.Edit{
		{Start: s.tokens[1].Start, End: s.tokens[from-1].End, New: fmt.Sprintf("%s (%s 1", like("EXISTS"), like("SELECT"))},
		{Start: end, End: end, New: ")"},
	}
	after, err := parse(sqltext.Apply(s.sql, edits))
	if err != nil || after.selects() == nil || len(after.selects().Fields.Fields) != 1 {
		return nil, false
	}
	_, ok := after.selects().Fields.Fields[0].Expr.(*tidb.ExistsSubqueryExpr)
	return edits, ok
}
