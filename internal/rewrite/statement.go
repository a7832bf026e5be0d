package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A statement is a parsed SQL text with its tokens.
type statement struct {
	sql    string
	tokens []sqltext.Token
	node   ast.StmtNode
}

// parse parses one statement. Placeholders of other styles ($1, :name) count as
// question marks. A statement with $1 is one of PostgreSQL, in which "x" is a name.
func parse(sql string) (*statement, error) {
	tokens, ok := sqltext.Unknown.Tokens(sql)
	if !ok {
		return nil, fmt.Errorf("reading a statement: a quote, a comment or a parenthesis is open")
	}
	var edits []sqltext.Edit
	dollars := dollared(tokens)
	for _, t := range tokens {
		switch {
		case t.Kind == sqltext.Placeholder:
			edits = append(edits, sqltext.Edit{Start: t.Start, End: t.End, New: "?"})
		case dollars && t.Kind == sqltext.Quoted && t.Text[0] == '"' && !strings.Contains(t.Name(), "`"):
			edits = append(edits, sqltext.Edit{Start: t.Start, End: t.End, New: "`" + t.Name() + "`"})
		}
	}
	node, err := parser.New().ParseOneStmt(sqltext.Apply(sql, edits), "", "")
	if err != nil {
		return nil, fmt.Errorf("reading a statement: %w", err)
	}
	return &statement{sql: sql, tokens: tokens, node: node}, nil
}

// dollared reports whether a statement has a placeholder of PostgreSQL, as $1.
func dollared(tokens []sqltext.Token) bool {
	return slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return dollar(t) > 0 })
}

// dollar is the number of a placeholder of PostgreSQL, as $1; 0 for other tokens.
func dollar(t sqltext.Token) int {
	if t.Kind != sqltext.Placeholder || t.Text[0] != '$' {
		return 0
	}
	n, err := strconv.Atoi(t.Text[1:])
	if err != nil || n < 1 || n > maxPlaceholders {
		return 0
	}
	return n
}

// positions are the arguments of the placeholders of a statement, in their order in the
// text. ok is false where they are neither all question marks nor all of PostgreSQL, or
// where an argument has no placeholder or several.
func positions(tokens []sqltext.Token) (args []int, ok bool) {
	dollars, seen := dollared(tokens), map[int]bool{}
	for _, t := range tokens {
		if t.Kind != sqltext.Placeholder {
			continue
		}
		at := len(args)
		if dollars {
			at = dollar(t) - 1
		} else if t.Text != "?" {
			return nil, false
		}
		if at < 0 || seen[at] {
			return nil, false
		}
		seen[at] = true
		args = append(args, at)
	}
	for at := range args {
		if !seen[at] {
			return nil, false
		}
	}
	return args, true
}

// selects returns a plain SELECT; nil for other statements.
func (s *statement) selects() *ast.SelectStmt {
	sel, ok := s.node.(*ast.SelectStmt)
	if !ok || sel.SelectIntoOpt != nil || sel.Kind != ast.SelectStmtKindSelect || sel.Fields == nil {
		return nil
	}
	return sel
}

// restored prints a statement in one form, so that two can be compared.
func restored(n ast.Node) string {
	var b strings.Builder
	if err := n.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &b)); err != nil {
		return ""
	}
	return b.String()
}

// limited returns the edit that limits a SELECT to n rows. It parses the result and
// compares it: nothing but the limit may differ.
func limited(s *statement, n string) (sqltext.Edit, bool) {
	if s.selects() == nil || s.selects().Limit != nil {
		return sqltext.Edit{}, false
	}
	e := sqltext.AddLimit(s.tokens, n)
	after, err := parse(sqltext.Apply(s.sql, []sqltext.Edit{e}))
	if err != nil || after.selects() == nil || after.selects().Limit == nil || after.selects().Limit.Offset != nil {
		return sqltext.Edit{}, false
	}
	after.selects().Limit = nil
	return e, restored(after.node) == restored(s.node)
}

// A source is the only table of a SELECT.
type source struct {
	name  string // in lower case
	alias string // as written; the name without one
}

// onlyTable returns the table of a SELECT without joins.
func onlyTable(sel *ast.SelectStmt) (source, bool) {
	if sel.From == nil || sel.From.TableRefs == nil || sel.From.TableRefs.Right != nil {
		return source{}, false
	}
	return tableOf(sel.From.TableRefs.Left)
}

func tableOf(n ast.ResultSetNode) (source, bool) {
	ts, ok := n.(*ast.TableSource)
	if !ok {
		return source{}, false
	}
	name, ok := ts.Source.(*ast.TableName)
	if !ok {
		return source{}, false
	}
	s := source{name: name.Name.L, alias: ts.AsName.O}
	if s.alias == "" {
		s.alias = name.Name.O
	}
	return s, true
}

// equalities are the columns that a WHERE compares with a placeholder or a
// constant, in conjunction.
func equalities(where ast.ExprNode) (columns []string) {
	for _, c := range conditionsJoined(where) {
		e, ok := c.(*ast.BinaryOperationExpr)
		if !ok || e.Op != opcode.EQ {
			continue
		}
		l, lok := e.L.(*ast.ColumnNameExpr)
		r, rok := e.R.(*ast.ColumnNameExpr)
		switch {
		case lok && fixed(e.R):
			columns = append(columns, l.Name.Name.L)
		case rok && fixed(e.L):
			columns = append(columns, r.Name.Name.L)
		}
	}
	return columns
}

// fixed reports whether an expression is a placeholder or a constant.
func fixed(e ast.ExprNode) bool {
	switch e.(type) {
	case *test_driver.ParamMarkerExpr, *test_driver.ValueExpr:
		return true
	}
	return false
}

// atMostOne reports whether a SELECT returns one row at most: it compares all
// columns of a unique key of its only table, or has aggregates without a group.
func (f Facts) atMostOne(sel *ast.SelectStmt) bool {
	if sel.GroupBy == nil && aggregates(sel) {
		return true
	}
	t, ok := onlyTable(sel)
	if !ok {
		return false
	}
	return f.unique(t.name, equalities(sel.Where))
}

// unique reports whether columns contain a unique key of a table.
func (f Facts) unique(table string, columns []string) bool {
	have := map[string]bool{}
	for _, c := range columns {
		have[c] = true
	}
	for _, key := range f.Tables[table].Unique {
		all := len(key) > 0
		for _, c := range key {
			all = all && have[c]
		}
		if all {
			return true
		}
	}
	return false
}

// An aggregateFinder looks for aggregate functions outside of subqueries.
type aggregateFinder struct{ found bool }

func (a *aggregateFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.AggregateFuncExpr:
		a.found = true
	case *ast.SubqueryExpr:
		return n, true
	}
	return n, a.found
}

func (a *aggregateFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// aggregates reports whether a column of a SELECT is an aggregate.
func aggregates(sel *ast.SelectStmt) bool {
	a := &aggregateFinder{}
	for _, f := range sel.Fields.Fields {
		if f.Expr != nil {
			f.Expr.Accept(a)
		}
	}
	return a.found
}
