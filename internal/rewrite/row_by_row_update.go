package rewrite

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// An UPDATE for each element of a loop becomes one that gives each row its own values:
//
//	UPDATE item SET price = ? WHERE id = ?
//	UPDATE item SET price = CASE WHEN id = ? THEN ? WHEN id = ? THEN ? END WHERE id IN (?, ?)
//
// A key that comes again begins another statement, so that each row is changed once by one. Texts
// that differ in Go may be equal in the database: the CASE begins with the last row, whose values
// are those that the loop leaves.

// A rowUpdate is an UPDATE of the rows of one key.
type rowUpdate struct {
	sql     string
	table   string           // whose rows change, in lower case
	columns []string         // that it sets, in lower case
	values  []valueSet       // that have arguments
	keys    []updateKey      // conditions whose argument varies
	stay    []whereCondition // the others
	where   int              // offset behind WHERE
	params  int
	joined  bool // with another table
}

// A valueSet is an expression that a column is set to.
type valueSet struct {
	start, end int
	args       []int
}

// A whereCondition is one of those that the WHERE clause joins by AND.
type whereCondition struct {
	start, end int
	args       []int
}

// An updateKey is a condition "column = ?".
type updateKey struct {
	column string // as written, with its table
	arg    int
}

// visitUpdate reports an UPDATE that a loop sends for the key of each element.
func (l *rowByRow) visitUpdate(c *sqlcall.Call) {
	u, s, ok := l.keyedUpdate(c)
	if !ok || l.triesAgain(c) {
		return
	}
	p := place{node: c.Expr, statements: []string{c.SQL()}, what: "one UPDATE is sent per element of the loop", how: "change many rows by one statement"}
	l.no(c.Expr, "a condition or a part of the statement's text is of a kind that one statement for several rows cannot have")
	if l.changesApart(c, u, s) {
		ins := rowInsert{table: u.table, columns: u.columns, params: u.params}
		if e, ok := l.execution(c, ins); ok {
			e.update, e.rows = u, min(e.rows, unionRows, maxPlaceholders/u.perRow())
			l.no(c.Expr, nameTaken)
			if edits, ok := e.edits(); ok {
				p.fixes = suggested("Change many rows by one statement", edits)
			}
		}
	}
	l.report(p)
}

// perRow is the number of placeholders for one row.
func (u *rowUpdate) perRow() int {
	n := len(u.keys) + u.params
	for _, v := range u.values {
		n += len(u.keys) + len(v.args)
	}
	return n
}

// keyedUpdate reads an UPDATE with a condition "column = ?" whose argument is of the element.
func (l *rowByRow) keyedUpdate(c *sqlcall.Call) (*rowUpdate, *tidb.UpdateStmt, bool) {
	s, err := parse(c.SQL())
	if err != nil || c.Named || c.Spread || c.Text.Expanded {
		return nil, nil, false
	}
	n, ok := s.node.(*tidb.UpdateStmt)
	if !ok || !sqltext.Marked(s.tokens) || len(c.Args) != sqltext.Placeholders(s.tokens) {
		return nil, nil, false
	}
	u := &rowUpdate{sql: s.sql, params: len(c.Args)}
	if !u.divide(s.tokens) {
		return nil, nil, false
	}
	loop := &perElement{reporter: l.reporter, calls: l.calls}
	u.stay = slices.DeleteFunc(u.stay, func(k whereCondition) bool {
		column, isKey := u.comparison(s.tokens, k)
		if isKey = isKey && loop.varies(c.Args[k.args[0]], c.Loop); isKey {
			u.keys = append(u.keys, updateKey{column, k.args[0]})
		}
		return isKey
	})
	return u, n, len(u.keys) > 0
}

// divide finds the parts of the SET and the WHERE clause by their tokens.
func (u *rowUpdate) divide(tokens []sqltext.Token) bool {
	set, where := sqltext.Find(tokens, 0, "SET"), sqltext.Find(tokens, 0, "WHERE")
	if set < 0 || where < set || where+1 >= len(tokens) {
		return false
	}
	for _, t := range tokens {
		if t.Kind == sqltext.Comment || t.Kind == sqltext.Executed || t.Text == ";" || t.Depth == 0 && t.Is("OR", "XOR", "BETWEEN", "CASE", "ORDER", "LIMIT", "RETURNING") {
			return false
		}
		if t.Depth == 0 && (t.Text == "||" || t.Text == "&&") {
			return false
		}
	}
	arg := 0
	part := func(from, to int) (start, end int, args []int) {
		for _, t := range tokens[from:to] {
			if t.Kind == sqltext.Placeholder {
				args, arg = append(args, arg), arg+1
			}
		}
		return tokens[from].Start, tokens[to-1].End, args
	}
	if sqltext.Placeholders(tokens[:set]) > 0 {
		return false // in the condition of a join
	}
	for from := set + 1; from < where; {
		to := from
		for to < where && !(tokens[to].Depth == 0 && tokens[to].Text == ",") {
			to++
		}
		equal := from + slices.IndexFunc(tokens[from:to], func(t sqltext.Token) bool { return t.Text == "=" })
		if equal <= from || equal+1 >= to {
			return false
		}
		u.columns = append(u.columns, strings.ToLower(tokens[equal-1].Name()))
		if start, end, args := part(equal+1, to); len(args) > 0 {
			u.values = append(u.values, valueSet{start, end, args})
		}
		from = to + 1
	}
	u.where = tokens[where].End
	for from := where + 1; from < len(tokens); {
		to := from
		for to < len(tokens) && !(tokens[to].Depth == 0 && tokens[to].Is("AND")) {
			to++
		}
		if to == from {
			return false
		}
		start, end, args := part(from, to)
		u.stay = append(u.stay, whereCondition{start, end, args})
		from = to + 1
	}
	return len(u.values) > 0 && len(u.stay) > 0
}

// comparison reads a condition "column = ?" or "table.column = ?".
func (u *rowUpdate) comparison(tokens []sqltext.Token, k whereCondition) (column string, ok bool) {
	var of []sqltext.Token
	for _, t := range tokens {
		if k.start <= t.Start && t.End <= k.end {
			of = append(of, t)
		}
	}
	n := len(of)
	if len(k.args) != 1 || n != 3 && n != 5 || of[n-1].Kind != sqltext.Placeholder || of[n-2].Text != "=" || !of[n-3].IsName() || n == 5 && of[1].Text != "." {
		return "", false
	}
	return u.sql[of[0].Start:of[n-3].End], true
}

// changesApart reports whether the statements of the elements change rows of their own, each by
// itself, so that one statement leaves the same.
func (l *rowByRow) changesApart(c *sqlcall.Call, u *rowUpdate, n *tidb.UpdateStmt) bool {
	f := &forbidden{}
	n.Accept(f)
	if !l.needs(!f.found && n.With == nil && n.Order == nil && n.Limit == nil && !n.IgnoreErr, c.Expr, "the statement has a subquery, a variable, or an order") ||
		!l.needs(l.targetOf(u, n), c.Expr, "the schema does not show that the statement changes one table, or that a row of it is joined with one row at most") {
		return false
	}
	if !l.needs(!c.Text.Bound, c.Expr, "Rebind gives the text the placeholders of its database, which may be PostgreSQL, which takes the values of a CASE for texts") {
		return false
	}
	t := l.facts.Tables[u.table]
	for _, column := range u.columns {
		_, known := t.Columns[column]
		unique := slices.ContainsFunc(t.Unique, func(key []string) bool { return slices.Contains(key, column) })
		if !l.needs(known && !unique, c.Expr, "the schema does not show that the column %s is in no unique key", column) {
			return false
		}
	}
	refers, asks := namesOf(n)
	exact := true
	for _, k := range u.keys {
		name := strings.ToLower(strings.Trim(k.column[strings.LastIndexByte(k.column, '.')+1:], "`\" "))
		if !l.needs(!slices.Contains(u.columns, name), c.Expr, "the statement sets the column that it finds its rows by") ||
			!l.needs(isMapKey(l.pass.TypesInfo.TypeOf(c.Args[k.arg])), c.Args[k.arg], "the key of an element is no integer or text") {
			return false
		}
		basic, _ := l.pass.TypesInfo.TypeOf(c.Args[k.arg]).Underlying().(*types.Basic)
		exact = exact && !u.joined && basic.Info()&types.IsInteger != 0 && integer(t.Columns[name].Type)
	}
	if !l.needs(exact || !refers && !slices.ContainsFunc(asks, func(name string) bool { return slices.Contains(u.columns, name) }), c.Expr,
		"texts that are equal in the database may differ in Go, and the new values depend on the old ones") {
		return false
	}
	return l.valuesAlike(c, u) && l.staysSame(c, u)
}

// isMapKey reports whether a type has integers or texts, which a map can have as its keys.
func isMapKey(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsInteger|types.IsString) != 0 && !valuer(t)
}

// valuer reports whether a type makes its values for the database by itself.
func valuer(t types.Type) bool { return types.NewMethodSet(t).Lookup(nil, "Value") != nil }

// valuesAlike reports whether the values of a column have one type for the database in all rows,
// as those of an interface may not: a CASE has one type.
func (l *rowByRow) valuesAlike(c *sqlcall.Call, u *rowUpdate) bool {
	for _, v := range u.values {
		for _, i := range v.args {
			t := l.pass.TypesInfo.TypeOf(c.Args[i])
			if p, ok := types.Unalias(t).(*types.Pointer); ok {
				t = p.Elem()
			}
			name := types.TypeString(types.Unalias(t), nil)
			if !l.needs(isPlain(t) && !valuer(t) || name == "time.Time" || strings.HasPrefix(name, "database/sql.Null"), c.Args[i], "a value may have another type in another row") {
				return false
			}
		}
	}
	return true
}

// staysSame reports whether the conditions that stay have the same values in all rounds.
func (l *rowByRow) staysSame(c *sqlcall.Call, u *rowUpdate) bool {
	b := &batch{perElement: &perElement{reporter: l.reporter, calls: l.calls, still: l.still}}
	for _, k := range u.stay {
		for _, i := range k.args {
			a := c.Args[i]
			calls := hasNode[*ast.CallExpr](a)
			if !l.needs(!calls && l.still.quiet(a) && !b.varies(a, c.Loop) && b.unsetIn(a, bodyOfLoop(c.Loop)), a, "a condition of the statement varies, and is no comparison of a column with a value of the element") {
				return false
			}
		}
	}
	return true
}

// targetOf finds the table whose columns are set: the only one, or one of two of which each row
// is joined with one row of the other table, by its unique key.
func (l *rowByRow) targetOf(u *rowUpdate, n *tidb.UpdateStmt) bool {
	refs := n.TableRefs.TableRefs
	left, ok := tableOf(refs.Left)
	if !ok {
		return false
	}
	u.table = left.name
	if refs.Right == nil {
		_, known := l.facts.Tables[u.table]
		return known
	}
	right, ok := tableOf(refs.Right)
	if !ok || refs.On == nil || refs.Tp != tidb.CrossJoin && refs.Tp != 0 || refs.NaturalJoin || len(refs.Using) > 0 || left.name == right.name {
		return false
	}
	u.table = ""
	for _, a := range n.List {
		table, known := l.ownerOf(a.Column, left, right)
		if !known || u.table != "" && table != u.table {
			return false
		}
		u.table = table
	}
	other := right.name
	if u.table == right.name {
		other = left.name
	}
	u.joined = true
	var columns []string // of the other table that the join compares
	for _, c := range conditionsJoined(refs.On.Expr) {
		f := &columnFinder{}
		if c.Accept(f); slices.ContainsFunc(f.names, func(name string) bool { return slices.Contains(u.columns, name) }) {
			return false // the join would be another one after the change
		}
		for _, side := range comparedColumns(c) {
			if side.Table.L == other || side.Table.L == strings.ToLower(left.alias) && other == left.name || side.Table.L == strings.ToLower(right.alias) && other == right.name {
				columns = append(columns, side.Name.L)
			}
		}
	}
	return l.facts.unique(other, columns)
}

// ownerOf is the table of a column: that by whose name it goes, or the only one that has it.
func (l *rowByRow) ownerOf(c *tidb.ColumnName, tables ...source) (owner string, ok bool) {
	n := 0
	for _, t := range tables {
		_, has := l.facts.Tables[t.name].Columns[c.Name.L]
		if len(l.facts.Tables[t.name].Columns) == 0 {
			return "", false
		}
		if has && (c.Table.L == "" || c.Table.L == strings.ToLower(t.alias)) {
			owner, n = t.name, n+1
		}
	}
	return owner, n == 1
}

// comparedColumns are the two columns of "a.x = b.y", nil for another condition.
func comparedColumns(c tidb.ExprNode) []*tidb.ColumnName {
	b, ok := c.(*tidb.BinaryOperationExpr)
	if !ok {
		return nil
	}
	l, lok := b.L.(*tidb.ColumnNameExpr)
	r, rok := b.R.(*tidb.ColumnNameExpr)
	if b.Op != opcode.EQ || !lok || !rok || l.Name.Table.L == "" || r.Name.Table.L == "" || l.Name.Table.L == r.Name.Table.L {
		return nil
	}
	return []*tidb.ColumnName{l.Name, r.Name}
}

// namesOf reports whether the new values of an UPDATE name columns, and which ones its
// conditions name.
func namesOf(n *tidb.UpdateStmt) (refers bool, asks []string) {
	for _, a := range n.List {
		f := &columnFinder{}
		a.Expr.Accept(f)
		refers = refers || len(f.names) > 0
	}
	f := &columnFinder{}
	n.Where.Accept(f)
	return refers, f.names
}

// A columnFinder collects the names of the columns of an expression, in lower case.
type columnFinder struct{ names []string }

func (f *columnFinder) Enter(n tidb.Node) (tidb.Node, bool) {
	if c, ok := n.(*tidb.ColumnNameExpr); ok {
		f.names = append(f.names, c.Name.Name.L)
	}
	return n, false
}

func (f *columnFinder) Leave(n tidb.Node) (tidb.Node, bool) { return n, true }
