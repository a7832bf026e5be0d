package index

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// A walk collects the names in an expression.
type walk struct {
	b      *binder
	sc     *scope
	locals []ColumnAt
	opaque bool // outer columns, subqueries, placeholders, or calls whose value is not fixed
}

// touch binds all names in an expression, marks their columns as read, and
// analyses its subqueries as separate queries.
func (b *binder) touch(e ast.Node, sc *scope) *walk {
	w := &walk{b: b, sc: sc}
	if e != nil {
		e.Accept(w)
	}
	return w
}

// plain reports whether an expression has only literals and deterministic
// functions of them.
func (w *walk) plain() bool { return !w.opaque && len(w.locals) == 0 }

// Enter implements ast.Visitor.
func (w *walk) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.ColumnNameExpr:
		blk, at, ok := w.b.resolve(n.Name, w.sc)
		if ok && blk == w.sc.b {
			w.locals = append(w.locals, at)
		} else {
			w.opaque = true
		}
	case *ast.SubqueryExpr:
		w.opaque = true
		if q, ok := n.Query.(ast.Node); ok {
			w.b.query(q, w.sc)
		}
		return n, true
	case *ast.AggregateFuncExpr:
		w.aggregate(n)
	case *ast.WindowFuncExpr:
		w.sc.b.Aggregates = true
	case *test_driver.ParamMarkerExpr, *ast.VariableExpr:
		w.opaque = true
	case *ast.FuncCallExpr:
		if !fixed(n.FnName.L) {
			w.opaque = true
		}
		if n.FnName.L == "rand" {
			w.b.st.marks = append(w.b.st.marks, mark{why: markRandom, text: restore(n)})
		}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (w *walk) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (w *walk) aggregate(n *ast.AggregateFuncExpr) {
	name := strings.ToLower(n.F)
	if (name == "min" || name == "max") && len(n.Args) == 1 {
		if c, ok := bare(n.Args[0]).(*ast.ColumnNameExpr); ok {
			if blk, at, ok := w.b.resolve(c.Name, w.sc); ok && blk == w.sc.b {
				w.sc.b.MinMax = append(w.sc.b.MinMax, at)
				return
			}
		}
	}
	w.sc.b.Aggregates = true
}

// fixed reports whether a function is deterministic and may be evaluated again
// for measuring.
func fixed(name string) bool {
	return strings.HasPrefix(name, "st_") || strings.HasPrefix(name, "mbr") ||
		slices.Contains([]string{"point", "polygon", "linestring", "date", "concat", "lower", "upper", "now",
			"date_add", "date_sub", "adddate", "subdate", "curdate", "current_date", "current_timestamp",
			"from_unixtime", "unix_timestamp", "geomfromtext", "polyfromtext"}, name)
}

// askable is the text of a predicate for the server to measure, or "".
func askable(n ast.Node, plain bool) string {
	if !plain {
		return ""
	}
	return unqualified(n)
}

// restore formats an expression; parts that cannot be formatted become "?".
func restore(n ast.Node) string {
	var sb strings.Builder
	ctx := format.NewRestoreCtx(format.RestoreStringSingleQuotes|format.RestoreKeyWordUppercase|
		format.RestoreNameBackQuotes|format.RestoreStringWithoutCharset|format.RestoreSpacesAroundBinaryOperation, &sb)
	if err := n.Restore(ctx); err != nil {
		return "?"
	}
	return sb.String()
}

// unqualified formats an expression without table names, so that it can be
// measured in the table alone. The tree is restored afterwards.
func unqualified(n ast.Node) string {
	q := &unqualify{}
	n.Accept(q)
	s := restore(n)
	for i, c := range q.names {
		c.Schema, c.Table = q.kept[2*i], q.kept[2*i+1]
	}
	if strings.Contains(s, "?") && s == "?" {
		return ""
	}
	return s
}

type unqualify struct {
	names []*ast.ColumnName
	kept  []ast.CIStr
}

// Enter implements ast.Visitor.
func (u *unqualify) Enter(n ast.Node) (ast.Node, bool) {
	if c, ok := n.(*ast.ColumnNameExpr); ok {
		u.names = append(u.names, c.Name)
		u.kept = append(u.kept, c.Name.Schema, c.Name.Table)
		c.Name.Schema, c.Name.Table = ast.CIStr{}, ast.CIStr{}
	}
	return n, false
}

// Leave implements ast.Visitor.
func (u *unqualify) Leave(n ast.Node) (ast.Node, bool) { return n, true }
