package appenv

import (
	"go/ast"
	"path"
	"strings"
)

// quieten removes the debug log and the lines per request from the source. The
// logging of errors stays.
func (src *source) quieten() {
	for _, f := range src.files {
		gone := map[string]int{} // removed uses of an import, by its name
		f.lists(func(list []ast.Stmt) {
			for _, stmt := range list {
				f.quietenAssign(stmt)
				f.quietenCall(stmt, gone)
			}
		})
		f.tidyImports(gone)
	}
}

// tidyImports removes the imports of which all uses are gone. gone are the removed uses of an
// import, by its name.
func (f *file) tidyImports(gone map[string]int) {
	for name, n := range gone {
		if n > 0 && f.uses(name) == n {
			of := f.imports[name]
			f.removeImports(func(s *ast.ImportSpec) bool { return strings.Trim(s.Path.Value, "`\"") == of })
		}
	}
}

// quietenAssign sets X.Debug = true to false.
func (f *file) quietenAssign(stmt ast.Stmt) {
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !f.hasEcho() {
		return
	}
	if sel, ok := a.Lhs[0].(*ast.SelectorExpr); ok && sel.Sel.Name == "Debug" && f.code(a.Rhs[0]) == "true" {
		f.replace(a.Rhs[0], "false")
	}
}

func (f *file) hasEcho() bool {
	for _, of := range f.imports {
		if strings.HasPrefix(of, "github.com/labstack/echo") {
			return true
		}
	}
	return false
}

// quietenCall raises X.SetLevel(log.DEBUG) to errors, which keeps the import in
// use, and removes the loggers from X.Use(…).
func (f *file) quietenCall(stmt ast.Stmt, gone map[string]int) {
	e, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch {
	case sel.Sel.Name == "SetLevel" && len(call.Args) == 1:
		if path, level := f.of(call.Args[0]); path == "github.com/labstack/gommon/log" && (level == "DEBUG" || level == "INFO") {
			f.replace(call.Args[0].(*ast.SelectorExpr).Sel, "ERROR")
		}
	case sel.Sel.Name == "Use" || sel.Sel.Name == "Pre":
		f.withoutLoggers(stmt, call, gone)
	}
}

// withoutLoggers removes a call's arguments that are loggers, and the whole call
// if it has no other arguments.
func (f *file) withoutLoggers(stmt ast.Stmt, call *ast.CallExpr, gone map[string]int) {
	var kept []string
	for _, arg := range call.Args {
		if name := f.logger(arg); name != "" {
			gone[name] += f.usesIn(arg, name)
			continue
		}
		kept = append(kept, f.code(arg))
	}
	switch len(kept) {
	case len(call.Args):
	case 0:
		f.remove(stmt)
	default:
		from, to := f.offset(call.Args[0].Pos()), f.offset(call.Args[len(call.Args)-1].End())
		f.edits = append(f.edits, splice{from, to, strings.Join(kept, ", ")})
	}
}

// logger returns the import name of an expression that is a request logger,
// called (echo, gin, fiber) or not (chi); "" for other expressions.
func (f *file) logger(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok {
		e = call.Fun
	}
	of, name := f.of(e)
	switch {
	case path.Base(of) == "middleware" && (strings.HasPrefix(name, "Logger") || strings.HasPrefix(name, "RequestLogger")),
		of == "github.com/gin-gonic/gin" && strings.HasPrefix(name, "Logger"):
		return e.(*ast.SelectorExpr).X.(*ast.Ident).Name
	}
	return ""
}

// uses counts the uses of an import in the file.
func (f *file) uses(name string) int { return f.usesIn(f.tree, name) }

func (f *file) usesIn(in ast.Node, name string) (n int) {
	ast.Inspect(in, func(node ast.Node) bool {
		if sel, ok := node.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == name {
				n++
			}
		}
		return true
	})
	return n
}

// removeImports removes imports that have no remaining uses.
func (f *file) removeImports(which func(*ast.ImportSpec) bool) {
	for _, decl := range f.tree.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range d.Specs {
			spec, ok := s.(*ast.ImportSpec)
			if !ok || !which(spec) {
				continue
			}
			if d.Lparen.IsValid() {
				f.remove(spec)
			} else {
				f.remove(d)
			}
		}
	}
}
