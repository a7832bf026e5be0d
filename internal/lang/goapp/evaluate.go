package goapp

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// A frame is a function that runs, with what its variables hold.
type frame struct {
	e       *evaluation
	file    *codeFile
	vars    map[string]settings.Value
	lits    map[string]*function // function literals in variables
	results []settings.Value
	maybe   [][]settings.Value // results of branches that may not be taken
}

var null = settings.Value{Kind: settings.Null}

// run runs a function and returns its results. Parameters without an argument are
// unknown.
func (e *evaluation) run(fn *function, recv settings.Value, args []settings.Value) []settings.Value {
	if e.calls >= maxCalls || e.steps > maxSteps {
		return nil
	}
	fn.ran = true
	e.calls++
	defer func() { e.calls-- }()
	e.steps += len(fn.vars)
	fr := &frame{e: e, file: fn.file, vars: maps.Clone(fn.vars), lits: map[string]*function{}}
	if fr.vars == nil {
		fr.vars = map[string]settings.Value{}
	}
	if fn.recv != "" {
		fr.vars[fn.recv] = recv
	}
	i := 0
	for _, p := range fn.typ.Params.List {
		for _, name := range p.Names {
			v := settings.Because("the parameter %s at %s", name.Name, fr.where(name.Pos()))
			if i < len(args) {
				v = args[i]
			}
			fr.vars[name.Name] = v
			i++
		}
	}
	if fn.typ.Results != nil {
		for _, r := range fn.typ.Results.List {
			for _, name := range r.Names {
				fr.vars[name.Name] = fr.zero(r.Type, 0)
			}
		}
	}
	fr.block(fn.body.List)
	for name, v := range fn.vars { // a literal sets variables of the function around it
		if now := fr.vars[name]; now.Kind != v.Kind || now.Text != v.Text || now.Table != v.Table {
			fn.vars[name] = now
		}
	}
	for _, other := range fr.maybe {
		for i := range fr.results {
			if i < len(other) {
				fr.results[i] = fr.merged(fr.results[i], other[i], fn.body.Pos())
			}
		}
	}
	return fr.results
}

// merged is a value after a branch that may or may not be taken.
func (fr *frame) merged(a, b settings.Value, pos token.Pos) settings.Value {
	if a.Kind == b.Kind && a.Text == b.Text && a.Table == b.Table {
		return a
	}
	return settings.Because("a condition at %s", fr.where(pos))
}

// block runs statements and reports whether the function has returned.
func (fr *frame) block(list []ast.Stmt) bool {
	for _, s := range list {
		if fr.e.steps++; fr.e.steps > maxSteps {
			return true
		}
		if fr.stmt(s) {
			return true
		}
	}
	return false
}

func (fr *frame) stmt(s ast.Stmt) (returned bool) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		fr.assign(s)
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			for _, spec := range d.Specs {
				fr.declare(spec)
			}
		}
	case *ast.ExprStmt:
		fr.expr(s.X)
	case *ast.GoStmt:
		fr.expr(s.Call)
	case *ast.DeferStmt:
		fr.expr(s.Call)
	case *ast.BlockStmt:
		return fr.block(s.List)
	case *ast.LabeledStmt:
		return fr.stmt(s.Stmt)
	case *ast.IfStmt:
		return fr.branch(s)
	case *ast.ForStmt:
		if s.Init != nil {
			fr.stmt(s.Init)
		}
		fr.perhaps(s.Body.List, s.Pos())
	case *ast.RangeStmt:
		for _, x := range []ast.Expr{s.Key, s.Value} {
			if x != nil {
				fr.set(x, settings.Because("an element at %s", fr.where(s.Pos())))
			}
		}
		fr.perhaps(s.Body.List, s.Pos())
	case *ast.SwitchStmt:
		return fr.choose(s)
	case *ast.TypeSwitchStmt:
		fr.perhaps(s.Body.List, s.Pos())
	case *ast.SelectStmt:
		fr.perhaps(s.Body.List, s.Pos())
	case *ast.CaseClause:
		fr.perhaps(s.Body, s.Pos())
	case *ast.CommClause:
		fr.perhaps(s.Body, s.Pos())
	case *ast.ReturnStmt:
		fr.results = nil
		for _, r := range s.Results {
			fr.results = append(fr.results, fr.many(r)...)
		}
		return true
	}
	return false
}

func (fr *frame) declare(spec ast.Spec) {
	v, ok := spec.(*ast.ValueSpec)
	if !ok {
		return
	}
	for i, name := range v.Names {
		switch {
		case len(v.Values) == len(v.Names):
			fr.define(name, v.Values[i])
		case len(v.Values) == 0:
			fr.vars[name.Name] = fr.zero(v.Type, 0)
			if p, ok := v.Type.(*ast.StarExpr); ok && fr.structure(p) != nil {
				fr.vars[name.Name] = null
			}
		default:
			fr.vars[name.Name] = settings.Because("the result of a call at %s", fr.where(name.Pos()))
		}
	}
}

// define gives a name a value, and keeps a function literal.
func (fr *frame) define(name ast.Expr, value ast.Expr) {
	if lit, ok := value.(*ast.FuncLit); ok {
		if id, ok := name.(*ast.Ident); ok {
			fr.lits[id.Name] = &function{file: fr.file, typ: lit.Type, body: lit.Body, vars: fr.vars}
			return
		}
	}
	fr.set(name, fr.expr(value))
}

func (fr *frame) assign(s *ast.AssignStmt) {
	switch {
	case s.Tok != token.ASSIGN && s.Tok != token.DEFINE:
		v := settings.Because("it is computed at %s", fr.where(s.Pos()))
		if s.Tok == token.ADD_ASSIGN {
			v = settings.Join(fr.expr(s.Lhs[0]), fr.expr(s.Rhs[0]))
		}
		fr.set(s.Lhs[0], v)
	case len(s.Lhs) == len(s.Rhs):
		values := make([]settings.Value, len(s.Rhs))
		for i, r := range s.Rhs {
			if _, lit := r.(*ast.FuncLit); lit {
				fr.define(s.Lhs[i], r)
				continue
			}
			values[i] = fr.expr(r)
		}
		for i, l := range s.Lhs {
			if _, lit := s.Rhs[i].(*ast.FuncLit); !lit {
				fr.set(l, values[i])
			}
		}
	default:
		values := fr.many(s.Rhs[0])
		for i, l := range s.Lhs {
			v := settings.Because("the result of a call at %s", fr.where(s.Pos()))
			if i < len(values) {
				v = values[i]
			}
			fr.set(l, v)
		}
	}
}

// set sets a variable, a field or an element.
func (fr *frame) set(to ast.Expr, v settings.Value) {
	switch to := to.(type) {
	case *ast.Ident:
		if _, own := fr.vars[to.Name]; !own && to.Name != "_" {
			if _, global := fr.file.pkg.value(fr.e, to.Name); global {
				fr.file.pkg.now[to.Name] = v
				return
			}
		}
		fr.vars[to.Name] = v
	case *ast.SelectorExpr:
		if p, name := fr.selector(to); p != "" {
			if local := fr.e.local(p); local != nil {
				local.now[name] = v
			}
			return
		}
		if x := fr.expr(to.X); x.Kind == settings.Structure {
			x.Table.Set(to.Sel.Name, v)
		}
	case *ast.IndexExpr:
		if x, key := fr.expr(to.X), fr.expr(to.Index); x.Kind == settings.Structure && key.Kind == settings.Text {
			x.Table.Set(key.Text, v)
		}
	case *ast.StarExpr:
		fr.set(to.X, v)
	}
}

// branch runs an if statement: one branch if its condition is known, else both.
func (fr *frame) branch(s *ast.IfStmt) bool {
	if s.Init != nil {
		fr.stmt(s.Init)
	}
	yes, known := truth(fr.expr(s.Cond))
	switch {
	case known && yes:
		return fr.block(s.Body.List)
	case known:
		return s.Else != nil && fr.stmt(s.Else)
	}
	before := maps.Clone(fr.vars)
	left := fr.perhaps(s.Body.List, s.Pos())
	if s.Else == nil {
		return false
	}
	if left {
		return fr.stmt(s.Else)
	}
	after := fr.vars
	fr.vars = before
	if fr.perhaps([]ast.Stmt{s.Else}, s.Pos()) {
		fr.vars = after
		return false
	}
	for name, v := range after {
		fr.vars[name] = fr.merged(fr.vars[name], v, s.Pos())
	}
	return false
}

// perhaps runs statements that may not be reached and reports whether they return: what
// they set is not known behind them.
func (fr *frame) perhaps(list []ast.Stmt, pos token.Pos) bool {
	fr.e.steps += len(fr.vars) + len(fr.file.pkg.now)
	before, results := maps.Clone(fr.vars), fr.results
	global := maps.Clone(fr.file.pkg.now)
	if fr.block(list) {
		fr.maybe = append(fr.maybe, fr.results)
		fr.vars, fr.results = before, results
		return true
	}
	for name, v := range before {
		fr.vars[name] = fr.merged(v, fr.vars[name], pos)
	}
	for name, v := range global {
		fr.file.pkg.now[name] = fr.merged(v, fr.file.pkg.now[name], pos)
	}
	return false
}

// choose runs a switch statement.
func (fr *frame) choose(s *ast.SwitchStmt) bool {
	if s.Init != nil {
		fr.stmt(s.Init)
	}
	tag := settings.Literal("true")
	if s.Tag != nil {
		tag = fr.expr(s.Tag)
	}
	var otherwise []ast.Stmt
	for _, c := range s.Body.List {
		clause, ok := c.(*ast.CaseClause)
		if !ok {
			continue
		}
		if clause.List == nil {
			otherwise = clause.Body
		}
		for _, x := range clause.List {
			same, known := truth(compared(fr.expr(x), tag))
			if !known {
				fr.perhaps(s.Body.List, s.Pos())
				return false
			}
			if same {
				return fr.block(clause.Body)
			}
		}
	}
	return fr.block(otherwise)
}
