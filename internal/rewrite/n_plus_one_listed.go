package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// The rows of a Query of database/sql are read where they arrive:
//
//	rows, err := db.Query("SELECT id, name FROM tags WHERE post_id = ?", post)
//	…
//	defer rows.Close()
//	for rows.Next() {
//		if err := rows.Scan(&t.ID, &t.Name); err != nil {
//
// A twin gives such code rows that were read ahead in the place of those: the code around stays
// as it is, whatever it does with a row.

// rowsMethods are what code may ask of rows that were read ahead.
var rowsMethods = []string{"Next", "Scan", "Close", "Err"}

// listsRows reports whether a call's rows are those of database/sql, in a variable of their own
// that is only asked for rows, and scanned at one place. It notes the Scan.
func (r *reader) listsRows(c *sqlcall.Call) bool {
	a, ok := above(c.Cursor).Node().(*ast.AssignStmt)
	results := c.Callee.Signature().Results()
	if c.Op != sqlcall.Query || !ok || a.Tok != token.DEFINE || len(a.Lhs) != 2 || len(a.Rhs) != 1 ||
		results.Len() != 2 || types.TypeString(results.At(0).Type(), nil) != "*database/sql.Rows" {
		return false
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := r.pass.TypesInfo.Defs[id].(*types.Var)
	if !ok || r.calls.Writes[v] != 1 {
		return false
	}
	r.scan = nil
	for _, use := range usesOf(r.pass, v) {
		sel, ok := above(use).Node().(*ast.SelectorExpr)
		if !ok || !slices.Contains(rowsMethods, sel.Sel.Name) {
			return false
		}
		call, ok := above(above(use)).Node().(*ast.CallExpr)
		if !ok || call.Fun != ast.Expr(sel) {
			return false
		}
		if sel.Sel.Name == "Scan" {
			if r.scan != nil || call.Ellipsis.IsValid() || len(call.Args) == 0 {
				return false
			}
			r.scan = call
		}
	}
	return r.scan != nil
}

// listed reports whether the statement's rows are read where they arrive.
func (r *reader) listed() bool { return r.scan != nil }

// listDestinations notes the types of the values of a row. Two elements may ask for the same
// rows, so that no value may lead to what they would share.
func (r *reader) listDestinations() bool {
	r.dests = nil
	for _, d := range r.scan.Args {
		p, ok := r.pass.TypesInfo.TypeOf(d).Underlying().(*types.Pointer)
		if !r.needs(ok && valueOnly(p.Elem(), deepestHelper), d, "a value is scanned into what has no type of its own, or shares its memory") {
			return false
		}
		r.dests = append(r.dests, p.Elem())
	}
	return true
}

// valueOnly reports whether a copy of a value shares nothing with it.
func valueOnly(t types.Type, depth int) bool {
	if isNamed(t, "time", "Time") {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Array:
		return depth > 0 && valueOnly(u.Elem(), depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if depth == 0 || !valueOnly(f.Type(), depth-1) {
				return false
			}
		}
		return true
	}
	return false
}

// rowTypeNames are the names of the types that a twin declares for such rows.
func (t *twin) rowTypeNames() (asked, ahead string) {
	return t.rowsName + "Rows", t.rowsName + "RowsAhead"
}

// rowTypesText declares what the code asks of rows, and the rows that were read ahead.
func (t *twin) rowTypesText() string {
	asked, ahead := t.rowTypeNames()
	one, dest, all := t.names["row"], t.names["dest"], t.names["rows"]
	var sets []string
	for i, d := range t.rowTypes {
		value := one
		if len(t.rowTypes) > 1 {
			value = fmt.Sprintf("%s.v%d", one, i)
		}
		sets = append(sets, fmt.Sprintf("*%s[%d].(*%s) = %s", dest, i, d, value))
	}
	method := func(signature string) string { return fmt.Sprintf("func (%s *%s) %s", all, ahead, signature) }
	lines := []string{
		fmt.Sprintf("// %s are rows of a statement, or such as were read ahead.", asked),
		fmt.Sprintf("type %s interface {", asked),
		"Next() bool",
		fmt.Sprintf("Scan(dest ...%s) error", t.anyType),
		"Close() error",
		"Err() error",
		"}",
		"",
		fmt.Sprintf("// %s are the rows of one key that were read ahead.", ahead),
		fmt.Sprintf("type %s struct {", ahead),
		"list []" + t.oneRow(),
		"at   int",
		"}",
		"",
		method("Next() bool {"),
		all + ".at++",
		fmt.Sprintf("return %s.at <= len(%s.list)", all, all),
		"}",
		"",
		method(fmt.Sprintf("Scan(%s ...%s) error {", dest, t.anyType)),
		fmt.Sprintf("if %s.at < 1 || %s.at > len(%s.list) {", all, all, all),
		"return fmt.Errorf(\"sql: no row to scan\")",
		"}",
		fmt.Sprintf("%s := %s.list[%s.at-1]", one, all, all),
	}
	return layOut(append(append(lines, sets...), "return nil", "}", "", method("Close() error { return nil }"), "", method("Err() error { return nil }")), "")
}

// oneRow is the type of the values of a row.
func (t *twin) oneRow() string {
	if len(t.rowTypes) == 1 {
		return t.rowTypes[0]
	}
	fields := make([]string, len(t.rowTypes))
	for i, r := range t.rowTypes {
		fields[i] = fmt.Sprintf("v%d %s", i, r)
	}
	return "struct{ " + strings.Join(fields, "; ") + " }"
}

// lookupRows is the function that the body calls in place of a Query.
func (t *twin) lookupRows() []string {
	n := t.names
	asked, ahead := t.rowTypeNames()
	params := []string{n["key"] + " " + t.keyType, fmt.Sprintf("%s func() (%s, error)", n["send"], asked)}
	if t.several() {
		params = slices.Insert(params, 1, n["text"]+" string")
	}
	lines := []string{fmt.Sprintf("%s := func(%s) (%s, error) {", n["at"], strings.Join(params, ", "), asked)}
	return append(append(lines, t.askedAnew()...),
		fmt.Sprintf("if !%s[%s] {", n["known"], n["key"]),
		fmt.Sprintf("%s(%s)", n["read"], n["key"]),
		"}",
		fmt.Sprintf("if %s != nil && %s[%s] {", n["rows"], n["known"], n["key"]),
		fmt.Sprintf("return &%s{list: %s[%s]}, nil", ahead, n["rows"], n["key"]),
		"}",
		"return "+n["send"]+"()",
		"}")
}

// orderedBeside adds the columns by which a Query's rows are ordered, as far as it does not return
// them, and gives the order by them. Each text of a statement needs as many.
func (t *twin) orderedBeside(s *statement) (with *statement, order string, ok bool) {
	sel, from := s.selects(), sqltext.Find(s.tokens, 0, "FROM")
	if from < 1 || sel.GroupBy != nil || aggregates(sel) {
		return nil, "", false
	}
	add, n := "", 0
	var list []string
	for _, item := range sel.OrderBy.Items {
		col, isColumn := item.Expr.(*tidb.ColumnNameExpr)
		if !isColumn || col.Name.Table.L != "" || !plainName(col.Name.Name.O) {
			return nil, "", false
		}
		name := col.Name.Name.O
		if !selectsColumn(sel, col.Name.Name.L) {
			alias := fmt.Sprintf("order_%d_", n)
			add += ", " + name + " " + sqltext.Like(s.tokens, "AS") + " " + alias
			name, n = alias, n+1
		}
		if item.Desc {
			name += " " + sqltext.Like(s.tokens, "DESC")
		}
		list = append(list, name)
	}
	if t.ordering != 0 && t.ordering != n {
		return nil, "", false
	}
	t.ordering = n
	at := s.tokens[from-1].End
	with, err := parse(s.sql[:at] + add + s.sql[at:])
	return with, strings.Join(list, ", "), err == nil
}

// asksRows reports whether a call asks rows of a type that a fix has declared, which writes nothing.
func asksRows(fn *types.Func, in *types.Package) bool {
	recv := fn.Signature().Recv()
	if recv == nil || fn.Pkg() != in || !slices.Contains(rowsMethods, fn.Name()) {
		return false
	}
	face, ok := recv.Type().Underlying().(*types.Interface)
	if !ok || face.NumMethods() != len(rowsMethods) {
		return false
	}
	for _, name := range rowsMethods {
		if obj, _, _ := types.LookupFieldOrMethod(recv.Type(), false, in, name); obj == nil {
			return false
		}
	}
	return true
}
