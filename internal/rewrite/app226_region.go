package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

// A branchRegion is statements of a block that stand before an if statement, and whose
// values only one of its branches uses. Where they have no other effect, they can move
// to the beginning of the branch.
type branchRegion struct {
	l      *branchReads
	block  *ast.BlockStmt
	branch *ast.IfStmt
	to     *ast.BlockStmt // the branch that uses the values; nil if the if statement moves, see leads
	span   []ast.Stmt     // all statements from the first one that moves to the if statement
	stay   []ast.Stmt     // of these: declarations that other code uses

	helper bool            // the region is the body of a function, which may end anywhere without an error
	reads  []*sqlcall.Call // queries that are executed, also in functions that are called
	sends  []*ast.CallExpr // calls by which they are prepared and sent
	first  *ast.CallExpr   // that sends a query
	locks  bool            // a lock file is taken
}

// movable decides whether the statements can move.
func (r *branchRegion) movable() bool {
	if !r.divide() || !r.known() {
		return false
	}
	for _, st := range r.moving() {
		if !r.moves(st) || r.names(st, r.stay) {
			return false
		}
	}
	return len(r.reads) > 0 && r.fits() && r.wholeLines() && (!r.locks || r.unlocked())
}

// leads decides whether the if statement can move before the region: it ends the function,
// or the round of a loop, and uses no value of the region.
func (r *branchRegion) leads() bool {
	if r.branch.Else != nil || !leaves(r.branch.Body) || !r.known() || r.needs(r.branch) {
		return false
	}
	for _, st := range r.span {
		if !r.moves(st) {
			return false
		}
	}
	return len(r.reads) > 0 && !r.locks && r.wholeLines()
}

// needs reports whether a node uses what the region declares or sets.
func (r *branchRegion) needs(node ast.Node) (found bool) {
	x := r.l.x
	ast.Inspect(node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			obj := x.pass.TypesInfo.Uses[id]
			v, isVar := obj.(*types.Var)
			found = obj != nil && r.spans(posNode(obj.Pos())) ||
				isVar && !v.IsField() && slices.ContainsFunc(x.writes(v), func(w *ast.Ident) bool { return r.spans(w) })
		}
		return !found
	})
	return found
}

// leaves reports whether a block ends with a return, or goes on with or behind a loop.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch last := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Label == nil && (last.Tok == token.BREAK || last.Tok == token.CONTINUE)
	}
	return false
}

// divide finds the declarations that stay: those of variables that other code uses,
// too. Any other use of a value outside of the region and the branch keeps it in place.
func (r *branchRegion) divide() bool {
	info := r.l.pass.TypesInfo
	for _, st := range r.span {
		free := true
		ast.Inspect(st, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && info.Defs[id] != nil {
				free = free && r.usedInside(info.Defs[id])
			}
			return free
		})
		if free {
			continue
		}
		if !r.declaresOnly(st) {
			return false
		}
		r.stay = append(r.stay, st)
	}
	return len(r.stay) < len(r.span) && !slices.Contains(r.stay, r.span[0])
}

// usedInside reports whether an object is used in the region and the branch only.
func (r *branchRegion) usedInside(obj types.Object) bool {
	return !slices.ContainsFunc(r.l.x.uses[obj], func(id *ast.Ident) bool { return !r.spans(id) && !within(id, r.to) })
}

// spans reports whether a node is in one of the statements before the if statement.
func (r *branchRegion) spans(n ast.Node) bool {
	return r.span[0].Pos() <= n.Pos() && n.End() <= r.span[len(r.span)-1].End()
}

// declaresOnly reports whether a statement declares variables with values that do not
// depend on the region, so that it may run before the others.
func (r *branchRegion) declaresOnly(st ast.Stmt) bool {
	var values []ast.Expr
	switch st := st.(type) {
	case *ast.DeclStmt:
		d, ok := st.Decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			return false
		}
		for _, s := range d.Specs {
			values = append(values, s.(*ast.ValueSpec).Values...)
		}
	case *ast.AssignStmt:
		if values = st.Rhs; st.Tok != token.DEFINE || slices.ContainsFunc(st.Lhs, func(e ast.Expr) bool { return r.l.pass.TypesInfo.Defs[e.(*ast.Ident)] == nil }) {
			return false
		}
	default:
		return false
	}
	return !slices.ContainsFunc(values, func(e ast.Expr) bool { return !r.independent(e) })
}

// independent reports whether a value is made of constants and of variables that the
// region neither declares nor sets, by operations that do not fail.
func (r *branchRegion) independent(e ast.Expr) bool {
	info, ok := r.l.pass.TypesInfo, true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			ok = ok && !r.needs(n)
		case *ast.BinaryExpr:
			ok = ok && n.Op != token.QUO && n.Op != token.REM
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.CallExpr:
			ok = ok && (info.Types[n.Fun].IsType() || isBuiltin(info, n, "len") || isBuiltin(info, n, "make") || isBuiltin(info, n, "new"))
		case *ast.StarExpr:
			ok = ok && info.Types[n].IsType()
		case *ast.IndexExpr, *ast.SliceExpr, *ast.TypeAssertExpr, *ast.FuncLit:
			ok = false
		}
		return ok
	})
	return ok
}

// moving lists the statements that move.
func (r *branchRegion) moving() (list []ast.Stmt) {
	for _, st := range r.span {
		if !slices.Contains(r.stay, st) {
			list = append(list, st)
		}
	}
	return list
}

// holds reports whether a node is in a statement that moves.
func (r *branchRegion) holds(n ast.Node) bool {
	return r.spans(n) && !slices.ContainsFunc(r.stay, func(st ast.Stmt) bool { return within(n, st) })
}

// declares reports whether a statement that moves declares a variable.
func (r *branchRegion) declares(v *types.Var) bool {
	def := r.l.x.defs[v]
	return def != nil && r.holds(def)
}

// known reports whether the condition has its value before the region: nothing in the
// region or at the same time sets what it compares.
func (r *branchRegion) known() bool {
	x := r.l.x
	ok := x.purity().pure(r.branch.Cond, noVariable, mostCalls)
	ast.Inspect(r.branch.Cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ok = false
		case *ast.Ident:
			v, isVar := x.pass.TypesInfo.Uses[n].(*types.Var)
			if !isVar || v.IsField() {
				return true
			}
			ok = ok && isLocal(v) && !slices.ContainsFunc(x.writes(v), func(w *ast.Ident) bool { return r.spans(w) || x.function(w) != x.function(r.block) })
		}
		return ok
	})
	return ok
}

// names reports whether a statement names something by a name that one of some
// declarations has.
func (r *branchRegion) names(st ast.Stmt, declarations []ast.Stmt) (found bool) {
	taken := map[string]bool{}
	for _, d := range declarations {
		for name := range r.declared(d) {
			taken[name] = true
		}
	}
	ast.Inspect(st, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && taken[id.Name] {
			found = true
		}
		return !found
	})
	return found
}

// declared has the types of the names that a statement declares, or sets by := in the
// block of the statement.
func (r *branchRegion) declared(st ast.Stmt) map[string]types.Type {
	info, out := r.l.pass.TypesInfo, map[string]types.Type{}
	switch st := st.(type) {
	case *ast.DeclStmt:
		if d, ok := st.Decl.(*ast.GenDecl); ok {
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, id := range s.Names {
						out[id.Name] = info.TypeOf(id)
					}
				case *ast.TypeSpec:
					out[s.Name.Name] = info.TypeOf(s.Name)
				}
			}
		}
	case *ast.AssignStmt:
		for _, e := range st.Lhs {
			if id, ok := e.(*ast.Ident); ok && st.Tok == token.DEFINE && id.Name != "_" {
				out[id.Name] = info.TypeOf(id)
			}
		}
	}
	return out
}

// fits reports whether the names that move can stand in the block of the branch, beside
// those that it declares.
func (r *branchRegion) fits() bool {
	moved := map[string]types.Type{}
	for _, st := range r.moving() {
		for name, t := range r.declared(st) {
			moved[name] = t
		}
	}
	for _, st := range r.to.List {
		both, more := 0, 0
		for name, t := range r.declared(st) {
			if was, twice := moved[name]; !twice {
				more++
			} else if both++; !types.Identical(was, t) {
				return false
			}
		}
		if _, isAssign := st.(*ast.AssignStmt); both > 0 && (!isAssign || more == 0) {
			return false
		}
	}
	return true
}

// runs are the statements that move, as they follow each other.
func (r *branchRegion) runs() (runs [][]ast.Stmt) {
	follows := false
	for _, st := range r.span {
		if slices.Contains(r.stay, st) {
			follows = false
			continue
		}
		if !follows {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], st)
		follows = true
	}
	return runs
}

// wholeLines reports whether the statements that move have their lines for themselves,
// and the branch begins on a line of its own.
func (r *branchRegion) wholeLines() bool {
	file := r.l.pass.Fset.File(r.block.Pos())
	line := file.Line(r.block.Lbrace)
	for _, st := range r.block.List {
		if (r.spans(st) || st == ast.Stmt(r.branch)) && file.Line(st.Pos()) <= line {
			return false
		}
		line = file.Line(st.End())
	}
	return r.to == nil || len(r.to.List) > 0 && file.Line(r.to.List[0].Pos()) > file.Line(r.to.Lbrace)
}

// unlocked reports whether nothing needs the lock of the region where it is not taken:
// what follows only computes.
func (r *branchRegion) unlocked() bool {
	still := quietness{pass: r.l.pass, calls: r.l.calls}
	if decl, ok := r.l.x.parent[r.block].(*ast.FuncDecl); !ok || decl.Body != r.block {
		return false
	}
	at := slices.Index(r.block.List, ast.Stmt(r.branch))
	for _, st := range r.block.List[at+1:] {
		if !still.quiet(st) {
			return false
		}
	}
	for _, other := range []ast.Stmt{r.branch.Body, r.branch.Else} {
		if other != nil && other != ast.Stmt(r.to) && !still.quiet(other) {
			return false
		}
	}
	return true
}
