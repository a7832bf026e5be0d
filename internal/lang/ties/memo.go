package ties

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// memo reports whether a write fills an entry that was missing, with a value that was read
// elsewhere. One process shows what it has read first until it ends; two show nothing older.
// So is a value that is read once, or again after some time.
func (s *source) memo(b body, obj types.Object, at ast.Node) bool {
	if value := whole(at); value != nil {
		return s.readOnce(b, obj, at) && s.loaded(b, value, nil) || s.aged(b, at) && (s.loaded(b, value, nil) || isNow(b.pkg, value))
	}
	value := written(at)
	if value == nil {
		return false
	}
	found, ok := s.lookups(b, obj)
	if len(ok) == 0 || !guarded(b, ok, at) {
		return false
	}
	return s.loaded(b, value, found)
}

// whole is the value that an assignment gives to a variable or a field; nil for other writes.
func whole(at ast.Node) ast.Expr {
	n, ok := at.(*ast.AssignStmt)
	if !ok || n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) && len(n.Rhs) != 1 {
		return nil
	}
	for _, lhs := range n.Lhs {
		switch ast.Unparen(lhs).(type) {
		case *ast.Ident, *ast.SelectorExpr:
		default:
			return nil
		}
	}
	return n.Rhs[0]
}

// readOnce reports whether a write is inside of "if x == nil", or of what a sync.Once does.
func (s *source) readOnce(b body, obj types.Object, at ast.Node) (is bool) {
	inside := func(n ast.Node) bool { return n.Pos() <= at.Pos() && at.End() <= n.End() }
	ast.Inspect(b.code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			cond, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr)
			if !ok || !inside(n.Body) || cond.Op != token.EQL {
				return true
			}
			id, ok := ast.Unparen(cond.Y).(*ast.Ident)
			is = is || ok && id.Name == "nil" && s.holderOf(b, cond.X) == obj
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Do" || len(n.Args) != 1 || !inside(n.Args[0]) {
				return true
			}
			if once := s.holderOf(b, sel.X); once != nil {
				from, name := outside(s.pkgOf(once, b.pkg), s.typing[once])
				is = is || from == "sync" && name == "Once"
			}
		}
		return true
	})
	return is
}

// aged reports whether a write is behind an "if" about the time that returns, or inside of one.
func (s *source) aged(b body, at ast.Node) (is bool) {
	ast.Inspect(b.code, func(n ast.Node) bool {
		st, ok := n.(*ast.IfStmt)
		if !ok || !ofTime(b.pkg, st.Cond) {
			return true
		}
		is = is || returns(st.Body) && st.End() < at.Pos() || st.Body.Pos() <= at.Pos() && at.End() <= st.Body.End()
		return true
	})
	return is
}

func ofTime(p *packages.Package, e ast.Expr) (is bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			from, _ := outside(p, call.Fun)
			is = is || from == "time"
		}
		return !is
	})
	return is
}

func isNow(p *packages.Package, e ast.Expr) bool {
	from, name := outside(p, e)
	return from == "time" && name == "Now"
}

// written is the value that a write puts under a key; nil for other writes.
func written(at ast.Node) ast.Expr {
	switch n := at.(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 && len(n.Rhs) == 1 && n.Tok == token.ASSIGN {
			if _, indexed := ast.Unparen(n.Lhs[0]).(*ast.IndexExpr); indexed {
				return n.Rhs[0]
			}
		}
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if ok && len(n.Args) >= 2 && slices.Contains([]string{"Store", "LoadOrStore", "Set", "SetDefault", "SetWithTTL", "Add", "Put"}, sel.Sel.Name) {
			return n.Args[1]
		}
	}
	return nil
}

// lookups are the variables of a body that have an entry of a holder, and whether it is there.
func (s *source) lookups(b body, obj types.Object) (values, ok []types.Object) {
	ast.Inspect(b.code, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Lhs) != 2 || len(a.Rhs) != 1 {
			return true
		}
		from := ast.Unparen(a.Rhs[0])
		if call, is := from.(*ast.CallExpr); is {
			sel, is := call.Fun.(*ast.SelectorExpr)
			if !is || !slices.Contains([]string{"Load", "Get", "Peek"}, sel.Sel.Name) {
				return true
			}
			from = sel.X
		} else if _, indexed := from.(*ast.IndexExpr); !indexed {
			return true
		}
		if s.holderOf(b, from) != obj {
			return true
		}
		values, ok = append(values, objectOf(b.pkg, a.Lhs[0])), append(ok, objectOf(b.pkg, a.Lhs[1]))
		return true
	})
	return values, slices.DeleteFunc(ok, func(o types.Object) bool { return o == nil })
}

func objectOf(p *packages.Package, e ast.Expr) types.Object {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil
	}
	if o := p.TypesInfo.Defs[id]; o != nil {
		return o
	}
	return p.TypesInfo.Uses[id]
}

// guarded reports whether a write is reached only where the entry was missing: it is inside of
// "if !ok", or behind an "if ok" that returns.
func guarded(b body, ok []types.Object, at ast.Node) (is bool) {
	ast.Inspect(b.code, func(n ast.Node) bool {
		st, isIf := n.(*ast.IfStmt)
		if !isIf {
			return true
		}
		not, cond := false, ast.Unparen(st.Cond)
		if u, isNot := cond.(*ast.UnaryExpr); isNot && u.Op == token.NOT {
			not, cond = true, ast.Unparen(u.X)
		}
		if o := objectOf(b.pkg, cond); o == nil || !slices.Contains(ok, o) {
			return true
		}
		inside := st.Body.Pos() <= at.Pos() && at.End() <= st.Body.End()
		otherwise := st.Else != nil && st.Else.Pos() <= at.Pos() && at.End() <= st.Else.End()
		if not && inside || !not && otherwise || !not && returns(st.Body) && st.End() < at.Pos() {
			is = true
		}
		return true
	})
	return is
}

func returns(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch last := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.CONTINUE
	}
	return false
}

// made are packages whose values are made here, and not read elsewhere.
var made = []string{"time", "crypto/rand", "math/rand", "math/rand/v2", "github.com/google/uuid", "github.com/oklog/ulid", "github.com/oklog/ulid/v2", "sync", "sync/atomic"}

// loaded reports whether a value comes from a call, or was filled by one; and not from the
// entry that was there.
func (s *source) loaded(b body, value ast.Expr, entries []types.Object) bool {
	if call, ok := ast.Unparen(value).(*ast.CallExpr); ok {
		from, _ := outside(b.pkg, call.Fun)
		return !slices.Contains(made, from) && !mentions(b.pkg, call, entries)
	}
	if u, ok := ast.Unparen(value).(*ast.UnaryExpr); ok && u.Op == token.AND {
		value = u.X
	}
	obj := objectOf(b.pkg, ast.Unparen(value))
	if obj == nil || slices.Contains(entries, obj) && obj.Pos() == token.NoPos {
		return false
	}
	is, other := false, false
	ast.Inspect(b.code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if objectOf(b.pkg, lhs) != obj {
					continue
				}
				call, ok := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)]).(*ast.CallExpr)
				from := ""
				if ok {
					from, _ = outside(b.pkg, call.Fun)
				}
				lookup := slices.Contains(entries, obj) && len(n.Lhs) == 2 && !ok
				is = is || ok && !slices.Contains(made, from)
				other = other || !ok && !lookup && n.Tok != token.DEFINE || ok && slices.Contains(made, from)
			}
		case *ast.CallExpr:
			for _, a := range n.Args { // db.Get(&x, …)
				if u, ok := a.(*ast.UnaryExpr); ok && u.Op == token.AND && objectOf(b.pkg, ast.Unparen(u.X)) == obj {
					is = true
				}
			}
		}
		return true
	})
	return is && !other
}

func mentions(p *packages.Package, n ast.Node, objs []types.Object) (is bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := p.TypesInfo.Uses[id]; o != nil && slices.Contains(objs, o) {
				is = true
			}
		}
		return true
	})
	return is
}
