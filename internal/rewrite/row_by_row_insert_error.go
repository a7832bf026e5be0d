package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// assignment is the assignment of the statement's error; nil for MustExec.
func (e *execution) assignment() *ast.AssignStmt {
	switch s := e.moved[0].(type) {
	case *ast.AssignStmt:
		return s
	case *ast.IfStmt:
		a, _ := s.Init.(*ast.AssignStmt)
		return a
	}
	return nil
}

// errorKeeps reports whether the variable of the error has the same values elsewhere
// when the statement no longer sets it in each iteration: it is declared with the
// statement or in the body before it, or each other use in the body sets it and leaves
// the function unless it is nil.
func (e *execution) errorKeeps() bool {
	a := e.assignment()
	if a == nil || a.Tok != token.ASSIGN {
		return true
	}
	obj := e.pass.TypesInfo.ObjectOf(a.Lhs[1].(*ast.Ident))
	if e.body.Pos() <= obj.Pos() && obj.Pos() < e.body.End() {
		e.ownError = obj
		return types.Identical(obj.Type(), types.Universe.Lookup("error").Type()) && e.readBefore(obj)
	}
	others := e.others()
	for i := 0; i < len(others); i++ {
		s := others[i]
		if !e.mentions(s, obj) {
			continue
		}
		check, isCheck := s.(*ast.IfStmt)
		set := ast.Stmt(nil)
		if isCheck {
			set = check.Init
		} else if i+1 < len(others) {
			set = s
			i++
			check, isCheck = others[i].(*ast.IfStmt)
		}
		if !isCheck || !e.setsError(set, obj) || !e.leavesOn(check, obj) {
			return false
		}
	}
	return true
}

// readBefore reports whether the body reads a variable before the statement, so that it
// is used there without it, and does not use it afterwards.
func (e *execution) readBefore(obj types.Object) (read bool) {
	for _, s := range e.others() {
		if !e.mentions(s, obj) {
			continue
		}
		if s.Pos() > e.moved[0].Pos() {
			return false
		}
		check, ok := s.(*ast.IfStmt)
		read = read || ok && e.mentions(check.Cond, obj)
	}
	return read
}

// setsError reports whether a statement sets a variable to the result of a call.
func (e *execution) setsError(s ast.Stmt, obj types.Object) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok || slices.ContainsFunc(a.Rhs, func(x ast.Expr) bool { return e.mentions(x, obj) }) {
		return false
	}
	return slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool {
		id, ok := x.(*ast.Ident)
		return ok && e.pass.TypesInfo.ObjectOf(id) == obj
	})
}

// leavesOn reports whether an if statement leaves the function unless a variable is
// nil.
func (e *execution) leavesOn(s *ast.IfStmt, obj types.Object) bool {
	id, ok := notNil(e.pass.TypesInfo, s.Cond).(*ast.Ident)
	return ok && e.pass.TypesInfo.ObjectOf(id) == obj && s.Else == nil && len(s.Body.List) > 0 && ends(e.pass.TypesInfo, s.Body)
}
