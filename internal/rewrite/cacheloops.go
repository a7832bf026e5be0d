package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A Loop is a loop over the rows of one statement that sends another one for each.
type Loop struct {
	Parent, Child string
	// Column of the parent's rows is an argument of the child; "" if the source does not
	// show which.
	Column string
	Place  string // file and line of the loop
}

// mostParents bounds the statements whose rows one loop may go over.
const mostParents = 8

// loops finds the loops of a program that send a SELECT for each row of another one: in
// their body, or in functions that it calls, also in other packages. The rows may be read by
// a function as well.
func (g *appCode) loops() (out []Loop) {
	for _, p := range g.parts {
		for _, child := range p.sent {
			if child.inserts || len(child.texts) == 0 {
				continue
			}
			g.ascend(child, func(at round) {
				for _, parent := range at.parents(g) {
					for _, l := range pairsOf(parent, child, at) {
						if !slices.Contains(out, l) {
							out = append(out, l)
						}
					}
				}
			})
		}
	}
	return out
}

// pairsOf are the loops of a place, for each text that its two statements may have.
func pairsOf(parent, child *sent, at round) (out []Loop) {
	if parent == child {
		return nil
	}
	place := at.p.x.pass.Fset.Position(at.loop.Pos())
	one := Loop{Column: at.column(parent), Place: fmt.Sprintf("%s:%d", filepath.Base(place.Filename), place.Line)}
	for _, p := range parent.texts {
		for _, c := range child.texts {
			one.Parent, one.Child = p, c
			out = append(out, one)
		}
	}
	return out
}

// sentText is the text of a call as the database gets it.
func sentText(c *sqlcall.Call) string {
	if c.Text == nil {
		return ""
	}
	if c.Named {
		return sqltext.Positional(c.Text.SQL)
	}
	return c.Text.SQL
}

// parents are the statements whose rows a loop may go over.
func (r round) parents(g *appCode) []*sent {
	f := &filler{g: g, seen: map[ast.Node]bool{}}
	over := r.over
	if loop, ok := r.loop.(*ast.ForStmt); ok {
		if over = rowsOf(loop); over == nil {
			over = measured(r.p.x, loop)
		}
	}
	if over != nil {
		f.filled(r.p, over, r.loop.Pos(), deepestHelper)
	}
	return f.found
}

// measured is the list whose length a loop counts to, nil for another loop.
func measured(x *index, loop *ast.ForStmt) ast.Expr {
	b, ok := loop.Cond.(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	for _, e := range []ast.Expr{b.X, b.Y} {
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && isBuiltin(x.pass.TypesInfo, call, "len") && len(call.Args) == 1 {
			return call.Args[0]
		}
	}
	return nil
}

// A filler finds the statements whose rows a variable holds.
type filler struct {
	g     *appCode
	seen  map[ast.Node]bool
	found []*sent
}

// filled looks for what fills a list before a position: a statement, a function that returns
// rows, or the callers of the function whose parameter the list is.
func (f *filler) filled(p *part, list ast.Expr, before token.Pos, depth int) {
	if depth == 0 || len(f.found) >= mostParents || f.seen[list] {
		return
	}
	f.seen[list] = true
	if call, ok := ast.Unparen(list).(*ast.CallExpr); ok {
		f.returned(p, call, depth)
		return
	}
	v := rootOfExpr(p.x, list)
	if v == nil {
		return
	}
	if last := p.lastInto(v, before); last != nil {
		f.add(last)
		return
	}
	if set := p.x.setBefore(v, before); set != nil {
		if call, ok := ast.Unparen(set).(*ast.CallExpr); ok {
			f.returned(p, call, depth)
			return
		}
	}
	f.parameter(p, v, depth)
}

// lastInto is the last statement before a position that reads rows into a variable.
func (p *part) lastInto(v *types.Var, before token.Pos) (last *sent) {
	for _, s := range p.sent {
		if s.inserts || s.call.Pos() > before {
			continue
		}
		for _, d := range s.dests {
			if rootOfExpr(p.x, d) == v {
				last = s
			}
		}
	}
	return last
}

func (f *filler) add(s *sent) {
	if len(s.texts) > 0 && !slices.Contains(f.found, s) {
		f.found = append(f.found, s)
	}
}

// parameter looks at what the calls of a function give one of its parameters.
func (f *filler) parameter(p *part, v *types.Var, depth int) {
	id := p.x.defs[v]
	if id == nil {
		return
	}
	d, ok := p.x.function(id).(*ast.FuncDecl)
	if !ok {
		return
	}
	fn, _ := p.x.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if fn == nil {
		return
	}
	for i := range fn.Signature().Params().Len() {
		if fn.Signature().Params().At(i) != v {
			continue
		}
		for _, s := range f.g.sites[fn] {
			if i < len(s.call.Args) {
				f.filled(s.p, s.call.Args[i], s.call.Pos(), depth-1)
			}
		}
	}
}

// returned looks at the rows that a call of a function returns.
func (f *filler) returned(p *part, call *ast.CallExpr, depth int) {
	fn := p.x.callee(call)
	if fn == nil {
		return
	}
	for _, to := range f.g.reached(fn) {
		q := f.g.decls[to]
		d := q.x.decls[to]
		if d.Body == nil {
			continue
		}
		for _, result := range returned(d.Body) {
			f.filled(q, result, d.Body.End(), depth-1)
		}
	}
}

// rootOfExpr is the variable that an expression begins with: of &xs, xs[i].F, *x.
func rootOfExpr(x *index, e ast.Expr) *types.Var {
	for {
		switch n := ast.Unparen(e).(type) {
		case *ast.Ident:
			return x.variable(n)
		case *ast.SelectorExpr:
			e = n.X
		case *ast.IndexExpr:
			e = n.X
		case *ast.SliceExpr:
			e = n.X
		case *ast.StarExpr:
			e = n.X
		case *ast.UnaryExpr:
			if n.Op != token.AND {
				return nil
			}
			e = n.X
		default:
			return nil
		}
	}
}

// column is the column of the parent's rows that the round gives its statement.
func (r round) column(parent *sent) string {
	x := r.p.x
	var element *types.Var
	if loop, ok := r.loop.(*ast.RangeStmt); ok && loop.Value != nil {
		element = x.variable(loop.Value)
	}
	for _, a := range r.values.args {
		for _, e := range []ast.Expr{a, valueBehind(x, a)} {
			if e == nil {
				continue
			}
			if root := x.sameAs(rootOfExpr(x, e)); element == nil || root == element || root == nil {
				if name := columnOfField(x, e, parent); name != "" {
					return name
				}
			}
		}
	}
	for _, f := range r.values.fields {
		if name := columnOfField(f.x, f.sel, parent); name != "" && r.varies() {
			return name
		}
	}
	return ""
}

// sameAs is the variable of which a local one is a copy, as in r := r, else itself.
func (x *index) sameAs(v *types.Var) *types.Var {
	for range deepestHelper {
		if v == nil || !isLocal(v) {
			return v
		}
		from := x.variable(x.fixedValue(v))
		if from == nil {
			return v
		}
		v = from
	}
	return v
}

// valueBehind is what a local variable is set to, nil for other expressions.
func valueBehind(x *index, e ast.Expr) ast.Expr {
	if v := x.variable(e); v != nil && isLocal(v) {
		return x.fixedValue(v)
	}
	return nil
}

// columnOfField is the column of a field by its tag, else by its name, as the library maps
// it that reads the parent's rows; "" for another expression.
func columnOfField(x *index, e ast.Expr, parent *sent) string {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	t := x.typeOf(sel.X)
	if t == nil {
		return ""
	}
	s := structOf(t)
	if s == nil {
		return ""
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() != sel.Sel.Name {
			continue
		}
		if parent.mapper != "" {
			return (&mapperChain{x: x}).columnOf(s, sel.Sel.Name)
		}
		if tag := reflect.StructTag(s.Tag(i)).Get("db"); tag != "" {
			return tag
		}
		return strings.ToLower(sel.Sel.Name)
	}
	return ""
}
