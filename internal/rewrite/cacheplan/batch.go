package cacheplan

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// batches are the ways to read the rows of many keys of a SELECT by one statement, one for
// each argument that may be the key. A SELECT has none unless all of these hold: its answer
// is kept, it reads one table, it compares a key column with an argument by `=`, and its
// clauses are those that are known here. The text is edited and not printed from the
// syntax: names of columns in the answer are pieces of the text.
func (b *builder) batches(p *parsed) (out []sqlcache.Batch) {
	q, ok := p.node.(*ast.SelectStmt)
	if !ok || len(p.reads) != 1 || p.why != "" || !plainSelect(q) {
		return nil
	}
	c := b.child(p, q)
	if c == nil {
		return nil
	}
	for _, key := range c.keys {
		shape, ok := c.shape(key)
		if !ok {
			continue
		}
		one := sqlcache.Batch{Child: strings.TrimSpace(p.text), Key: key.arg, Column: key.column, Kind: key.kind, Shape: shape}
		if shape == sqlcache.FirstRows && !b.file { // SQLite has no brackets around the parts of a UNION
			parts := one
			from := c.tokens[c.from].Start
			parts.Shape, parts.Head, parts.Tail = sqlcache.Parts, "("+strings.TrimSpace(c.sql[:from])+", ", " "+strings.TrimSpace(c.sql[from:])+")"
			out = append(out, parts)
		}
		one.Ties = shape != sqlcache.Totals && !c.one(key) && !c.total()
		text := c.text(key, shape)
		at := strings.Index(text, keyList)
		one.Head, one.Tail = strings.TrimSpace(text[:at]), text[at+len(keyList):]
		if shape == sqlcache.Totals {
			one.Empty = strings.TrimSpace(c.sql[:c.tokens[key.eq].Start] + "IN (NULL)" + c.sql[c.tokens[key.at].End:])
		}
		out = append(out, one)
	}
	return out
}

// keyList stands for the placeholders of a batch while its text is made. No statement has a
// byte of zero.
const keyList = "\x00"

// plainSelect reports whether a SELECT has no clause that is unknown here.
func plainSelect(q *ast.SelectStmt) bool {
	return !q.Distinct && q.GroupBy == nil && q.Having == nil && q.LockInfo == nil && q.SelectIntoOpt == nil && q.With == nil && len(q.WindowSpecs) == 0 &&
		q.Kind == ast.SelectStmtKindSelect && q.Fields != nil && oneTable(q) && q.Where != nil && (q.Limit == nil || q.Limit.Offset == nil)
}

// oneTable reports whether a SELECT reads a table by itself: the columns of a SELECT in FROM
// may have other types than those of their names in the table, and repeat unique values.
func oneTable(q *ast.SelectStmt) bool {
	if q.From == nil || q.From.TableRefs == nil || q.From.TableRefs.Right != nil {
		return false
	}
	source, ok := q.From.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return false
	}
	_, ok = source.Source.(*ast.TableName)
	return ok
}

// A child is a SELECT that may be sent once for each row of another answer.
type child struct {
	q      *ast.SelectStmt
	table  *Table
	sql    string
	tokens []sqltext.Token // without white space and comments
	from   int             // the token FROM
	order  int             // the token ORDER; -1 without one
	limit  int             // the token LIMIT; -1 without one
	keys   []childKey
	file   bool // of SQLite
}

// A childKey is an argument that is compared with a column.
type childKey struct {
	arg    int
	column string // in lower case
	name   string // as the text spells the column
	kind   sqlcache.Kind
	eq, at int // the tokens of = and ?
}

// child reads the text beside its syntax; nil if they do not fit.
func (b *builder) child(p *parsed, q *ast.SelectStmt) *child {
	dialect := sqltext.MySQL
	if b.file {
		dialect = sqltext.SQLite
	}
	c := &child{q: q, table: b.schema.Tables[p.reads[0].table], sql: p.text, from: -1, order: -1, limit: -1, file: b.file}
	all, ok := dialect.Tokens(p.text)
	if !ok {
		return nil
	}
	var marks []int
	for _, t := range all {
		switch t.Kind {
		case sqltext.Space:
			continue
		case sqltext.Comment, sqltext.Executed, sqltext.Variable:
			return nil
		case sqltext.Placeholder:
			if t.Text != "?" {
				return nil
			}
			marks = append(marks, len(c.tokens))
		}
		c.tokens = append(c.tokens, t)
	}
	for i, t := range c.tokens {
		switch {
		case t.Depth > 0:
		case t.Is("FROM") && c.from < 0:
			c.from = i
		case t.Is("ORDER"):
			c.order = i
		case t.Is("LIMIT"):
			c.limit = i
		case t.Text == ";":
			return nil
		}
	}
	if c.from < 0 || (q.OrderBy != nil) != (c.order >= 0) || (q.Limit != nil) != (c.limit >= 0) {
		return nil
	}
	for _, e := range conjuncts(q.Where) {
		c.equality(e, marks)
	}
	return c
}

// equality notes a condition `column = value`.
func (c *child) equality(e ast.ExprNode, marks []int) {
	n, ok := e.(*ast.BinaryOperationExpr)
	if !ok || n.Op != opcode.EQ {
		return
	}
	col, ok := n.L.(*ast.ColumnNameExpr)
	if !ok {
		return
	}
	name := col.Name.Name.L
	if v, ok := n.R.(*test_driver.ParamMarkerExpr); ok {
		if v.Order >= len(marks) || !c.table.Columns[name].Key {
			return
		}
		at := marks[v.Order]
		first := at - 2 // of the column's name, with its table
		for first >= 2 && c.tokens[first-1].Text == "." {
			first -= 2
		}
		if first < 1 || c.tokens[at-1].Text != "=" || !strings.EqualFold(c.tokens[at-2].Name(), name) {
			return
		}
		c.keys = append(c.keys, childKey{arg: v.Order, column: name, name: c.sql[c.tokens[first].Start:c.tokens[at-2].End],
			kind: c.table.Columns[name].Kind, eq: at - 1, at: at})
	}
}

// one reports whether the answer has one row at most, whatever the key is. A further unique
// column says nothing: compared with a number, a text is equal to many others. Nor does a
// text of SQLite, whose unique index may have another collation than the column.
func (c *child) one(k childKey) bool {
	return c.table.Unique[k.column] && !(c.file && k.kind == sqlcache.Text)
}

// shape is how the rows of many keys are read; false if they cannot be.
func (c *child) shape(k childKey) (sqlcache.Shape, bool) {
	aggregate := c.aggregates()
	ordered := c.q.OrderBy == nil || c.orderedByColumns()
	switch {
	case aggregate && (c.q.OrderBy != nil || c.q.Limit != nil):
		return 0, false
	case aggregate:
		return sqlcache.Totals, true
	case c.hasAggregate() || !ordered:
		return 0, false
	case c.q.Limit == nil || c.one(k) && positive(c.q.Limit.Count):
		return sqlcache.Rows, true
	}
	switch c.q.Limit.Count.(type) {
	case *test_driver.ParamMarkerExpr, *test_driver.ValueExpr:
		return sqlcache.FirstRows, true
	}
	return 0, false
}

// positive reports whether an expression is a literal of at least one.
func positive(e ast.ExprNode) bool {
	v, ok := e.(*test_driver.ValueExpr)
	if !ok {
		return false
	}
	switch n := v.GetValue().(type) {
	case int64:
		return n > 0
	case uint64:
		return n > 0
	}
	return false
}

// batched are aggregates that a batch may have.
var batched = []string{"count", "sum", "avg", "min", "max"}

// aggregates reports whether each field of the answer is an aggregate, perhaps with a value
// for none.
func (c *child) aggregates() bool {
	for _, f := range c.q.Fields.Fields {
		e := f.Expr
		if fn, ok := e.(*ast.FuncCallExpr); ok && slices.Contains([]string{"ifnull", "coalesce"}, fn.FnName.L) && len(fn.Args) == 2 {
			if _, literal := fn.Args[1].(*test_driver.ValueExpr); literal {
				e = fn.Args[0]
			}
		}
		a, ok := e.(*ast.AggregateFuncExpr)
		if !ok || !slices.Contains(batched, strings.ToLower(a.F)) {
			return false
		}
	}
	return len(c.q.Fields.Fields) > 0
}

// hasAggregate reports whether the SELECT has an aggregate or a window anywhere.
func (c *child) hasAggregate() bool {
	v := &aggregateVisitor{}
	c.q.Accept(v)
	return v.found
}

type aggregateVisitor struct{ found bool }

// Enter implements ast.Visitor.
func (v *aggregateVisitor) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.AggregateFuncExpr, *ast.WindowFuncExpr:
		v.found = true
	}
	return n, v.found
}

// Leave implements ast.Visitor.
func (v *aggregateVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// orderedByColumns reports whether ORDER BY has columns of the table only. A name of the
// answer, or its number, would mean something else in the batch.
func (c *child) orderedByColumns() bool {
	for _, item := range c.q.OrderBy.Items {
		col, ok := item.Expr.(*ast.ColumnNameExpr)
		if !ok {
			return false
		}
		if _, has := c.table.Columns[col.Name.Name.L]; !has {
			return false
		}
		for _, f := range c.q.Fields.Fields {
			if f.AsName.L == col.Name.Name.L {
				return false
			}
		}
	}
	return true
}

// total reports whether ORDER BY has a unique column: it tells all rows apart.
func (c *child) total() bool {
	if c.q.OrderBy == nil {
		return false
	}
	return slices.ContainsFunc(c.q.OrderBy.Items, func(item *ast.ByItem) bool {
		col, ok := item.Expr.(*ast.ColumnNameExpr)
		return ok && c.table.Unique[col.Name.Name.L]
	})
}

// text is the batch with keyList for the placeholders of its keys.
func (c *child) text(k childKey, shape sqlcache.Shape) string {
	end := len(c.sql)
	if c.limit >= 0 {
		end = c.tokens[c.limit].Start
	}
	conditions := end
	if c.order >= 0 {
		conditions = c.tokens[c.order].Start
	}
	from, eq, at := c.tokens[c.from].Start, c.tokens[k.eq], c.tokens[k.at]
	fields := strings.TrimSpace(c.sql[:from])
	where := strings.TrimSpace(c.sql[from:eq.Start] + "IN (" + keyList + ")" + c.sql[at.End:conditions])
	order := strings.TrimSpace(c.sql[conditions:end])
	switch shape {
	case sqlcache.FirstRows:
		limit := strings.TrimSpace(c.sql[c.tokens[c.limit].End:])
		over := "PARTITION BY " + k.name
		if order != "" {
			over += " " + order
		}
		return "SELECT * FROM (" + fields + ", " + k.name + " AS iikanji_key, ROW_NUMBER() OVER (" + over + ") AS iikanji_row " + where +
			") AS iikanji_rows WHERE iikanji_row <= " + limit + " ORDER BY iikanji_row"
	case sqlcache.Rows:
		text := fields + ", " + k.name + " " + where
		if order != "" && !c.one(k) {
			text += " " + order
		}
		return text
	}
	return fields + ", " + k.name + " " + where + " GROUP BY " + k.name
}

// A Loop is a loop in the app's source over the rows of Parent that sends Child for each.
// Column of the parent's rows is an argument of the child; "" if it is not known.
type Loop struct {
	Parent, Child string
	Column        string
	Place         string // of the loop in the source
}

// Link adds the parents that the source shows to the batches of a plan. Others are learned
// while the app runs.
func Link(plan *sqlcache.Plan, loops []Loop) {
	for i := range plan.Batches {
		b := &plan.Batches[i]
		for _, l := range loops {
			if sqlcache.Fold(plan.Dialect, l.Child) != sqlcache.Fold(plan.Dialect, b.Child) {
				continue
			}
			p := sqlcache.Parent{Text: sqlcache.Fold(plan.Dialect, l.Parent), Column: l.Column, Place: l.Place}
			if !slices.ContainsFunc(b.Parents, func(o sqlcache.Parent) bool { return o.Text == p.Text && o.Column == p.Column }) {
				b.Parents = append(b.Parents, p)
			}
		}
	}
}
