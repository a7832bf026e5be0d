package rewrite

import (
	"go/ast"
	"slices"
)

// home is the list of statements that has the one which executes: that of the loop's body,
// or of a branch of it.
func (e *execution) home() []ast.Stmt {
	for c := range e.call.Cursor.Enclosing() {
		switch n := c.Node().(type) {
		case *ast.BlockStmt:
			return e.homeIn(n.List)
		case *ast.CaseClause:
			return e.homeIn(n.Body)
		case *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// homeIn is the list of the innermost block around the call. An if statement whose
// condition sends the statement has it as its own check: its list is the one around.
func (e *execution) homeIn(list []ast.Stmt) []ast.Stmt {
	if e.branchOf(e.body.List, list) {
		return list
	}
	return nil
}

// branchOf reports whether a list is one of some statements themselves or of their
// branches: no loop, closure or label is between.
func (e *execution) branchOf(from, list []ast.Stmt) bool {
	if len(from) > 0 && len(list) > 0 && from[0] == list[0] {
		return true
	}
	for _, s := range from {
		if s.Pos() > e.call.Pos() || s.End() < e.call.Expr.End() {
			continue
		}
		switch s := s.(type) {
		case *ast.BlockStmt:
			return e.branchOf(s.List, list)
		case *ast.IfStmt:
			return e.branchOf(s.Body.List, list) || s.Else != nil && e.branchOf([]ast.Stmt{s.Else}, list)
		case *ast.SwitchStmt:
			for _, c := range s.Body.List {
				if e.branchOf(c.(*ast.CaseClause).Body, list) {
					return true
				}
			}
		}
	}
	return false
}

// others are the statements of the body without those that are moved: a branch that has
// these is copied without them.
func (e *execution) others() (out []ast.Stmt) { return e.rest(e.body.List) }

func (e *execution) rest(list []ast.Stmt) (out []ast.Stmt) {
	for _, s := range list {
		if !slices.Contains(e.moved, s) {
			out = append(out, e.without(s))
		}
	}
	return out
}

// without is a statement without those that are moved.
func (e *execution) without(s ast.Stmt) ast.Stmt {
	if len(e.moved) == 0 || s == nil || !within(e.moved[0], s) {
		return s
	}
	switch n := s.(type) {
	case *ast.BlockStmt:
		return &ast.BlockStmt{Lbrace: n.Lbrace, List: e.rest(n.List), Rbrace: n.Rbrace}
	case *ast.IfStmt:
		left := *n
		left.Body = e.without(n.Body).(*ast.BlockStmt)
		if n.Else != nil {
			left.Else = e.without(n.Else)
		}
		return &left
	case *ast.SwitchStmt:
		left := *n
		left.Body = e.without(n.Body).(*ast.BlockStmt)
		return &left
	case *ast.CaseClause:
		left := *n
		left.Body = e.rest(n.Body)
		return &left
	}
	return s
}
