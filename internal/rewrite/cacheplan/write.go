package cacheplan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// writes are the rows that a statement writes, with those that foreign keys
// change. why says that the statement stays out of the plan.
func (b *builder) writes(p *parsed, n ast.StmtNode) (out []sqlcache.Touch, why string) {
	v := &visitor{builder: b}
	n.Accept(v)
	for _, t := range v.tables {
		if b.schema.Tables[t] == nil {
			return nil, fmt.Sprintf("%s is no table of the schema", t)
		}
		if b.schema.Triggers[t] {
			return nil, fmt.Sprintf("%s has a trigger", t)
		}
	}
	if name := schemaNamed(n); name != "" {
		return nil, "it names the schema " + name
	}
	switch n := n.(type) {
	case *ast.InsertStmt:
		out, why = b.insert(p, n)
		if why == "" && !n.IsReplace && len(n.OnDuplicate) == 0 {
			return out, "" // new rows change no other table
		}
	case *ast.UpdateStmt:
		out, why = b.update(p, n, v.tables)
	case *ast.DeleteStmt:
		out, why = b.delete(p, n, v.tables)
	}
	if why != "" {
		return nil, why
	}
	return b.cascade(out), ""
}

// schemaNamed gives the schema in front of a table's name, "" for none.
func schemaNamed(n ast.StmtNode) string {
	w := &schemaVisitor{}
	n.Accept(w)
	return w.name
}

type schemaVisitor struct{ name string }

// Enter implements ast.Visitor.
func (w *schemaVisitor) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok && t.Schema.L != "" {
		w.name = t.Schema.O
	}
	return n, false
}

// Leave implements ast.Visitor.
func (w *schemaVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// cascade adds the tables that change with those of a statement.
func (b *builder) cascade(touches []sqlcache.Touch) []sqlcache.Touch {
	for i := 0; i < len(touches); i++ {
		for _, child := range b.schema.Tables[touches[i].Table].Cascades {
			if !wholly(touches, child) {
				touches = append(touches, sqlcache.Touch{Table: child})
			}
		}
	}
	return touches
}

func wholly(touches []sqlcache.Touch, table string) bool {
	for _, t := range touches {
		if t.Table == table && len(t.Keys) == 0 {
			return true
		}
	}
	return false
}

func (b *builder) insert(p *parsed, n *ast.InsertStmt) ([]sqlcache.Touch, string) {
	names := plainTables(n.Table)
	if len(names) != 1 {
		return nil, "its table is not plain"
	}
	table := names[0]
	t := sqlcache.Touch{Table: table}
	if n.IsReplace || len(n.OnDuplicate) > 0 || n.Select != nil || !b.schema.Strict || len(n.Columns) == 0 {
		return []sqlcache.Touch{t}, ""
	}
	for i, c := range n.Columns {
		if !b.keys[table][c.Name.L] {
			continue
		}
		var values []ast.ExprNode
		for _, tuple := range n.Lists {
			if i < len(tuple) {
				values = append(values, tuple[i])
			}
		}
		if key, ok := p.key(c.Name.L, values); ok && len(values) == len(n.Lists) {
			t.Keys = append(t.Keys, key)
		}
	}
	return []sqlcache.Touch{t}, ""
}

func (b *builder) update(p *parsed, n *ast.UpdateStmt, tables []string) ([]sqlcache.Touch, string) {
	names := plainTables(n.TableRefs)
	if len(names) != 1 || len(tables) != 1 {
		return whole(tables), "" // of several tables, or with a subquery
	}
	table := names[0]
	keys := b.whereKeys(p, table, n.TableRefs, n.Where)
	t := sqlcache.Touch{Table: table}
	for _, name := range slices.Sorted(maps.Keys(b.keys[table])) {
		key, found := keys[name]
		if !found {
			continue
		}
		sets, known := b.assigned(p, n.List, name)
		if sets && !known.ok {
			continue
		}
		if sets {
			key.Groups = append(append([]int{}, key.Groups...), known.key.Groups...)
			key.Literals = append(append([]any{}, key.Literals...), known.key.Literals...)
		}
		t.Keys = append(t.Keys, key)
	}
	return []sqlcache.Touch{t}, ""
}

// An assignment is the value that SET gives to a column.
type assignment struct {
	key sqlcache.Key
	ok  bool // the value is an argument or a literal
}

// assigned finds the assignments to a column.
func (b *builder) assigned(p *parsed, list []*ast.Assignment, column string) (sets bool, a assignment) {
	a.ok = b.schema.Strict
	for _, s := range list {
		if s.Column.Name.L != column {
			continue
		}
		sets = true
		key, ok := p.key(column, []ast.ExprNode{s.Expr})
		a.key.Groups = append(a.key.Groups, key.Groups...)
		a.key.Literals = append(a.key.Literals, key.Literals...)
		a.ok = a.ok && ok
	}
	return sets, a
}

func (b *builder) delete(p *parsed, n *ast.DeleteStmt, tables []string) ([]sqlcache.Touch, string) {
	names := plainTables(n.TableRefs)
	if n.IsMultiTable || len(names) != 1 || len(tables) != 1 {
		return whole(tables), ""
	}
	t := sqlcache.Touch{Table: names[0]}
	keys := b.whereKeys(p, names[0], n.TableRefs, n.Where)
	for _, name := range slices.Sorted(maps.Keys(b.keys[names[0]])) {
		if key, ok := keys[name]; ok {
			t.Keys = append(t.Keys, key)
		}
	}
	return []sqlcache.Touch{t}, ""
}

// whereKeys are the equalities that confine the rows of a write.
func (b *builder) whereKeys(p *parsed, table string, refs *ast.TableRefsClause, where ast.ExprNode) map[string]sqlcache.Key {
	alias := table
	if s, ok := refs.TableRefs.Left.(*ast.TableSource); ok && s.AsName.L != "" {
		alias = s.AsName.L
	}
	r := &tableRead{table: table, keys: map[string]sqlcache.Key{}}
	b.confine(p, map[string]*tableRead{alias: r}, where)
	return r.keys
}

func whole(tables []string) (out []sqlcache.Touch) {
	for _, t := range tables {
		if !wholly(out, t) {
			out = append(out, sqlcache.Touch{Table: t})
		}
	}
	return out
}

// plainTables lists the tables of a FROM clause.
func plainTables(refs *ast.TableRefsClause) (names []string) {
	if refs == nil || refs.TableRefs == nil {
		return nil
	}
	for _, t := range topTables(&ast.SelectStmt{From: refs}) {
		names = append(names, t.table)
	}
	return names
}
