package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// A namedArgument is an argument of the statement that the handling of its error
// names. That code then names the first row of the chunk that failed.
type namedArgument struct {
	object types.Object
	index  int    // of the argument
	kind   string // its type as the code at the loop names it
}

// nameable reports whether an identifier in the handling of an error is sent by the
// statement: as the element of a named statement, or as one of the arguments.
func (e *execution) nameable(id *ast.Ident) bool {
	check, isIf := e.moved[len(e.moved)-1].(*ast.IfStmt)
	if !isIf || len(e.call.Args) == 0 || id.Pos() < check.Body.Pos() {
		return false
	}
	return e.nameableElement(id) || !e.call.Named && e.nameableArgument(id) || e.keptAside(id)
}

// nameableElement notes the variable of a range whose elements are the arguments of a
// named statement.
func (e *execution) nameableElement(id *ast.Ident) bool {
	if !e.call.Named {
		return false
	}
	loop, isRange := e.loop.(*ast.RangeStmt)
	if !isRange || len(e.call.Args) != 1 {
		return false
	}
	arg, isIdent := ast.Unparen(e.call.Args[0]).(*ast.Ident)
	value, isValue := loop.Value.(*ast.Ident)
	info := e.pass.TypesInfo
	if !isIdent || !isValue || info.ObjectOf(id) != info.ObjectOf(value) || info.ObjectOf(arg) != info.ObjectOf(value) {
		return false
	}
	e.element = value
	return true
}

// nameableArgument notes an argument that is a variable, if its type can be written at
// the loop. An interface is refused: a nil value of it does not tell its dynamic type.
func (e *execution) nameableArgument(id *ast.Ident) bool {
	info := e.pass.TypesInfo
	obj := info.ObjectOf(id)
	if slices.ContainsFunc(e.elements, func(n namedArgument) bool { return n.object == obj }) {
		return true
	}
	at := slices.IndexFunc(e.call.Args, func(a ast.Expr) bool {
		x, ok := ast.Unparen(a).(*ast.Ident)
		return ok && info.ObjectOf(x) == obj
	})
	if at < 0 || types.IsInterface(obj.Type()) {
		return false
	}
	kind, ok := typeName(e.pass, fileOf(e.pass, id.Pos()), obj.Type())
	if !ok {
		return false
	}
	// A variable of the loop may have the name of the type.
	tv, err := types.Eval(e.pass.Fset, e.pass.Pkg, e.moved[0].Pos(), kind)
	if err != nil || !tv.IsType() || !types.Identical(tv.Type, obj.Type()) {
		return false
	}
	e.elements = append(e.elements, namedArgument{obj, at, kind})
	return true
}

// namesFirst declares the named arguments with the values of the chunk's first row.
func (e *execution) namesFirst(lead, chunk string) (string, bool) {
	if len(e.elements) == 0 {
		return "", true
	}
	var names, values []string
	for _, n := range e.elements {
		// The text of the statement, and the handle of a prepared one, may stand
		// outside of the loop, where the name is another variable's.
		if mentions(e.queryArg(), n.object.Name()) || mentions(e.handle().Expr, n.object.Name()) {
			return "", false
		}
		names = append(names, n.object.Name())
		values = append(values, fmt.Sprintf("%s[%d].(%s)", chunk, n.index, n.kind))
	}
	return lead + firstNamed + lead + strings.Join(names, ", ") + " := " + strings.Join(values, ", ") + "\n", true
}

// An asideVariable is a variable of the loop that the handling of an error names and that
// is no argument of the statement. The loop keeps its values in a list.
type asideVariable struct {
	object types.Object
	kind   string // its type as the code at the loop names it
	list   string // name of the list
}

// keptAside notes a variable of the loop that the handling of an error names, if its type
// can be written at the loop, and if no statement is sent with it.
func (e *execution) keptAside(id *ast.Ident) bool {
	v, ok := e.pass.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || !e.loop.Pos().IsValid() || v.Pos() >= e.moved[0].Pos() {
		return false
	}
	if at, found := rootOf(e.pass).FindNode(id); found {
		for c := range at.Enclosing((*ast.CallExpr)(nil)) {
			if e.calls.At(c.Node().(*ast.CallExpr)) != nil {
				return false
			}
		}
	}
	if slices.ContainsFunc(e.aside, func(a asideVariable) bool { return a.object == v }) {
		return true
	}
	kind, ok := typeName(e.pass, fileOf(e.pass, id.Pos()), v.Type())
	if !ok {
		return false
	}
	tv, err := types.Eval(e.pass.Fset, e.pass.Pkg, e.loop.Pos(), kind)
	if err != nil || !tv.IsType() || !types.Identical(tv.Type, v.Type()) {
		return false
	}
	e.aside = append(e.aside, asideVariable{object: v, kind: kind})
	return true
}

// asideNames names the lists of the variables that are kept aside.
func (e *execution) asideNames() ([]asideVariable, bool) {
	for i := range e.aside {
		name := e.aside[i].object.Name()
		if mentions(e.queryArg(), name) || mentions(e.handle().Expr, name) || e.call.Context != nil && mentions(e.call.Context, name) {
			return nil, false
		}
		if e.aside[i].list = fresh(e.taken, name+"OfRow", name+"OfEachRow"); e.aside[i].list == "" {
			return nil, false
		}
	}
	return e.aside, true
}

// firstNamed is the comment above the variables that an error names.
const firstNamed = "// An error names the first row of its statement.\n"

// asideFirst declares the variables that were kept aside with the values of the chunk's
// first row, and leaves those of the next chunks in the lists.
func (e *execution) asideFirst(lead, rows string) string {
	if len(e.aside) == 0 {
		return ""
	}
	text := ""
	if e.element == nil && len(e.elements) == 0 {
		text = lead + firstNamed
	}
	for _, v := range e.aside {
		text += fmt.Sprintf("%s%s := %s[0]\n%s%s = %s[%s:]\n", lead, v.object.Name(), v.list, lead, v.list, v.list, rows)
	}
	return text
}

// queryArg is the expression of the statement's text.
func (e *execution) queryArg() ast.Expr {
	if e.call.Prepared != nil {
		return e.calls.Unbound(e.call.Prepared.QueryArg)
	}
	return e.calls.Unbound(e.call.QueryArg)
}

// boundArg is the text's argument with a Rebind around it, if it has one.
func (e *execution) boundArg() ast.Expr {
	if e.call.Prepared != nil {
		return e.call.Prepared.QueryArg
	}
	return e.call.QueryArg
}

// bindsThere reports whether Rebind is called where the text is sent or prepared.
func (e *execution) bindsThere() bool {
	return e.boundArg() != nil && e.queryArg() != e.boundArg()
}

// rebound is a new text with the Rebind that was around the old one.
func (e *execution) rebound(source *sourceText, query string) string {
	if !e.bindsThere() {
		return query
	}
	arg, bound := e.queryArg(), e.boundArg()
	return source.text(bound.Pos(), arg.Pos()) + query + source.text(arg.End(), bound.End())
}

// mentions reports whether an expression has an identifier of a name.
func mentions(x ast.Expr, name string) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}
