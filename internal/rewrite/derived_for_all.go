package rewrite

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var derivedForAll = Lever{Code: "APP228", Title: "a derived table of all keys",
	Line:    "a derived table is computed for all rows, and the condition around it needs those of some keys",
	Promise: RowOrder, Order: 6, Saved: Share{Lo: 0.3, Hi: 0.98}, Of: OfStatements,
	find: findDerivedForAll,
}

// findDerivedForAll finds statements that join a derived table by a key, and whose condition
// selects some of the rows that it is joined to:
//
//	SELECT shops.id, s.total FROM shops
//	LEFT JOIN (SELECT shop_id, SUM(price) AS total FROM sales GROUP BY shop_id) s ON s.shop_id = shops.id
//	WHERE shops.owner_id = ?
//
// Servers compute such a table for all keys: they move conditions on its own columns into it,
// and no others. The fix reads the rows of the keys that the condition selects.
func findDerivedForAll(r *reporter) error {
	d := &derivedTables{reporter: r, still: quietness{pass: r.pass, calls: callsOf(r.pass)}}
	for _, c := range d.still.calls.Calls {
		if c.Text != nil && c.Op != sqlcall.Prepare && c.Op != sqlcall.Exec && !leftAlone(r.pass, c) {
			d.visit(c)
		}
	}
	return nil
}

type derivedTables struct {
	*reporter
	still quietness
}

func (d *derivedTables) visit(c *sqlcall.Call) {
	s, err := parse(c.SQL())
	if err != nil || s.selects() == nil || s.selects().With != nil || sqltext.Locks(s.tokens) {
		return
	}
	joins, ok := joinsOf(s.selects())
	if !ok {
		return
	}
	for i := range joins {
		n := joins.narrowing(s, i, d.facts)
		if n == nil {
			continue
		}
		edits, why := n.into(n.from, n.to, n.column)
		if why == narrowAlready {
			continue
		}
		p := place{node: c.Expr, statements: []string{s.sql}, how: "read the rows of the keys that the condition selects",
			what: fmt.Sprintf("the derived table %s is computed for all rows, of which the condition around it needs some", n.alias)}
		if s.selects().OrderBy == nil && c.Op != sqlcall.Get && c.Op != sqlcall.QueryRow {
			p.promise = RowOrder
		}
		if d.needs(why == "", c.Expr, "%s", why) {
			if fix, ok := d.edits(c, n, edits); ok {
				p.fixes = suggested("Read the rows of some keys", fix)
				if !n.numeric(d.facts) {
					p.proof = Tested
				}
			}
		}
		d.report(p)
		return
	}
}

// edits are those of the statement's text, and of its arguments: those of the conditions are
// sent once more.
func (d *derivedTables) edits(c *sqlcall.Call, n *narrowing, edits []sqltext.Edit) ([]analysis.TextEdit, bool) {
	commented := slices.ContainsFunc(n.s.tokens, func(t sqltext.Token) bool { return t.Kind == sqltext.Comment || t.Kind == sqltext.Executed })
	if !d.needs(!commented, c.Expr, "the text of the statement has a comment") {
		return nil, false
	}
	after, err := parse(sqltext.Apply(n.s.sql, edits))
	if !d.needs(err == nil && after.selects() != nil && sqltext.Placeholders(after.tokens) == sqltext.Placeholders(n.s.tokens)+len(n.marks), c.Expr,
		"the condition cannot be repeated in the derived table") {
		return nil, false
	}
	out, ok := c.Text.Edits(edits...)
	if !d.needs(ok && c.Text.Holes == 0, c.Expr, textSpread) {
		return nil, false
	}
	if c.Named || len(n.marks) == 0 || dollared(n.s.tokens) {
		return out, d.needs(!c.Text.Expanded, c.Expr, "the arguments of the statement are a list")
	}
	if !d.needs(!c.Spread && !c.Text.Expanded && c.Prepared == nil && sqltext.Marked(n.s.tokens) && len(c.Args) == sqltext.Placeholders(n.s.tokens), c.Expr,
		"the statement is prepared, or its arguments are a list") {
		return nil, false
	}
	source := newSource(d.pass, c.Pos())
	at, list := 0, ""
	for _, t := range n.s.tokens {
		if t.Kind == sqltext.Placeholder && t.Start < edits[0].Start {
			at++
		}
	}
	for _, m := range n.marks {
		a := c.Args[m]
		if !d.needs(source != nil && d.still.quiet(a) && !hasNode[*ast.FuncLit](a), a, "an argument of the condition does more than compute") {
			return nil, false
		}
		list += source.text(a.Pos(), a.End()) + ", "
	}
	if !d.needs(at <= n.marks[0], c.Expr, "the derived table stands behind the condition") {
		return nil, false
	}
	return append(out, edit(c.Args[at].Pos(), c.Args[at].Pos(), list)), true
}

// A joinedTable is a table of a FROM, or a derived one.
type joinedTable struct {
	name, alias string // in lower case; a derived table has no name
	written     string // as the FROM names it, with its alias
	derived     *tidb.SelectStmt
	on          []tidb.ExprNode // each row of it in the result meets these
}

type joins []joinedTable

// joinsOf are the tables of a SELECT whose rows are joined from left to right. ok is false for
// other joins: where one keeps the rows of its right side, a row that has no match any more
// would be in the result.
func joinsOf(sel *tidb.SelectStmt) (joins, bool) {
	if sel.From == nil || sel.From.TableRefs == nil {
		return nil, false
	}
	return joinsIn(sel.From.TableRefs)
}

func joinsIn(n tidb.ResultSetNode) (joins, bool) {
	switch n := n.(type) {
	case *tidb.TableSource:
		j, ok := joinedOf(n)
		return joins{j}, ok
	case *tidb.Join:
		left, ok := joinsIn(n.Left)
		if !ok || n.Right == nil {
			return left, ok && n.Right == nil
		}
		source, isTable := n.Right.(*tidb.TableSource)
		if !isTable || n.Tp == tidb.RightJoin || n.NaturalJoin || len(n.Using) > 0 {
			return nil, false
		}
		right, ok := joinedOf(source)
		if n.On != nil {
			right.on = append(right.on, conditionsJoined(n.On.Expr)...)
			for i := range left {
				if n.Tp != tidb.LeftJoin {
					left[i].on = append(left[i].on, conditionsJoined(n.On.Expr)...)
				}
			}
		}
		return append(left, right), ok
	}
	return nil, false
}

func joinedOf(n *tidb.TableSource) (joinedTable, bool) {
	j := joinedTable{alias: n.AsName.L}
	switch t := n.Source.(type) {
	case *tidb.TableName:
		j.name, j.written = t.Name.L, t.Name.O
		if j.alias == "" {
			j.alias = j.name
		} else {
			j.written += " " + n.AsName.O
		}
		return j, t.Schema.O == "" && len(t.PartitionNames) == 0 && writable(t.Name.O) && (n.AsName.O == "" || writable(n.AsName.O))
	case *tidb.SelectStmt:
		j.derived = t
		return j, true
	}
	return j, false
}

// writable reports whether a name needs no quotes.
func writable(name string) bool {
	return plainName(name) && !slices.Contains(reserved, strings.ToLower(name))
}

// conditionsJoined are the conditions that an expression joins by AND.
func conditionsJoined(e tidb.ExprNode) []tidb.ExprNode {
	switch x := e.(type) {
	case nil:
		return nil
	case *tidb.ParenthesesExpr:
		return conditionsJoined(x.Expr)
	case *tidb.BinaryOperationExpr:
		if x.Op == opcode.LogicAnd {
			return append(conditionsJoined(x.L), conditionsJoined(x.R)...)
		}
	}
	return []tidb.ExprNode{e}
}

// A narrowing is a derived table whose rows the condition around it restricts, through the
// table that it is joined to.
type narrowing struct {
	s        *statement
	alias    string
	from, to int    // of the SELECT of the derived table, in bytes
	column   string // of the derived table: its key, in lower case
	keys     string // the SELECT of the keys that are needed
	marks    []int  // the placeholders in it, by their numbers in the statement
	// both are the tables and columns of the key, outside of the derived table and in it.
	both [][2]string
}

// numeric reports whether the key is known to be an integer on both sides. Texts that are equal
// for GROUP BY may differ in the comparison, where the columns have different collations.
func (n *narrowing) numeric(f Facts) bool {
	return len(n.both) == 2 && !slices.ContainsFunc(n.both, func(c [2]string) bool { return !integer(f.Tables[c[0]].Columns[c[1]].Type) })
}

// narrowing is what the condition says of a derived table; nil if it says nothing, or if the
// table has no such join.
func (j joins) narrowing(s *statement, i int, f Facts) *narrowing {
	d := j[i]
	if d.derived == nil || d.alias == "" {
		return nil
	}
	for _, on := range append(slices.Clone(d.on), conditionsJoined(s.selects().Where)...) {
		key, other, ok := d.keyOf(on)
		if !ok {
			continue
		}
		at := slices.IndexFunc(j, func(o joinedTable) bool { return o.derived == nil && o.alias == other.Table.L })
		if at < 0 || !writable(other.Name.O) {
			continue
		}
		n := &narrowing{s: s, alias: d.alias, column: key}
		n.both = append(n.both, [2]string{j[at].name, other.Name.L})
		if n.selects(j, at, other.Name.O, f) && n.locate(d) {
			return n
		}
	}
	return nil
}

// keyOf reads a condition as an equality of a column of a derived table and of another one.
func (d joinedTable) keyOf(on tidb.ExprNode) (key string, other *tidb.ColumnName, ok bool) {
	b, isBinary := on.(*tidb.BinaryOperationExpr)
	if !isBinary || b.Op != opcode.EQ {
		return "", nil, false
	}
	l, lok := b.L.(*tidb.ColumnNameExpr)
	r, rok := b.R.(*tidb.ColumnNameExpr)
	switch {
	case !lok || !rok:
		return "", nil, false
	case l.Name.Table.L == d.alias && r.Name.Table.L != d.alias:
		return l.Name.Name.L, r.Name, true
	case r.Name.Table.L == d.alias && l.Name.Table.L != d.alias:
		return r.Name.Name.L, l.Name, true
	}
	return "", nil, false
}

// selects writes the SELECT of the keys of the table's rows that meet the conditions. It
// reports whether there are conditions on the table alone.
func (n *narrowing) selects(j joins, at int, column string, f Facts) bool {
	where := sqltext.Find(n.s.tokens, 0, "WHERE")
	if where < 0 {
		return false
	}
	end := sqltext.Find(n.s.tokens, where, afterWhere...)
	if end < 0 {
		end = len(n.s.tokens)
	}
	items, wanted := conditionsOf(n.s.tokens[where+1:end]), n.s.selects()
	if sqltext.Find(n.s.tokens[:end], where, "OR", "XOR") >= 0 || len(items) != joinedByAnd(wanted.Where) {
		return false
	}
	like := func(word string) string { return sqltext.Like(n.s.tokens, word) }
	text := ""
	for _, item := range items {
		first, last := item[0], item[len(item)-1]
		condition := n.s.sql[first.Start:last.End]
		named := dollared(n.s.tokens) && slices.ContainsFunc(item, func(t sqltext.Token) bool { return t.Kind == sqltext.Quoted })
		if named || !j.about(condition, at, wanted.Fields.Fields, f) {
			continue
		}
		if text != "" {
			text += " " + like("AND") + " "
		}
		text += condition
		for m, t := range placeholdersOf(n.s.tokens) {
			if first.Start <= t.Start && t.End <= last.End {
				n.marks = append(n.marks, m)
			}
		}
	}
	n.keys = fmt.Sprintf("%s %s.%s %s %s %s %s", like("SELECT"), n.nameOf(j[at]), column, like("FROM"), j[at].written, like("WHERE"), text)
	return text != ""
}

// nameOf is the name by which a table's columns are qualified.
func (n *narrowing) nameOf(t joinedTable) string {
	return t.written[strings.LastIndex(t.written, " ")+1:]
}

// afterWhere are the keywords that may follow a WHERE clause.
var afterWhere = []string{"GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "FOR", "LOCK", "UNION", "EXCEPT", "INTERSECT", "OFFSET", "FETCH", "INTO"}

func placeholdersOf(tokens []sqltext.Token) (out []sqltext.Token) {
	for _, t := range tokens {
		if t.Kind == sqltext.Placeholder {
			out = append(out, t)
		}
	}
	return out
}

// joinedByAnd counts the conditions that an expression joins by AND outside of parentheses. An
// AND below a CASE, or below an OR that is written ||, joins none of them.
func joinedByAnd(e tidb.ExprNode) int {
	if b, ok := e.(*tidb.BinaryOperationExpr); ok && b.Op == opcode.LogicAnd {
		return joinedByAnd(b.L) + joinedByAnd(b.R)
	}
	return 1
}

// conditionsOf splits the tokens of a WHERE clause at its AND. That of BETWEEN is none of them.
func conditionsOf(tokens []sqltext.Token) (out [][]sqltext.Token) {
	from, between := 0, false
	for i := 0; i <= len(tokens); i++ {
		switch {
		case i < len(tokens) && tokens[i].Depth == 0 && tokens[i].Is("BETWEEN"):
			between = true
		case i < len(tokens) && tokens[i].Depth == 0 && tokens[i].Is("AND") && between:
			between = false
		case i == len(tokens), tokens[i].Depth == 0 && (tokens[i].Is("AND") || tokens[i].Text == "&&"):
			if i > from {
				out = append(out, tokens[from:i])
			}
			from = i + 1
		}
	}
	return out
}

// about reports whether a condition of a SELECT compares columns of one table with values, and
// nothing else.
func (j joins) about(condition string, at int, selected []*tidb.SelectField, f Facts) bool {
	s, err := parse("SELECT 1 FROM t WHERE " + condition)
	if err != nil || s.selects() == nil || s.selects().Where == nil {
		return false
	}
	a := &aboutTable{joins: j, at: at, selected: selected, facts: f, ok: true}
	s.selects().Where.Accept(a)
	return a.ok && a.columns > 0
}

// An aboutTable checks a condition.
type aboutTable struct {
	joins
	at       int
	selected []*tidb.SelectField
	facts    Facts
	ok       bool
	columns  int
}

func (a *aboutTable) Enter(n tidb.Node) (tidb.Node, bool) {
	switch n := n.(type) {
	case *tidb.ColumnNameExpr:
		a.columns++
		a.ok = a.ok && a.owns(n.Name)
		return n, true
	case *tidb.PatternInExpr:
		a.ok = a.ok && n.Sel == nil
	case *tidb.BinaryOperationExpr, *tidb.ParenthesesExpr, *tidb.BetweenExpr, *tidb.IsNullExpr, *tidb.IsTruthExpr, *tidb.PatternLikeOrIlikeExpr, *tidb.UnaryOperationExpr:
	case tidb.ExprNode:
		a.ok = a.ok && fixed(n)
	}
	return n, !a.ok
}

func (a *aboutTable) Leave(n tidb.Node) (tidb.Node, bool) { return n, a.ok }

// owns reports whether a column is one of the table. Where its columns are not known, a name
// that the SELECT gives to something else is none: SQLite takes such names in conditions.
func (a *aboutTable) owns(c *tidb.ColumnName) bool {
	if c.Table.L != "" {
		return c.Schema.L == "" && c.Table.L == a.joins[a.at].alias
	}
	for i, o := range a.joins {
		if i != a.at && o.mayHave(c.Name.L, a.facts) {
			return false
		}
	}
	given := slices.ContainsFunc(a.selected, func(f *tidb.SelectField) bool {
		column, isColumn := f.Expr.(*tidb.ColumnNameExpr)
		return f.AsName.L == c.Name.L && !(isColumn && column.Name.Name.L == c.Name.L)
	})
	table := a.joins[a.at]
	return table.mayHave(c.Name.L, a.facts) && !(given && len(a.facts.Tables[table.name].Columns) == 0)
}

// mayHave reports whether a table may have a column.
func (d joinedTable) mayHave(column string, f Facts) bool {
	if d.derived == nil {
		columns := f.Tables[d.name].Columns
		_, has := columns[column]
		return has || len(columns) == 0
	}
	return slices.ContainsFunc(d.derived.Fields.Fields, func(field *tidb.SelectField) bool {
		col, isColumn := field.Expr.(*tidb.ColumnNameExpr)
		return field.WildCard != nil || field.AsName.L == column || isColumn && field.AsName.L == "" && col.Name.Name.L == column
	})
}
