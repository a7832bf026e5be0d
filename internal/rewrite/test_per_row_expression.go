package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// expression is a value of the row as an SQL expression over the columns of the
// table: a column, a text that fmt.Sprintf makes of columns, or a variable of the
// loop that is set once to one of them.
func (t *rowTest) expression(e ast.Expr) (string, bool) {
	e = ast.Unparen(e)
	if column, ok := t.column(e); ok {
		return column, true
	}
	if v := t.x.variable(e); v != nil && within(posNode(v.Pos()), t.s.loop) {
		if value := t.x.fixedValue(v); value != nil && value.Pos() > t.s.loop.Pos() {
			return t.expression(value)
		}
		return "", false
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || !isFunc(t.x.callee(call), "fmt", "Sprintf") || call.Ellipsis.IsValid() {
		return "", false
	}
	return t.formatted(call)
}

// column is a column of the row as the list's statement writes it.
func (t *rowTest) column(e ast.Expr) (string, bool) {
	name, ok := t.columnOf(t.s, e)
	if !ok || !t.known(t.list().table, name) {
		return "", false
	}
	return t.list().column(name)
}

// formatted is the text that fmt.Sprintf makes of columns, as CONCAT. %f has six
// digits after the point, as a DECIMAL of that scale has. Go rounds the exact binary
// value and the server its shortest decimal form, which differ where the seventh
// digit is a 5 and the last one: recorded answers decide.
func (t *rowTest) formatted(call *ast.CallExpr) (string, bool) {
	lit, ok := ast.Unparen(call.Args[0]).(*ast.BasicLit)
	if !ok {
		return "", false
	}
	format, err := strconv.Unquote(lit.Value)
	if err != nil {
		return "", false
	}
	return t.formattedAs(format, call.Args[1:])
}

// formattedAs does so for a format and its arguments.
func (t *rowTest) formattedAs(format string, args []ast.Expr) (string, bool) {
	if strings.ContainsAny(format, "'\\?`\"\n\x00") {
		return "", false
	}
	var parts []string
	for format != "" {
		text, rest, verb := strings.Cut(format, "%")
		if text != "" {
			parts = append(parts, "'"+text+"'")
		}
		if !verb {
			break
		}
		if rest == "" || len(args) == 0 {
			return "", false
		}
		part, ok := t.verb(rest[0], args[0])
		if !ok {
			return "", false
		}
		parts = append(parts, part)
		format, args = rest[1:], args[1:]
	}
	if len(parts) == 0 || len(args) > 0 {
		return "", false
	}
	return "CONCAT(" + strings.Join(parts, ", ") + ")", true
}

// verb is a column as a verb prints it. The column must have the kind of the field's
// type: an integer in a text column might be printed in another form.
func (t *rowTest) verb(verb byte, e ast.Expr) (string, bool) {
	column, ok := t.column(e)
	basic, isBasic := t.x.typeOf(e).Underlying().(*types.Basic)
	if !ok || !isBasic {
		return "", false
	}
	name, _ := t.columnOf(t.s, e)
	kind := t.facts.Tables[t.list().table].Columns[strings.ToLower(name)].Type
	switch {
	case verb == 'f' && basic.Kind() == types.Float64 && strings.HasPrefix(kind, "double"):
		return fmt.Sprintf("CAST(%s AS DECIMAL(65, 6))", column), true
	case verb == 'd' && basic.Info()&types.IsInteger != 0 && integer(kind):
		return column, true
	case verb == 's' && basic.Info()&types.IsString != 0 && (strings.HasPrefix(kind, "varchar") || strings.HasPrefix(kind, "text")):
		return column, true
	}
	return "", false
}
