package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// gorm makes its statements when it sends them, so that a rewrite works on the chain of calls:
// the same chain, with a list in the place of the value of one element, reads the rows of all
// elements before the loop. What the loop asks finds its rows there, as Preload gives them to
// models that declare how they belong together.
type mapperLoop struct {
	*perElement
	call  *ast.CallExpr // that ends the chain
	loop  ast.Stmt
	chain *mapperChain
	root  ast.Expr // before the chain: the database
	links []*ast.CallExpr
	model *types.Named
	// keyed is the call with the condition that varies, key its argument, and in the condition
	// for a list. column is that of the condition, field the model's.
	keyed         *ast.CallExpr
	key           ast.Expr
	in            string
	column, field string
	multi         bool
	rows          types.Type // of Find: the list
}

// readMapped is the rewrite of a query of gorm that a loop sends by itself.
func (l *perElement) readMapped(call *ast.CallExpr, loop ast.Stmt) ([]analysis.TextEdit, bool) {
	x := indexOf(l.pass)
	fn := x.callee(call)
	m := &mapperLoop{perElement: l, call: call, loop: loop, chain: &mapperChain{x: x, path: fn.Pkg().Path(), end: fn.Name()}, multi: fn.Name() == "Find"}
	if !l.needs(m.chain.path == gormPath || m.chain.path == oldGormPath && !m.multi, call, "the mapper is not gorm, or a Find of its first version") ||
		!l.needs(slices.Contains([]string{"First", "Take", "Find"}, fn.Name()), call, "the query of gorm is no First, Take or Find") {
		return nil, false
	}
	header, ok := l.rounds(loop)
	if !ok || !m.reads() || !m.keyedBy() || !m.told() || !m.into() || !m.kept() {
		return nil, false
	}
	l.no(call, nameTaken)
	return m.edits(header)
}

// reads reads the chain from its last call to the database.
func (m *mapperLoop) reads() bool {
	for call := m.call; ; {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return m.no(call, "the chain begins with what has no name")
		}
		next, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok || !m.chain.ofMapper(next) {
			m.root = sel.X
			break
		}
		name := m.chain.x.callee(next).Name()
		if !m.needs(slices.Contains([]string{"Where", "Preload", "Order", "Unscoped", "WithContext", "Debug"}, name), next, "the chain has %s", name) ||
			!m.needs(name != "Preload" || !slices.ContainsFunc(next.Args, m.isFunc), next, "a function changes what Preload reads, as by a limit for each row") {
			return false
		}
		m.links, call = append(m.links, next), next
	}
	slices.Reverse(m.links)
	b := &batch{perElement: m.perElement}
	if v := m.chain.x.variable(m.root); v != nil && m.chain.x.defs[v] != nil {
		value, ok := m.chain.x.fixedValue(v).(*ast.CallExpr)
		if ok && m.chain.ofMapper(value) && !m.needs(slices.Contains(startsAnew, m.chain.x.callee(value).Name()), m.root, "a variable has the beginning of the chain") {
			return false
		}
	}
	return m.needs(m.still.quiet(m.root) && !m.varies(m.root, m.loop) && b.unsetIn(m.root, bodyOfLoop(m.loop)), m.root, "the database of the query varies")
}

// isFunc reports whether an expression is a function.
func (m *mapperLoop) isFunc(e ast.Expr) bool {
	_, ok := m.pass.TypesInfo.TypeOf(e).Underlying().(*types.Signature)
	return ok
}

// conditionsOf are the arguments of a call that are conditions.
func (m *mapperLoop) conditionsOf(call *ast.CallExpr) []ast.Expr {
	switch {
	case call == m.call:
		return call.Args[1:]
	case m.chain.x.callee(call).Name() == "Where":
		return call.Args
	}
	return nil
}

// keyedBy finds the one argument that varies: it is of the element alone, and an integer or a
// text.
func (m *mapperLoop) keyedBy() bool {
	b := &batch{perElement: m.perElement}
	body := bodyOfLoop(m.loop)
	for _, call := range append(slices.Clone(m.links), m.call) {
		for i, a := range call.Args {
			if call == m.call && i == 0 {
				continue
			}
			of := m.byElement(a, m.loop)
			if !m.needs((m.still.quiet(of) || contextual(m.pass, of)) && b.unsetIn(of, body), a, "the loop sets an argument of the query, or it does more than compute") {
				return false
			}
			if !m.varies(of, m.loop) {
				continue
			}
			if !m.needs(m.key == nil && slices.Contains(m.conditionsOf(call), a), a, "several arguments of the query vary, or one that is no condition") ||
				!m.needs(!m.varies(of, body), a, "an argument of the query varies, and not by the element alone") ||
				!m.needs(isPlain(m.pass.TypesInfo.TypeOf(of)) && plainKey(m.pass.TypesInfo.TypeOf(of)), a, "no integer or text of the element is an argument of the query") ||
				!m.needs(!isByte(m.pass.TypesInfo.TypeOf(of)), a, "a list of the keys would be a text of bytes") ||
				!m.needs(!guarded(m.pass, of, m.call, m.loop), a, "the key is behind a pointer that only some rounds may follow") {
				return false
			}
			m.key, m.keyed = of, call
			if !m.condition(a) {
				return false
			}
		}
	}
	return m.needs(m.key != nil, m.call, "no integer or text of the element is an argument of the query")
}

// condition reads the condition that an argument is for: column = ?, perhaps with others, or the
// primary key.
func (m *mapperLoop) condition(a ast.Expr) bool {
	list := m.conditionsOf(m.keyed)
	at := slices.Index(list, a)
	if at == 0 {
		basic, ok := m.pass.TypesInfo.TypeOf(a).Underlying().(*types.Basic)
		m.column = ""
		return m.needs(ok && basic.Info()&types.IsInteger != 0 && len(list) == 1, a, "a condition varies, and is no number of the primary key")
	}
	text := wholeText(m.chain.x, list[0])
	tokens, ok := sqltext.Unknown.Tokens(text)
	if !m.needs(ok && text != "" && sqltext.Placeholders(tokens) == len(list)-1 && sqltext.Marked(tokens), list[0], "a part of the condition is not known, or it has other placeholders than ?") {
		return false
	}
	n := 0
	for i, t := range tokens {
		if t.Text == "OR" || t.Is("OR", "XOR", "NOT") {
			return m.no(list[0], "the condition has more than conditions that must all hold")
		}
		if t.Kind != sqltext.Placeholder {
			continue
		}
		if n++; n != at {
			continue
		}
		if !m.needs(i >= 2 && t.Depth == 0 && tokens[i-1].Text == "=" && tokens[i-2].IsName() && (i < 3 || tokens[i-3].Is("AND")) && (i+1 == len(tokens) || tokens[i+1].Is("AND")), list[0], "the key is compared by more than column = ?") {
			return false
		}
		m.column = tokens[i-2].Name()
		m.in = text[:tokens[i-1].Start] + "IN (?)" + text[t.End:]
	}
	return true
}

// told finds the model, and its field for the column.
func (m *mapperLoop) told() bool {
	m.model = element(m.pass.TypesInfo.TypeOf(m.call.Args[0]))
	if !m.needs(m.model != nil, m.call.Args[0], "the rows have no model") {
		return false
	}
	s := structOf(m.model)
	primary := m.chain.primary(s)
	if m.column == "" {
		m.column, m.in = primary, primary+" IN (?)"
	}
	for i := range s.NumFields() {
		if f := s.Field(i); f.Exported() && !f.Embedded() && m.chain.columnOf(s, f.Name()) == m.column && types.Identical(f.Type(), m.pass.TypesInfo.TypeOf(m.key)) {
			m.field = f.Name()
		}
	}
	if m.field == "" && m.column == "id" { // of gorm.Model
		if obj, _, _ := types.LookupFieldOrMethod(m.model, true, m.pass.Pkg, "ID"); obj != nil && types.Identical(obj.Type(), m.pass.TypesInfo.TypeOf(m.key)) {
			m.field = "ID"
		}
	}
	return m.needs(m.field != "" && plainName(m.column), m.key, "the model has no field of the key's type for the column") &&
		m.needs(m.multi || m.column == primary || m.unique(s), m.call, "the model and the schema show no unique key that the query compares") &&
		m.needs(!m.multi || integerType(m.pass.TypesInfo.TypeOf(m.key)), m.key, "the rows are many and their key a text, which may be equal in the database and differ in Go") &&
		m.needs(!mapperFind{chain: m.chain, dest: types.NewVar(0, m.pass.Pkg, "", m.pass.TypesInfo.TypeOf(m.call.Args[0]))}.hooked(), m.call, "a method AfterFind of the model is called for each row")
}

// isByte reports whether a list of values of a type is one value for the database.
func isByte(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Uint8
}

func integerType(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// unique reports whether the schema or the model declares the column as a unique key.
func (m *mapperLoop) unique(s *types.Struct) bool {
	for _, t := range m.chain.tables(m.model) {
		if m.facts.unique(strings.ToLower(t), []string{strings.ToLower(m.column)}) {
			return true
		}
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() != m.field {
			continue
		}
		for _, part := range strings.Split(structTag(s.Tag(i), "gorm"), ";") {
			if part = strings.ToLower(strings.TrimSpace(part)); part == "unique" || part == "uniqueindex" || part == "unique_index" {
				return true
			}
		}
	}
	return false
}

// into checks what the rows are read into, and what is used of the call: its error at most.
func (m *mapperLoop) into() bool {
	d := m.call.Args[0]
	switch up := m.chain.x.parent[m.call].(type) {
	case *ast.ExprStmt:
	case *ast.SelectorExpr:
		if !m.needs(up.Sel.Name == "Error", up, "more than the error of the query is used") {
			return false
		}
	default:
		return m.no(m.call, "more than the error of the query is used")
	}
	if m.multi {
		u, ok := ast.Unparen(d).(*ast.UnaryExpr)
		if !m.needs(ok && m.still.quiet(u.X) && plainPlace(u.X), d, "the rows are read into what is no list with a name") {
			return false
		}
		m.rows = m.pass.TypesInfo.TypeOf(u.X)
		_, isList := m.rows.Underlying().(*types.Slice)
		return m.needs(isList && types.Identical(m.rows, m.rows.Underlying()), d, "the rows are read into what is no list")
	}
	b := &batch{perElement: m.perElement, loop: &ast.RangeStmt{Body: bodyOfLoop(m.loop).(*ast.BlockStmt)}, call: &sqlcall.Call{Expr: m.call, Dests: []ast.Expr{d}}}
	return m.needs(b.destination(), d, "the row is not read into a new variable of the round")
}

// kept reports whether nothing in the loop writes a table of the model.
func (m *mapperLoop) kept() bool {
	for _, t := range m.chain.tables(m.model) {
		w := &tableWrites{perElement: m.perElement, table: t, known: map[*types.Func]bool{}}
		if !w.noneIn(m.loop, true) {
			at := w.culprit
			if at == nil {
				at = m.loop
			}
			return m.no(at, "what the loop calls there may write to the table %s", t)
		}
	}
	return m.needs(len(m.chain.tables(m.model)) > 0, m.call, "the table of the model is not known")
}

// edits write the reading of the rows before the loop, and the look-up in it.
func (m *mapperLoop) edits(header ast.Stmt) ([]analysis.TextEdit, bool) {
	source := newSource(m.pass, m.loop.Pos())
	if source == nil {
		return nil, false
	}
	row, ok := typeName(m.pass, source.file, m.model)
	key, ok2 := typeName(m.pass, source.file, m.pass.TypesInfo.TypeOf(m.key))
	if !ok || !ok2 {
		return nil, false
	}
	list := "[]" + row
	if m.multi {
		if list, ok = typeName(m.pass, source.file, m.rows); !ok {
			return nil, false
		}
	}
	n, taken, nth := map[string]string{}, namesAround(m.pass, m.loop.Pos()), m.nth()
	for _, name := range []string{"keys", "chunk", "rest", "rows", "rowsByKey", "rowByKey", "rowOf", "rowsOf", "row", "key", "dest", "send", "i"} {
		n[name] = freshOfCall(taken, name, nth)
	}
	lines := []string{
		fmt.Sprintf("// One query reads the rows of up to %d elements. The loop's own is sent for what it did not find.", inRows),
		fmt.Sprintf("var %s []%s", n["keys"], key),
		m.headerText(source, header, m.key) + " {",
		fmt.Sprintf("%s = append(%s, %s)", n["keys"], n["keys"], source.text(m.key.Pos(), m.key.End())),
		"}",
	}
	lines = append(lines, uniqueKeys(m.pass, m.loop.Pos(), n["keys"], n["key"], n["i"], n["rest"])...)
	held := fmt.Sprintf("%s := map[%s]%s{}", n["rowByKey"], key, row)
	if m.multi {
		held = fmt.Sprintf("%s := map[%s]%s{}", n["rowsByKey"], key, list)
	}
	lines = append(lines, held)
	lines = append(lines, chunkHead(m.pass, m.loop.Pos(), n["chunk"], n["rest"], n["keys"], fmt.Sprint(inRows))...)
	lines = append(lines,
		fmt.Sprintf("var %s %s", n["rows"], list),
		fmt.Sprintf("if %s.Error != nil {", m.query(source, n)),
		"break",
		"}")
	lines = append(append(append(lines, m.store(n, list)...), "}"), m.lookup(n, key, row, list)...)
	lines, head := m.named(source, m.loop, lines)
	indent := source.indent(m.loop.Pos())
	before := edit(m.loop.Pos(), m.loop.Pos(), layOut(lines, indent)+indent)
	if start, _, _ := source.wholeLines(m.loop.Pos(), m.loop.Pos()); strings.TrimSpace(source.text(start, m.loop.Pos())) == "" {
		before = edit(start, start, indent+layOut(lines, indent))
	}
	of := ast.Node(m.call)
	if up, ok := m.chain.x.parent[m.call].(*ast.SelectorExpr); ok {
		of = up
	}
	get := n["rowOf"]
	if m.multi {
		get = n["rowsOf"]
	}
	sent := fmt.Sprintf("%s(%s, %s, func() error { return %s.Error })", get, source.text(m.call.Args[0].Pos(), m.call.Args[0].End()),
		source.text(m.key.Pos(), m.key.End()), source.text(m.call.Pos(), m.call.End()))
	return append(head, before, edit(of.Pos(), of.End(), sent)), true
}

// nth numbers the queries of a function: "" for the first one.
func (m *mapperLoop) nth() string {
	n := 0
	ast.Inspect(m.chain.x.topDecl(m.call), func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && call.End() <= m.call.End() {
			if name, _ := mapperIn(m.pass.TypesInfo, call); name != "" {
				n++
			}
		}
		return true
	})
	if n <= 1 {
		return ""
	}
	return strconv.Itoa(n)
}

// query is the chain for a list of keys.
func (m *mapperLoop) query(source *sourceText, n map[string]string) string {
	text := func(node ast.Node) string { return source.text(node.Pos(), node.End()) }
	out := text(m.root)
	keyed := func(list []ast.Expr) string {
		args := []string{goString(m.in)}
		if len(list) > 1 {
			for _, a := range list[1:] {
				if m.byElement(a, m.loop) == m.key {
					args = append(args, n["chunk"])
				} else {
					args = append(args, text(a))
				}
			}
		} else {
			args = append(args, n["chunk"])
		}
		return fmt.Sprintf(".Where(%s)", strings.Join(args, ", "))
	}
	for _, call := range m.links {
		if call == m.keyed {
			out += keyed(m.conditionsOf(call))
			continue
		}
		sel := call.Fun.(*ast.SelectorExpr)
		out += "." + source.text(sel.Sel.Pos(), call.End())
	}
	end := "&" + n["rows"]
	switch conditions := m.conditionsOf(m.call); {
	case m.keyed == m.call:
		out += keyed(conditions)
	case len(conditions) > 0:
		end += ", " + source.text(conditions[0].Pos(), conditions[len(conditions)-1].End())
	}
	return out + ".Find(" + end + ")"
}

// store keeps the rows of a list of keys.
func (m *mapperLoop) store(n map[string]string, list string) []string {
	if !m.multi {
		return []string{fmt.Sprintf("for _, %s := range %s {", n["row"], n["rows"]), fmt.Sprintf("%s[%s.%s] = %s", n["rowByKey"], n["row"], m.field, n["row"]), "}"}
	}
	of := n["rowsByKey"]
	return []string{
		fmt.Sprintf("for _, %s := range %s {", n["key"], n["chunk"]),
		fmt.Sprintf("%s[%s] = %s{}", of, n["key"], list),
		"}",
		fmt.Sprintf("for _, %s := range %s {", n["row"], n["rows"]),
		fmt.Sprintf("%s[%s.%s] = append(%s[%s.%s], %s)", of, n["row"], m.field, of, n["row"], m.field, n["row"]),
		"}",
	}
}

// lookup is the function that the loop calls. Rows that share memory are given once.
func (m *mapperLoop) lookup(n map[string]string, key, row, list string) []string {
	name, of, dest, found := n["rowOf"], n["rowByKey"], row, n["row"]
	if m.multi {
		name, of, dest, found = n["rowsOf"], n["rowsByKey"], list, n["rows"]
	}
	lines := []string{
		fmt.Sprintf("%s := func(%s *%s, %s %s, %s func() error) error {", name, n["dest"], dest, n["key"], key, n["send"]),
		fmt.Sprintf("%s, ok := %s[%s]", found, of, n["key"]),
		"if !ok {",
		fmt.Sprintf("return %s()", n["send"]),
		"}",
	}
	if m.multi || !valueOnly(m.model, deepestHelper) {
		lines = append(lines, fmt.Sprintf("delete(%s, %s) // each is given once", of, n["key"]))
	}
	return append(lines, fmt.Sprintf("*%s = %s", n["dest"], found), "return nil", "}")
}

// orderOf is what the rows of a Find lose where its chain has no Order.
func orderOf(l *perElement, call *ast.CallExpr) Promise {
	if calleeOf(l.pass, call).Name() != "Find" {
		return NoPromise
	}
	for {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return RowOrder
		}
		if call, ok = ast.Unparen(sel.X).(*ast.CallExpr); !ok {
			return RowOrder
		}
		if fn := calleeOf(l.pass, call); fn != nil && fn.Name() == "Order" {
			return NoPromise
		}
	}
}

// mapperWrites are the methods of gorm and xorm by which a chain writes, or that run what is given.
var mapperWrites = []string{"Create", "CreateInBatches", "Save", "Update", "Updates", "UpdateColumn", "UpdateColumns", "Delete", "Exec", "FirstOrCreate", "Transaction", "Insert", "InsertOne", "InsertMulti",
	"Incr", "Decr", "Query", "QueryString", "QueryInterface", "QueryRow", "QueryRows", "Raw", "SQL", "Association", "Begin", "Commit", "Rollback", "RollbackTo", "SavePoint", "AutoMigrate", "Migrator",
	"Connection", "Use", "Scopes", "FindInBatches", "Callback", "Iterate", "Sync", "Sync2", "Cols", "Append", "Replace", "Clear"}

// mapperReads reports whether a method of gorm or xorm makes a part of a query, or sends one.
func mapperReads(fn *types.Func) bool {
	return fn.Pkg() != nil && slices.Contains([]string{gormPath, oldGormPath, xormPath, oldXormPath}, fn.Pkg().Path()) && fn.Signature().Recv() != nil && !slices.Contains(mapperWrites, fn.Name())
}
