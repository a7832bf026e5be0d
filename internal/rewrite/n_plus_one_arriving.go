package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// How a loop over arriving rows checks its Scan, and how it ends.

var scanMethods = []string{"Scan", "StructScan", "MapScan", "SliceScan"}

// checked counts the statements that read a row, the Scan and the check of its error behind it; 0
// where an error may get past them. The error of an assigned Scan is nil behind them.
func (o *arrivingLoop) checked(body []ast.Stmt) int {
	switch s := body[0].(type) {
	case *ast.ExprStmt:
		return 1
	case *ast.IfStmt:
		if s.Init == nil && onlyLeaves(s) && !o.asks(s.Body, scanMethods...) || o.leavesOn(s, s.Init) {
			return 1
		}
	case *ast.AssignStmt:
		if len(s.Lhs) == 1 && isBlank(s.Lhs[0]) {
			return 1
		}
		if len(body) > 1 && o.leavesOn(body[1], s) {
			if check := body[1].(*ast.IfStmt); check.Init == nil {
				return 2
			}
		}
	}
	return 0
}

// leavesOn reports whether a statement leaves the round where the error that another one sets is
// not nil.
func (o *arrivingLoop) leavesOn(s, sets ast.Stmt) bool {
	a, isAssign := sets.(*ast.AssignStmt)
	check, isIf := s.(*ast.IfStmt)
	if !isAssign || !isIf || len(a.Lhs) != 1 || !onlyLeaves(s) {
		return false
	}
	x := sharedIndex(o.pass)
	o.scanned = x.variable(a.Lhs[0])
	return o.scanned != nil && x.variable(notNil(o.pass.TypesInfo, check.Cond)) == o.scanned
}

// leavesNothing reports whether no way out of the loop that reads the rows passes the other one
// where something is left of it: a jump past both, or what is there when the function has returned.
func (o *arrivingLoop) leavesNothing() bool {
	set := setIn(o.pass.TypesInfo, &ast.BlockStmt{List: o.rest})
	for _, s := range o.prefix {
		why := ""
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BranchStmt:
				if n.Label != nil || n.Tok == token.GOTO {
					why = "a row that cannot be read leaves more than the loop"
				} else if o.scanned != nil && o.scanned.Pos() < o.loop.Pos() && o.inRest(o.scanned, false) {
					why = "the error of the Scan is there behind the loop, which goes on with it"
				}
			case *ast.ReturnStmt:
				if slices.ContainsFunc(set, func(v *types.Var) bool { return o.outlives(v, n) }) {
					why = "where a row cannot be read, what the rows before it have set stays"
				}
			}
			return why == ""
		})
		if why != "" {
			return o.no(s, "%s", why)
		}
	}
	return true
}

// outlives reports whether what the loop sets in a variable is there behind a return: a result
// that the return does not set, what a parameter leads to, and what stands outside of the function.
func (o *arrivingLoop) outlives(v *types.Var, r *ast.ReturnStmt) bool {
	x := sharedIndex(o.pass)
	function := x.function(o.loop)
	if v.Pos() < function.Pos() || v.Pos() >= function.End() {
		return true
	}
	if results := resultsOf(function); results != nil && results.Pos() <= v.Pos() && v.Pos() < results.End() {
		return len(r.Results) == 0
	}
	return v.Pos() < bodyOfFunction(function).Pos() && !isPlain(v.Type())
}

// resultsOf are the results of a function or of a literal.
func resultsOf(function ast.Node) *ast.FieldList {
	if d, ok := function.(*ast.FuncDecl); ok {
		return d.Type.Results
	}
	return function.(*ast.FuncLit).Type.Results
}

// toTheEnd reports whether the loop stops before its last row for an error only: the other rows
// would all be read.
func (o *arrivingLoop) toTheEnd() bool {
	for _, s := range o.rest {
		if stop := o.stopIn(s, true); stop != nil {
			return o.no(stop, "the loop stops early: all rows would be read")
		}
	}
	return true
}

// stopIn is a statement in a node that ends the loop, nil if there is none; ofLoop is false in a
// statement of its own that a break leaves.
func (o *arrivingLoop) stopIn(node ast.Node, ofLoop bool) (stop ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		if stop != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			if ofLoop {
				stop = o.stopIn(n, false)
				return false
			}
		case *ast.BranchStmt:
			if n.Label != nil || n.Tok == token.GOTO || n.Tok == token.BREAK && ofLoop {
				stop = n
			}
		case *ast.ReturnStmt:
			if !o.failing(n) {
				stop = n
			}
		}
		return true
	})
	return stop
}

// failing reports whether a return of the loop answers an error: it stands under a question about
// one, or returns one.
func (o *arrivingLoop) failing(r *ast.ReturnStmt) bool {
	x := sharedIndex(o.pass)
	if n := len(r.Results); n > 0 && !isNil(x, r.Results[n-1]) && isError(x.typeOf(r.Results[n-1])) {
		return true
	}
	for n := ast.Node(r); n != nil && n != ast.Node(o.loop); n = x.parent[n] {
		switch n := n.(type) {
		case *ast.IfStmt:
			if namesError(x, n.Cond) {
				return true
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, func(e ast.Expr) bool { return namesError(x, e) }) {
				return true
			}
		}
	}
	return false
}

// namesError reports whether an expression names an error.
func namesError(x *index, e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		v := (*types.Var)(nil)
		if ok {
			v = x.variable(id)
		}
		found = found || v != nil && isError(v.Type())
		return !found
	})
	return found
}

// errorLines writes the lines of the other loop that give the error of the Scan what it is behind
// its check: nil. It refuses where a new error would only be set, and where the rest names another
// error that is set before the row is read.
func (o *arrivingLoop) errorLines() bool {
	for _, v := range o.fails {
		if !o.needs(v == o.scanned && o.inRest(v, true), o.loop, "the loop names an error that it sets before, or does not read that of its Scan") {
			return false
		}
		o.errors = append(o.errors, "var "+v.Name()+" error")
	}
	for _, s := range o.prefix {
		for _, v := range setIn(o.pass.TypesInfo, s) {
			if v.Pos() >= o.loop.Pos() || !o.inRest(v, true) {
				continue
			}
			if !o.needs(v == o.scanned, s, "the loop names an error that it sets before it reads its row") {
				return false
			}
			if line := v.Name() + " = nil"; !o.setFirst(v) && !slices.Contains(o.errors, line) {
				o.errors = append(o.errors, line)
			}
		}
	}
	return true
}

// inRest reports whether the rest names a variable, perhaps otherwise than to set it.
func (o *arrivingLoop) inRest(v *types.Var, reads bool) bool {
	x := sharedIndex(o.pass)
	return slices.ContainsFunc(x.uses[v], func(id *ast.Ident) bool {
		a, ok := x.parent[id].(*ast.AssignStmt)
		return o.ofRest(id) && (!reads || !ok || !slices.Contains(a.Lhs, ast.Expr(id)))
	})
}

// ofRest reports whether an identifier is in the rest.
func (o *arrivingLoop) ofRest(id *ast.Ident) bool {
	return o.rest[0].Pos() <= id.Pos() && id.Pos() < o.loop.End()
}

// setFirst reports whether the first statement of the rest sets a variable.
func (o *arrivingLoop) setFirst(v *types.Var) bool {
	s := o.rest[0]
	if i, ok := s.(*ast.IfStmt); ok {
		s = i.Init
	}
	a, ok := s.(*ast.AssignStmt)
	x := sharedIndex(o.pass)
	return ok && slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return x.variable(e) == v }) &&
		!slices.ContainsFunc(x.uses[v], func(id *ast.Ident) bool {
			return slices.ContainsFunc(a.Rhs, func(e ast.Expr) bool { return within(id, e) })
		})
}
