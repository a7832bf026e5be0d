package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// A mapper makes its statements when they are sent. Those of a chain whose conditions are
// constant texts can be told from the source: db.Where("room_id = ?", id).Order("at").First(&m)
// of gorm is one statement, in the spelling of a few versions. A plan may list a text that
// nothing sends, so that a guess which is wrong costs nothing.

// mapperStatements are the statements that the chains of mappers in a package may send.
func mapperStatements(x *index) (out []Statement) {
	for _, f := range x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			at := x.pass.Fset.PositionFor(call.Pos(), false)
			for _, text := range mapperTexts(x, call) {
				out = append(out, Statement{Text: text, File: at.Filename, Line: at.Line, Whole: true})
			}
			return true
		})
	}
	return out
}

// mapperTexts are the statements that a call may send which ends a chain; none for others.
func mapperTexts(x *index, call *ast.CallExpr) []string {
	fn := x.callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() == nil {
		return nil
	}
	c := &mapperChain{x: x, path: fn.Pkg().Path(), end: fn.Name()}
	switch c.path {
	case gormPath, oldGormPath:
		if !slices.Contains([]string{"First", "Take", "Last", "Find", "Count", "Pluck", "Scan"}, c.end) || !c.read(call) {
			return nil
		}
		return c.gorm(call)
	case xormPath, oldXormPath:
		if !slices.Contains([]string{"Get", "Find", "Count", "Exist"}, c.end) || !c.read(call) {
			return nil
		}
		return c.xorm(call)
	}
	return nil
}

const (
	gormPath    = "gorm.io/gorm"
	oldGormPath = "github.com/jinzhu/gorm"
	xormPath    = "xorm.io/xorm"
	oldXormPath = "github.com/go-xorm/xorm"
)

// A mapperChain is what the calls of a chain ask for.
type mapperChain struct {
	x         *index
	path, end string
	model     ast.Expr // the argument of Model
	table     string   // by Table
	where     []mapperCondition
	order     []string
	limited   bool
	fields    string // by Select, as it is written
	unscoped  bool
}

// A mapperCondition is a condition of a chain: a text, or a column that is equal to an
// argument. own is set for a column of the chain's own table.
type mapperCondition struct {
	text, column string
	own, key     bool // key: the primary key
}

// deepestChain bounds the calls of a chain.
const deepestChain = 24

// read reads the calls from the last one to the first. ok is false where a part of the
// statement is not constant.
func (c *mapperChain) read(last *ast.CallExpr) bool {
	call := last
	for range deepestChain {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if call != last && !c.link(sel.Sel.Name, call.Args) {
			return false
		}
		from := ast.Unparen(sel.X)
		if v := c.x.variable(from); v != nil {
			if set := c.x.setBefore(v, from.Pos()); set != nil && set.Pos() < call.Pos() {
				from = ast.Unparen(set)
			}
		}
		next, ok := from.(*ast.CallExpr)
		if !ok || !c.ofMapper(next) {
			slices.Reverse(c.where)
			slices.Reverse(c.order)
			return true
		}
		call = next
	}
	return false
}

// setBefore is what the last assignment to a local variable before a position sets it to.
func (x *index) setBefore(v *types.Var, pos token.Pos) (value ast.Expr) {
	if !isLocal(v) {
		return nil
	}
	for _, id := range append([]*ast.Ident{x.defs[v]}, x.uses[v]...) {
		if id == nil || id.Pos() >= pos {
			continue
		}
		if a, ok := x.parent[id].(*ast.AssignStmt); ok && a.End() <= pos {
			if e := valueOf(id, a.Lhs, a.Rhs); e != nil {
				value = e
			}
		}
	}
	return value
}

// ofMapper reports whether a call is one of a method of the chain's mapper.
func (c *mapperChain) ofMapper(call *ast.CallExpr) bool {
	fn := c.x.callee(call)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == c.path && fn.Signature().Recv() != nil
}

// link notes one call of the chain.
func (c *mapperChain) link(name string, args []ast.Expr) bool {
	text := func(i int) string {
		if i < len(args) {
			return wholeText(c.x, args[i])
		}
		return ""
	}
	switch name {
	case "WithContext", "Context", "Session", "NewSession", "Debug", "Clauses", "Preload", "Begin", "MustCols", "NoAutoCondition":
		return name != "Clauses"
	case "Model":
		c.model = args[0]
	case "Table":
		c.table = text(0)
		return c.table != ""
	case "Where", "And":
		return len(args) > 0 && c.condition(args)
	case "ID", "Id":
		c.where = append(c.where, mapperCondition{key: true})
	case "Order", "OrderBy":
		c.order = append(c.order, text(0))
		return text(0) != ""
	case "Asc", "Desc":
		c.order = append(c.order, "`"+text(0)+"` "+strings.ToUpper(name))
		return text(0) != "" && len(args) == 1
	case "Limit":
		c.limited = true
		return len(args) == 1
	case "Select":
		if c.fields = text(0); len(args) > 1 || c.fields == "" || strings.Contains(c.fields, "?") {
			return false
		}
	case "Unscoped":
		c.unscoped = true
	default:
		return false
	}
	return true
}

// wholeText is a text that is constant, "" for another expression.
func wholeText(x *index, e ast.Expr) string {
	if text := constantText(x.pass, e); !strings.Contains(text, sqlcall.Hole) {
		return text
	}
	return ""
}

// condition notes the arguments of Where, or the conditions of the last call.
func (c *mapperChain) condition(args []ast.Expr) bool {
	x := c.x
	if text := wholeText(x, args[0]); text != "" {
		if strings.ContainsAny(text, "@:") || strings.Count(text, "?") != len(args)-1 {
			return false
		}
		for _, a := range args[1:] {
			if _, list := x.typeOf(a).Underlying().(*types.Slice); list {
				return false // its length is in the text
			}
		}
		c.where = append(c.where, mapperCondition{text: text})
		return true
	}
	if len(args) != 1 {
		return false
	}
	value := ast.Unparen(args[0])
	if u, ok := value.(*ast.UnaryExpr); ok {
		value = ast.Unparen(u.X)
	}
	lit, ok := value.(*ast.CompositeLit)
	if !ok {
		t := x.typeOf(value)
		basic, isBasic := t.Underlying().(*types.Basic)
		c.where = append(c.where, mapperCondition{key: true})
		return isBasic && basic.Info()&types.IsInteger != 0
	}
	return c.equalities(lit)
}

// equalities notes the fields of a struct, or the keys of a map, as conditions.
func (c *mapperChain) equalities(lit *ast.CompositeLit) bool {
	var columns []string
	s := structOf(c.x.typeOf(lit))
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		if s == nil {
			name := wholeText(c.x, kv.Key)
			if name == "" {
				return false
			}
			columns = append(columns, name)
			continue
		}
		id, ok := kv.Key.(*ast.Ident)
		if !ok {
			return false
		}
		columns = append(columns, c.columnOf(s, id.Name))
	}
	slices.Sort(columns)
	if s != nil { // in the order of the fields
		all := c.columns(s)
		slices.SortFunc(columns, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) })
	}
	for i := len(columns) - 1; i >= 0; i-- { // the list is turned around later
		c.where = append(c.where, mapperCondition{column: columns[i], own: s != nil})
	}
	return len(columns) > 0
}

// snake is a name of Go as mappers spell it in SQL: UserID is user_id.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		upper := r >= 'A' && r <= 'Z'
		if upper && i > 0 {
			before, next := name[i-1], byte('A')
			if i+1 < len(name) {
				next = name[i+1]
			}
			lower := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
			if lower(before) || lower(next) && next > '9' {
				b.WriteByte('_')
			}
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// plurals are the plural forms of a name that a mapper may take.
func plurals(name string) []string {
	last := name[len(name)-1]
	switch {
	case last == 'y' && len(name) > 1 && !strings.ContainsRune("aeiou", rune(name[len(name)-2])):
		return []string{name[:len(name)-1] + "ies"}
	case strings.HasSuffix(name, "child"):
		return []string{name + "ren"}
	case strings.HasSuffix(name, "person"):
		return []string{strings.TrimSuffix(name, "person") + "people"}
	case last == 's' || last == 'x' || last == 'z' || strings.HasSuffix(name, "ch") || strings.HasSuffix(name, "sh"):
		return []string{name + "es", name}
	}
	return []string{name + "s"}
}

// tables are the names that a model's table may have: what TableName returns, or by rule.
func (c *mapperChain) tables(named *types.Named) []string {
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), "TableName")
	if fn, ok := obj.(*types.Func); ok {
		d := c.x.decls[fn]
		if d == nil || d.Body == nil || len(d.Body.List) != 1 {
			return nil
		}
		r, ok := d.Body.List[0].(*ast.ReturnStmt)
		if !ok || len(r.Results) != 1 {
			return nil
		}
		v := c.x.pass.TypesInfo.Types[r.Results[0]].Value
		if v == nil || v.Kind() != constant.String {
			return nil
		}
		return []string{constant.StringVal(v)}
	}
	name := snake(named.Obj().Name())
	if strings.HasPrefix(c.path, "gorm") || c.path == oldGormPath {
		return append(plurals(name), name)
	}
	return []string{name}
}

// columnOf is the column of a field.
func (c *mapperChain) columnOf(s *types.Struct, field string) string {
	for i := range s.NumFields() {
		if s.Field(i).Name() != field {
			continue
		}
		for _, part := range strings.Split(structTag(s.Tag(i), "gorm"), ";") {
			if name, ok := strings.CutPrefix(strings.TrimSpace(part), "column:"); ok {
				return name
			}
		}
		if name := quotedWord(structTag(s.Tag(i), "xorm")); name != "" {
			return name
		}
	}
	return snake(field)
}

// quotedWord is the first word of a tag in quotes: that of a column's name.
func quotedWord(tag string) string {
	_, rest, ok := strings.Cut(tag, "'")
	name, _, closed := strings.Cut(rest, "'")
	if !ok || !closed {
		return ""
	}
	return name
}

// deepestModel bounds structs in the structs of a model: two may embed pointers to each other.
const deepestModel = 8

// columns are the columns of a model in the order of its fields, those of embedded structs
// in their place.
func (c *mapperChain) columns(s *types.Struct) []string { return c.columnsIn(s, deepestModel) }

func (c *mapperChain) columnsIn(s *types.Struct, depth int) (out []string) {
	for i := range s.NumFields() {
		f := s.Field(i)
		tag := structTag(s.Tag(i), "gorm") + structTag(s.Tag(i), "xorm")
		inner := structOf(f.Type())
		switch {
		case tag == "-" || !f.Exported():
		case inner != nil && depth == 0:
		case inner != nil && (f.Embedded() || strings.Contains(tag, "embedded") || strings.Contains(tag, "extends")):
			out = append(out, c.columnsIn(inner, depth-1)...)
		default:
			out = append(out, c.columnOf(s, f.Name()))
		}
	}
	return out
}

// primary is the column of the primary key, "" if there is none or several.
func (c *mapperChain) primary(s *types.Struct) string { return c.primaryIn(s, deepestModel) }

func (c *mapperChain) primaryIn(s *types.Struct, depth int) string {
	found := map[string]bool{}
	for i := range s.NumFields() {
		f := s.Field(i)
		tag := strings.ToLower(structTag(s.Tag(i), "gorm") + ";" + structTag(s.Tag(i), "xorm"))
		inner := structOf(f.Type())
		switch {
		case strings.Contains(tag, "primarykey") || strings.Contains(tag, "primary_key") || slices.Contains(strings.Fields(strings.ReplaceAll(tag, ";", " ")), "pk"):
			found[c.columnOf(s, f.Name())] = true
		case inner != nil && f.Embedded() && depth > 0:
			if name := c.primaryIn(inner, depth-1); name != "" {
				found[name] = true
			}
		}
	}
	if len(found) == 0 && slices.Contains(c.columnsIn(s, depth), "id") {
		return "id"
	}
	names := slices.Collect(maps.Keys(found))
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// deleted is the column of a model whose rows are marked and not deleted; "" without one.
func (c *mapperChain) deleted(s *types.Struct) string { return c.deletedIn(s, deepestModel) }

func (c *mapperChain) deletedIn(s *types.Struct, depth int) string {
	for i := range s.NumFields() {
		f := s.Field(i)
		if isNamed(f.Type(), gormPath, "DeletedAt") || c.path == oldGormPath && f.Name() == "DeletedAt" {
			return c.columnOf(s, f.Name())
		}
		if inner := structOf(f.Type()); inner != nil && f.Embedded() && depth > 0 {
			if name := c.deletedIn(inner, depth-1); name != "" {
				return name
			}
		}
	}
	return ""
}

// element is the named struct of a destination: *T, *[]T, *[]*T.
func element(t types.Type) *types.Named {
	for range 4 {
		if t == nil {
			return nil
		}
		switch u := types.Unalias(t).(type) {
		case *types.Named:
			if _, ok := u.Underlying().(*types.Struct); ok {
				return u
			}
			t = u.Underlying()
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		default:
			return nil
		}
	}
	return nil
}
