package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

const (
	// inRows is the number of keys of one IN.
	inRows = 1000
	// unionRows is the number of SELECTs of one UNION ALL: each is parsed.
	unionRows = 100
)

// batchNames are the names of the new code.
type batchNames struct{ keys, chunk, args, query, rows, byKey, err, get, i, row, key, dest, rest string }

func (b *batch) pickNames(taken map[string]bool) (batchNames, bool) {
	n := batchNames{
		keys: fresh(taken, "keys", "rowKeys"), chunk: fresh(taken, "chunk", "part"), args: fresh(taken, "args", "keyArgs"),
		query: fresh(taken, "query", "rowQuery"), rows: fresh(taken, "rows", "found"), byKey: fresh(taken, "rowByKey", "rowsByKey"),
		err: fresh(taken, "rowErr", "rowsErr"), get: fresh(taken, "rowOf", "rowFor"), i: fresh(taken, "i", "n", "at"),
		row: fresh(taken, "row", "r"), key: fresh(taken, "key", "k"), dest: fresh(taken, "dest", "to"),
		rest: fresh(taken, "rest", "left"),
	}
	for _, name := range []string{n.keys, n.chunk, n.args, n.query, n.rows, n.byKey, n.err, n.get, n.i, n.row, n.key, n.dest, n.rest} {
		if name == "" {
			return n, false
		}
	}
	return n, true
}

// edits writes the rewrite.
func (b *batch) edits() ([]analysis.TextEdit, bool) {
	source := newSource(b.pass, b.loop.Pos())
	if source == nil {
		return nil, false
	}
	names, ok := b.pickNames(namesAround(b.pass, b.loop.Pos()))
	rowType, ok2 := typeName(b.pass, source.file, b.row)
	keyType, ok3 := typeName(b.pass, source.file, b.keyT)
	fill, ok4 := b.fill(source, names, rowType)
	if !ok || !ok2 || !ok3 || !ok4 {
		return nil, false
	}
	held, size := rowType, inRows
	if b.multi {
		held = "[]" + rowType
	}
	if b.field == "" {
		size = unionRows
	}
	c := b.call
	key := source.text(c.Args[b.key].Pos(), c.Args[b.key].End())
	lines := []string{
		fmt.Sprintf("// One statement reads the rows of up to %d elements.", size),
		fmt.Sprintf("var %s []%s", names.keys, keyType),
		b.header(source) + " {",
		fmt.Sprintf("%s = append(%s, %s)", names.keys, names.keys, key),
		"}",
	}
	lines = append(lines, uniqueKeys(b.pass, b.loop.Pos(), names.keys, names.key, names.i, names.rest)...)
	lines = append(lines, fmt.Sprintf("%s := map[%s]%s{}", names.byKey, keyType, held), fmt.Sprintf("var %s error", names.err))
	lines = append(lines, chunkHead(b.pass, b.loop.Pos(), names.chunk, names.rest, names.keys, fmt.Sprint(size))...)
	lines = append(lines, fill...)
	lines = append(lines, "}")
	lines = append(lines, b.lookup(names, rowType, keyType)...)
	indent := source.indent(b.loop.Pos())
	unused, ok := withoutText(b.pass, b.calls, source, c)
	return append(unused,
		edit(b.loop.Pos(), b.loop.Pos(), layOut(lines, indent)+indent),
		edit(c.Expr.Pos(), c.Expr.End(), fmt.Sprintf("%s(%s, %s)", names.get, source.text(c.Dests[0].Pos(), c.Dests[0].End()), key)),
	), ok
}

// layOut joins lines of code, indented by their braces; the first line has its
// indent already.
func layOut(lines []string, indent string) string {
	var out strings.Builder
	depth := 0
	for i, line := range lines {
		if strings.HasPrefix(line, "}") || strings.HasPrefix(line, "case ") {
			depth--
		}
		if i > 0 {
			out.WriteString(indent + strings.Repeat("\t", depth))
		}
		out.WriteString(line + "\n")
		if strings.HasSuffix(line, "{") || strings.HasPrefix(line, "case ") {
			depth++
		}
	}
	return out.String()
}

// header is the range clause with the variables that the key needs.
func (b *batch) header(source *sourceText) string {
	name := func(e ast.Expr) string {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" && b.mentions(b.call.Args[b.key], b.pass.TypesInfo.ObjectOf(id)) {
			return id.Name
		}
		return "_"
	}
	x := cmp.Or(b.list, source.text(b.loop.X.Pos(), b.loop.X.End()))
	first, second := "_", "_"
	if b.loop.Key != nil {
		first = name(b.loop.Key)
	}
	if b.loop.Value != nil {
		second = name(b.loop.Value)
	}
	if second == "_" {
		return fmt.Sprintf("for %s := range %s", first, x)
	}
	return fmt.Sprintf("for %s, %s := range %s", first, second, x)
}

// fill is the code that reads the rows of one chunk.
func (b *batch) fill(source *sourceText, n batchNames, rowType string) ([]string, bool) {
	if b.field != "" {
		return b.fillIn(source, n, rowType)
	}
	return b.fillUnion(source, n, rowType)
}

// store is the code that keeps a row under a key.
func (b *batch) store(n batchNames, key, row string) string {
	if b.multi {
		return fmt.Sprintf("%s[%s] = append(%s[%s], %s)", n.byKey, key, n.byKey, key, row)
	}
	return fmt.Sprintf("%s[%s] = %s", n.byKey, key, row)
}

// fillIn reads with IN.
func (b *batch) fillIn(source *sourceText, n batchNames, rowType string) ([]string, bool) {
	tokens := b.s.tokens
	eq, mark := tokens[b.in[0]], tokens[b.in[1]]
	head := b.s.sql[:eq.Start] + sqltext.Like(tokens, "IN") + " (?"
	tail := ")" + b.s.sql[mark.End:]
	query := fmt.Sprintf("%s+strings.Repeat(\", ?\", len(%s)-1)+%s", goString(head), n.chunk, goString(tail))
	lines := []string{fmt.Sprintf("var %s []%s", n.args, anyType(b.pass, b.loop.Pos()))}
	for i, a := range b.call.Args {
		if i == b.key {
			lines = append(lines, fmt.Sprintf("for _, %s := range %s {", n.key, n.chunk), fmt.Sprintf("%s = append(%s, %s)", n.args, n.args, n.key), "}")
			continue
		}
		lines = append(lines, fmt.Sprintf("%s = append(%s, %s)", n.args, n.args, source.text(a.Pos(), a.End())))
	}
	lines = append(lines, fmt.Sprintf("var %s []%s", n.rows, rowType))
	send, ok := b.send(source, n, query)
	lines = append(lines, send...)
	lines = append(lines, fmt.Sprintf("for _, %s := range %s {", n.row, n.rows), b.store(n, n.row+"."+b.field, n.row), "}")
	return lines, ok
}

// fillUnion reads with one SELECT per element. Each row has the position of its
// element, so that texts that are equal only in the database find theirs.
func (b *batch) fillUnion(source *sourceText, n batchNames, rowType string) ([]string, bool) {
	arm, embed, value, ok := b.arm(rowType)
	if !ok {
		return nil, false
	}
	var args []string
	for i, a := range b.call.Args {
		if i == b.key {
			args = append(args, n.key)
		} else {
			args = append(args, source.text(a.Pos(), a.End()))
		}
	}
	lines := []string{
		fmt.Sprintf("var %s strings.Builder", n.query),
		fmt.Sprintf("var %s []%s", n.args, anyType(b.pass, b.loop.Pos())),
		fmt.Sprintf("for %s, %s := range %s {", n.i, n.key, n.chunk),
		fmt.Sprintf("if %s > 0 {", n.i),
		fmt.Sprintf("%s.WriteString(%q)", n.query, " "+sqltext.Like(b.s.tokens, "UNION ALL")+" "),
		"}",
		fmt.Sprintf("fmt.Fprintf(&%s, %s, %s)", n.query, goString(arm), n.i),
		fmt.Sprintf("%s = append(%s, %s)", n.args, n.args, strings.Join(args, ", ")),
		"}",
		fmt.Sprintf("var %s []struct {", n.rows),
		embed,
		positionField(value) + " int `db:\"position_\"`",
		"}",
	}
	send, ok := b.send(source, n, n.query+".String()")
	lines = append(lines, send...)
	lines = append(lines, fmt.Sprintf("for _, %s := range %s {", n.row, n.rows),
		b.store(n, fmt.Sprintf("%s[%s.%s]", n.chunk, n.row, positionField(value)), n.row+"."+value), "}")
	return lines, ok
}

// arm is the format of one SELECT of the union, the field of the row struct, and
// its name.
func (b *batch) arm(rowType string) (format, embed, value string, ok bool) {
	if _, isStruct := b.row.Underlying().(*types.Struct); isStruct {
		format, ok = unionArm(b.s, "", opensSQLite(b.pass))
		return format, rowType, namedOf(b.row).Obj().Name(), ok
	}
	fields := b.s.selects().Fields.Fields
	if len(fields) != 1 || fields[0].WildCard != nil || fields[0].AsName.L != "" {
		return "", "", "", false
	}
	format, ok = unionArm(b.s, "value_", opensSQLite(b.pass))
	return format, "Value " + rowType + " `db:\"value_\"`", "Value", ok
}

// unionArm is a SELECT of a UNION ALL as a format: it returns the number that is
// formatted as its last column. alias is the new name of an only column, or "". SQLite
// takes no parentheses around a SELECT of a union, and no LIMIT without them: with
// derived, the SELECT is a derived table, which MySQL and SQLite both take.
func unionArm(s *statement, alias string, derived bool) (string, bool) {
	tokens := s.tokens
	from := sqltext.Find(tokens, 0, "FROM")
	if from < 2 {
		return "", false
	}
	for _, t := range tokens {
		if t.Kind == sqltext.Comment || t.Text == ";" {
			return "", false
		}
	}
	as := " " + sqltext.Like(tokens, "AS") + " "
	add := ", %[1]d" + as + "position_"
	if !derived && !dollared(tokens) {
		add = ", %d" + as + "position_"
	}
	if alias != "" {
		add = as + alias + add
	}
	at := tokens[from-1].End
	arm := "(" + strings.TrimSpace(numbered(s, 0, at)+add+numbered(s, at, len(s.sql))) + ")"
	if derived {
		arm = sqltext.Like(tokens, "SELECT") + " * " + sqltext.Like(tokens, "FROM") + " " + arm + as + "arm_%[1]d"
	}
	args := []any{0}
	if dollared(tokens) {
		for range sqltext.Placeholders(tokens) {
			args = append(args, len(args))
		}
	}
	_, err := parse(fmt.Sprintf(arm, args...) + " UNION ALL " + fmt.Sprintf(arm, args...))
	return arm, err == nil
}

// numbered is a part of a statement as a format in which each placeholder of PostgreSQL has
// its number from an argument behind the first one.
func numbered(s *statement, from, to int) string {
	out, at := "", from
	for _, t := range s.tokens {
		if n := dollar(t); n > 0 && t.Start >= from && t.End <= to {
			out += strings.ReplaceAll(s.sql[at:t.Start], "%", "%%") + fmt.Sprintf("$%%[%d]d", n+1)
			at = t.End
		}
	}
	return out + strings.ReplaceAll(s.sql[at:to], "%", "%%")
}

// opensSQLite reports whether a package imports a driver of SQLite: its statements may
// go to SQLite.
func opensSQLite(pass *analysis.Pass) bool {
	return slices.ContainsFunc(pass.Pkg.Imports(), func(p *types.Package) bool { return goapp.DrivesSQLite(p.Path()) })
}

// send is the code that sends a query and leaves the loop over chunks on an error.
func (b *batch) send(source *sourceText, n batchNames, query string) ([]string, bool) {
	c := b.call
	method := strings.Replace(c.Name, "Get", "Select", 1)
	handle := source.text(c.Handle.Expr.Pos(), c.Handle.Expr.End())
	var args []string
	if c.Context != nil {
		args = append(args, source.text(c.Context.Pos(), c.Context.End()))
	}
	fun := handle + "." + method
	if c.Callee.Signature().Recv() == nil { // sqlx.Get(handle, …)
		sel, ok := c.Expr.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil, false
		}
		fun = source.text(sel.X.Pos(), sel.X.End()) + "." + method
		args = append(args, handle)
	} else if obj, _, _ := types.LookupFieldOrMethod(b.pass.TypesInfo.TypeOf(c.Handle.Expr), true, b.pass.Pkg, method); obj == nil {
		return nil, false
	}
	args = append(args, "&"+n.rows, query, n.args+"...")
	return []string{
		fmt.Sprintf("if %s = %s(%s); %s != nil {", n.err, fun, strings.Join(args, ", "), n.err),
		"break",
		"}",
	}, true
}

// lookup is the function that the loop calls in place of the query.
func (b *batch) lookup(n batchNames, rowType, keyType string) []string {
	if b.multi {
		return []string{
			fmt.Sprintf("%s := func(%s *[]%s, %s %s) error {", n.get, n.dest, rowType, n.key, keyType),
			fmt.Sprintf("*%s = append(*%s, %s[%s]...)", n.dest, n.dest, n.byKey, n.key),
			"return " + n.err,
			"}",
		}
	}
	return []string{
		fmt.Sprintf("%s := func(%s *%s, %s %s) error {", n.get, n.dest, rowType, n.key, keyType),
		fmt.Sprintf("%s, ok := %s[%s]", n.row, n.byKey, n.key),
		"if !ok && " + n.err + " == nil {",
		"return sql.ErrNoRows",
		"}",
		fmt.Sprintf("*%s = %s", n.dest, n.row),
		"return " + n.err,
		"}",
	}
}

// goString writes an SQL text as a Go string: in backquotes if it has several
// lines.
func goString(s string) string {
	if strings.Contains(s, "\n") && !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return fmt.Sprintf("%q", s)
}
