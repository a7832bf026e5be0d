package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// What the rows of a reader are read into.

// destinations finds what the rows are read into: for sqlx a variable that is empty until
// then, since a whole row takes its place.
func (r *reader) destinations() bool {
	info := r.pass.TypesInfo
	if r.listed() {
		return r.listDestinations()
	}
	if r.call.Op == sqlcall.QueryRow {
		for _, d := range r.call.Dests {
			p, ok := info.TypeOf(d).Underlying().(*types.Pointer)
			if !r.needs(ok && !types.IsInterface(p.Elem()) && types.TypeString(p.Elem(), nil) != "database/sql.RawBytes", d, "a value is scanned into what has no type of its own") {
				return false
			}
			r.dests = append(r.dests, p.Elem())
		}
		return true
	}
	d := r.call.Dests[0]
	if !r.needs(throughSqlx(r.call), r.call.Expr, "the rows are not read by Get or Select of sqlx, or by Scan of a QueryRow") {
		return false
	}
	if r.replaced(d) {
		return true
	}
	v := localVar(info, d)
	if !r.needs(v != nil && r.empty(v), d, "the row is not read into a variable of %s that is empty until then", r.decl.Name.Name) {
		return false
	}
	p, ok := info.TypeOf(d).Underlying().(*types.Pointer)
	if !r.needs(ok, d, "the destination is no pointer") {
		return false
	}
	row := p.Elem()
	if r.multi {
		s, ok := row.Underlying().(*types.Slice)
		if !r.needs(ok, d, "the destination is no slice") {
			return false
		}
		row = s.Elem()
	}
	return r.needs(r.row(row), d, "the row is no plain value and no named struct")
}

// row notes the type of a row. It reports whether rows can have it.
func (r *reader) row(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok && r.multi {
		t, r.points = p.Elem(), true
	}
	r.dests = []types.Type{t}
	if s, ok := t.Underlying().(*types.Struct); ok {
		_, isNamed := types.Unalias(t).(*types.Named)
		return isNamed && rowStruct(t, s)
	}
	return isPlain(t) && !r.points
}

// rowStruct reports whether sqlx reads a whole row into a type, and not one value: it has a
// field that is exported, and no method Scan.
func rowStruct(t types.Type, s *types.Struct) bool {
	if types.NewMethodSet(types.NewPointer(t)).Lookup(nil, "Scan") != nil {
		return false
	}
	for f := range s.Fields() {
		if f.Exported() {
			return true
		}
	}
	return false
}

// replaced notes the type of a destination of one row that the statement replaces whatever it
// was before: a plain value, or a struct each field of which is a column of the row.
func (r *reader) replaced(d ast.Expr) bool {
	u, ok := ast.Unparen(d).(*ast.UnaryExpr)
	if !ok || u.Op != token.AND || r.multi || !r.still.quiet(u.X) {
		return false
	}
	t := r.pass.TypesInfo.TypeOf(u.X)
	if !isPlain(t) && !r.covered(t) {
		return false
	}
	r.dests = []types.Type{t}
	return true
}

// covered reports whether each text of the statement returns a column for each field of a
// struct.
func (r *reader) covered(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if _, isNamed := types.Unalias(t).(*types.Named); !ok || !isNamed {
		return false
	}
	columns, tagged := columnsOf(s)
	if !tagged {
		return false
	}
	for _, text := range r.all {
		table, ok := onlyTable(text.selects())
		if !ok {
			return false
		}
		known := r.facts.Tables[table.name].Columns
		for _, c := range columns {
			if _, has := known[strings.ToLower(c)]; !has || !selectsColumn(text.selects(), strings.ToLower(c)) {
				return false
			}
		}
	}
	return true
}

// empty reports whether a variable is declared as an empty row, or is a result of the
// function, and nothing names it before the statement is sent.
func (r *reader) empty(v *types.Var) bool {
	declared := false
	ast.Inspect(r.decl.Body, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok {
			declared = declared || declaredRow(r.pass.TypesInfo, s) == v
		}
		return !declared
	})
	if results := r.decl.Type.Results; results != nil {
		for _, f := range results.List {
			for _, name := range f.Names {
				declared = declared || r.pass.TypesInfo.Defs[name] == v
			}
		}
	}
	for _, use := range usesOf(r.pass, v) {
		declared = declared && (use.Node().Pos() >= r.call.Expr.Pos() || use.Node().Pos() < r.decl.Body.Pos())
	}
	return declared
}
