package goapp

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// truth reads a condition.
func truth(v settings.Value) (yes, known bool) {
	return v.Kind == settings.Text && v.Text == "true", v.Kind == settings.Text || v.Kind == settings.Null
}

// boolean is a condition as a value.
func boolean(b bool) settings.Value {
	return settings.Literal(strconv.FormatBool(b))
}

// compared is whether two values are the same, if that is known.
func compared(a, b settings.Value) settings.Value {
	if a.Kind == settings.Unknown || b.Kind == settings.Unknown {
		return settings.Value{}
	}
	if a.Kind == settings.Structure || b.Kind == settings.Structure {
		return boolean(a.Table == b.Table)
	}
	return boolean(a.Text == b.Text) // a variable that is not set reads as an empty text
}

// many are the values of an expression, several of a call.
func (fr *frame) many(x ast.Expr) []settings.Value {
	switch x := x.(type) {
	case *ast.CallExpr:
		return fr.call(x)
	case *ast.IndexExpr: // v, ok := m[k]
		v := fr.expr(x)
		return []settings.Value{v, {}}
	}
	return []settings.Value{fr.expr(x)}
}

// expr evaluates an expression.
func (fr *frame) expr(x ast.Expr) settings.Value {
	if fr.e.steps++; fr.e.steps > maxSteps {
		return settings.Value{}
	}
	switch x := x.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil && x.Kind != token.CHAR {
			return settings.Literal(text)
		}
		return settings.Literal(strings.ReplaceAll(x.Value, "_", ""))
	case *ast.Ident:
		return fr.name(x)
	case *ast.ParenExpr:
		return fr.expr(x.X)
	case *ast.StarExpr:
		return fr.expr(x.X)
	case *ast.TypeAssertExpr:
		return fr.expr(x.X)
	case *ast.UnaryExpr:
		v := fr.expr(x.X)
		if yes, known := truth(v); x.Op == token.NOT && known {
			return boolean(!yes)
		} else if x.Op == token.NOT {
			return settings.Value{}
		}
		return v
	case *ast.BinaryExpr:
		return fr.binary(x)
	case *ast.SelectorExpr:
		return fr.field(x)
	case *ast.IndexExpr:
		v, key := fr.expr(x.X), fr.expr(x.Index)
		if v.Kind == settings.Structure && key.Kind == settings.Text {
			if f, ok := v.Table.Fields[key.Text]; ok {
				return f
			}
			return null
		}
	case *ast.CompositeLit:
		return fr.literal(x)
	case *ast.FuncLit:
		fr.e.run(&function{file: fr.file, typ: x.Type, body: x.Body, vars: fr.vars}, settings.Value{}, nil)
		return settings.Because("a function at %s", fr.where(x.Pos()))
	case *ast.CallExpr:
		if all := fr.call(x); len(all) > 0 {
			return all[0]
		}
		return null
	}
	return settings.Because("it is computed at %s", fr.where(x.Pos()))
}

func (fr *frame) binary(x *ast.BinaryExpr) settings.Value {
	a := fr.expr(x.X)
	yes, known := truth(a)
	switch x.Op {
	case token.LAND:
		if known && !yes {
			return a
		}
		if b := fr.expr(x.Y); known {
			return b
		}
		return settings.Value{}
	case token.LOR:
		if known && yes {
			return a
		}
		if b := fr.expr(x.Y); known {
			return b
		}
		return settings.Value{}
	case token.ADD:
		return settings.Join(a, fr.expr(x.Y))
	}
	b := fr.expr(x.Y)
	same := compared(a, b)
	yes, known = truth(same)
	n, errN := strconv.Atoi(a.Text)
	m, errM := strconv.Atoi(b.Text)
	switch {
	case x.Op == token.EQL:
		return same
	case x.Op == token.NEQ && known:
		return boolean(!yes)
	case x.Op == token.GTR && errN == nil && errM == nil:
		return boolean(n > m)
	case x.Op == token.LSS && errN == nil && errM == nil:
		return boolean(n < m)
	}
	return settings.Because("it is computed at %s", fr.where(x.Pos()))
}

func (fr *frame) name(id *ast.Ident) settings.Value {
	if v, ok := fr.vars[id.Name]; ok {
		return v
	}
	switch id.Name {
	case "nil":
		return null
	case "true", "false":
		return settings.Literal(id.Name)
	}
	if v, ok := fr.file.pkg.value(fr.e, id.Name); ok {
		return v
	}
	return settings.Because("the name %s at %s", id.Name, fr.where(id.Pos()))
}

// selector is the import path and the name of a selector of an imported package.
func (fr *frame) selector(x ast.Expr) (path, name string) {
	sel, ok := x.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	if _, variable := fr.vars[id.Name]; variable {
		return "", ""
	}
	return fr.file.imports[id.Name], sel.Sel.Name
}

func (fr *frame) field(x *ast.SelectorExpr) settings.Value {
	if p, name := fr.selector(x); p != "" {
		if local := fr.e.local(p); local != nil {
			if v, ok := local.value(fr.e, name); ok {
				return v
			}
		}
		return settings.Because("%s.%s at %s", p[strings.LastIndexByte(p, '/')+1:], name, fr.where(x.Pos()))
	}
	v := fr.expr(x.X)
	if v.Kind != settings.Structure {
		if len(v.Why) > 0 {
			return settings.Value{Why: v.Why}
		}
		return settings.Because("%s at %s", x.Sel.Name, fr.where(x.Pos()))
	}
	if f, ok := v.Table.Fields[x.Sel.Name]; ok {
		return f
	}
	for _, key := range v.Table.Keys { // of an embedded struct
		if in := v.Table.Fields[key]; in.Kind == settings.Structure {
			if f, ok := in.Table.Fields[x.Sel.Name]; ok {
				return f
			}
		}
	}
	return null
}

func (fr *frame) literal(x *ast.CompositeLit) settings.Value {
	v := settings.Value{Kind: settings.Structure, Table: settings.NewTable(fr.e.fset.Position(x.Pos()).Line)}
	s := fr.structure(x.Type)
	if p, name := fr.selector(x.Type); p == mysqlDriver && name == "Config" {
		v = fr.config(x.Pos())
	} else if s != nil {
		v = fr.zero(x.Type, 1)
	}
	var order []string
	if s != nil {
		for _, f := range s.typ.Fields.List {
			order = append(order, fieldNames(f)...)
		}
	}
	for i, el := range x.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		key := strconv.Itoa(i)
		switch {
		case !ok && i < len(order):
			key = order[i]
		case ok:
			id, isName := kv.Key.(*ast.Ident)
			if _, isMap := x.Type.(*ast.MapType); isName && !isMap {
				key = id.Name
			} else {
				key = fr.expr(kv.Key).Text
			}
			el = kv.Value
		}
		v.Table.Set(key, fr.expr(el))
	}
	return v
}
