package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/go/analysis"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

// idsOfBlock is the number of ids that one write reserves.
const idsOfBlock = 1000

var writePerID = Lever{Code: "APP217", Title: "one write per id",
	Line:    "ids are taken one by one from a table that only counts them",
	Promise: TestedOnly, Order: 8, Saved: Share{Lo: 0.6, Hi: 0.98}, Of: OfStatements,
	find: findWritesPerID,
}

// findWritesPerID finds ids that are taken one by one from a table that has one row only to
// count them: a REPLACE of that row whose only used result is the new id.
func findWritesPerID(r *reporter) error {
	l := &idWrites{reporter: r, calls: callsOf(r.pass)}
	for _, c := range l.calls.Calls {
		if c.Op == sqlcall.Exec && c.Text != nil && c.Text.Holes == 0 && !c.Named && !leftAlone(r.pass, c) {
			l.visit(c)
		}
	}
	return nil
}

type idWrites struct {
	*reporter
	calls *sqlcall.Result
}

// A counterRow is a REPLACE of the only row of a table that numbers its rows.
type counterRow struct {
	table   string // as written
	id      string // the column of the ids
	columns []string
	values  string // after the parenthesis of the tuple
}

func (l *idWrites) visit(c *sqlcall.Call) {
	row, ok := l.counter(c.SQL())
	if !ok || !l.onlyID(c) {
		return
	}
	p := place{node: c.Expr, statements: []string{c.SQL()}, what: fmt.Sprintf("each id writes and commits a row of %s", row.table),
		how: fmt.Sprintf("take %d ids by two writes and give them out from memory; this process must be the only one that takes ids", idsOfBlock), proof: Tested}
	if edits, ok := l.edits(c, row); ok {
		p.fixes = suggested("Take ids in blocks", edits)
	}
	l.report(p)
}

// counter reads a REPLACE of one row into a table of two columns: the ids, which the
// server numbers, and a constant key.
func (l *idWrites) counter(sql string) (counterRow, bool) {
	s, err := parse(sql)
	if err != nil {
		return counterRow{}, false
	}
	n, ok := s.node.(*tidb.InsertStmt)
	if !ok || !n.IsReplace || len(n.Lists) != 1 || len(n.Lists[0]) != 1 || len(n.Columns) != 1 || n.Select != nil || n.Setlist || n.Table == nil {
		return counterRow{}, false
	}
	src, ok := n.Table.TableRefs.Left.(*tidb.TableSource)
	if !ok {
		return counterRow{}, false
	}
	name, ok := src.Source.(*tidb.TableName)
	if !ok || name.Schema.L != "" {
		return counterRow{}, false
	}
	t := l.facts.Tables[name.Name.L]
	key := n.Columns[0].Name.L
	if len(t.Columns) != 2 || !l.facts.unique(name.Name.L, []string{key}) {
		return counterRow{}, false
	}
	out := counterRow{table: name.Name.O, columns: []string{n.Columns[0].Name.O}}
	for column, c := range t.Columns {
		if column != key && strings.HasPrefix(c.Type, "bigint") && l.facts.unique(name.Name.L, []string{column}) {
			out.id = column
		}
	}
	at := sqltext.Find(s.tokens, 0, "VALUES", "VALUE")
	if out.id == "" || at < 0 || at+1 >= len(s.tokens) || s.tokens[at+1].Text != "(" || strings.ContainsAny(out.table+out.columns[0], "`\"\\") {
		return counterRow{}, false
	}
	out.values = s.sql[s.tokens[at+1].End:]
	return out, true
}

// onlyID reports whether the result of an Exec by a pool is a variable that is
// used only to call its LastInsertId.
func (l *idWrites) onlyID(c *sqlcall.Call) bool {
	a, ok := above(c.Cursor).Node().(*ast.AssignStmt)
	if !ok || c.Handle.Kind != sqlcall.DB || c.Spread || c.Must || len(a.Lhs) != 2 || len(a.Rhs) != 1 || a.Tok != token.DEFINE {
		return false
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok || id.Name == "_" {
		return false
	}
	uses := usesOf(l.pass, l.pass.TypesInfo.Defs[id])
	for _, u := range uses {
		sel, ok := u.Parent().Node().(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "LastInsertId" {
			return false
		}
		if _, called := u.Parent().Parent().Node().(*ast.CallExpr); !called {
			return false
		}
	}
	return len(uses) > 0
}

// edits sends the statement through a variable that keeps a block of ids.
func (l *idWrites) edits(c *sqlcall.Call, row counterRow) ([]analysis.TextEdit, bool) {
	source := newSource(l.pass, c.Pos())
	if source == nil || !slices.Contains([]string{"Exec", "ExecContext"}, c.Name) {
		return nil, false
	}
	name := tableVar(row.table)
	taken := namesAround(l.pass, c.Pos())
	ids, kind, one := fresh(taken, name+"IDs"), fresh(taken, name+"Block"), fresh(taken, name+"ID", name+"New")
	if ids == "" || kind == "" || one == "" {
		return nil, false
	}
	reserve := fmt.Sprintf("REPLACE INTO %s (%s, %s) VALUES (?, %s", row.table, row.id, row.columns[0], row.values)
	param, arg, method := "ctx context.Context, ", "ctx, ", "ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)"
	if c.Context == nil {
		param, arg, method = "", "", "Exec(query string, args ...any) (sql.Result, error)"
	}
	text := strings.NewReplacer("IDS", ids, "BLOCK", kind, "ONE", one, "TABLE", row.table, "RESERVE", goString(reserve), "COUNT", fmt.Sprint(idsOfBlock),
		"PARAM", param, "ARG", arg, "METHOD", method, "SEND", c.Name).Replace(blockOfIDs)
	handle := source.text(c.Handle.Expr.Pos(), c.Handle.Expr.End())
	first := c.QueryArg.Pos()
	call := ids + ".exec("
	if c.Context != nil {
		call += source.text(c.Context.Pos(), c.Context.End()) + ", "
	}
	end := token.NoPos // behind the declaration with the call
	for _, d := range fileOf(l.pass, c.Pos()).Decls {
		if d.Pos() <= c.Pos() && c.Pos() < d.End() {
			end = d.End()
		}
	}
	return []analysis.TextEdit{
		edit(c.Expr.Pos(), first, call+handle+", "),
		edit(end, end, text),
	}, true
}

// tableVar is the name of a table as a name of Go: "id_generator" is idGenerator.
func tableVar(table string) string {
	var b strings.Builder
	upper := false
	for _, r := range table {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = b.Len() > 0
		case b.Len() == 0 && unicode.IsDigit(r):
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		case b.Len() == 0:
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 || token.IsKeyword(b.String()) || types.Universe.Lookup(b.String()) != nil {
		return "table" + b.String()
	}
	return b.String()
}

// blockOfIDs is the code that keeps a block of ids. A lower id than one that was given
// out means that the counter was put back, as initialize does: the ids go on above it.
const blockOfIDs = `

// IDS gives out the ids of table TABLE in blocks of COUNT.
var IDS BLOCK

type BLOCK struct {
	mu         sync.Mutex
	next, last int64 // of the block: those from next to last are free
}

// ONE is a new id, as the result of the statement that would have made it.
type ONE int64

func (id ONE) LastInsertId() (int64, error) { return int64(id), nil }
func (id ONE) RowsAffected() (int64, error) { return 1, nil }

// exec returns the next id. With an empty block it executes the statement, and writes
// the last id of a new block into the table, from which the server goes on.
func (b *BLOCK) exec(PARAMdb interface {
	METHOD
}, query string, args ...any) (sql.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next > 0 && b.next <= b.last {
		b.next++
		return ONE(b.next - 1), nil
	}
	result, err := db.SEND(ARGquery, args...)
	if err != nil {
		return nil, err
	}
	first, err := result.LastInsertId()
	if err != nil || first <= 0 {
		return result, err
	}
	first = max(first, b.last+1)
	last := first + COUNT - 1
	if _, err := db.SEND(ARGRESERVE, append([]any{last}, args...)...); err != nil {
		return nil, err
	}
	b.next, b.last = first+1, last
	return ONE(first), nil
}`
