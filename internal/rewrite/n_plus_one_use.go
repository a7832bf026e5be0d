package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// How the twin of a reader is named, written and called in the loop.

// useTwin writes the twin behind the function, and its use in the loop.
func (l *perElement) useTwin(r *reader, call *ast.CallExpr, loop, header ast.Stmt) ([]analysis.TextEdit, bool) {
	source := newSource(l.pass, loop.Pos())
	if source == nil {
		return nil, l.no(loop, "the file cannot be read")
	}
	taken, nth := namesAround(l.pass, loop.Pos()), l.nthOf(r, call)
	base, name := r.decl.Name.Name, r.twinName(l)
	keyType, ok := l.keyType(r, source.file)
	keys, next := freshNumbered(taken, camel(base+"Keys"+nth)), freshNumbered(taken, "next"+upperFirst(base)+nth)
	l.no(call, nameTaken)
	twin, ok2 := r.twin(name)
	if !ok || !ok2 {
		return nil, false
	}
	text := func(e ast.Expr) string { return source.text(e.Pos(), e.End()) }
	var args []string
	for i, a := range call.Args {
		switch {
		case i == r.keys[0].at:
			args = append(args, keys)
		case r.takes(i):
			args = append(args, text(l.byElement(a, loop)))
		}
	}
	fun := name
	if sel, isMethod := ast.Unparen(call.Fun).(*ast.SelectorExpr); isMethod {
		fun = text(sel.X) + "." + name
	}
	lines := []string{
		fmt.Sprintf("var %s []%s", keys, keyType),
		l.headerText(source, header, r.elements()) + " {",
		fmt.Sprintf("%s = append(%s, %s)", keys, keys, r.elementText(source, keyType)),
		"}",
		fmt.Sprintf("%s := %s(%s)", next, fun, strings.Join(args, ", ")),
	}
	lines, head := l.named(source, loop, lines)
	indent := source.indent(loop.Pos())
	before := edit(loop.Pos(), loop.Pos(), layOut(lines, indent)+indent)
	if start, _, _ := source.wholeLines(loop.Pos(), loop.Pos()); strings.TrimSpace(source.text(start, loop.Pos())) == "" {
		before = edit(start, start, indent+layOut(lines, indent))
	}
	edits := append(head, before, edit(call.Fun.Pos(), call.Fun.End(), next))
	if twin != "" {
		_, end, _ := r.source.wholeLines(r.decl.Pos(), r.decl.End())
		edits = append(edits, edit(end, end, twin))
	}
	return edits, true
}

// twinName is the name of the twin; one that a loop of another package calls is exported.
func (r *reader) twinName(l *perElement) string {
	name := camel(r.decl.Name.Name + "Ahead")
	if l.pass.Pkg != r.pass.Pkg {
		name = upperFirst(name)
	}
	if !r.lean {
		return name
	}
	name += "By"
	for _, k := range r.keys {
		name += strings.ReplaceAll(upperFirst(r.param(k.at)+k.path), ".", "")
	}
	return name
}

// typed is a name of the function that is told apart from that of other types' methods.
func (r *reader) typed(name string) string {
	if r.decl.Recv == nil {
		return camel(name)
	}
	return camel(receiverName(r.pass.TypesInfo.TypeOf(r.decl.Recv.List[0].Type)), upperFirst(name))
}

// nameOfRows begins the names of the types for the rows of a Query in a loop: those of the
// function or the variable of the package around it. Closures in it have statements of their own.
func (r *reader) nameOfRows() string {
	base, nth := "listed", ""
	top := sharedIndex(r.pass).topDecl(r.call.Expr)
	switch d := top.(type) {
	case *ast.FuncDecl:
		base = (&reader{perElement: r.perElement, decl: d}).typed(d.Name.Name)
	case *ast.GenDecl:
		if v, ok := d.Specs[0].(*ast.ValueSpec); ok && v.Names[0].Name != "_" {
			base = v.Names[0].Name
		}
	}
	n := 1
	for _, c := range r.calls.Calls {
		if within(c.Expr, top) && c.Pos() < r.call.Pos() {
			n++
		}
	}
	if n > 1 {
		nth = strconv.Itoa(n)
	}
	name := camel(base) + "Ahead" + nth
	for n := name; ; n += "X" {
		if scope := r.pass.Pkg.Scope(); scope.Lookup(n+"Rows") == nil && scope.Lookup(n+"RowsAhead") == nil {
			return n
		}
	}
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// takes reports whether the twin has a parameter of the function, which is not the key.
func (r *reader) takes(at int) bool {
	if r.isKey(at) {
		return false
	}
	if !r.lean {
		return true
	}
	name := r.param(at)
	return slices.ContainsFunc(append(slices.Clone(r.call.Args), r.call.Handle.Expr), func(e ast.Expr) bool { return r.asksFor(e, name) }) ||
		r.call.Context != nil && r.asksFor(r.call.Context, name)
}

// nthOf numbers the calls of a reader's function in one function: "" for the first one, "2" for
// the second, so that their rewrites can be made together.
func (l *perElement) nthOf(r *reader, call *ast.CallExpr) string {
	n := 0
	for _, d := range fileOf(l.pass, call.Pos()).Decls {
		if d.Pos() > call.Pos() || call.Pos() > d.End() {
			continue
		}
		ast.Inspect(d, func(x ast.Node) bool {
			if c, ok := x.(*ast.CallExpr); ok && c.Pos() <= call.Pos() && r.calls.Decl(calleeOf(l.pass, c)) == r.decl {
				n++
			}
			return true
		})
	}
	if n <= 1 {
		return ""
	}
	return strconv.Itoa(n)
}

// calleeOf is the function or method that a call names, or nil.
func calleeOf(pass *analysis.Pass, call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
	return fn
}

// freshNumbered is a name that is not taken, with a number if it has to be.
func freshNumbered(taken map[string]bool, name string) string {
	for i, n := 2, name; ; i++ {
		if !taken[n] && types.Universe.Lookup(n) == nil {
			taken[n] = true
			return n
		}
		n = fmt.Sprintf("%s%d", name, i)
	}
}

// headerText is the header of the loop with the variables that the key needs.
func (l *perElement) headerText(source *sourceText, header ast.Stmt, key ast.Expr) string {
	if n, ok := header.(*ast.ForStmt); ok {
		return strings.TrimSpace(source.text(n.Pos(), n.Body.Pos()))
	}
	b := &batch{perElement: l, loop: header.(*ast.RangeStmt), call: &sqlcall.Call{Args: []ast.Expr{key}}, list: l.listName(header)}
	return b.header(source)
}

// twin is the text of the twin, "" if the package has it already, as the rewrite of
// another loop left it. ok is false if its name means something else.
func (r *reader) twin(name string) (string, bool) {
	t, ok := newTwin(r, name)
	if !ok {
		return "", false
	}
	text := t.text()
	var there types.Object
	if r.decl.Recv == nil {
		there = r.pass.Pkg.Scope().Lookup(name)
	} else {
		there, _, _ = types.LookupFieldOrMethod(r.pass.TypesInfo.TypeOf(r.decl.Recv.List[0].Type), true, r.pass.Pkg, name)
	}
	if there == nil {
		if r.listed() {
			asked, ahead := t.rowTypeNames()
			if r.pass.Pkg.Scope().Lookup(asked) != nil || r.pass.Pkg.Scope().Lookup(ahead) != nil {
				return "", false
			}
			text += "\n" + t.rowTypesText()
		}
		return "\n" + text, true
	}
	fn, _ := there.(*types.Func)
	d := r.calls.Decl(fn)
	if d == nil || d.Doc == nil {
		return "", false
	}
	source := newSource(r.pass, d.Pos())
	same := source != nil && strings.Join(strings.Fields(source.text(d.Doc.Pos(), d.End())), " ") == strings.Join(strings.Fields(text), " ")
	return "", same
}
