package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// edits writes the rewrite: the loop collects arguments, and a second loop sends
// them in chunks.
func (e *execution) edits() ([]analysis.TextEdit, bool) {
	source := newSource(e.pass, e.loop.Pos())
	if source == nil {
		return nil, false
	}
	e.taken = namesAround(e.pass, e.loop.Pos())
	taken := e.taken
	args, chunk := fresh(taken, "args", "values", "insertArgs"), fresh(taken, "chunk", "part", "argsChunk")
	if e.call.Named {
		args = fresh(taken, "rows", "records", "insertRows")
	}
	rest := fresh(taken, "rest", "left", "argsLeft")
	if args == "" || chunk == "" || rest == "" {
		return nil, false
	}
	indent := source.indent(e.loop.Pos())
	aside, ok3 := e.asideNames()
	sent, ok := e.sends(source, chunk)
	kind, ok2 := e.elementType(source)
	if !ok || !ok2 || !ok3 {
		return nil, false
	}
	from, to := e.call.Args[0].Pos(), e.call.Args[len(e.call.Args)-1].End()
	size := fmt.Sprintf("%d*%d", e.ins.params, e.rows)
	if e.call.Named || e.ins.params == 1 {
		size = fmt.Sprint(e.rows)
	}
	head, comment := chunkHead(e.pass, e.loop.Pos(), chunk, rest, args, size), fmt.Sprintf("// One INSERT stores up to %d rows.", e.rows)
	if e.update != nil {
		head = e.updateHead(chunk, rest, args)
		comment = fmt.Sprintf("// One UPDATE changes up to %d rows. A key that comes again begins another one.", e.rows)
	}
	first := e.moved[0].Pos()
	declared, collected := e.declaration(args, kind), fmt.Sprintf("%s = append(%s, %s)", args, args, source.text(from, to))
	for _, v := range aside {
		declared += fmt.Sprintf("\n%svar %s []%s", indent, v.list, v.kind)
		collected += fmt.Sprintf("\n%s%s = append(%s, %s)", source.indent(first), v.list, v.list, v.object.Name())
	}
	edits := []analysis.TextEdit{
		edit(e.loop.Pos(), e.loop.Pos(), fmt.Sprintf("%s\n%s%s\n%s", comment, indent, declared, indent)),
		edit(first, e.moved[len(e.moved)-1].End(), collected),
		edit(e.loop.End(), e.loop.End(), fmt.Sprintf("\n%s%s\n%s\n%s}", indent, strings.Join(head, "\n"+indent), sent, indent)),
	}
	for _, s := range e.prepared {
		edits = append(edits, source.line(s))
	}
	if !e.whole || e.call.Prepared != nil {
		return edits, true
	}
	unused, ok := withoutText(e.pass, e.calls, source, e.call) // a new text takes its place
	return append(edits, unused...), ok
}

// declaration declares the collected arguments, with their number if the loop goes
// over a slice.
func (e *execution) declaration(args, kind string) string {
	r, ok := e.loop.(*ast.RangeStmt)
	if ok {
		_, isSlice := e.pass.TypesInfo.TypeOf(r.X).Underlying().(*types.Slice)
		if id, isIdent := r.X.(*ast.Ident); isSlice && isIdent {
			n := "len(" + id.Name + ")"
			if !e.call.Named && e.ins.params > 1 {
				n = fmt.Sprintf("%d*%s", e.ins.params, n)
			}
			return fmt.Sprintf("%s := make([]%s, 0, %s)", args, kind, n)
		}
	}
	return fmt.Sprintf("var %s []%s", args, kind)
}

// elementType is the type of the collected values.
func (e *execution) elementType(source *sourceText) (string, bool) {
	if !e.call.Named {
		return anyType(e.pass, e.loop.Pos()), true
	}
	return typeName(e.pass, source.file, e.pass.TypesInfo.TypeOf(e.call.Args[0]))
}

// sends is the text of the moved statements with the statement for a chunk.
func (e *execution) sends(source *sourceText, chunk string) (string, bool) {
	c := e.call
	first, last := e.moved[0].Pos(), e.moved[len(e.moved)-1].End()
	argStart, argEnd := c.Args[0].Pos(), c.Args[len(c.Args)-1].End()
	lead := source.indent(first)
	if c.Named {
		name := ""
		if e.element != nil {
			name = lead + firstNamed + lead + e.element.Name + " := " + chunk + "[0]\n"
		}
		name += e.asideFirst(lead, "len("+chunk+")")
		return name + lead + e.opening(source, argStart) + chunk + source.text(argEnd, last), true
	}
	query, before, ok := e.query(source, chunk)
	list := cmp.Or(e.values, chunk)
	names, ok2 := e.namesFirst(lead, chunk)
	rows := "len(" + chunk + ")"
	if e.ins.params > 1 {
		rows += fmt.Sprintf("/%d", e.ins.params)
	}
	names += e.asideFirst(lead, rows) + indented(before, lead)
	if !ok || !ok2 {
		return "", false
	}
	if c.Prepared != nil {
		context := ""
		if c.Context != nil {
			context = source.text(c.Context.Pos(), c.Context.End()) + ", "
		}
		query = e.rebound(source, query)
		call := fmt.Sprintf("%s.%s(%s%s, %s...)", source.text(e.handle().Expr.Pos(), e.handle().Expr.End()), c.Name, context, query, list)
		return names + lead + e.opening(source, c.Expr.Pos()) + call + source.text(c.Expr.End(), last), true
	}
	query = e.rebound(source, query)
	return names + lead + e.opening(source, c.QueryArg.Pos()) + query + source.text(c.QueryArg.End(), argStart) +
		list + "..." + strings.TrimPrefix(strings.TrimLeft(source.text(argEnd, last), " \t\n"), ","), true
}

// opening is the text of the moved statements up to a position in the call. The loop
// that sends declares the error's variable if the other loop does.
func (e *execution) opening(source *sourceText, to token.Pos) string {
	first := e.moved[0].Pos()
	if e.ownError == nil {
		return source.text(first, to)
	}
	at := e.assignment().TokPos
	return source.text(first, at) + ":" + source.text(at, to)
}

// indented puts an indent before each line, and ends each.
func indented(lines []string, indent string) string {
	if len(lines) == 0 {
		return ""
	}
	return indent + layOut(lines, indent)
}

// query is the expression of the statement for the rows of a chunk, and lines that stand
// before it.
func (e *execution) query(source *sourceText, chunk string) (text string, before []string, ok bool) {
	if e.update != nil {
		text, before = e.updateQuery(chunk)
		return text, before, true
	}
	if e.ins.numbers != nil {
		return e.numberedQuery(source, chunk)
	}
	text, ok = e.markedQuery(source, chunk)
	return text, nil, ok
}

// numberedQuery writes a statement whose placeholders are numbered, as in PostgreSQL.
func (e *execution) numberedQuery(source *sourceText, chunk string) (string, []string, bool) {
	sql := e.call.SQL()
	if e.call.Text.Expanded || e.call.Named {
		return "", nil, false
	}
	e.whole = true
	tuple, at := "", e.ins.start
	var args []string
	text, row := fresh(e.taken, "query", "insertQuery"), fresh(e.taken, "at", "from", "insertAt")
	tokens, _ := sqltext.Unknown.Tokens(sql)
	for _, t := range tokens {
		if n := dollar(t); n > 0 && t.Start >= e.ins.start && t.End <= e.ins.end {
			tuple += strings.ReplaceAll(sql[at:t.Start], "%", "%%") + "$%d"
			args, at = append(args, fmt.Sprintf("%s+%d", row, n)), t.End
		}
	}
	tuple += strings.ReplaceAll(sql[at:e.ins.end], "%", "%%")
	if text == "" || row == "" {
		return "", nil, false
	}
	lines := []string{
		fmt.Sprintf("var %s strings.Builder", text),
		fmt.Sprintf("%s.WriteString(%s)", text, goString(sql[:e.ins.start])),
		fmt.Sprintf("for %s := 0; %s < len(%s); %s += %d {", row, row, chunk, row, e.ins.params),
		fmt.Sprintf("if %s > 0 {", row),
		fmt.Sprintf("%s.WriteString(\", \")", text),
		"}",
		fmt.Sprintf("fmt.Fprintf(&%s, %s, %s)", text, goString(strings.Join(strings.Fields(tuple), " ")), strings.Join(args, ", ")),
		"}",
	}
	query := text + ".String()"
	if e.ins.tail {
		query += "+" + goString(sql[e.ins.end:])
	}
	return query, lines, true
}

func (e *execution) markedQuery(source *sourceText, chunk string) (string, bool) {
	arg := e.queryArg()
	rows := fmt.Sprintf("len(%s)/%d", chunk, e.ins.params)
	if e.ins.params == 1 {
		rows = fmt.Sprintf("len(%s)", chunk)
	}
	repeat := fmt.Sprintf("strings.Repeat(\", %s\", %s-1)", e.ins.tuple, rows)
	if strings.ContainsAny(e.ins.tuple, "\"\\") {
		return "", false
	}
	if !e.ins.tail {
		switch ast.Unparen(arg).(type) {
		case *ast.BasicLit, *ast.Ident, *ast.BinaryExpr, *ast.SelectorExpr:
			text := source.text(arg.Pos(), arg.End())
			if strings.Contains(text, "\n") || strings.TrimSpace(e.call.SQL()[e.ins.end:]) != e.call.SQL()[e.ins.end:] {
				break
			}
			return text + "+" + repeat, true
		}
	}
	lit, _ := ast.Unparen(arg).(*ast.BasicLit)
	pos := e.call.Text.PosOf(e.ins.end)
	if lit == nil || !pos.IsValid() { // put together, as by Sprintf of constants: the whole of it takes its place
		sql := e.call.SQL()
		e.whole = true
		tail := ""
		if e.ins.tail {
			tail = "+" + goString(sql[e.ins.end:])
		}
		return goString(sql[:e.ins.end]) + "+" + repeat + tail, !e.call.Text.Expanded && !e.call.Named
	}
	quote := lit.Value[:1]
	rest := source.text(pos, lit.End())
	if strings.TrimSpace(rest[:len(rest)-1]) == "" {
		return source.text(lit.Pos(), pos) + quote + "+" + repeat, true
	}
	return source.text(lit.Pos(), pos) + quote + "+" + repeat + "+" + quote + rest, true
}

// A sourceText is the text of one file with positions.
type sourceText struct {
	pass *analysis.Pass
	file *ast.File
	data []byte
}

// newSource reads the file of a position; nil if it cannot be read.
func newSource(pass *analysis.Pass, pos token.Pos) *sourceText {
	f := fileOf(pass, pos)
	if f == nil {
		return nil
	}
	data, err := pass.ReadFile(pass.Fset.PositionFor(f.FileStart, false).Filename)
	if err != nil || len(data) != int(f.FileEnd-f.FileStart) {
		return nil
	}
	return &sourceText{pass: pass, file: f, data: data}
}

func (s *sourceText) text(from, to token.Pos) string {
	return string(s.data[from-s.file.FileStart : to-s.file.FileStart])
}

// indent is the white space before the first token of the line of a position.
func (s *sourceText) indent(pos token.Pos) string {
	at := int(pos - s.file.FileStart)
	start := at
	for start > 0 && s.data[start-1] != '\n' {
		start--
	}
	end := start
	for end < at && (s.data[end] == ' ' || s.data[end] == '\t') {
		end++
	}
	return string(s.data[start:end])
}

// line is the edit that removes a statement with its line.
func (s *sourceText) line(n ast.Node) analysis.TextEdit {
	from, to := int(n.Pos()-s.file.FileStart), int(n.End()-s.file.FileStart)
	for from > 0 && (s.data[from-1] == ' ' || s.data[from-1] == '\t') {
		from--
	}
	if to < len(s.data) && s.data[to] == '\n' {
		to++
	}
	return edit(s.file.FileStart+token.Pos(from), s.file.FileStart+token.Pos(to), "")
}

// namesAround are all names in the function around a position, and those of the
// package and the file.
func namesAround(pass *analysis.Pass, pos token.Pos) map[string]bool {
	taken := map[string]bool{}
	f := fileOf(pass, pos)
	for _, d := range f.Decls {
		if d.Pos() <= pos && pos <= d.End() {
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					taken[id.Name] = true
				}
				return true
			})
		}
	}
	for _, name := range pass.Pkg.Scope().Names() {
		taken[name] = true
	}
	for _, s := range f.Imports {
		taken[goapp.ImportName(s)] = true
	}
	return taken
}

// fresh is the first name that is not taken; "" if all are. It is taken from then
// on.
func fresh(taken map[string]bool, names ...string) string {
	for _, n := range names {
		if !taken[n] {
			taken[n] = true
			return n
		}
	}
	return ""
}

// goAtLeast reports whether the file of a position may use a version of Go.
func goAtLeast(pass *analysis.Pass, pos token.Pos, want string) bool {
	f := fileOf(pass, pos)
	v := pass.TypesInfo.FileVersions[f]
	if v == "" {
		v = pass.Pkg.GoVersion()
	}
	return v == "" || version.Compare(v, want) >= 0
}

// typeName writes a type as the code of a file names it. ok is false if the file
// does not import a package of the type, or the type is local to a function.
func typeName(pass *analysis.Pass, file *ast.File, t types.Type) (string, bool) {
	ok := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p == pass.Pkg {
			return ""
		}
		for _, s := range file.Imports {
			if strings.Trim(s.Path.Value, "\"`") == p.Path() {
				if s.Name != nil {
					return s.Name.Name
				}
				return p.Name()
			}
		}
		ok = false
		return p.Name()
	})
	if named := namedOf(t); named != nil && named.Obj().Pkg() == pass.Pkg && named.Obj().Parent() != pass.Pkg.Scope() {
		ok = false
	}
	return name, ok
}

func namedOf(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

// parentOf is the node around a node.
func parentOf(pass *analysis.Pass, n ast.Node) ast.Node {
	if c, ok := rootOf(pass).FindNode(n); ok {
		return c.Parent().Node()
	}
	return nil
}
