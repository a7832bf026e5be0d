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
	if !e.call.Named {
		return e.nameableArgument(id)
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
	return lead + "// An error names the first row of its statement.\n" +
		lead + strings.Join(names, ", ") + " := " + strings.Join(values, ", ") + "\n", true
}

// queryArg is the expression of the statement's text.
func (e *execution) queryArg() ast.Expr {
	if e.call.Prepared != nil {
		return e.calls.Unbound(e.call.Prepared.QueryArg)
	}
	return e.calls.Unbound(e.call.QueryArg)
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
