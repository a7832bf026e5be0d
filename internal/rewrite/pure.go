package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// purePackages are packages of the standard library whose functions compute a
// result from their arguments and change nothing else. Functions that do more are
// in impure.
var purePackages = []string{"bytes", "cmp", "errors", "html", "math", "math/bits", "path", "path/filepath", "slices", "strconv",
	"strings", "time", "unicode", "unicode/utf8", "net/url", "encoding/hex", "encoding/base64", "maps", "regexp"}

// impure are functions of pure packages that wait, read a clock or a disk, or
// change their argument.
var impure = map[string]bool{"time.Sleep": true, "time.Now": true, "time.Since": true, "time.Until": true, "time.After": true, "time.Tick": true,
	"time.NewTimer": true, "time.NewTicker": true, "time.AfterFunc": true, "slices.Sort": true, "slices.SortFunc": true, "slices.SortStableFunc": true,
	"slices.Reverse": true, "slices.Delete": true, "slices.Compact": true, "maps.Copy": true, "maps.DeleteFunc": true, "filepath.Walk": true,
	"filepath.WalkDir": true, "filepath.Glob": true, "filepath.Abs": true, "filepath.EvalSymlinks": true, "slices.DeleteFunc": true,
	"slices.Insert": true, "slices.Replace": true, "slices.CompactFunc": true}

// mostCalls bounds the depth of calls that a search for effects follows.
const mostCalls = 6

// A purity decides whether code can run once more without an effect that is seen
// outside of it.
type purity struct {
	x    *index
	seen map[*types.Func]bool
	// outside decides on functions of other packages, nil: those of pure ones have no effect. What
	// a method may change is its receiver.
	outside *quietness
}

func (x *index) purity() *purity { return &purity{x: x, seen: map[*types.Func]bool{}} }

// pure reports whether running the node changes only variables that mine accepts.
// Calls are followed into functions of the package.
func (p *purity) pure(n ast.Node, mine func(*types.Var) bool, depth int) bool {
	ok := true
	ast.Inspect(n, func(n ast.Node) bool {
		if !ok {
			return false
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			ok = p.pureCall(n, mine, depth)
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				ok = ok && (n.Tok == token.DEFINE && isIdent(l) || p.mine(l, mine))
			}
		case *ast.IncDecStmt:
			ok = p.mine(n.X, mine)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				ok = p.mine(n.Key, mine) && (n.Value == nil || p.mine(n.Value, mine))
			}
		case *ast.UnaryExpr:
			ok = n.Op != token.ARROW
		case *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt:
			ok = false
		}
		return ok
	})
	return ok
}

func isIdent(e ast.Expr) bool { _, ok := e.(*ast.Ident); return ok }

// mine reports whether an assignment to e changes a variable that may change: the
// variable itself, or a field or an element of it where it is not a pointer.
func (p *purity) mine(e ast.Expr, mine func(*types.Var) bool) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := p.x.variable(e)
		return e.Name == "_" || v != nil && mine(v)
	case *ast.SelectorExpr:
		return p.mine(e.X, mine)
	case *ast.IndexExpr:
		return p.mine(e.X, mine)
	}
	return false
}

// pureCall reports whether a call has no effect.
func (p *purity) pureCall(c *ast.CallExpr, mine func(*types.Var) bool, depth int) bool {
	tv := p.x.pass.TypesInfo.Types[c.Fun]
	if tv.IsType() {
		return true
	}
	if tv.IsBuiltin() {
		id, ok := ast.Unparen(c.Fun).(*ast.Ident)
		switch {
		case !ok:
			return false
		case id.Name == "append":
			return true // the result is assigned, which is judged as an assignment
		case id.Name == "delete" || id.Name == "clear" || id.Name == "copy":
			return p.mine(c.Args[0], mine)
		}
		return id.Name != "close" && id.Name != "print" && id.Name != "println" && id.Name != "recover"
	}
	fn := p.x.callee(c)
	if fn == nil || fn.Pkg() == nil {
		return fn != nil // error.Error
	}
	if isFunc(fn, "fmt", "Sprintf", "Sprint", "Sprintln", "Errorf") {
		return true
	}
	if p.outside != nil && fn.Pkg() != p.x.pass.Pkg {
		return p.outside.quietFunc(fn) && (keepsReceiver(fn) || p.mine(receiverOf(c), mine))
	}
	if slices.Contains(purePackages, fn.Pkg().Path()) {
		return !impure[fn.Pkg().Name()+"."+fn.Name()]
	}
	return p.pureFunc(fn, depth)
}

// keepsReceiver reports whether a function of another package has no receiver that it may change.
func keepsReceiver(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	if recv == nil || asksRequest(fn) {
		return true
	}
	if _, pointer := types.Unalias(recv.Type()).(*types.Pointer); !pointer {
		return !types.IsInterface(recv.Type()) || fn.Name() == "Error" || fn.Name() == "String"
	}
	return slices.Contains([]string{"Regexp", "URL", "Location"}, namedOf(recv.Type()).Obj().Name())
}

// receiverOf is what a method is called of, nil for a function.
func receiverOf(c *ast.CallExpr) ast.Expr {
	if sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok {
		return sel.X
	}
	return nil
}

// repeatable reports whether an expression can be computed once more: it sends nothing, and changes
// nothing that is there before, as a method that counts its calls does.
func (l *perElement) repeatable(e ast.Expr) bool {
	if !l.still.quiet(e) {
		return false
	}
	p := sharedIndex(l.pass).purity()
	p.outside = &l.still
	return p.pure(e, func(*types.Var) bool { return false }, mostCalls)
}

// pureFunc reports whether a function of the package changes nothing but its own
// variables. Writes through a parameter or a receiver count as effects.
func (p *purity) pureFunc(fn *types.Func, depth int) bool {
	d := p.x.decls[fn]
	if d == nil || d.Body == nil || depth == 0 {
		return false
	}
	if p.seen[fn] {
		return true // it is being looked at further up, or was found pure
	}
	p.seen[fn] = true
	own := func(v *types.Var) bool {
		if !within(posNode(v.Pos()), d) {
			return false
		}
		switch v.Type().Underlying().(type) {
		case *types.Pointer, *types.Map, *types.Slice, *types.Interface, *types.Chan:
			return within(posNode(v.Pos()), d.Body) && p.madeHere(v)
		}
		return true
	}
	ok := p.pure(d.Body, own, depth-1)
	if !ok {
		delete(p.seen, fn)
	}
	return ok
}

// madeHere reports whether a local variable of a reference type only ever holds
// values that the function makes: literals, make, nil, append to itself.
func (p *purity) madeHere(v *types.Var) bool {
	id := p.x.defs[v]
	if id == nil {
		return false
	}
	values := []ast.Node{id}
	for _, w := range p.x.uses[v] {
		values = append(values, w)
	}
	for _, n := range values {
		if loop, ok := p.x.parent[n].(*ast.RangeStmt); ok && (loop.Key == n || loop.Value == n) {
			return false // an element may refer to memory of others
		}
		a, ok := p.x.parent[n].(*ast.AssignStmt)
		if !ok {
			if spec, isSpec := p.x.parent[n].(*ast.ValueSpec); isSpec && len(spec.Values) > 0 && !p.madeValue(v, spec.Values[0]) {
				return false
			}
			continue
		}
		value := valueOf(n.(ast.Expr), a.Lhs, a.Rhs)
		if value != nil && !p.madeValue(v, value) {
			return false
		}
	}
	return true
}

func (p *purity) madeValue(v *types.Var, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, lit := e.X.(*ast.CompositeLit)
		return lit
	case *ast.Ident:
		return e.Name == "nil"
	case *ast.SliceExpr:
		return p.x.variable(e.X) == v
	case *ast.CallExpr:
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if !ok || !p.x.pass.TypesInfo.Types[e.Fun].IsBuiltin() {
			return p.x.pass.TypesInfo.Types[e.Fun].IsType() || isFreshResult(p.x.callee(e))
		}
		return id.Name == "make" || id.Name == "new" || id.Name == "append" && p.x.variable(e.Args[0]) == v
	}
	return false
}

// isFreshResult reports whether a function returns memory that nothing else holds.
func isFreshResult(fn *types.Func) bool {
	return isFunc(fn, "strings", "Split", "SplitN", "Fields") || isFunc(fn, "fmt", "Errorf") || isFunc(fn, "errors", "New")
}
