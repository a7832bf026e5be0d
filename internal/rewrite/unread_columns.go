package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var unreadColumns = Lever{Code: "APP203", Title: "columns that no code reads",
	Line:    "a large column, or many small ones of a SQLite file, are read into fields that no code reads",
	Promise: RowOrder, Order: 6, Saved: Share{Lo: 0.1, Hi: 0.8}, Of: OfStatements,
	find: findUnreadColumns,
}

// findUnreadColumns finds columns that a query reads into a struct and that no code reads from it:
// wide ones, and many small ones of a SQLite file.
func findUnreadColumns(r *reporter) error {
	l := &unread{reporter: r, calls: callsOf(r.pass), flows: map[*types.Struct]*rowFlow{}}
	for _, c := range l.calls.Calls {
		if c.Text == nil || c.Text.Holes > 0 || leftAlone(r.pass, c) {
			continue
		}
		dests, row := l.rows(c)
		if row == nil {
			continue
		}
		if s, err := parse(c.SQL()); err == nil && s.selects() != nil {
			l.visit(c, s, dests, row)
		}
	}
	return nil
}

type unread struct {
	*reporter
	calls *sqlcall.Result
	flows map[*types.Struct]*rowFlow
	pools *pools // nil until it is needed
}

func structTag(tag, key string) string { return reflect.StructTag(tag).Get(key) }

// rows are the destinations of a call that takes rows as structs.
func (l *unread) rows(c *sqlcall.Call) (dests []ast.Expr, row *types.Struct) {
	switch {
	case c.Op == sqlcall.Get || c.Op == sqlcall.Select:
		dests = c.Dests
	case c.Op == sqlcall.QueryRow && c.Scan != nil && callName(c.Scan) == "StructScan":
		dests = c.Dests
	case c.Op == sqlcall.Query && c.Sqlx:
		dests = l.scanned(c)
	}
	if len(dests) == 0 {
		return nil, nil
	}
	t := l.pass.TypesInfo.TypeOf(dests[0])
	for {
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			t = u.Elem()
			continue
		case *types.Slice:
			t = u.Elem()
			continue
		case *types.Struct:
			if _, ok := columnsOf(u); ok {
				return dests, u
			}
		}
		return nil, nil
	}
}

func callName(call *ast.CallExpr) string {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		return sel.Sel.Name
	}
	return ""
}

// scanned are the destinations of StructScan of the rows of a query; nil if the
// rows are used in another way.
func (l *unread) scanned(c *sqlcall.Call) (dests []ast.Expr) {
	v := assignedTo(l.pass, c, 0)
	if v == nil || l.calls.Writes[v] != 1 {
		return nil
	}
	for _, use := range usesOf(l.pass, v) {
		call, ok := above(above(use)).Node().(*ast.CallExpr)
		if !ok {
			return nil
		}
		switch callName(call) {
		case "StructScan":
			dests = append(dests, call.Args...)
		case "Next", "Close", "Err":
		default:
			return nil
		}
	}
	return dests
}

// wideBytes is the mean size from which on a column is worth leaving out.
const wideBytes = 256

// wide reports whether a column is large by the facts.
func wide(c Column) bool {
	kind, _, _ := strings.Cut(c.Type, "(")
	switch kind {
	case "tinyblob", "blob", "mediumblob", "longblob", "text", "mediumtext", "longtext", "json":
		return c.MeanBytes == 0 || c.MeanBytes > wideBytes
	}
	return c.MeanBytes > wideBytes
}

func (l *unread) visit(c *sqlcall.Call, s *statement, dests []ast.Expr, row *types.Struct) {
	sel := s.selects()
	if sel.Distinct || sel.GroupBy != nil || sel.Having != nil || ordersByNumber(sel) {
		return
	}
	flow := l.flows[row]
	if flow == nil {
		flow = newRowFlow(l.pass, l.calls, row)
		l.flows[row] = flow
	}
	fields, ok := flow.read(dests)
	if !ok {
		return
	}
	columns, _ := columnsOf(row)
	var needed, dropped []string
	for i, name := range columns {
		if fields[i] {
			needed = append(needed, name)
		} else {
			dropped = append(dropped, name)
		}
	}
	if len(dropped) > 0 {
		l.narrow(c, s, needed, dropped, row)
	}
}

func ordersByNumber(sel *tidb.SelectStmt) bool {
	if sel.OrderBy == nil {
		return false
	}
	return slices.ContainsFunc(sel.OrderBy.Items, func(i *tidb.ByItem) bool {
		_, number := i.Expr.(*tidb.PositionExpr)
		return number
	})
}

// narrow reports a query that can leave columns out.
func (l *unread) narrow(c *sqlcall.Call, s *statement, needed, dropped []string, row *types.Struct) {
	sel := s.selects()
	names := sources(sel)
	stars := 0
	for _, f := range sel.Fields.Fields {
		if f.WildCard != nil {
			stars++
		}
	}
	var edits []sqltext.Edit
	var large []string
	ok := false
	switch {
	case stars == 1 && len(sel.Fields.Fields) == 1:
		t, known := l.facts.Tables[starred(sel.Fields.Fields[0].WildCard, names)]
		if !known {
			large = bytesFields(row, dropped) // no facts: a hint
			break
		}
		large = l.large(t, dropped)
		edits, ok = starEdits(s, c.Text.Raw(), existing(t, needed))
		if small := existing(t, dropped); len(large) == 0 && ok && l.slow(c, sel, len(existing(t, needed)), len(small)) {
			l.slim(c, s, small, edits)
		}
	case stars == 0:
		large, edits, ok = l.listEdits(s, names, dropped)
	}
	if len(large) == 0 {
		return
	}
	p := place{node: c.Expr, statements: []string{s.sql}, what: fmt.Sprintf("%s is read from the database and by no code", strings.Join(large, ", ")),
		how: "name the columns that are used"}
	if l.needs(ok, c.Expr, "the columns of the table are not known, or the list of columns has a form that cannot be shortened") {
		if texts, ok := c.Text.Edits(edits...); l.needs(ok, c.Expr, textSpread) {
			p.fixes = suggested("Read only the columns that are used", texts)
		}
	}
	l.report(p)
}

// leastSmall is the number of small columns from which on they are worth leaving out.
const leastSmall = 3

// slow reports whether a call reads a list from a SQLite file, and as many small columns
// that no code reads as others: the driver fetches and converts each value by itself.
func (l *unread) slow(c *sqlcall.Call, sel *tidb.SelectStmt, needed, dropped int) bool {
	if c.Op != sqlcall.Select || dropped < max(leastSmall, needed) || limitOne(sel) || l.facts.atMostOne(sel) {
		return false
	}
	if l.pools == nil {
		l.pools = newPools(l.pass)
	}
	return l.pools.of(c.Handle.Expr) == filePool
}

// slim reports a list of a SQLite file that can leave small columns out. Where it has no
// order, an index that has all columns may give another one.
func (l *unread) slim(c *sqlcall.Call, s *statement, small []string, edits []sqltext.Edit) {
	texts, ok := c.Text.Edits(edits...)
	if !ok {
		return
	}
	p := place{node: c.Expr, statements: []string{s.sql}, what: fmt.Sprintf("%s are read from a SQLite file and by no code", strings.Join(small, ", ")),
		how: "name the columns that are used", fixes: suggested("Read only the columns that are used", texts)}
	if s.selects().OrderBy == nil {
		p.promise = RowOrder
	}
	l.report(p)
}

// sources are the tables of a SELECT by their alias in lower case.
func sources(sel *tidb.SelectStmt) map[string]string {
	out := map[string]string{}
	if sel.From == nil {
		return out
	}
	var add func(n tidb.ResultSetNode)
	add = func(n tidb.ResultSetNode) {
		if j, ok := n.(*tidb.Join); ok {
			add(j.Left)
			if j.Right != nil {
				add(j.Right)
			}
			return
		}
		if s, ok := tableOf(n); ok {
			out[strings.ToLower(s.alias)] = s.name
		} else {
			out[""] = "" // a subquery: not the only table
		}
	}
	add(sel.From.TableRefs)
	return out
}

// starred is the table of a star; "" if there are several.
func starred(w *tidb.WildCardField, names map[string]string) string {
	if w.Table.L != "" {
		return names[w.Table.L]
	}
	if len(names) == 1 {
		for _, name := range names {
			return name
		}
	}
	return ""
}

func (l *unread) large(t Table, columns []string) (out []string) {
	for _, name := range columns {
		if c, ok := t.Columns[strings.ToLower(name)]; ok && wide(c) {
			out = append(out, name)
		}
	}
	return out
}

// existing are the columns that a table has. A field without a column stays empty.
func existing(t Table, columns []string) (out []string) {
	for _, name := range columns {
		if _, ok := t.Columns[strings.ToLower(name)]; ok {
			out = append(out, name)
		}
	}
	return out
}

// bytesFields are the columns among some whose fields have the type []byte.
func bytesFields(row *types.Struct, among []string) (out []string) {
	columns, _ := columnsOf(row)
	for i, name := range columns {
		s, ok := row.Field(i).Type().Underlying().(*types.Slice)
		if ok && slices.Contains(among, name) && types.Identical(s.Elem(), types.Typ[types.Byte]) {
			out = append(out, name)
		}
	}
	return out
}

// starEdits replaces the star of a SELECT by columns.
func starEdits(s *statement, raw bool, columns []string) ([]sqltext.Edit, bool) {
	at := slices.IndexFunc(s.tokens, func(t sqltext.Token) bool { return t.Depth == 0 && t.Text == "*" })
	if at < 1 || len(columns) == 0 {
		return nil, false
	}
	prefix := ""
	if s.tokens[at-1].Text == "." && at >= 2 {
		prefix = s.tokens[at-2].Text + "."
	}
	var list []string
	for i, name := range columns {
		q, ok := quoteName(s, raw, name)
		if !ok {
			return nil, false
		}
		if i > 0 {
			q = prefix + q // the first prefix stays in the text
		}
		list = append(list, q)
	}
	edits := []sqltext.Edit{{Start: s.tokens[at].Start, End: s.tokens[at].End, New: strings.Join(list, ", ")}}
	after, err := parse(sqltext.Apply(s.sql, edits))
	if err != nil || after.selects() == nil || len(after.selects().Fields.Fields) != len(columns) {
		return nil, false
	}
	after.selects().Fields = s.selects().Fields
	return edits, restored(after.node) == restored(s.node)
}

// reserved are reserved words of MySQL, MariaDB and SQLite that schemas use as names.
var reserved = strings.Fields(`accessible add all alter analyze and as asc before between bigint binary blob both by call cascade case change char
character check collate column condition constraint continue convert create cross cursor database databases day_hour dec decimal declare default
delayed delete desc describe distinct div double drop dual each else end enclosed escaped except exists exit explain false fetch float for force
foreign from fulltext function generated get grant group grouping groups having if ignore in index infile inner inout insert int integer interval
into is iterate join key keys kill lag lateral lead leading leave left like limit linear lines load localtime lock long loop match maxvalue mod
modifies natural not null numeric of offset on optimize option optionally or order out outer outfile over partition period precision primary
procedure purge range rank read reads real recursive references regexp release rename repeat replace require resignal restrict return returning
revoke right rlike row rows row_number schema schemas select sensitive separator set show signal smallint spatial specific sql ssl starting stored
straight_join system table terminated then tinyint to trailing trigger true undo union unique unlock unsigned update usage use user using values
varbinary varchar varying virtual when where while window with write xor year_month zerofill
autoincrement commit deferrable escape isnull nothing notnull transaction`)

// quoteName writes a column as the statement writes names: in backquotes where it
// uses them or the name needs them.
func quoteName(s *statement, raw bool, name string) (string, bool) {
	quoted := slices.ContainsFunc(s.tokens, func(t sqltext.Token) bool { return t.Kind == sqltext.Quoted && t.Text[0] == '`' })
	plain := !slices.Contains(reserved, strings.ToLower(name)) && isName(name)
	switch {
	case strings.Contains(name, "`"):
		return "", false
	case !raw && (quoted || !plain):
		return "`" + name + "`", true
	}
	return name, plain
}

func isName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// listEdits removes large columns from a list of plain columns.
func (l *unread) listEdits(s *statement, names map[string]string, dropped []string) (large []string, edits []sqltext.Edit, ok bool) {
	fields := s.selects().Fields.Fields
	items := listItems(s)
	if len(items) != len(fields) {
		return nil, nil, false
	}
	kept := 0
	for i, f := range fields {
		col, isColumn := f.Expr.(*tidb.ColumnNameExpr)
		if !isColumn || !slices.ContainsFunc(dropped, func(d string) bool { return strings.EqualFold(d, outputName(f, col)) }) ||
			!wide(l.column(names, col)) {
			kept++
			continue
		}
		large = append(large, outputName(f, col))
		switch {
		case i+1 < len(items):
			edits = append(edits, sqltext.Edit{Start: items[i].Start, End: items[i+1].Start})
		case i > 0 && len(edits) > 0 && edits[len(edits)-1].End == items[i].Start:
			return large, nil, false // several at the end
		case i > 0:
			edits = append(edits, sqltext.Edit{Start: items[i-1].End, End: items[i].End})
		}
	}
	after, err := parse(sqltext.Apply(s.sql, edits))
	return large, edits, kept > 0 && err == nil && after.selects() != nil && len(after.selects().Fields.Fields) == kept
}

func outputName(f *tidb.SelectField, col *tidb.ColumnNameExpr) string {
	if f.AsName.O != "" {
		return f.AsName.O
	}
	return col.Name.Name.O
}

// column is what is known of a column of a statement.
func (l *unread) column(names map[string]string, col *tidb.ColumnNameExpr) Column {
	table := names[col.Name.Table.L]
	if col.Name.Table.L == "" && len(names) == 1 {
		for _, name := range names {
			table = name
		}
	}
	return l.facts.Tables[table].Columns[col.Name.Name.L]
}

// listItems are the places of the items between SELECT and FROM.
func listItems(s *statement) (items []sqltext.Edit) {
	from := sqltext.Find(s.tokens, 0, "FROM")
	if len(s.tokens) < 2 || !s.tokens[0].Is("SELECT") || from < 2 {
		return nil
	}
	start := s.tokens[1].Start
	for i := 1; i < from; i++ {
		if s.tokens[i].Kind == sqltext.Comment {
			return nil
		}
		if s.tokens[i].Depth == 0 && s.tokens[i].Text == "," {
			items = append(items, sqltext.Edit{Start: start, End: s.tokens[i-1].End})
			start = s.tokens[i+1].Start
		}
	}
	return append(items, sqltext.Edit{Start: start, End: s.tokens[from-1].End})
}
