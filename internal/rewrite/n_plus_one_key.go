package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// What a statement of a loop asks for: the values of its elements, one or several.

// A keyPart is an argument of a statement that varies from element to element.
type keyPart struct {
	at int // position of the parameter, or of the argument of a statement in the loop itself
	// path is the field of the parameter that is the key, as ".ID"; "" where it is the
	// parameter itself.
	path string
	typ  types.Type
	// element is the argument as an expression of the element, without the path.
	element ast.Expr
}

// keyOf is the key that a parameter is, or has: the arguments of the statement name it as it is,
// or by one of its fields alone.
func (r *reader) keyOf(at int) (keyPart, bool) {
	k := keyPart{at: at, typ: r.paramType(at)}
	if k.typ != nil && plainKey(k.typ) {
		return k, true
	}
	param, ok := r.param(at), true
	for _, a := range r.call.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				field := r.pass.TypesInfo.Selections[n]
				if !isIdent(n.X) || !r.asksFor(n.X, param) || field == nil || field.Kind() != types.FieldVal || len(field.Index()) > 1 || !plainKey(field.Type()) {
					return true
				}
				ok = ok && (k.path == "" || k.path == "."+n.Sel.Name)
				k.path, k.typ = "."+n.Sel.Name, field.Type()
				return false
			case *ast.Ident:
				ok = ok && !r.asksFor(n, param)
			}
			return ok
		})
	}
	return k, ok && k.path != ""
}

// paramType is the type of a parameter, nil if there is none.
func (r *reader) paramType(at int) types.Type {
	for _, f := range r.decl.Type.Params.List {
		for _, name := range f.Names {
			if at--; at < 0 {
				return r.pass.TypesInfo.TypeOf(name)
			}
		}
	}
	return nil
}

// isKey reports whether a parameter or an argument is one of the keys, or has one.
func (r *reader) isKey(at int) bool {
	return slices.ContainsFunc(r.keys, func(k keyPart) bool { return k.at == at })
}

// keyType is the type of the keys as a file writes it: of several, an array.
func (l *perElement) keyType(r *reader, file *ast.File) (string, bool) {
	element := ""
	for _, k := range r.keys {
		name, ok := typeName(l.pass, file, k.typ)
		if named := namedOf(k.typ); !ok || named != nil && named.Obj().Pkg() != l.pass.Pkg && !named.Obj().Exported() {
			return "", false
		}
		if element != "" && element != name {
			name = anyType(l.pass, file.Name.Pos())
		}
		element = name
	}
	if len(r.keys) == 1 {
		return element, true
	}
	return fmt.Sprintf("[%d]%s", len(r.keys), element), true
}

// keyLiteral is a value of the type of the keys with some parts.
func keyLiteral(keyType string, parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return keyType + "{" + strings.Join(parts, ", ") + "}"
}

// keyText is the key in the function.
func (r *reader) keyText(keyType string) string {
	var parts []string
	for _, k := range r.keys {
		parts = append(parts, r.param(k.at)+k.path)
	}
	return keyLiteral(keyType, parts)
}

// elementText is the key of an element before the loop.
func (r *reader) elementText(source *sourceText, keyType string) string {
	var parts []string
	for _, k := range r.keys {
		parts = append(parts, source.text(k.element.Pos(), k.element.End())+k.path)
	}
	return keyLiteral(keyType, parts)
}

// fromElement reports whether a key can be computed of each element before the loop, which is in
// the package of l, and notes how.
func (k *keyPart) fromElement(l *perElement, r *reader, call *ast.CallExpr, around ast.Stmt) bool {
	b := &batch{perElement: l}
	a := l.byElement(call.Args[k.at], around)
	if k.path != "" {
		if u, ok := ast.Unparen(a).(*ast.UnaryExpr); ok && u.Op == token.AND {
			a = u.X
		} else if _, isPointer := l.pass.TypesInfo.TypeOf(a).Underlying().(*types.Pointer); isPointer && !l.needs(l.neverNil(a, around), a, "the key is behind a pointer that may be nil") {
			return false
		}
		if !l.needs(plainPlace(a), a, "the key is a field of what has no name") {
			return false
		}
	} else if !l.needs(b.unsetIn(a, bodyOfLoop(around)), a, "the loop sets an argument of %s", r.decl.Name.Name) {
		return false
	}
	k.element = a
	return l.needs(l.repeatable(a) && !l.varies(a, bodyOfLoop(around)), a, "the key is not of the element alone") &&
		l.needs(!guarded(l.pass, a, call, around), a, "the key is behind a pointer that only some rounds may follow")
}

// plainPlace reports whether an expression is a name, with fields and indexes.
func plainPlace(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plainPlace(e.X)
	case *ast.IndexExpr:
		return plainPlace(e.X)
	}
	return false
}

// neverNil reports whether an element is a pointer to a row: of a list that sqlx fills, and that
// nothing else sets.
func (l *perElement) neverNil(e ast.Expr, around ast.Stmt) bool {
	loop, ok := around.(*ast.RangeStmt)
	if !ok || loop.Value == nil || rootIdent(e) != e || l.pass.TypesInfo.ObjectOf(rootIdent(e)) != l.pass.TypesInfo.ObjectOf(rootIdent(loop.Value)) {
		return false
	}
	list := localVar(l.pass.TypesInfo, loop.X)
	if list == nil || !isIdent(ast.Unparen(loop.X)) || l.calls.Writes[list] > 2 {
		return false
	}
	return slices.ContainsFunc(l.calls.Calls, func(c *sqlcall.Call) bool {
		return c.Op == sqlcall.Select && throughSqlx(c) && localVar(l.pass.TypesInfo, c.Dests[0]) == list
	})
}

// elements are the keys of an element as one expression, for the variables that it names.
func (r *reader) elements() ast.Expr {
	all := &ast.CompositeLit{}
	for _, k := range r.keys {
		all.Elts = append(all.Elts, k.element)
	}
	for _, d := range r.defines {
		all.Elts = append(all.Elts, d.Rhs[0])
	}
	return all
}

// definitions are the statements at the top of a loop's body that define the variables of an
// expression, each once and by computing: the values can be computed before the loop in the same way.
func (l *perElement) definitions(e ast.Expr, call *ast.CallExpr, loop ast.Stmt) (defs []*ast.AssignStmt, vars []*types.Var, ok bool) {
	body, isBlock := bodyOfLoop(loop).(*ast.BlockStmt)
	if !isBlock {
		return nil, nil, false
	}
	for v := range l.variablesIn(e, body) {
		at := slices.IndexFunc(body.List, func(s ast.Stmt) bool {
			a, isSet := s.(*ast.AssignStmt)
			return isSet && a.Tok == token.DEFINE && len(a.Lhs) == 1 && len(a.Rhs) == 1 && l.pass.TypesInfo.Defs[identOf(a.Lhs[0])] == v && a.End() <= call.Pos()
		})
		if at < 0 || l.calls.Writes[v] != 1 {
			return nil, nil, false
		}
		a := body.List[at].(*ast.AssignStmt)
		if !l.repeatable(a.Rhs[0]) || guarded(l.pass, a.Rhs[0], call, loop) {
			return nil, nil, false
		}
		before, of, ok := l.definitions(a.Rhs[0], call, loop)
		if !ok {
			return nil, nil, false
		}
		defs, vars = append(append(defs, before...), a), append(append(vars, of...), v)
	}
	slices.SortFunc(defs, func(a, b *ast.AssignStmt) int { return cmp.Compare(a.Pos(), b.Pos()) })
	return slices.Compact(defs), vars, true
}

// variablesIn goes over the variables of an expression that are declared in a node.
func (l *perElement) variablesIn(e ast.Expr, in ast.Node) map[*types.Var]bool {
	vars := map[*types.Var]bool{}
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, isVar := l.pass.TypesInfo.Uses[id].(*types.Var); isVar && !v.IsField() && in.Pos() <= v.Pos() && v.Pos() < in.End() {
				vars[v] = true
			}
		}
		return true
	})
	return vars
}

// defined are the lines that define the variables of the keys.
func (r *reader) defined() (lines []string) {
	for _, d := range r.defines {
		lines = append(lines, r.source.text(d.Pos(), d.End()))
	}
	return lines
}

// partOf is the expression of a part of a key.
func (r *reader) partOf(key string, i int) string {
	if len(r.keys) == 1 {
		return key
	}
	return fmt.Sprintf("%s[%d]", key, i)
}
