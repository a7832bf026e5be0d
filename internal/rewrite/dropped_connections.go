package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

var droppedConnections = Lever{Code: "APP212", Title: "drops connections",
	Line:    "a connection to another server is not used again",
	Promise: NoPromise, Order: 13, Saved: Share{Lo: 0, Hi: 0.3}, Of: OfFunction,
	find: findDroppedConnections,
}

// findDroppedConnections finds requests to other servers whose connection is not used again:
// the body is not closed or not read, or more than two connections are idle.
func findDroppedConnections(r *reporter) error {
	d := &dropped{r: r, x: indexOf(r.pass)}
	d.find()
	return nil
}

type dropped struct {
	r      *reporter
	x      *index
	client string        // the new client's name; "" if it is not needed yet
	decl   *ast.FuncDecl // before which the client is declared
}

func (d *dropped) find() {
	for _, f := range d.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if fn := d.x.callee(n); isFunc(fn, "net/http", "Get", "Post", "PostForm", "Client.Do", "Client.Get", "Client.Post", "Client.PostForm") {
					d.body(n)
					d.shared(n, fn)
				}
			case *ast.CompositeLit:
				d.transport(n)
			}
			return true
		})
	}
}

// body reports an answer whose body is not closed, or closed unread.
func (d *dropped) body(c *ast.CallExpr) {
	a, ok := d.x.parent[c].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 2 {
		return
	}
	if isBlank(a.Lhs[0]) {
		d.r.report(place{node: c, what: "the body of an answer is not closed", how: "name the answer, and close its body",
			why: refusal{a, "the answer is given no name"}})
		return
	}
	res := d.x.variable(a.Lhs[0])
	if res == nil || len(d.x.writes(res)) > 0 {
		return
	}
	var closes []*ast.CallExpr
	read := false
	for _, id := range d.x.uses[res] {
		sel, ok := d.x.parent[id].(*ast.SelectorExpr)
		if !ok {
			if b, ok := d.x.parent[id].(*ast.BinaryExpr); ok && isNil(d.x, b.Y) {
				continue
			}
			return // the answer goes elsewhere
		}
		if sel.Sel.Name != "Body" {
			if _, call := d.x.parent[sel].(*ast.CallExpr); call && sel.Sel.Name == "Write" {
				return
			}
			continue
		}
		if call := d.closing(sel); call != nil {
			closes = append(closes, call)
		} else if d.reads(sel) {
			read = true
		} else {
			return
		}
	}
	switch {
	case len(closes) == 0:
		d.unclosed(c, a, res)
	case !read:
		d.unread(c, closes, res)
	}
}

// closing returns the call of res.Body.Close.
func (d *dropped) closing(body *ast.SelectorExpr) *ast.CallExpr {
	sel, ok := d.x.parent[body].(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Close" {
		return nil
	}
	call, _ := d.x.parent[sel].(*ast.CallExpr)
	return call
}

// reads reports whether the body is read by a function that does not close it.
func (d *dropped) reads(body *ast.SelectorExpr) bool {
	call, ok := d.x.parent[body].(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := d.x.callee(call)
	return isFunc(fn, "io", "ReadAll", "Copy", "CopyN", "LimitReader", "ReadFull", "TeeReader") || isFunc(fn, "io/ioutil", "ReadAll") ||
		isFunc(fn, "encoding/json", "NewDecoder") || isFunc(fn, "encoding/xml", "NewDecoder") || isFunc(fn, "bufio", "NewReader", "NewScanner")
}

// unclosed adds the missing close behind the check of the error.
func (d *dropped) unclosed(c *ast.CallExpr, a *ast.AssignStmt, res *types.Var) {
	p := place{node: c, what: "the body of an answer is not closed", how: "close it, so that the connection can be used again"}
	block, ok := d.x.parent[a].(*ast.BlockStmt)
	if d.r.needs(ok, a, "the request is not sent by a statement of its own") && d.r.needs(!d.inLoop(a), a, "the request is sent in a loop, where a deferred call would wait for its end") {
		next := slices.Index(block.List, ast.Stmt(a)) + 1
		if d.r.needs(next < len(block.List) && d.checks(block.List[next], d.x.variable(a.Lhs[1])), a, "what follows the request is no check of its error that leaves the function") {
			rw := d.x.rewrite()
			_, end := d.x.lines(block.List[next])
			rw.insert(end, "defer "+res.Name()+".Body.Close()\n")
			if fix, ok := rw.fix("close the body"); d.r.needs(ok, a, nameTaken) {
				p.fixes = fix1(fix)
			}
		}
	}
	d.r.report(p)
}

// inLoop reports whether a statement runs several times in its function: a defer
// there would wait for the end of the function.
func (d *dropped) inLoop(n ast.Node) bool {
	for n = d.x.parent[n]; n != nil; n = d.x.parent[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		}
	}
	return false
}

// checks reports whether a statement is "if err != nil { … }" that leaves.
func (d *dropped) checks(s ast.Stmt, err *types.Var) bool {
	i, ok := s.(*ast.IfStmt)
	if !ok || i.Else != nil || i.Init != nil || !d.x.leaves(i.Body) {
		return false
	}
	return err != nil && d.x.variable(notNil(d.x.pass.TypesInfo, i.Cond)) == err
}

// mostUnread bounds how much of an unread body is read to keep its connection.
const mostUnread = "64<<10"

// unread reads the body before it is closed.
func (d *dropped) unread(c *ast.CallExpr, closes []*ast.CallExpr, res *types.Var) {
	p := place{node: c, what: "the body of an answer is closed unread, which closes the connection", how: "read it to the end"}
	rw := d.x.rewrite()
	for _, call := range closes {
		drain := fmt.Sprintf("_, _ = %s.CopyN(%s.Discard, %s.Body, %s)", rw.pkg(call.Pos(), "io"), rw.pkg(call.Pos(), "io"), res.Name(), mostUnread)
		switch s := d.x.parent[call].(type) {
		case *ast.DeferStmt:
			rw.replace(s, fmt.Sprintf("defer func() {\n%s // a connection is used again if its answer was read to the end\n%s\n}()", drain, d.x.text(call)))
		case *ast.ExprStmt:
			rw.replace(s, drain+" // a connection is used again if its answer was read to the end\n"+d.x.text(call))
		default:
			return
		}
	}
	if fix, ok := rw.fix("read the body"); d.r.needs(ok, c, nameTaken) {
		p.fixes = fix1(fix)
	}
	d.r.report(p)
}

// shared reports requests that go through the default client, which keeps two idle
// connections to a host.
func (d *dropped) shared(c *ast.CallExpr, fn *types.Func) {
	if !d.x.inRequest(c) || d.replacesDefault() {
		return
	}
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return
	}
	if fn.Signature().Recv() != nil {
		def, ok := d.x.named(sel.X).(*types.Var)
		if !ok || def.Name() != "DefaultClient" || def.Pkg() == nil || def.Pkg().Path() != "net/http" {
			return
		}
	}
	if d.decl == nil {
		d.decl, _ = d.x.topDecl(c).(*ast.FuncDecl)
		d.client = d.x.fresh("keepAliveClient")
	}
	if d.decl == nil {
		return
	}
	rw := d.x.rewrite()
	rw.insert(declStart(d.decl), fmt.Sprintf(clientSource, d.client, rw.pkg(d.decl.Pos(), "net/http")))
	rw.replace(sel.X, d.client)
	p := place{node: c, what: "the default client keeps 2 idle connections to a host", how: "use a client that keeps more"}
	if fix, ok := rw.fix("use a client that keeps connections"); d.r.needs(ok, c, nameTaken) {
		p.fixes = fix1(fix)
	}
	d.r.report(p)
}

const clientSource = `// %[1]s keeps as many idle connections to one host as to all; the default is 2.
var %[1]s = func() *%[2]s.Client {
	t := %[2]s.DefaultTransport.(*%[2]s.Transport).Clone()
	t.MaxIdleConnsPerHost = t.MaxIdleConns
	return &%[2]s.Client{Transport: t}
}()

`

// replacesDefault reports whether the package sets the default client or transport.
func (d *dropped) replacesDefault() bool {
	for obj, uses := range d.x.uses {
		if obj.Pkg() == nil || obj.Pkg().Path() != "net/http" || !strings.HasPrefix(obj.Name(), "Default") {
			continue
		}
		for _, id := range uses {
			if sel, ok := d.x.parent[id].(*ast.SelectorExpr); ok && obj.Name() != "DefaultTransport" && d.x.isWritten(sel) || obj.Name() == "DefaultTransport" {
				return true
			}
			if sel, ok := d.x.parent[id].(*ast.SelectorExpr); ok {
				if field, ok := d.x.parent[sel].(*ast.SelectorExpr); ok && d.x.isWritten(field) {
					return true
				}
			}
		}
	}
	return false
}

// transport reports a transport that keeps two idle connections to a host, or none.
func (d *dropped) transport(lit *ast.CompositeLit) {
	if !isNamed(d.x.typeOf(lit), "net/http", "Transport") {
		return
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		switch key, _ := kv.Key.(*ast.Ident); key.Name {
		case "DisableKeepAlives":
			if v := d.x.pass.TypesInfo.Types[kv.Value].Value; v != nil && v.String() == "true" {
				d.r.report(place{node: kv, what: "a transport closes every connection after its answer", how: "keep connections",
					why: refusal{kv, "the source says so, and the server may need it"}})
			}
			return
		case "MaxIdleConnsPerHost", "MaxConnsPerHost":
			return
		}
	}
	rw := d.x.rewrite()
	text := "MaxIdleConnsPerHost: 100"
	switch n := len(lit.Elts); {
	case n == 0:
		rw.insert(lit.Rbrace, text)
	case d.x.pass.Fset.Position(lit.Elts[n-1].End()).Line < d.x.pass.Fset.Position(lit.Rbrace).Line:
		_, end := d.x.lines(lit.Elts[n-1])
		rw.insert(end, text+",\n")
	default:
		rw.insert(lit.Elts[n-1].End(), ", "+text)
	}
	p := place{node: lit, what: "a transport keeps 2 idle connections to a host", how: "keep more"}
	if fix, ok := rw.fix("keep more connections"); d.r.needs(ok, lit, nameTaken) {
		p.fixes = fix1(fix)
	}
	d.r.report(p)
}
