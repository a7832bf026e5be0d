package cacheplan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// pure are functions whose result depends on their arguments only. Functions
// that are missing here are never kept.
var pure = []string{
	"ifnull", "coalesce", "nullif", "if", "concat", "concat_ws", "lower", "upper", "lcase", "ucase", "length", "char_length",
	"character_length", "substring", "substr", "mid", "left", "right", "trim", "ltrim", "rtrim", "replace", "instr", "locate", "lpad", "rpad",
	"reverse", "repeat", "strcmp", "field", "find_in_set", "hex", "unhex", "md5", "sha1", "sha2", "crc32",
	"abs", "ceil", "ceiling", "floor", "round", "truncate", "mod", "sign", "sqrt", "pow", "power", "exp", "ln", "log", "log2", "log10",
	"greatest", "least", "date", "year", "month", "day", "dayofmonth", "hour", "minute", "second", "datediff",
	"to_days", "from_days", "date_add", "date_sub", "adddate", "subdate", "last_day", "extract",
	"json_extract", "json_unquote", "json_length", "json_contains", "inet_aton", "inet_ntoa",
	"st_distance", "st_contains", "st_within", "st_geomfromtext", "st_x", "st_y",
}

// aggregates whose result does not depend on the order of rows, or whose order
// the database may choose.
var aggregates = []string{"count", "sum", "avg", "min", "max", "bit_and", "bit_or", "bit_xor", "stddev", "stddev_pop",
	"stddev_samp", "var_pop", "var_samp", "variance", "group_concat"}

// selectReads are the tables that a SELECT reads, each with the conditions that
// confine its rows. why says that the answer must not be kept.
func (b *builder) selectReads(p *parsed, q *ast.SelectStmt) (reads []tableRead, why string) {
	v := &visitor{builder: b}
	q.Accept(v)
	if v.why != "" {
		return nil, v.why
	}
	if len(v.tables) == 0 {
		return nil, "it reads no table"
	}
	top := map[string]*tableRead{}
	var order []string
	for _, t := range topTables(q) {
		if slices.Contains(order, t.alias) {
			return nil, "one name stands for two tables"
		}
		top[t.alias] = &tableRead{table: t.table, keys: map[string]sqlcache.Key{}}
		order = append(order, t.alias)
	}
	b.confine(p, top, q.Where)
	for _, on := range innerConditions(q) {
		b.confine(p, top, on)
	}
	counts := map[string]int{}
	for _, alias := range order {
		reads = append(reads, *top[alias])
		counts[top[alias].table]++
	}
	// The other occurrences, in subqueries, read their whole tables.
	all := map[string]int{}
	for _, t := range v.tables {
		all[t]++
	}
	for _, t := range slices.Sorted(maps.Keys(all)) {
		if all[t] > counts[t] {
			reads = append(reads, tableRead{table: t})
		}
	}
	return reads, ""
}

// A visitor collects the tables of a SELECT, and the first reason against
// keeping its answer.
type visitor struct {
	*builder
	tables []string
	why    string
}

func (v *visitor) refuse(format string, args ...any) {
	if v.why == "" {
		v.why = fmt.Sprintf(format, args...)
	}
}

// Enter implements ast.Visitor.
func (v *visitor) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		if n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone {
			v.refuse("it locks rows")
		}
		if n.SelectIntoOpt != nil {
			v.refuse("it writes to a file or to a variable")
		}
		if n.SelectStmtOpts != nil && n.SelectStmtOpts.CalcFoundRows {
			v.refuse("FOUND_ROWS() follows it")
		}
		if n.With != nil {
			v.refuse("it has a WITH clause")
		}
	case *ast.TableName:
		v.table(n)
	case *ast.VariableExpr:
		v.refuse("it reads the variable @%s", n.Name)
	case *ast.FuncCallExpr:
		if !v.file && !slices.Contains(pure, n.FnName.L) {
			v.refuse("%s() may give another result each time", n.FnName.L)
		}
	case *ast.AggregateFuncExpr:
		if !v.file && !slices.Contains(aggregates, strings.ToLower(n.F)) {
			v.refuse("%s() is not known", n.F)
		}
	case *ast.SetOprSelectList:
		v.refuse("it has a UNION")
	case *ast.MatchAgainst:
		v.refuse("it searches a full-text index")
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *visitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (v *visitor) table(n *ast.TableName) {
	name := n.Name.L
	switch {
	case n.Schema.L != "":
		v.refuse("it names the schema %s", n.Schema.O)
	case v.schema.Tables[name] == nil:
		v.refuse("%s is no table of the schema", n.Name.O)
	}
	v.tables = append(v.tables, name)
}

// An occurrence is a table of the FROM clause under its alias.
type occurrence struct{ alias, table string }

// topTables are the tables of the FROM clause itself.
func topTables(q *ast.SelectStmt) (out []occurrence) {
	if q.From == nil {
		return nil
	}
	var walk func(n ast.ResultSetNode)
	walk = func(n ast.ResultSetNode) {
		switch n := n.(type) {
		case *ast.Join:
			walk(n.Left)
			if n.Right != nil {
				walk(n.Right)
			}
		case *ast.TableSource:
			if t, ok := n.Source.(*ast.TableName); ok {
				alias := n.AsName.L
				if alias == "" {
					alias = t.Name.L
				}
				out = append(out, occurrence{alias, t.Name.L})
			}
		}
	}
	walk(q.From.TableRefs)
	return out
}

// innerConditions are the ON clauses of joins that keep matching rows only, if
// no outer join is in the FROM clause. A condition of an outer join does not
// confine the rows of its other side.
func innerConditions(q *ast.SelectStmt) (out []ast.ExprNode) {
	if q.From == nil {
		return nil
	}
	outer := false
	var walk func(n ast.ResultSetNode)
	walk = func(n ast.ResultSetNode) {
		j, ok := n.(*ast.Join)
		if !ok {
			return
		}
		outer = outer || j.Tp == ast.LeftJoin || j.Tp == ast.RightJoin
		if j.On != nil {
			out = append(out, j.On.Expr)
		}
		walk(j.Left)
		if j.Right != nil {
			walk(j.Right)
		}
	}
	walk(q.From.TableRefs)
	if outer {
		return nil
	}
	return out
}

// confine adds the equalities of a condition to the tables that they confine.
func (b *builder) confine(p *parsed, tables map[string]*tableRead, e ast.ExprNode) {
	for _, c := range conjuncts(e) {
		col, key, ok := b.equality(p, c)
		if !ok {
			continue
		}
		var at *tableRead
		if col.Table.L != "" {
			at = tables[col.Table.L]
		} else {
			at = b.owner(tables, col.Name.L)
		}
		if at == nil || !b.schema.Tables[at.table].Columns[col.Name.L].Key {
			continue
		}
		if _, twice := at.keys[col.Name.L]; !twice {
			at.keys[col.Name.L] = key
		}
	}
}

// owner is the only table that has a column of the name.
func (b *builder) owner(tables map[string]*tableRead, column string) (found *tableRead) {
	for _, t := range tables {
		if _, has := b.schema.Tables[t.table].Columns[column]; has {
			if found != nil {
				return nil
			}
			found = t
		}
	}
	return found
}

func conjuncts(e ast.ExprNode) []ast.ExprNode {
	switch n := e.(type) {
	case nil:
		return nil
	case *ast.ParenthesesExpr:
		return conjuncts(n.Expr)
	case *ast.BinaryOperationExpr:
		if n.Op == opcode.LogicAnd {
			return append(conjuncts(n.L), conjuncts(n.R)...)
		}
	}
	return []ast.ExprNode{e}
}

// equality reads `column = value` and `column IN (values)`, where each value is
// an argument or a literal.
func (b *builder) equality(p *parsed, e ast.ExprNode) (*ast.ColumnName, sqlcache.Key, bool) {
	switch n := e.(type) {
	case *ast.BinaryOperationExpr:
		if n.Op != opcode.EQ {
			return nil, sqlcache.Key{}, false
		}
		l, r := bare(n.L), bare(n.R)
		if _, ok := l.(*ast.ColumnNameExpr); !ok {
			l, r = r, l
		}
		col, ok := l.(*ast.ColumnNameExpr)
		if !ok {
			return nil, sqlcache.Key{}, false
		}
		key, ok := p.key(col.Name.Name.L, []ast.ExprNode{r})
		return col.Name, key, ok
	case *ast.PatternInExpr:
		col, ok := bare(n.Expr).(*ast.ColumnNameExpr)
		if !ok || n.Not || n.Sel != nil {
			return nil, sqlcache.Key{}, false
		}
		key, ok := p.key(col.Name.Name.L, n.List)
		return col.Name, key, ok
	}
	return nil, sqlcache.Key{}, false
}

func bare(e ast.ExprNode) ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// number sets the order of a statement's placeholders; the parser sets their
// offsets only.
func number(n ast.StmtNode) {
	v := &markers{}
	n.Accept(v)
	slices.SortFunc(v.found, func(a, b *test_driver.ParamMarkerExpr) int { return a.Offset - b.Offset })
	for i, m := range v.found {
		m.Order = i
	}
}

type markers struct {
	found []*test_driver.ParamMarkerExpr
}

// Enter implements ast.Visitor.
func (v *markers) Enter(n ast.Node) (ast.Node, bool) {
	if m, ok := n.(*test_driver.ParamMarkerExpr); ok && !slices.Contains(v.found, m) {
		v.found = append(v.found, m)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *markers) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// key makes a key of values.
func (p *parsed) key(column string, values []ast.ExprNode) (sqlcache.Key, bool) {
	k := sqlcache.Key{Column: column}
	for _, v := range values {
		switch v := bare(v).(type) {
		case *test_driver.ParamMarkerExpr:
			arg := v.Order
			if p.access != nil {
				arg = p.args[v.Order]
			}
			g, ok := p.groups[arg]
			if !ok {
				return k, false
			}
			if !slices.Contains(k.Groups, g) {
				k.Groups = append(k.Groups, g)
			}
		case *test_driver.ValueExpr:
			switch x := v.GetValue().(type) {
			case int64:
				k.Literals = append(k.Literals, x)
			case string:
				k.Literals = append(k.Literals, x)
			default:
				return k, false
			}
		default:
			return k, false
		}
	}
	return k, true
}
