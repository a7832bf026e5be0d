package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A mapper's Find reads all rows that its chain asks for. Where the code uses the first ones
// only, Limit in the chain does what LIMIT does in a text.

// A mapperFind is a call of Find that fills a local slice, or one of ent's All that returns it.
type mapperFind struct {
	call   *ast.CallExpr
	chain  *mapperChain
	dest   *types.Var
	mapper string
}

// finds are the calls of Find in a package by which gorm or xorm fill a local slice, and those of
// All by which ent returns one, in a chain without a limit.
func (l *firstRow) finds() (out []mapperFind) {
	x := indexOf(l.pass)
	for c := range rootOf(l.pass).Preorder((*ast.CallExpr)(nil)) {
		f, ok := l.findAt(x, c.Node().(*ast.CallExpr))
		if !ok {
			continue
		}
		f.dest = localVar(l.pass.TypesInfo, f.call.Args[0])
		if f.mapper == entMapper {
			f.dest = returnedInto(x, f.call)
		}
		if f.dest != nil && f.limitless() {
			out = append(out, f)
		}
	}
	return out
}

// findAt reads a call as a Find of gorm or xorm, without its destination.
func (l *firstRow) findAt(x *index, call *ast.CallExpr) (f mapperFind, ok bool) {
	fn := x.callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() == nil || len(call.Args) == 0 || skipped(l.pass, call.Pos()) {
		return f, false
	}
	if name, _ := mapperIn(l.pass.TypesInfo, call); name == entMapper && (fn.Name() == "All" || fn.Name() == "AllX") {
		return mapperFind{call: call, chain: &mapperChain{x: x, path: fn.Pkg().Path(), end: fn.Name()}, mapper: entMapper}, true
	}
	if fn.Name() != "Find" {
		return f, false
	}
	f = mapperFind{call: call, chain: &mapperChain{x: x, path: fn.Pkg().Path(), end: "Find"}, mapper: "gorm"}
	switch f.chain.path {
	case gormPath, oldGormPath:
	case xormPath, oldXormPath:
		f.mapper = "xorm"
	default:
		return f, false
	}
	return f, true
}

// returnedInto is the local variable that takes the first result of a call, and nothing else.
func returnedInto(x *index, call *ast.CallExpr) *types.Var {
	a, ok := x.parent[call].(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Rhs) != 1 {
		return nil
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := x.pass.TypesInfo.Defs[id].(*types.Var)
	return v
}

// limitless reports whether no call of the chain limits, locks or changes the query in a way
// that is not known.
func (f mapperFind) limitless() bool {
	for call := f.call; ; {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		switch sel.Sel.Name {
		case "Limit", "Offset", "Clauses", "Scopes", "Raw", "SQL", "ForUpdate", "ForShare", "Modify", "Set", "Group", "GroupBy", "Having":
			return false
		case "Order", "OrderBy", "Asc", "Desc":
			f.chain.order = append(f.chain.order, "known")
		}
		if call == f.call && !takesLimit(f.chain.x, sel.X) { // gorm's Association
			return false
		}
		next, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok || !f.chain.ofMapper(next) {
			return true
		}
		call = next
	}
}

// takesLimit reports whether the value whose Find is called has a method Limit.
func takesLimit(x *index, e ast.Expr) bool {
	obj, _, _ := types.LookupFieldOrMethod(x.typeOf(e), true, x.pass.Pkg, "Limit")
	_, ok := obj.(*types.Func)
	return ok
}

// startsAnew are the methods whose result takes conditions without keeping them for the next call.
var startsAnew = []string{"WithContext", "Session", "Debug", "Begin", "New", "NewSession"}

// shared reports whether the call goes on with a chain that a variable has, and Limit would change
// more than this call: the chain has a limit before, or gorm, which keeps what is added to it in
// the variable, is asked by it again.
func (f mapperFind) shared() bool {
	x, from := f.chain.x, ast.Expr(f.call)
	for call, ok := f.call, true; ok && f.chain.ofMapper(call); call, ok = ast.Unparen(from).(*ast.CallExpr) {
		sel, isSelector := call.Fun.(*ast.SelectorExpr)
		if !isSelector {
			return true
		}
		from = sel.X
		if call != f.call && slices.Contains(startsAnew, sel.Sel.Name) {
			return false
		}
	}
	v := x.variable(from)
	if v == nil || x.defs[v] == nil {
		return false
	}
	if f.mapper == entMapper && strings.HasSuffix(receiverName(v.Type()), "Query") {
		return true // it takes the limit itself
	}
	for _, id := range append(x.writes(v), x.defs[v]) {
		a, ok := x.parent[id].(*ast.AssignStmt)
		if !ok {
			continue
		}
		value, ok := valueOf(id, a.Lhs, a.Rhs).(*ast.CallExpr)
		if ok && f.chain.ofMapper(value) && f.keeps(value, v) {
			return true
		}
	}
	return false
}

// keeps reports whether a variable's chain has a limit, or is one of gorm that is used behind the
// call.
func (f mapperFind) keeps(value *ast.CallExpr, v *types.Var) bool {
	anew := false
	for call, ok := value, true; ok; {
		sel, isSelector := call.Fun.(*ast.SelectorExpr)
		if !isSelector {
			break
		}
		if sel.Sel.Name == "Limit" || sel.Sel.Name == "Offset" {
			return true
		}
		anew = anew || call == value && slices.Contains(startsAnew, sel.Sel.Name)
		call, ok = ast.Unparen(sel.X).(*ast.CallExpr)
	}
	return !anew && f.chain.path == gormPath && slices.ContainsFunc(f.chain.x.uses[v], func(id *ast.Ident) bool { return id.Pos() >= f.call.End() })
}

// fills reports whether a call fills its first argument with all rows of a query.
func (l *firstRow) fills(call *ast.CallExpr) bool {
	if c := l.calls.At(call); c != nil {
		return c.Op == sqlcall.Select
	}
	return l.finding != nil && l.finding.call == call
}

// limitFind reports a Find of which n rows are enough.
func (l *firstRow) limitFind(f mapperFind, what string, n int64, proven bool, at ast.Node, why string) {
	sel := f.call.Fun.(*ast.SelectorExpr)
	p := place{node: sel.Sel, statements: mapperTexts(f.chain.x, f.call), what: what, how: fmt.Sprintf("put Limit(%d) into the chain", n)}
	if len(f.chain.order) == 0 {
		p.promise = RowOrder
	}
	if l.needs(proven, at, "%s", why) &&
		l.needs(f.onlyError(), f.call, "something else than the error of Find is used") &&
		l.needs(!f.shared(), f.call, "a variable has the chain, which is limited before or goes on") &&
		l.needs(!f.hooked(), f.call, "a method AfterFind of the model is called for each row") {
		p.fixes = suggested(fmt.Sprintf("Read %d rows", n), []analysis.TextEdit{edit(sel.X.End(), sel.X.End(), fmt.Sprintf(".Limit(%d)", n))})
	}
	l.report(p)
}

// onlyError reports whether nothing of Find's result is used but its error.
func (f mapperFind) onlyError() bool {
	switch p := f.chain.x.parent[f.call].(type) {
	case *ast.ExprStmt:
		return true
	case *ast.SelectorExpr:
		return p.Sel.Name == "Error"
	}
	return f.mapper != "gorm" // they return the error
}

// hooked reports whether the model has a method that is called for each row.
func (f mapperFind) hooked() bool {
	named := element(f.dest.Type())
	if named == nil {
		return false
	}
	for _, name := range []string{"AfterFind", "AfterLoad", "AfterSet"} {
		if obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), name); obj != nil {
			return true
		}
	}
	return false
}

// mapped reports the calls of Find whose first row alone is used.
func (l *firstRow) mapped() {
	for _, f := range l.finds() {
		if l.finding = &f; l.firstOnly(f.dest) {
			l.limitFind(f, fmt.Sprintf("all rows are read by %s of %s and only the first one is used", f.chain.end, f.mapper), 1, true, f.call, "")
		}
	}
	l.finding = nil
}

// mapped reports the calls of Find over whose rows a loop stops early.
func (l *stopping) mapped() {
	for _, f := range l.finds() {
		l.finding = &f
		loop := l.overSlice(f.dest)
		if loop == nil {
			continue
		}
		if n, proven := l.count(loop); n > 0 {
			l.limitFind(f, fmt.Sprintf("all rows are read by %s of %s and the loop stops after %d", f.chain.end, f.mapper, n), n, proven, loop.stmt, "the loop leaves rows out by conditions that the statement does not have")
		}
	}
	l.finding = nil
}
