package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"path"
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

// copies rewrites exec.Command("cp", from, to).Run().
func (p *programs) copies(rw *rewrite, c *ast.CallExpr, args []ast.Expr) bool {
	name, _ := p.text(args[0])
	run := p.method(c, "Run")
	if path.Base(name) != "cp" || run == nil || len(args) != 3 || c.Ellipsis.IsValid() {
		return false
	}
	for _, a := range args[1:] {
		if v, ok := p.text(a); ok && (strings.HasPrefix(v, "-") || strings.HasSuffix(v, "/")) {
			return false
		}
	}
	helper := p.helper(rw, c, "copyFile", copySource, "errors", "io", "os", "path/filepath")
	rw.replace(run, fmt.Sprintf("%s(%s, %s)", helper, p.x.text(args[1]), p.x.text(args[2])))
	return helper != ""
}

const copySource = `// %[1]s copies a file as cp does: into to, or into the folder to.
func %[1]s(from, to string) (err error) {
	if info, statErr := %[4]s.Stat(to); statErr == nil && info.IsDir() {
		to = %[5]s.Join(to, %[5]s.Base(from))
	}
	in, err := %[4]s.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := %[4]s.OpenFile(to, %[4]s.O_WRONLY|%[4]s.O_CREATE|%[4]s.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() { err = %[2]s.Join(err, out.Close()) }()
	_, err = %[3]s.Copy(out, in)
	return err
}
`

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
