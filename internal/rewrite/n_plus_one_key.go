package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
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

// elements are the keys of an element as one expression, for the variables that it names.
func (r *reader) elements() ast.Expr {
	all := &ast.CompositeLit{}
	for _, k := range r.keys {
		all.Elts = append(all.Elts, k.element)
	}
	return all
}

// partOf is the expression of a part of a key.
func (r *reader) partOf(key string, i int) string {
	if len(r.keys) == 1 {
		return key
	}
	return fmt.Sprintf("%s[%d]", key, i)
}
