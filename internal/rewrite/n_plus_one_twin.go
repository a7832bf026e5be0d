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

// A twin writes the function that reads ahead for a reader.
type twin struct {
	*reader
	name string
	file *ast.File
	// names of the new variables, by what they hold.
	names            map[string]string
	keyType, anyType string
	rowTypes         []string
	arms             []string // for each text of the statement
	tail, send       string
	asserted         string // what sends it where the handle's type has no such method, "" otherwise
	column           string // of a plain value
	scans            bool   // rows are scanned value by value
	inline           bool   // the statement is in the loop itself
	rowsName         string // begins the names of the types of a Query's rows
	ordering         int    // columns besides those of a Query, by which its rows are ordered
	// shuffled: the loop goes over a map, each time in another order.
	shuffled bool
}

// twinNames are what the new variables hold.
var twinNames = []string{"rows", "known", "read", "chunk", "query", "args", "row", "found", "position", "at", "key", "dest", "send", "keys", "text", "asked", "arms", "many", "failed"}

// newTwin prepares the text. ok is false if a type or a name cannot be written there.
func newTwin(r *reader, name string) (*twin, bool) {
	t := &twin{reader: r, name: name, file: r.source.file, names: map[string]string{}, anyType: anyType(r.pass, r.decl.Pos()), scans: r.call.Op == sqlcall.QueryRow || r.listed(), rowsName: r.typed(name)}
	taken := namesAround(r.pass, r.decl.Pos())
	for _, n := range twinNames {
		t.names[n] = freshNumbered(taken, n)
	}
	return t, t.types() && t.statement() && t.sending()
}

// types names the types of the key and of what the rows are read into.
func (t *twin) types() bool {
	var ok bool
	if t.keyType, ok = t.perElement.keyType(t.reader, t.file); !ok {
		return false
	}
	for _, k := range t.keys {
		if !t.needs(!t.mixed() || !shifts(k.element), t.call.Expr, "a key is shifted, and may have another type among others") {
			return false
		}
	}
	for _, d := range t.dests {
		n, ok := typeName(t.pass, t.file, d)
		if !ok {
			return false
		}
		t.rowTypes = append(t.rowTypes, n)
	}
	return true
}

// statement writes the SELECT of one key as a format with its position, and what follows
// the last one: the order of the rows of one key, which is lost in a UNION.
func (t *twin) statement() bool {
	t.arms = nil
	for i, s := range t.all {
		arm, tail, ok := t.armOf(s)
		if !ok {
			return false
		}
		if !t.needs(i == 0 || tail == t.tail, t.call.Expr, "the texts of the statement differ in their order") {
			return false
		}
		t.arms, t.tail = append(t.arms, arm), tail
	}
	return true
}

// armOf does so for one text of the statement.
func (t *twin) armOf(s *statement) (arm, tail string, ok bool) {
	sel := s.selects()
	no := func(format string, args ...any) (string, string, bool) {
		return "", "", t.no(t.call.Expr, format, args...)
	}
	if t.firstOf(s) {
		e, ok := limited(s, "1")
		cut, err := parse(sqltext.Apply(s.sql, []sqltext.Edit{e}))
		if !t.needs(ok && err == nil, t.call.Expr, "the statement takes no LIMIT 1") {
			return "", "", false
		}
		s = cut
	}
	alias := ""
	if _, isStruct := t.dests[0].Underlying().(*types.Struct); !t.scans && !isStruct {
		if len(sel.Fields.Fields) != 1 || sel.Fields.Fields[0].WildCard != nil {
			return no("a plain value is read from what is not one column")
		}
		if t.column = sel.Fields.Fields[0].AsName.O; t.column == "" {
			t.column, alias = "value_", "value_"
		} else if !plainName(t.column) || len(t.all) > 1 {
			return no("a plain value is read from a column whose name cannot be the tag of a field")
		}
	}
	if t.multi && sel.OrderBy != nil {
		order, ok := orderedBy(s)
		if !ok && t.listed() {
			s, order, ok = t.orderedBeside(s)
		}
		if !ok || alias != "" {
			return no("the rows of one element are ordered by what is no selected column")
		}
		if column := t.unordered(sel); column != "" {
			return no("the schema does not show that a UNION keeps the order of the column %s", column)
		}
		if sel.Limit == nil {
			cut, err := parse(strings.TrimRight(s.sql[:s.tokens[sqltext.Find(s.tokens, 0, "ORDER")].Start], " \t\r\n"))
			if err != nil {
				return no("the statement's text cannot be cut before its ORDER BY")
			}
			s = cut
		}
		tail = " " + sqltext.Like(s.tokens, "ORDER BY") + " position_, " + order
	}
	arm, ok = unionArm(s, alias, opensSQLite(t.pass))
	return arm, tail, t.needs(ok, t.call.Expr, "the statement cannot be an arm of a UNION ALL")
}

// orderedBy is the list of an ORDER BY of columns that the SELECT returns under their
// names.
func orderedBy(s *statement) (string, bool) {
	sel := s.selects()
	at := sqltext.Find(s.tokens, 0, "ORDER")
	if at < 0 || at+2 >= len(s.tokens) {
		return "", false
	}
	for _, item := range sel.OrderBy.Items {
		col, ok := item.Expr.(*tidb.ColumnNameExpr)
		if !ok || col.Name.Table.L != "" || !selectsColumn(sel, col.Name.Name.L) {
			return "", false
		}
	}
	end := len(s.sql)
	for _, t := range s.tokens[at+2:] {
		if t.Depth == 0 && (t.Is("LIMIT") || t.Text == ";") {
			end = t.Start
			break
		}
	}
	return strings.Join(strings.Fields(s.sql[s.tokens[at+2].Start:end]), " "), true
}

// unordered is a column of an ORDER BY whose values a UNION may order otherwise: those of
// an ENUM or a SET become texts, and so may those of a column that is not known.
func (t *twin) unordered(sel *tidb.SelectStmt) string {
	table, _ := onlyTable(sel)
	for _, item := range sel.OrderBy.Items {
		name := item.Expr.(*tidb.ColumnNameExpr).Name.Name.L
		kind := t.facts.Tables[table.name].Columns[name].Type
		if kind == "" || strings.HasPrefix(kind, "enum") || strings.HasPrefix(kind, "set") {
			return name
		}
	}
	return ""
}

// sending writes the call that reads the rows of a chunk.
func (t *twin) sending() bool {
	c := t.call
	method := strings.Replace(c.Name, "Get", "Select", 1)
	if t.scans {
		method = strings.Replace(strings.Replace(c.Name, "QueryRowx", "Query", 1), "QueryRow", "Query", 1)
	}
	handle := t.written(t.handle().Expr)
	var args []string
	if c.Context != nil {
		args = append(args, t.written(c.Context))
	}
	fun := handle + "." + method
	if c.Callee.Signature().Recv() == nil { // sqlx.Get(handle, …)
		sel, ok := c.Expr.Fun.(*ast.SelectorExpr)
		if !ok || t.scans {
			return false
		}
		fun = t.written(sel.X) + "." + method
		args = append(args, handle)
	} else {
		obj, _, _ := types.LookupFieldOrMethod(t.pass.TypesInfo.TypeOf(t.handle().Expr), true, t.pass.Pkg, method)
		fn, ok := obj.(*types.Func)
		if !ok && t.assert(method, handle) {
			fun, ok, fn = t.names["many"]+"."+method, true, c.Callee
		}
		if !t.needs(ok && (!t.scans || t.asserted != "" || fn.Signature().Results().Len() == 2 && types.TypeString(fn.Signature().Results().At(0).Type(), nil) == "*database/sql.Rows"), c.Expr,
			"the handle has no method %s", method) {
			return false
		}
	}
	if !t.scans {
		args = append(args, "&"+t.names["found"])
	}
	t.send = fmt.Sprintf("%s(%s)", fun, strings.Join(append(args, t.names["query"]+".String()"+t.quotedTail(), t.names["args"]+"..."), ", "))
	return true
}

// assert writes the check that the handle, whose interface has the method for one row only,
// has the one for many rows as well. Where it has none, the function's own statement is sent.
func (t *twin) assert(method, handle string) bool {
	if !types.IsInterface(t.pass.TypesInfo.TypeOf(t.handle().Expr)) {
		return false
	}
	var params []string
	if c := t.call.Context; c != nil {
		name, ok := typeName(t.pass, t.file, t.call.Callee.Signature().Params().At(0).Type())
		if !ok {
			return false
		}
		params = append(params, name)
	}
	results := "error"
	if t.scans {
		pkg := ""
		for _, s := range t.file.Imports {
			if s.Path.Value == `"database/sql"` && (s.Name == nil || s.Name.Name != "_" && s.Name.Name != ".") {
				if pkg = "sql"; s.Name != nil {
					pkg = s.Name.Name
				}
			}
		}
		if pkg == "" {
			return false
		}
		results = fmt.Sprintf("(*%s.Rows, error)", pkg)
	} else {
		params = append(params, t.anyType)
	}
	params = append(params, "string", "..."+t.anyType)
	t.asserted = fmt.Sprintf("%s, ok := %s.(interface {\n%s(%s) %s\n})", t.names["many"], handle, method, strings.Join(params, ", "), results)
	return true
}

// asserts are the lines of that check.
func (t *twin) asserts() []string {
	if t.asserted == "" {
		return nil
	}
	return append(strings.Split(t.asserted, "\n"), "if !ok {", t.names["rows"]+" = nil", "return", "}")
}

func (t *twin) quotedTail() string {
	if t.tail == "" {
		return ""
	}
	return "+" + goString(t.tail)
}

func (t *twin) written(n ast.Node) string { return t.source.text(n.Pos(), n.End()) }

// text is the source of the twin, gofmt-ed.
func (t *twin) text() string {
	d := t.decl
	recv := ""
	if d.Recv != nil {
		recv = t.written(d.Recv) + " "
	}
	results := ""
	if d.Type.Results != nil {
		results = " " + t.written(d.Type.Results)
	}
	lines := []string{
		fmt.Sprintf("// %s returns %s for a loop over %s: it reads the rows of up to %d of them by one", t.name, d.Name.Name, t.names["keys"], unionRows),
		"// statement. The function's own statement is sent where that one failed or found no row.",
		fmt.Sprintf("func %s%s(%s) func%s%s {", recv, t.name, t.parameters(), t.written(d.Type.Params), results),
	}
	lines = append(append(append(lines, t.state()...), t.reading()...), t.lookup()...)
	body := layOut(lines, "") + "\treturn func" + t.written(d.Type.Params) + results + " " + t.body() + "\n}\n"
	return body
}

// parameters are those of the function, with a list of keys in the place of one key.
func (t *twin) parameters() string {
	var out []string
	n := 0
	for _, f := range t.decl.Type.Params.List {
		for _, name := range f.Names {
			if n == t.keys[0].at {
				out = append(out, t.names["keys"]+" []"+t.keyType)
			} else if t.takes(n) {
				out = append(out, name.Name+" "+t.written(f.Type))
			}
			n++
		}
	}
	return strings.Join(out, ", ")
}

// held is the type of what one key has: a row, rows, or the values of a row.
func (t *twin) held() string {
	switch {
	case t.listed():
		return "[]" + t.oneRow()
	case t.scans:
		return t.oneRow()
	case t.multi:
		return "[]" + t.rowTypes[0]
	}
	return t.rowTypes[0]
}

// pointer is the star of a list of pointers.
func (t *twin) pointer() string {
	if t.points {
		return "*"
	}
	return ""
}

func (t *twin) emptyRows() string { return fmt.Sprintf("map[%s]%s{}", t.keyType, t.held()) }

func (t *twin) state() []string {
	lines := []string{
		fmt.Sprintf("var %s map[%s]%s // of the keys that were asked for last", t.names["rows"], t.keyType, t.held()),
		fmt.Sprintf("var %s map[%s]bool", t.names["known"], t.keyType),
	}
	if t.locks {
		lines = append(lines, fmt.Sprintf("var %s error // of the statement that locks the rows: it may have ended the transaction", t.names["failed"]))
	}
	if !t.several() {
		return lines
	}
	lines = append(lines, fmt.Sprintf("%s := map[string]string{", t.names["arms"]))
	for i, s := range t.all {
		lines = append(lines, fmt.Sprintf("%s: %s,", goString(s.sql), goString(t.arms[i])))
	}
	return append(lines, "}", fmt.Sprintf("%s := \"\" // the text that has the rows", t.names["asked"]))
}

// several reports whether the statement may have one of several texts.
func (t *twin) several() bool { return len(t.all) > 1 }

// arm is the SELECT of one key as a format.
func (t *twin) arm() string {
	if t.several() {
		return fmt.Sprintf("%s[%s]", t.names["arms"], t.names["asked"])
	}
	return goString(t.arms[0])
}

// reading is the function that reads the rows of the next keys.
func (t *twin) reading() []string {
	n := t.names
	head := fmt.Sprintf("%s := func(%s %s) {", n["read"], n["key"], t.keyType)
	empty := fmt.Sprintf("%s, %s = %s, map[%s]bool{}", n["rows"], n["known"], t.emptyRows(), t.keyType)
	lines := []string{
		head,
		empty,
		fmt.Sprintf("for len(%s) > 0 && %s[0] != %s {", n["keys"], n["keys"], n["key"]),
		fmt.Sprintf("%s = %s[1:]", n["keys"], n["keys"]),
		"}",
	}
	if t.aheadRows != "" {
		lines = []string{head, fmt.Sprintf("if %s == nil {", n["rows"]), empty, "}",
			fmt.Sprintf("%s = append(%s[:0], %s) // and those of the rows that are read ahead", n["keys"], n["keys"], n["key"]),
			fmt.Sprintf("for _, %s := range %s {", n["row"], t.aheadRows),
			fmt.Sprintf("%s = append(%s, %s.%s)", n["keys"], n["keys"], n["row"], t.aheadField), "}"}
	} else if t.shuffled {
		lines = []string{head, fmt.Sprintf("if %s == nil {", n["rows"]), empty, "}",
			fmt.Sprintf("%s = append([]%s{%s}, %s...) // a map has another order each time", n["keys"], t.keyType, n["key"], n["keys"])}
	}
	return append(append(append(lines, t.collect()...), t.fetch()...), "}")
}

// collect takes the next keys and writes the statement.
func (t *twin) collect() []string {
	n := t.names
	var args []string
	for _, a := range t.call.Args {
		args = append(args, t.asked(a))
	}
	return []string{
		fmt.Sprintf("var %s []%s", n["chunk"], t.keyType),
		fmt.Sprintf("var %s strings.Builder", n["query"]),
		fmt.Sprintf("var %s []%s", n["args"], t.anyType),
		fmt.Sprintf("for ; len(%s) > 0 && len(%s) < %d; %s = %s[1:] {", n["keys"], n["chunk"], unionRows, n["keys"], n["keys"]),
		fmt.Sprintf("if %s = %s[0]; %s[%s] {", n["key"], n["keys"], n["known"], n["key"]),
		"continue",
		"}",
		fmt.Sprintf("if len(%s) > 0 {", n["chunk"]),
		fmt.Sprintf("%s.WriteString(%q)", n["query"], " "+sqltext.Like(t.s.tokens, "UNION ALL")+" "),
		"}",
		fmt.Sprintf("fmt.Fprintf(&%s, %s, len(%s)%s)", n["query"], t.arm(), n["chunk"], t.numbers()),
		fmt.Sprintf("%s = append(%s, %s)", n["args"], n["args"], strings.Join(args, ", ")),
		fmt.Sprintf("%s, %s[%s] = append(%s, %s), true", n["chunk"], n["known"], n["key"], n["chunk"], n["key"]),
		"}",
		fmt.Sprintf("if len(%s) < 2 {", n["chunk"]),
		t.alone(),
		"return",
		"}",
	}
}

// alone is what is done where one key is left: its rows are asked for by the statement itself.
func (t *twin) alone() string {
	if t.shuffled || t.aheadRows != "" {
		return fmt.Sprintf("%s[%s[0]] = false", t.names["known"], t.names["chunk"])
	}
	return t.names["rows"] + " = nil"
}

// numbers are the numbers of the placeholders of PostgreSQL as further arguments of the
// format of one SELECT.
func (t *twin) numbers() (list string) {
	if !dollared(t.s.tokens) {
		return ""
	}
	for i := range t.call.Args {
		list += fmt.Sprintf(", len(%s)+%d", t.names["args"], i+1)
	}
	return list
}

// asked is the text of an argument with the key in the place of what varies.
func (t *twin) asked(a ast.Expr) string {
	if t.inline {
		for i, k := range t.keys {
			if t.call.Args[k.at] == a {
				return t.partOf(t.names["key"], i)
			}
		}
		return t.written(a)
	}
	out, at := "", a.Pos()
	put := func(n ast.Node, i int) bool {
		out += t.source.text(at, n.Pos()) + t.partOf(t.names["key"], i)
		if n != ast.Node(ast.Unparen(a)) {
			out += t.typedPart(i)
		}
		at = n.End()
		return false
	}
	ast.Inspect(a, func(n ast.Node) bool {
		for i, k := range t.keys {
			param := t.param(k.at)
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if k.path != "" && types.ExprString(n) == param+k.path && t.asksFor(n.X, param) {
					return put(n, i)
				}
			case *ast.Ident:
				if v, isVar := t.pass.TypesInfo.Uses[n].(*types.Var); isVar && !v.IsField() && n.Name == param && k.path == "" {
					return put(n, i)
				}
			}
		}
		return true
	})
	return out + t.source.text(at, a.End())
}

// mixed reports whether the parts of a key have several types.
func (t *twin) mixed() bool { return t.keyType == fmt.Sprintf("[%d]%s", len(t.keys), t.anyType) }

// shifts reports whether an expression shifts, whose type may be that of where it is used.
func shifts(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		found = found || ok && (b.Op == token.SHL || b.Op == token.SHR)
		return !found
	})
	return found
}

// typedPart is what gives a part of a key of several types its own type, where an argument
// computes with it.
func (t *twin) typedPart(i int) string {
	if !t.mixed() {
		return ""
	}
	name, _ := typeName(t.pass, t.file, t.keys[i].typ) // keyType has written it before
	return ".(" + name + ")"
}

// fetch sends the statement and keeps the rows by their keys; without them after an error.
func (t *twin) fetch() []string {
	n := t.names
	if t.scans {
		return t.fetchScan()
	}
	_, isStruct := t.dests[0].Underlying().(*types.Struct)
	embed, value := t.rowTypes[0], ""
	if isStruct {
		value = namedOf(t.dests[0]).Obj().Name()
	} else {
		embed, value = "Value "+t.rowTypes[0]+" `db:\""+t.column+"\"`", "Value"
	}
	position := positionField(value)
	row := fmt.Sprintf("%s[%s[%s.%s]]", n["rows"], n["chunk"], n["row"], position)
	value = n["row"] + "." + value
	if t.multi {
		value = fmt.Sprintf("append(%s, %s)", row, value)
	}
	return append(t.asserts(),
		fmt.Sprintf("var %s []struct {", n["found"]),
		embed,
		position+" int `db:\"position_\"`",
		"}",
		fmt.Sprintf("if err := %s; err != nil {", t.send),
		t.withoutRows("err"),
		"return",
		"}",
		fmt.Sprintf("for _, %s := range %s {", n["row"], n["found"]),
		fmt.Sprintf("%s = %s", row, value),
		"}")
}

// positionField is the name of the field with the position, beside one with the row.
func positionField(row string) string {
	if row == "Position" {
		return "PositionOfKey"
	}
	return "Position"
}

func (t *twin) fetchScan() []string {
	n := t.names
	row := fmt.Sprintf("%s[%s[%s]]", n["rows"], n["chunk"], n["position"])
	keep := fmt.Sprintf("%s = %s", row, n["row"])
	position := strings.Repeat(fmt.Sprintf("new(%s), ", t.anyType), t.ordering) + "&" + n["position"]
	if t.listed() {
		keep = fmt.Sprintf("%s = append(%s, %s)", row, row, n["row"])
	}
	dests := "&" + n["row"]
	if len(t.rowTypes) > 1 {
		list := make([]string, len(t.rowTypes))
		for i := range t.rowTypes {
			list[i] = fmt.Sprintf("&%s.v%d", n["row"], i)
		}
		dests = strings.Join(list, ", ")
	}
	return append(t.asserts(),
		fmt.Sprintf("%s, err := %s", n["found"], t.send),
		"if err != nil {",
		t.withoutRows("err"),
		"return",
		"}",
		fmt.Sprintf("defer %s.Close()", n["found"]),
		fmt.Sprintf("for %s.Next() {", n["found"]),
		fmt.Sprintf("var %s %s", n["row"], t.oneRow()),
		fmt.Sprintf("var %s int", n["position"]),
		fmt.Sprintf("if err = %s.Scan(%s, %s); err != nil {", n["found"], dests, position),
		"break",
		"}",
		keep,
		"}",
		fmt.Sprintf("if err != nil || %s.Err() != nil {", n["found"]),
		t.withoutRows(n["found"]+".Err()"),
		"}")
}

// withoutRows is what is done where reading ahead failed: the statement itself is sent. One that
// locks rows may have ended the transaction, so that its error is the statement's.
func (t *twin) withoutRows(err string) string {
	if t.locks {
		return fmt.Sprintf("%s, %s = nil, %s", t.names["rows"], t.names["failed"], err)
	}
	return t.names["rows"] + " = nil"
}

// lookup is the function that the body calls in place of its statement.
func (t *twin) lookup() []string {
	if t.listed() {
		return t.lookupRows()
	}
	n := t.names
	params := []string{n["key"] + " " + t.keyType, n["send"] + " func() error"}
	var sets []string
	switch {
	case t.scans:
		for i, r := range t.rowTypes {
			params = append(params, fmt.Sprintf("%s%d *%s", n["dest"], i, r))
			value := n["row"]
			if len(t.rowTypes) > 1 {
				value = fmt.Sprintf("%s.v%d", n["row"], i)
			}
			sets = append(sets, fmt.Sprintf("*%s%d = %s", n["dest"], i, value))
		}
	case t.multi:
		params = append(params, n["dest"]+" *[]"+t.pointer()+t.rowTypes[0])
		sets = []string{fmt.Sprintf("*%s = append(*%s, %s[%s]...)", n["dest"], n["dest"], n["rows"], n["key"])}
		if t.points {
			sets = []string{fmt.Sprintf("for _, %s := range %s[%s] {", n["row"], n["rows"], n["key"]), fmt.Sprintf("%s := %s // each key has rows of its own", n["row"], n["row"]),
				fmt.Sprintf("*%s = append(*%s, &%s)", n["dest"], n["dest"], n["row"]), "}"}
		}
	default:
		params = append(params, n["dest"]+" *"+t.rowTypes[0])
		sets = []string{fmt.Sprintf("*%s = %s", n["dest"], n["row"])}
	}
	if t.several() {
		params = slices.Insert(params, 1, n["text"]+" string")
	}
	lines := []string{fmt.Sprintf("%s := func(%s) error {", n["at"], strings.Join(params, ", "))}
	lines = append(append(lines, t.askedAnew()...),
		fmt.Sprintf("if !%s[%s] {", n["known"], n["key"]),
		fmt.Sprintf("%s(%s)", n["read"], n["key"]),
		"}")
	if t.locks {
		lines = append(lines, fmt.Sprintf("if %s != nil {", n["failed"]), "return "+n["failed"], "}")
	}
	if t.multi {
		lines = append(lines, fmt.Sprintf("if %s != nil && %s[%s] {", n["rows"], n["known"], n["key"]))
	} else {
		lines = append(lines, fmt.Sprintf("if %s, ok := %s[%s]; ok {", n["row"], n["rows"], n["key"]))
	}
	lines = append(append(lines, sets...), "return nil", "}", "return "+n["send"]+"()", "}")
	return lines
}

// askedAnew forgets the rows where another text of the statement is asked for.
func (t *twin) askedAnew() []string {
	if !t.several() {
		return nil
	}
	n := t.names
	return []string{fmt.Sprintf("if %s != %s {", n["text"], n["asked"]), fmt.Sprintf("%s, %s, %s = nil, nil, %s", n["rows"], n["known"], n["asked"], n["text"]), "}"}
}

// body is the function's body with the look-up in the place of the statement, indented
// once more.
func (t *twin) body() string {
	from, to := t.sentAt()
	return t.source.text(t.decl.Body.Pos(), from) + t.lookedUp(t.keyText(t.keyType)) + t.source.text(to, t.decl.Body.End())
}

// sentAt is the expression that sends the statement, with its Scan.
func (t *twin) sentAt() (from, to token.Pos) {
	if t.scans && !t.listed() {
		return t.call.Scan.Pos(), t.call.Scan.End()
	}
	return t.call.Expr.Pos(), t.call.Expr.End()
}

// lookedUp is the look-up in the place of the statement.
func (t *twin) lookedUp(key string) string {
	from, to := t.sentAt()
	result := "error"
	if t.listed() {
		asked, _ := t.rowTypeNames()
		result = "(" + asked + ", error)"
	}
	args := []string{key, "func() " + result + " { return " + t.source.text(from, to) + " }"}
	if t.several() {
		args = slices.Insert(args, 1, t.written(t.call.QueryArg))
	}
	for _, d := range t.call.Dests {
		args = append(args, t.written(d))
	}
	return fmt.Sprintf("%s(%s)", t.names["at"], strings.Join(args, ", "))
}
