package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

var wholeFileInMemory = Lever{Code: "APP230", Title: "a file passes through memory",
	Line:    "a file is read whole, only to be written elsewhere",
	Promise: TestedOnly, Order: 16, Saved: Share{Lo: 0, Hi: 0.3}, Of: OfFunction,
	find: findWholeFiles,
}

// findWholeFiles finds what is read into memory whole while a request is answered, such as an
// upload, and is only written elsewhere. What is written to a file is copied as a stream
// instead. If reading fails then, the file was begun; before, it was not touched.
func findWholeFiles(r *reporter) error {
	w := &wholeFiles{r: r, x: indexOf(r.pass)}
	for _, f := range w.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && w.x.inRequest(a) {
				w.visit(a)
			}
			return true
		})
	}
	return nil
}

type wholeFiles struct {
	r      *reporter
	x      *index
	helper string        // the name of the function that copies; "" if it is not needed yet
	both   string        // the name of the one that returns the errors of both sides
	decl   *ast.FuncDecl // behind which it is declared
}

// visit reports "data, err := io.ReadAll(from)" and "os.ReadFile(name)" if data are only written.
func (w *wholeFiles) visit(a *ast.AssignStmt) {
	if len(a.Lhs) != 2 || len(a.Rhs) != 1 {
		return
	}
	read, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	data, id := w.x.variable(a.Lhs[0]), ast.Unparen(a.Lhs[0])
	if !ok || data == nil || w.x.defs[data] != id || len(w.x.uses[data]) != 1 {
		return
	}
	stream := isFunc(w.x.callee(read), "io", "ReadAll") || isFunc(w.x.callee(read), "io/ioutil", "ReadAll")
	if !stream && !isFunc(w.x.callee(read), "os", "ReadFile") && !isFunc(w.x.callee(read), "io/ioutil", "ReadFile") {
		return
	}
	use := w.x.uses[data][0]
	write, ok := w.x.parent[use].(*ast.CallExpr)
	if !ok {
		return
	}
	fn := w.x.callee(write)
	toFile := (isFunc(fn, "os", "WriteFile") || isFunc(fn, "io/ioutil", "WriteFile")) && len(write.Args) == 3 && write.Args[1] == ast.Expr(use)
	switch {
	case toFile:
		p := place{node: read, what: "a file is read whole, only to be written to another one", how: "copy it as a stream", promise: TestedOnly, proof: Tested}
		if rw := w.x.rewrite(); w.copied(rw, a, read, write, stream) {
			if fix, ok := rw.fix("copy as a stream"); w.r.needs(ok, read, nameTaken) {
				p.fixes = fix1(fix)
			}
		}
		w.r.report(p)
	case isWriter(fn) && len(write.Args) == 1:
		w.r.report(place{node: read, what: "a file is read whole, only to be written on", how: "copy it with io.Copy, or send it with http.ServeContent",
			why: refusal{write, "what the writer does with each part is not written there"}})
	}
}

// isWriter reports whether a method is Write of an io.Writer that leads out of the process or
// into a file: what a buffer gets stays in memory in any case.
func isWriter(fn *types.Func) bool {
	if fn == nil || fn.Name() != "Write" || fn.Signature().Recv() == nil || fn.Signature().Results().Len() != 2 {
		return false
	}
	recv := fn.Signature().Recv().Type()
	for _, buffer := range [][2]string{{"bytes", "Buffer"}, {"strings", "Builder"}} {
		if isNamed(recv, buffer[0], buffer[1]) {
			return false
		}
	}
	return true
}

// copied edits the three statements "read, check the error, write" into one that copies. Where the
// errors are not returned alike, the three stay, and each has the error that it had.
func (w *wholeFiles) copied(rw *rewrite, a *ast.AssignStmt, read, write *ast.CallExpr, stream bool) bool {
	block, ok := w.x.parent[a].(*ast.BlockStmt)
	if !w.r.needs(stream, read, "the file is named, and not open") || !w.r.needs(ok, a, "the read is not a statement of its own") {
		return false
	}
	at := slices.Index(block.List, ast.Stmt(a))
	if !w.r.needs(at+2 < len(block.List) && within(write, block.List[at+2]), a, "other statements are between the read and the write") {
		return false
	}
	check, writes := block.List[at+1], block.List[at+2]
	failed, name := w.x.variable(a.Lhs[1]), ast.Unparen(a.Lhs[1])
	if !w.r.needs(w.leaves(check, failed), check, "what follows the read is no check that leaves the function with its error") ||
		!w.r.needs(w.simple(writes, write), writes, "the file is written in a block, or under a condition") ||
		!w.r.needs(w.sent(read.Args[0]), read, "what is read is no upload and no body of a request, and may be the file that is written") {
		return false
	}
	if w.decl == nil {
		w.decl, _ = w.x.topDecl(a).(*ast.FuncDecl)
	}
	if !w.r.needs(w.decl != nil, a, "it is not in a function that is declared") {
		return false
	}
	args := fmt.Sprintf("(%s, %s, %s)", w.x.text(write.Args[0]), w.x.text(read.Args[0]), w.x.text(write.Args[2]))
	answered := w.checks(check, failed, nil)
	if answered == nil || !w.alike(answered, block.List[at+2:], write) || !w.free(failed, name, a, check) {
		return w.keptApart(rw, a, read, write, args)
	}
	rw.removeLines(a)
	rw.removeLines(check)
	rw.replace(write, w.function(rw, &w.helper, "copyToFile", copyToFileSource)+args)
	return true
}

// keptApart copies where the file was read, and gives the error of the writing to the statement that wrote.
func (w *wholeFiles) keptApart(rw *rewrite, a *ast.AssignStmt, read, write *ast.CallExpr, args string) bool {
	still := quietness{pass: w.x.pass, calls: callsOf(w.x.pass)}
	if !w.r.needs(still.quiet(write.Args[0]) && still.quiet(write.Args[2]), write, "the name of the file is computed by what may do more") {
		return false
	}
	written := w.x.fresh("written")
	rw.replace(a.Lhs[0], written)
	rw.replace(read, w.function(rw, &w.both, "streamToFile", streamToFileSource)+args)
	if _, alone := w.x.parent[write].(*ast.ExprStmt); alone {
		written = "_ = " + written // the error was left out
	}
	rw.replace(write, written)
	return true
}

// function adds a function behind the declaration of the first use, and returns its name.
func (w *wholeFiles) function(rw *rewrite, name *string, base, source string) string {
	if *name == "" {
		*name = w.x.fresh(base)
	}
	_, end := w.x.lines(posNode(w.decl.Body.Rbrace))
	rw.insert(end, "\n"+fmt.Sprintf(source, *name, rw.pkg(w.decl.Pos(), "io"), rw.pkg(w.decl.Pos(), "os")))
	return *name
}

const copyToFileSource = `// %[1]s writes what it reads into a file, which it creates or empties first.
func %[1]s(name string, from %[2]s.Reader, perm %[3]s.FileMode) error {
	to, err := %[3]s.OpenFile(name, %[3]s.O_WRONLY|%[3]s.O_CREATE|%[3]s.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = %[2]s.Copy(to, from)
	if closed := to.Close(); err == nil {
		err = closed
	}
	return err
}
`

const streamToFileSource = `// %[1]s writes what it reads into a file, which it creates or empties first. It returns the error of
// writing, and that of reading.
func %[1]s(name string, from %[2]s.Reader, perm %[3]s.FileMode) (written, read error) {
	to, err := %[3]s.OpenFile(name, %[3]s.O_WRONLY|%[3]s.O_CREATE|%[3]s.O_TRUNC, perm)
	if err != nil {
		return err, nil
	}
	_, err = %[2]s.Copy(to, from)
	closed := to.Close()
	if at, ok := err.(*%[3]s.PathError); err == nil || err == %[2]s.ErrShortWrite || ok && at.Path == name {
		if err == nil {
			err = closed
		}
		return err, nil
	}
	return nil, err
}
`

// leaves reports whether a statement is a check that leaves the function with an error.
func (w *wholeFiles) leaves(s ast.Stmt, err *types.Var) bool {
	i, ok := s.(*ast.IfStmt)
	return ok && err != nil && i.Init == nil && i.Else == nil && len(i.Body.List) > 0 &&
		w.x.variable(notNil(w.x.pass.TypesInfo, i.Cond)) == err && ends(w.x.pass.TypesInfo, i.Body)
}

// checks reads "if err != nil { return err }", perhaps with a first statement, other results and
// more words: it is the results, nil for another statement. Where the error is answered at once,
// one of the write may be answered in another way.
func (w *wholeFiles) checks(s ast.Stmt, err *types.Var, first ast.Stmt) []ast.Expr {
	i, ok := s.(*ast.IfStmt)
	if !ok || err == nil || i.Init != first || i.Else != nil || len(i.Body.List) != 1 {
		return nil
	}
	out, returns := i.Body.List[0].(*ast.ReturnStmt)
	if !returns || w.x.variable(notNil(w.x.pass.TypesInfo, i.Cond)) != err || len(out.Results) == 0 || !w.passes(out.Results[len(out.Results)-1], err) {
		return nil
	}
	return out.Results
}

// passes reports whether an expression is an error, or wraps it in more words.
func (w *wholeFiles) passes(e ast.Expr, err *types.Var) bool {
	if err != nil && w.x.variable(e) == err {
		return true
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) < 2 || !isFunc(w.x.callee(call), "fmt", "Errorf") {
		return false
	}
	format := constantText(w.x.pass, call.Args[0])
	return strings.Count(format, "%") == 1 && strings.HasSuffix(format, "%w") && len(call.Args) == 2 && w.x.variable(call.Args[1]) == err
}

// alike reports whether an error of the write, in the first of some statements, is returned with
// the same other results as one of the read.
func (w *wholeFiles) alike(answered []ast.Expr, stmts []ast.Stmt, write *ast.CallExpr) bool {
	if out, ok := stmts[0].(*ast.ReturnStmt); ok {
		return len(answered) == 1 && len(out.Results) == 1
	}
	a, _ := w.x.parent[write].(*ast.AssignStmt)
	if a == nil || len(a.Lhs) != 1 {
		return false
	}
	err, then, first := w.x.variable(a.Lhs[0]), stmts[0], ast.Stmt(a)
	if then == first {
		if len(stmts) < 2 {
			return false
		}
		then, first = stmts[1], nil
	}
	results := w.checks(then, err, first)
	if out, ok := then.(*ast.ReturnStmt); ok && len(out.Results) == 1 && err != nil && w.x.variable(out.Results[0]) == err {
		results = out.Results
	}
	if len(results) == 0 || len(results) != len(answered) {
		return false
	}
	for i := range results[:len(results)-1] {
		if w.x.text(results[i]) != w.x.text(answered[i]) {
			return false
		}
	}
	return true
}

// sent reports whether what is read comes from a request, or from the answer to one, as it is or
// up to a limit. Another file may be the one that is written, and would be emptied before it is read.
func (w *wholeFiles) sent(e ast.Expr) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		fn := w.x.callee(call)
		return isFunc(fn, "io", "LimitReader") && w.sent(call.Args[0]) || isFunc(fn, "net/http", "MaxBytesReader") && w.sent(call.Args[1])
	}
	if isNamed(w.x.typeOf(e), "mime/multipart", "File") || isNamed(w.x.typeOf(e), "mime/multipart", "Part") {
		return plainPath(e) && w.x.variable(rootIdent(e)) != nil
	}
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Body" || !isNamed(w.x.typeOf(sel.X), "net/http", "Request") && !isNamed(w.x.typeOf(sel.X), "net/http", "Response") {
		return false
	}
	if call, ok := ast.Unparen(sel.X).(*ast.CallExpr); ok { // c.Request()
		of, ok := call.Fun.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "Request" && len(call.Args) == 0 && plainPath(of.X)
	}
	return plainPath(sel.X) && w.x.variable(rootIdent(sel.X)) != nil
}

// free reports whether the read and its check may go without their error: one that is
// declared with the read is used in the check only, and one of before is also used elsewhere,
// or it would be a variable that nothing uses.
func (w *wholeFiles) free(failed *types.Var, name ast.Expr, a *ast.AssignStmt, check ast.Stmt) bool {
	here, elsewhere := w.x.defs[failed] == name, false
	for _, id := range w.x.uses[failed] {
		if within(id, check) || within(id, a) {
			continue
		}
		if !w.r.needs(!here, id, "the error of the read is used again") {
			return false
		}
		elsewhere = elsewhere || !w.x.isWritten(id)
	}
	return w.r.needs(here || elsewhere, a, "nothing else would use the variable of the error")
}

// simple reports whether a statement calls write once, whatever happens before in it.
func (w *wholeFiles) simple(s ast.Stmt, write *ast.CallExpr) bool {
	if i, ok := s.(*ast.IfStmt); ok && i.Init != nil {
		s = i.Init
	}
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return len(s.Results) == 1 && ast.Unparen(s.Results[0]) == ast.Expr(write)
	case *ast.AssignStmt:
		return len(s.Rhs) == 1 && ast.Unparen(s.Rhs[0]) == ast.Expr(write)
	case *ast.ExprStmt:
		return ast.Unparen(s.X) == ast.Expr(write)
	}
	return false
}
