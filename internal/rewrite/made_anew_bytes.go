package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mostReturns bounds how many functions a value is followed through.
const mostReturns = 3

// bytesSafe reports whether bytes may be shared: every use only reads them, and the
// package does not write the file that they come from.
func (h *hoister) bytesSafe(e ast.Expr) bool {
	call := e.(*ast.CallExpr)
	if fn := h.x.callee(call); fn.Name() == "ReadFile" && h.writesFile(call.Args[0]) {
		return false
	}
	return h.readOnly(e, mostReturns)
}

// writesFile reports whether the package names the same constant path in a
// function that changes files.
func (h *hoister) writesFile(path ast.Expr) bool {
	want := h.x.pass.TypesInfo.Types[path].Value
	for fn, calls := range h.x.calls {
		if !isFunc(fn, "os", "WriteFile", "Create", "OpenFile", "Rename", "Remove", "Truncate", "Symlink", "Link", "Chdir") {
			continue
		}
		if fn.Name() == "Chdir" {
			return true
		}
		for _, c := range calls {
			for _, a := range c.Args {
				v := h.x.pass.TypesInfo.Types[a].Value
				if v != nil && want != nil && v.Kind() == constant.String && constant.StringVal(v) == constant.StringVal(want) {
					return true
				}
			}
		}
	}
	return false
}

// readOnly reports whether the bytes that an expression yields are only read.
func (h *hoister) readOnly(e ast.Expr, depth int) bool {
	switch p := h.x.parent[e].(type) {
	case *ast.ParenExpr:
		return h.readOnly(p, depth)
	case *ast.ReturnStmt:
		return h.returnReadOnly(e, p, depth)
	case *ast.AssignStmt:
		return h.assignedReadOnly(e, p, depth)
	case *ast.ValueSpec:
		return len(p.Values) == 1 && h.variableReadOnly(h.x.variable(p.Names[0]), depth)
	case *ast.CallExpr:
		return h.argumentReadOnly(e, p)
	case *ast.RangeStmt:
		return p.X == e
	case *ast.IndexExpr:
		return p.X == e && !h.x.isWritten(p)
	case *ast.SliceExpr:
		return p.X == e && h.readOnly(p, depth)
	case *ast.BinaryExpr, *ast.ExprStmt:
		return true
	}
	return false
}

func (h *hoister) assignedReadOnly(e ast.Expr, a *ast.AssignStmt, depth int) bool {
	if slices.Contains(a.Lhs, e) {
		return false
	}
	i := slices.Index(a.Rhs, e)
	if len(a.Rhs) == 1 {
		i = 0
	}
	if id, ok := a.Lhs[i].(*ast.Ident); ok && id.Name == "_" {
		return true
	}
	return a.Tok == token.DEFINE && h.variableReadOnly(h.x.variable(a.Lhs[i]), depth)
}

func (h *hoister) variableReadOnly(v *types.Var, depth int) bool {
	if v == nil || v.Parent() == h.x.pass.Pkg.Scope() {
		return false
	}
	for _, id := range h.x.uses[v] {
		if a, ok := h.x.parent[id].(*ast.AssignStmt); ok && slices.Contains(a.Lhs, ast.Expr(id)) {
			continue // another value from here on
		}
		if !h.readOnly(id, depth) {
			return false
		}
	}
	return true
}

// returnReadOnly follows a returned value into every caller in the package.
func (h *hoister) returnReadOnly(e ast.Expr, r *ast.ReturnStmt, depth int) bool {
	d := enclosing[*ast.FuncDecl](h.x, r)
	if d == nil || depth == 0 || enclosing[*ast.FuncLit](h.x, r) != nil {
		return false
	}
	fn, _ := h.x.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if fn == nil || fn.Exported() && h.x.pass.Pkg.Name() != "main" || len(h.x.uses[fn]) != len(h.x.calls[fn]) {
		return false
	}
	at := slices.Index(r.Results, e)
	if len(r.Results) == 1 {
		at = 0
	}
	for _, call := range h.x.calls[fn] {
		a, ok := h.x.parent[call].(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || at >= len(a.Lhs) || a.Tok != token.DEFINE {
			return false
		}
		if id, ok := a.Lhs[at].(*ast.Ident); ok && id.Name == "_" {
			continue
		}
		if !h.variableReadOnly(h.x.variable(a.Lhs[at]), depth-1) {
			return false
		}
	}
	return true
}

// readers are functions of the standard library that only read their bytes and
// keep no part of them in a result that could be written.
var readers = map[string][]string{
	"bytes":         {"NewReader", "Equal", "Compare", "Contains", "Count", "HasPrefix", "HasSuffix", "Index", "IndexByte", "Clone"},
	"encoding/json": {"Unmarshal", "Valid"}, "encoding/xml": {"Unmarshal"},
	"encoding/base64": {"Encoding.EncodeToString"}, "encoding/hex": {"EncodeToString"},
	"crypto/md5": {"Sum"}, "crypto/sha1": {"Sum"}, "crypto/sha256": {"Sum256"}, "crypto/sha512": {"Sum512"},
	"unicode/utf8": {"Valid", "RuneCount"}, "net/http": {"DetectContentType"},
}

// argumentReadOnly reports whether a call only reads an argument: len, a
// conversion to a string, known readers, Write by the contract of io.Writer, a
// method of a framework's context, and parameters of statements.
func (h *hoister) argumentReadOnly(e ast.Expr, c *ast.CallExpr) bool {
	if tv := h.x.pass.TypesInfo.Types[c.Fun]; tv.IsType() {
		b, ok := tv.Type.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsString != 0
	} else if tv.IsBuiltin() {
		name := ast.Unparen(c.Fun).(*ast.Ident).Name
		return name == "len" || name == "cap" || (name == "copy" || name == "append" && c.Ellipsis.IsValid()) && len(c.Args) == 2 && c.Args[1] == e
	}
	fn := h.x.callee(c)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if isFunc(fn, fn.Pkg().Path(), readers[fn.Pkg().Path()]...) {
		return true
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return false
	}
	return fn.Name() == "Write" || fn.Pkg() != h.x.pass.Pkg && (isRequest(recv.Type()) || statementMethod(fn.Name()))
}

// statementMethod reports whether a method's name is one of database/sql or sqlx
// whose further arguments are parameters of a statement.
func statementMethod(name string) bool {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "Must"), "Context")
	return slices.Contains([]string{"Exec", "Query", "Queryx", "QueryRow", "QueryRowx"}, name)
}

// onlySpace reports whether a text has nothing but space and a comment.
func onlySpace(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || strings.HasPrefix(s, "//")
}
