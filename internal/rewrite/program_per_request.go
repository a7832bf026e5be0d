package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

var programPerRequest = Lever{Code: "APP209", Title: "a program per request",
	Line:    "a handler starts a program",
	Promise: TestedOnly, Order: 10, Saved: Share{Lo: 0.1, Hi: 0.6}, Of: OfFunction,
	find: findPrograms,
}

// findPrograms finds programs that are started for each request. Copies of files,
// other work on files and digests by openssl are done in the process instead.
func findPrograms(r *reporter) error {
	p := &programs{r: r, x: indexOf(r.pass), helpers: map[string]string{}}
	for _, f := range p.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && isFunc(p.x.callee(c), "os/exec", "Command", "CommandContext") && p.x.inRequest(c) && !p.left(c) {
				p.command(c)
			}
			return true
		})
	}
	return nil
}

type programs struct {
	r       *reporter
	x       *index
	helpers map[string]string // names of the functions that fixes add, by their source
	decl    *ast.FuncDecl     // behind which they are added
}

// command reports one start of a program.
func (p *programs) command(c *ast.CallExpr) {
	args := c.Args
	if p.x.callee(c).Name() == "CommandContext" {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	name := "a program"
	if v, ok := p.text(args[0]); ok {
		name = path.Base(v)
	}
	out := place{node: c, what: name + " is started for each request", how: "do its work in the process", proof: Tested, promise: TestedOnly}
	rw := p.x.rewrite()
	if p.copies(rw, c, args) || p.digest(rw, c, args) || p.onFiles(rw, c, args) {
		if fix, ok := rw.fix("do it in the process"); p.r.needs(ok, c, nameTaken) {
			out.fixes = fix1(fix)
		}
	} else {
		p.r.no(c, "of programs, only cp, rm -rf, mkdir, zip -j -r and the digest of a text have a rewrite")
	}
	if len(out.fixes) == 0 {
		out.promise = NoPromise
	}
	p.r.report(out)
}

// leftToProgram ends the comment of a function of a fix that starts the program for what it does
// not do itself.
const leftToProgram = "is left to the program."

// left reports whether a call is in such a function: there is nothing more to do in the process.
func (p *programs) left(c *ast.CallExpr) bool {
	d, ok := p.x.topDecl(c).(*ast.FuncDecl)
	return ok && d.Doc != nil && strings.HasSuffix(strings.TrimSpace(d.Doc.Text()), leftToProgram)
}

func (p *programs) text(e ast.Expr) (string, bool) {
	v := p.x.pass.TypesInfo.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// method returns the call of a method directly on the command.
func (p *programs) method(c *ast.CallExpr, name string) *ast.CallExpr {
	sel, ok := p.x.parent[c].(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return nil
	}
	call, _ := p.x.parent[sel].(*ast.CallExpr)
	return call
}

// waited is the call that runs a program and waits for it, of the command itself or of the
// variable that the statement before, made, sets to it for nothing else.
func (p *programs) waited(c *ast.CallExpr) (run *ast.CallExpr, made ast.Stmt) {
	if run = p.method(c, "Run"); run != nil {
		return run, nil
	}
	a, ok := p.x.parent[c].(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil, nil
	}
	var list []ast.Stmt
	switch around := p.x.parent[a].(type) {
	case *ast.BlockStmt:
		list = around.List
	case *ast.CaseClause:
		list = around.Body
	}
	cmd, next := p.x.variable(a.Lhs[0]), slices.Index(list, ast.Stmt(a))+1
	if cmd == nil || next == 0 || next >= len(list) || len(p.x.uses[cmd]) != 1 || !within(p.x.uses[cmd][0], list[next]) {
		return nil, nil
	}
	sel, ok := p.x.parent[p.x.uses[cmd][0]].(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Run" || !p.first(list[next], sel) {
		return nil, nil
	}
	run, _ = p.x.parent[sel].(*ast.CallExpr)
	return run, a
}

// first reports whether a statement begins with a call: it is the statement, or its first value.
func (p *programs) first(s ast.Stmt, fun *ast.SelectorExpr) bool {
	if i, ok := s.(*ast.IfStmt); ok {
		if i.Init == nil {
			b, isComparison := ast.Unparen(i.Cond).(*ast.BinaryExpr)
			return isComparison && isCallOf(b.X, fun)
		}
		s = i.Init
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		return len(s.Rhs) == 1 && isCallOf(s.Rhs[0], fun)
	case *ast.ExprStmt:
		return isCallOf(s.X, fun)
	case *ast.ReturnStmt:
		return len(s.Results) == 1 && isCallOf(s.Results[0], fun)
	}
	return false
}

func isCallOf(e ast.Expr, fun ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && call.Fun == fun
}

// copies rewrites exec.Command("cp", from, to).Run().
func (p *programs) copies(rw *rewrite, c *ast.CallExpr, args []ast.Expr) bool {
	name, _ := p.text(args[0])
	run, made := p.waited(c)
	if path.Base(name) != "cp" || run == nil || len(args) != 3 || c.Ellipsis.IsValid() {
		return false
	}
	for _, a := range args[1:] {
		if v, ok := p.text(a); ok && (strings.HasPrefix(v, "-") || strings.HasSuffix(v, "/")) {
			return false
		}
	}
	helper := p.helper(rw, c, "copyFile", copySource, "io", "os", "path/filepath")
	rw.replace(run, fmt.Sprintf("%s(%s, %s)", helper, p.x.text(args[1]), p.x.text(args[2])))
	if made != nil {
		rw.removeLines(made)
	}
	return helper != ""
}

const copySource = `// %[1]s copies a file as cp does: into to, or into the folder to. A folder, and a file that is the same one,
// are left alone.
func %[1]s(from, to string) error {
	if info, err := %[3]s.Stat(to); err == nil && info.IsDir() {
		to = %[4]s.Join(to, %[4]s.Base(from))
	}
	in, err := %[3]s.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if there, err := %[3]s.Stat(to); info.IsDir() || err == nil && %[3]s.SameFile(info, there) {
		return &%[3]s.PathError{Op: "copy", Path: from, Err: %[3]s.ErrInvalid}
	}
	out, err := %[3]s.OpenFile(to, %[3]s.O_WRONLY|%[3]s.O_CREATE|%[3]s.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = %[2]s.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
`

// there reports whether the package has a function already, as the fix of another place left it.
func (p *programs) there(name, source string) bool {
	fn, _ := p.x.pass.Pkg.Scope().Lookup(name).(*types.Func)
	d := p.x.decls[fn]
	if d == nil || d.Doc == nil {
		return false
	}
	from := strings.ReplaceAll(source, "%[1]s", name)
	for i := 2; i < 10; i++ { // names of packages, which are those of the imports
		from = strings.ReplaceAll(from, fmt.Sprintf("%%[%d]s.", i), "")
	}
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	text := words(p.x.between(d.Doc.Pos(), d.End()))
	for _, imported := range p.x.fileOf(d.Pos()).Imports {
		text = strings.ReplaceAll(text, p.x.importName(imported)+".", "")
	}
	return text == words(from)
}

// helper adds a function behind the declaration around the first use and returns
// its name; all uses share it.
func (p *programs) helper(rw *rewrite, at ast.Node, name, source string, packages ...string) string {
	if p.decl == nil {
		p.decl, _ = p.x.topDecl(at).(*ast.FuncDecl)
	}
	if p.decl == nil {
		return ""
	}
	if p.helpers[source] == "" {
		if p.there(name, source) {
			return name
		}
		p.helpers[source] = p.x.fresh(name)
	}
	values := []any{p.helpers[source]}
	for _, pkg := range packages {
		values = append(values, rw.pkg(p.decl.Pos(), pkg))
	}
	_, end := p.x.lines(posNode(p.decl.Body.Rbrace))
	rw.insert(end, "\n"+fmt.Sprintf(source, values...))
	return p.helpers[source]
}
