package appenv

import (
	"go/ast"
	"path"
	"strings"
)

// pprofHandlers is the package whose handlers are profilers. Imported for its effect only, it
// puts them onto the default mux.
const pprofHandlers = "net/http/pprof"

// unprofile removes the profilers that the source has of its own: the handlers of
// net/http/pprof, those of a framework's package pprof, and the rates at which the runtime
// records blocking and mutexes. A profile that the source itself writes into a file stays: it
// has a place and a time that only its author knows.
func (src *source) unprofile() {
	for _, f := range src.files {
		gone := map[string]int{}
		f.lists(func(list []ast.Stmt) {
			for _, stmt := range list {
				if f.profiles(stmt) {
					f.remove(stmt)
					for name := range f.imports {
						gone[name] += f.usesIn(stmt, name)
					}
				}
			}
		})
		f.tidyImports(gone)
		f.removeImports(func(s *ast.ImportSpec) bool {
			return s.Name != nil && s.Name.Name == "_" && strings.Trim(s.Path.Value, "`\"") == pprofHandlers
		})
	}
}

// profiles reports whether a statement is a call that does nothing but turn a profiler on.
func (f *file) profiles(stmt ast.Stmt) bool {
	e, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	of, name := f.of(call.Fun)
	switch {
	case of == "runtime" && (name == "SetBlockProfileRate" || name == "SetMutexProfileFraction"):
		return len(call.Args) == 1 && f.code(call.Args[0]) != "0"
	case of != pprofHandlers && path.Base(of) == "pprof" && !strings.HasPrefix(of, "runtime/"), strings.HasPrefix(path.Base(of), "echo-pprof"):
		return name == "Register" || name == "Wrap" // of gin-contrib, echo-contrib and their like
	}
	return f.routesProfile(call)
}

// routesProfile reports whether a call gives a path to a profiler and to nothing else, as in
// mux.HandleFunc("/debug/pprof/", pprof.Index) or chi's r.Mount("/debug", middleware.Profiler()).
func (f *file) routesProfile(call *ast.CallExpr) bool {
	if len(call.Args) != 2 {
		return false
	}
	place, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return false
	}
	profiler := false
	ast.Inspect(call.Args[1], func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			of, name := f.of(e)
			profiler = profiler || of == pprofHandlers && strings.Contains(place.Value, "pprof") || path.Base(of) == "middleware" && name == "Profiler"
		}
		return true
	})
	return profiler
}
