package sourcedb

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// A goFile makes the tree of a Go file.
type goFile struct {
	set     *token.FileSet
	imports map[string]string // path by name
	depth   int
}

// parseGo reads a Go file; nil if it has no package clause.
func parseGo(source string) []*node {
	g := &goFile{set: token.NewFileSet(), imports: map[string]string{}}
	tree, err := parser.ParseFile(g.set, "", source, parser.SkipObjectResolution)
	if err != nil && (tree == nil || tree.Name == nil) {
		return nil
	}
	for _, i := range tree.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := p[strings.LastIndexByte(p, '/')+1:]
		if parent := strings.TrimSuffix(p, "/"+name); len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
			name = parent[strings.LastIndexByte(parent, '/')+1:] // the version of a module
		}
		name = strings.TrimSuffix(strings.TrimPrefix(name, "go-"), "-go") // the usual names of their packages
		if i.Name != nil {
			name = i.Name.Name
		}
		g.imports[name] = p
	}
	var out []*node
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			out = append(out, g.declaration(d)...)
		case *ast.FuncDecl:
			out = append(out, g.method(d))
		}
	}
	return out
}

func (g *goFile) line(n ast.Node) int { return g.set.Position(n.Pos()).Line }

func (g *goFile) method(d *ast.FuncDecl) *node {
	f := g.function(d.Type, d.Body)
	f.text = d.Name.Name
	if d.Recv != nil && len(d.Recv.List) > 0 {
		typ := g.typeName(d.Recv.List[0].Type)
		f.kids = []*node{text(typ, f.line)}
		if names := d.Recv.List[0].Names; len(names) > 0 {
			f.kids = append(f.kids, name(names[0].Name, f.line))
			f.params = append([]param{{name: names[0].Name}}, f.params...)
		}
	}
	return f
}

func (g *goFile) function(t *ast.FuncType, body *ast.BlockStmt) *node {
	f := &node{op: opFunc, line: g.line(t)}
	for _, p := range t.Params.List {
		if len(p.Names) == 0 {
			f.params = append(f.params, param{})
		}
		for _, n := range p.Names {
			f.params = append(f.params, param{name: n.Name})
		}
	}
	if body != nil {
		f.body = g.statements(body.List)
	}
	return f
}

// typeName is the name of a type, behind the import path if it is of another package.
func (g *goFile) typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return g.typeName(e.X)
	case *ast.IndexExpr:
		return g.typeName(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			if p := g.imports[x.Name]; p == driver {
				return p + "." + e.Sel.Name
			}
		}
		return e.Sel.Name
	}
	return ""
}

// declaration makes assignments of const and var, and descriptions of structs.
func (g *goFile) declaration(d *ast.GenDecl) []*node {
	var out []*node
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if s, ok := spec.Type.(*ast.StructType); ok {
				out = append(out, g.structure(spec.Name.Name, s)...)
			}
		case *ast.ValueSpec:
			out = append(out, g.values(spec)...)
		}
	}
	return out
}

func (g *goFile) values(spec *ast.ValueSpec) []*node {
	var out []*node
	line := g.line(spec)
	if len(spec.Values) == 1 && len(spec.Names) > 1 {
		targets := &node{op: opList, line: line}
		for _, n := range spec.Names {
			targets.kids = append(targets.kids, name(n.Name, line))
		}
		return []*node{{op: opAssign, text: ":=", kids: []*node{targets, g.expr(spec.Values[0])}, line: line}}
	}
	for i, n := range spec.Names {
		var v *node
		typ := ""
		if spec.Type != nil {
			typ = g.typeName(spec.Type)
		}
		switch {
		case i < len(spec.Values):
			v = g.expr(spec.Values[i])
		case typ == "string":
			v = text("", line)
		case typ != "" && !strings.Contains("int uint bool error int64 uint16 float64 any", typ):
			v = &node{op: opTable, text: typ, line: line}
		default:
			continue
		}
		out = append(out, &node{op: opAssign, text: ":=", kids: []*node{name(n.Name, line), v}, line: line})
	}
	return out
}

// structure describes a struct, and those that are written within it.
func (g *goFile) structure(typ string, s *ast.StructType) []*node {
	n := &node{op: opStruct, text: typ, line: g.line(s)}
	out := []*node{n}
	if g.depth++; g.depth > 20 {
		return nil
	}
	defer func() { g.depth-- }()
	for _, f := range s.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag, _ = strconv.Unquote(f.Tag.Value)
		}
		own := g.typeName(f.Type)
		names := f.Names
		if len(names) == 0 {
			names = []*ast.Ident{{Name: own, NamePos: f.Pos()}}
		}
		for _, id := range names {
			if inner, ok := f.Type.(*ast.StructType); ok {
				own = typ + "." + id.Name
				out = append(out, g.structure(own, inner)...)
			}
			n.kids = append(n.kids, &node{op: opPair, text: id.Name, line: g.line(f), kids: []*node{{op: opText, text: tag, kids: []*node{text(own, 0)}}}})
		}
	}
	return out
}

func (g *goFile) statements(list []ast.Stmt) []*node {
	var out []*node
	if g.depth++; g.depth < 200 {
		for _, s := range list {
			out = append(out, g.statement(s)...)
		}
	}
	g.depth--
	return out
}

func (g *goFile) one(s ast.Stmt) []*node {
	if s == nil {
		return nil
	}
	return g.statement(s)
}

func (g *goFile) statement(s ast.Stmt) []*node {
	line := g.line(s)
	switch s := s.(type) {
	case *ast.DeclStmt:
		if d, ok := s.Decl.(*ast.GenDecl); ok {
			return g.declaration(d)
		}
	case *ast.AssignStmt:
		return g.assignment(s)
	case *ast.ExprStmt:
		return []*node{g.expr(s.X)}
	case *ast.DeferStmt:
		return []*node{g.expr(s.Call)}
	case *ast.GoStmt:
		return []*node{g.expr(s.Call)}
	case *ast.BlockStmt:
		return []*node{{op: opBlock, body: g.statements(s.List), line: line}}
	case *ast.ReturnStmt:
		n := &node{op: opReturn, line: line}
		for _, r := range s.Results {
			n.kids = append(n.kids, g.expr(r))
		}
		return []*node{n}
	case *ast.IfStmt:
		n := &node{op: opIf, kids: []*node{g.expr(s.Cond)}, body: g.statements(s.Body.List), other: g.one(s.Else), line: line}
		return []*node{{op: opBlock, body: append(g.one(s.Init), n), line: line}}
	case *ast.ForStmt:
		return []*node{{op: opBlock, body: append(g.one(s.Init), g.statements(s.Body.List)...), line: line}}
	case *ast.RangeStmt:
		return []*node{{op: opBlock, body: g.statements(s.Body.List), line: line}}
	case *ast.LabeledStmt:
		return g.one(s.Stmt)
	case *ast.SwitchStmt:
		return g.cases(s)
	case *ast.SelectStmt:
		var body []*node
		for _, c := range s.Body.List {
			if c, ok := c.(*ast.CommClause); ok {
				body = append(body, g.statements(c.Body)...)
			}
		}
		return []*node{{op: opBlock, body: body, line: line}}
	}
	return nil
}

// cases makes conditions of a switch.
func (g *goFile) cases(s *ast.SwitchStmt) []*node {
	line := g.line(s)
	var first, last *node
	var fallback []*node
	for _, c := range s.Body.List {
		c, ok := c.(*ast.CaseClause)
		if !ok {
			continue
		}
		if len(c.List) == 0 {
			fallback = g.statements(c.Body)
			continue
		}
		cond := g.expr(c.List[0])
		if s.Tag != nil {
			cond = &node{op: opEqual, text: "==", kids: []*node{g.expr(s.Tag), cond}, line: line}
		}
		for _, e := range c.List[1:] {
			or := g.expr(e)
			if s.Tag != nil {
				or = &node{op: opEqual, text: "==", kids: []*node{g.expr(s.Tag), or}, line: line}
			}
			cond = &node{op: opOr, text: "||", kids: []*node{cond, or}, line: line}
		}
		n := &node{op: opIf, kids: []*node{cond}, body: g.statements(c.Body), line: line}
		if first == nil {
			first = n
		} else {
			last.other = []*node{n}
		}
		last = n
	}
	body := g.one(s.Init)
	if first == nil {
		return []*node{{op: opBlock, body: append(body, fallback...), line: line}}
	}
	last.other = fallback
	return []*node{{op: opBlock, body: append(body, first), line: line}}
}

func (g *goFile) assignment(s *ast.AssignStmt) []*node {
	line, op := g.line(s), "="
	if s.Tok == token.DEFINE {
		op = ":="
	}
	if len(s.Rhs) == 1 && len(s.Lhs) > 1 {
		targets := &node{op: opList, line: line}
		for _, l := range s.Lhs {
			targets.kids = append(targets.kids, g.expr(l))
		}
		return []*node{{op: opAssign, text: op, kids: []*node{targets, g.expr(s.Rhs[0])}, line: line}}
	}
	var out []*node
	for i := range min(len(s.Lhs), len(s.Rhs)) {
		to, v := g.expr(s.Lhs[i]), g.expr(s.Rhs[i])
		if s.Tok == token.ADD_ASSIGN {
			v = &node{op: opJoin, kids: []*node{to, v}, line: line}
		}
		out = append(out, &node{op: opAssign, text: op, kids: []*node{to, v}, line: line})
	}
	return out
}

// expr makes the tree of an expression. go/parser bounds how deep it is.
func (g *goFile) expr(e ast.Expr) *node {
	if g.depth++; g.depth > 400 || e == nil {
		g.depth--
		return &node{}
	}
	defer func() { g.depth-- }()
	line := g.line(e)
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text(s, line)
		}
		return text(e.Value, line)
	case *ast.Ident:
		return g.ident(e, line)
	case *ast.ParenExpr:
		return g.expr(e.X)
	case *ast.StarExpr:
		return g.expr(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return &node{op: opNot, kids: []*node{g.expr(e.X)}, line: line}
		}
		return g.expr(e.X)
	case *ast.SelectorExpr:
		x := g.expr(e.X)
		return &node{op: opField, text: e.Sel.Name, kids: []*node{x}, line: line}
	case *ast.IndexExpr:
		return &node{op: opIndex, kids: []*node{g.expr(e.X), g.expr(e.Index)}, line: line}
	case *ast.TypeAssertExpr:
		return g.expr(e.X)
	case *ast.CallExpr:
		n := &node{op: opCall, kids: []*node{g.expr(e.Fun)}, line: line}
		for _, a := range e.Args {
			n.kids = append(n.kids, g.expr(a))
		}
		return n
	case *ast.FuncLit:
		return g.function(e.Type, e.Body)
	case *ast.CompositeLit:
		return g.composite(e)
	case *ast.BinaryExpr:
		return g.binary(e)
	}
	return &node{line: line}
}

func (g *goFile) ident(e *ast.Ident, line int) *node {
	switch e.Name {
	case "true", "false":
		return &node{op: opBool, text: e.Name, line: line}
	case "nil":
		return &node{op: opNull, line: line}
	}
	if p := g.imports[e.Name]; p != "" {
		return name(p, line)
	}
	return name(e.Name, line)
}

func (g *goFile) binary(e *ast.BinaryExpr) *node {
	n := &node{kids: []*node{g.expr(e.X), g.expr(e.Y)}, line: g.line(e)}
	switch e.Op {
	case token.ADD:
		n.op = opJoin
	case token.EQL, token.NEQ:
		n.op, n.text = opEqual, e.Op.String()
	case token.LAND:
		n.op = opAnd
	case token.LOR:
		n.op, n.text = opOr, "||"
	case token.GTR: // len(v) > 0
		if n.kids[1].op == opText && n.kids[1].text == "0" {
			n.op, n.text = opEqual, "!="
		}
	}
	return n
}

func (g *goFile) composite(e *ast.CompositeLit) *node {
	line := g.line(e)
	n := &node{op: opTable, text: g.typeName(e.Type), line: line}
	if _, ok := e.Type.(*ast.ArrayType); ok {
		n.op = opList
	}
	for _, el := range e.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		switch key, isName := ident(kv); {
		case !ok:
			n.kids = append(n.kids, g.expr(el))
		case isName && n.text != "":
			n.kids = append(n.kids, &node{op: opPair, text: key, kids: []*node{g.expr(kv.Value)}, line: g.line(kv)})
		default:
			n.kids = append(n.kids, &node{op: opPair, kids: []*node{g.expr(kv.Value), g.expr(kv.Key)}, line: g.line(kv)})
		}
	}
	return n
}

func ident(kv *ast.KeyValueExpr) (string, bool) {
	if kv == nil {
		return "", false
	}
	id, ok := kv.Key.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}
