package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A condition is a comparison of a column with a value that is known before the
// statement. No row that satisfies the Go code fails it.
type condition struct {
	column, op string
	arg        string // Go source of the value; "" for a literal in op
	exact      bool   // the row satisfies the Go code if it satisfies the condition
	time       bool   // a comparison of times: see filter
}

// filter moves the conditions by which a loop skips rows into the statement. The
// loop keeps them, so a condition may let more rows through: text compares without
// regard to case in most collations.
//
// Comparisons of times need tested answers: the order of times in a column depends
// on the time zone of the connection in the hour that a zone repeats in autumn.
func (o *overreads) filter(rd *reading) (place, bool) {
	s := o.scanOf(rd)
	if s == nil {
		return place{}, false
	}
	conditions, _ := o.conditions(rd, s)
	if len(conditions) == 0 {
		return place{}, false
	}
	rw := o.x.rewrite()
	if !o.addConditions(rw, rd, conditions) {
		return place{}, false
	}
	fix, ok := rw.fix("filter in the statement")
	p := place{what: "rows are read that the loop skips", how: "add " + describe(conditions) + " to the statement", fixes: fix1(fix)}
	for _, c := range conditions {
		if c.time {
			p.proof, p.promise = Tested, TestedOnly
		}
	}
	return p, ok
}

// addConditions edits every statement of a reading.
func (o *overreads) addConditions(rw *rewrite, rd *reading, conditions []condition) bool {
	for i, c := range rd.calls {
		var parts, args []string
		for _, cond := range conditions {
			column, ok := rd.shapes[i].column(cond.column)
			if !ok || !o.known(rd.shapes[i].table, cond.column) {
				return false
			}
			if cond.arg == "" {
				parts = append(parts, column+" "+cond.op)
				continue
			}
			parts = append(parts, clause(column, cond.op))
			args = append(args, cond.arg)
		}
		edits := rd.shapes[i].and(strings.Join(parts, " "+sqltext.Like(rd.shapes[i].tokens, "AND")+" "))
		rw.statement(c, edits, args...)
	}
	return !rw.failed
}

// known reports whether facts do not contradict that a table has a column.
func (o *overreads) known(table, column string) bool {
	t, ok := o.facts.Tables[table]
	if !ok || len(t.Columns) == 0 {
		return true
	}
	_, ok = t.Columns[strings.ToLower(column)]
	return ok
}

func describe(conditions []condition) string {
	var parts []string
	for _, c := range conditions {
		part := c.column + " " + c.op
		if c.arg != "" {
			part += " " + c.arg
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " AND ")
}

// conditions reads the filter at the start of a loop: "if … { continue }", or one
// "if … { … }" that is the whole body. all reports whether the conditions are
// exactly what the loop tests.
func (o *overreads) conditions(rd *reading, s *scan) (out []condition, all bool) {
	all = true
	for i, stmt := range s.body {
		branch, ok := stmt.(*ast.IfStmt)
		if !ok || branch.Init != nil || branch.Else != nil || !o.x.purity().pure(branch.Cond, noVariable, mostCalls) {
			break
		}
		var atoms []ast.Expr
		skips := isContinue(branch.Body)
		switch {
		case skips:
			atoms = operands(branch.Cond, token.LOR)
		case len(s.body) == i+1:
			atoms = operands(branch.Cond, token.LAND)
		default:
			return out, false
		}
		for _, a := range atoms {
			c, ok := o.condition(rd, s, a, skips)
			if !ok {
				all = false
				continue
			}
			all = all && c.exact
			out = append(out, c)
		}
		if !skips {
			return out, all
		}
	}
	return out, false
}

func noVariable(*types.Var) bool { return false }

func isContinue(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	s, ok := b.List[0].(*ast.BranchStmt)
	return ok && s.Tok == token.CONTINUE && s.Label == nil
}

// operands lists the operands of a chain of one operator.
func operands(e ast.Expr, op token.Token) []ast.Expr {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op == op {
		return append(operands(b.X, op), operands(b.Y, op)...)
	}
	return []ast.Expr{ast.Unparen(e)}
}

// condition turns one comparison into a condition for the rows that the loop
// keeps. negated: the loop skips the rows for which e holds.
func (o *overreads) condition(rd *reading, s *scan, e ast.Expr, negated bool) (condition, bool) {
	for {
		not, ok := ast.Unparen(e).(*ast.UnaryExpr)
		if !ok || not.Op != token.NOT {
			break
		}
		e, negated = not.X, !negated
	}
	e = ast.Unparen(e)
	if column, ok := o.columnOf(s, e); ok && isBool(o.x.typeOf(e)) {
		if negated {
			return condition{column: column, op: "= FALSE", exact: true}, true
		}
		return condition{column: column, op: "= TRUE", exact: true}, true
	}
	if call, ok := e.(*ast.CallExpr); ok {
		return o.timeCondition(rd, s, call, negated)
	}
	b, ok := e.(*ast.BinaryExpr)
	if !ok {
		return condition{}, false
	}
	left, right, op := b.X, b.Y, b.Op
	if _, ok := o.columnOf(s, left); !ok {
		left, right, op = right, left, mirrored(op)
	}
	column, ok := o.columnOf(s, left)
	if !ok || !o.fixedBefore(rd, s, right) {
		return condition{}, false
	}
	if negated {
		op = opposite(op)
	}
	return o.comparison(column, left, right, op)
}

// comparison writes a comparison of whole numbers, or of text for equality.
func (o *overreads) comparison(column string, left, right ast.Expr, op token.Token) (condition, bool) {
	basic, ok := o.x.typeOf(left).Underlying().(*types.Basic)
	if !ok {
		return condition{}, false
	}
	c := condition{column: column, arg: o.x.text(right)}
	switch {
	case basic.Info()&types.IsInteger != 0:
		c.op, c.exact = sqlOperator[op], true
	case basic.Info()&types.IsString != 0 && op == token.EQL:
		c.op = "="
	}
	return c, c.op != ""
}

var sqlOperator = map[token.Token]string{token.EQL: "=", token.NEQ: "<>", token.LSS: "<", token.LEQ: "<=", token.GTR: ">", token.GEQ: ">="}

func opposite(op token.Token) token.Token {
	switch op {
	case token.EQL:
		return token.NEQ
	case token.NEQ:
		return token.EQL
	case token.LSS:
		return token.GEQ
	case token.GEQ:
		return token.LSS
	case token.GTR:
		return token.LEQ
	case token.LEQ:
		return token.GTR
	}
	return token.ILLEGAL
}

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// timeCondition reads row.T.Before(v), After and Equal. The bounds are included,
// because a parameter loses what is finer than the column.
func (o *overreads) timeCondition(rd *reading, s *scan, call *ast.CallExpr, negated bool) (condition, bool) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 || !isFunc(o.x.callee(call), "time", "Time.Before", "Time.After", "Time.Equal") {
		return condition{}, false
	}
	name, column, value := sel.Sel.Name, sel.X, call.Args[0]
	if _, ok := o.columnOf(s, column); !ok {
		column, value = value, column
		name = map[string]string{"Before": "After", "After": "Before", "Equal": "Equal"}[name]
	}
	c, ok := o.columnOf(s, column)
	if !ok || !o.fixedBefore(rd, s, value) || !o.inYears(value, 2) {
		return condition{}, false
	}
	op := map[string]string{"Before": "<=", "After": ">=", "Equal": "="}[name]
	if negated {
		op = map[string]string{"Before": ">=", "After": "<="}[name]
	}
	return condition{column: c, op: op, arg: o.x.text(value), time: true}, op != ""
}

// fixedBefore reports whether an expression has the same value before each
// statement of the reading and in its loop: a constant, or a variable or field of
// a local variable that is set before and not after.
func (o *overreads) fixedBefore(rd *reading, s *scan, e ast.Expr) bool {
	e = ast.Unparen(e)
	if o.x.pass.TypesInfo.Types[e].Value != nil {
		return true
	}
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 && o.x.pass.TypesInfo.Types[call.Fun].IsType() {
		return o.fixedBefore(rd, s, call.Args[0])
	}
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if f, isVar := o.x.named(sel).(*types.Var); !isVar || !f.IsField() {
			return false
		}
		return o.untouched(rd, s, o.x.variable(sel.X), true)
	}
	return o.untouched(rd, s, o.x.variable(e), false)
}

// untouched reports whether a local variable is visible and set before the first
// statement, and not written or passed on from there to the end of the loop.
func (o *overreads) untouched(rd *reading, s *scan, v *types.Var, fields bool) bool {
	if v == nil || v.Parent() == o.x.pass.Pkg.Scope() || v.IsField() || v.Pos() >= from(rd.first) || v == s.row {
		return false
	}
	for _, c := range rd.calls {
		if scope := o.x.pass.Pkg.Scope().Innermost(from(c)); scope == nil {
			return false
		} else if _, found := scope.LookupParent(v.Name(), from(c)); found != v {
			return false
		}
	}
	around := rd.first.Func
	for _, id := range o.x.uses[v] {
		if o.x.isWritten(id) && (id.Pos() > from(rd.first) || !within(id, around)) {
			return false
		}
		_, selected := o.x.parent[id].(*ast.SelectorExpr)
		if fields && !selected && id.Pos() > from(rd.first) && id.Pos() < s.loop.End() {
			return false
		}
		if lit := enclosing[*ast.FuncLit](o.x, id); o.x.isWritten(id) && lit != nil && ast.Node(lit) != around {
			return false // a closure writes it at an unknown time
		}
	}
	return true
}
