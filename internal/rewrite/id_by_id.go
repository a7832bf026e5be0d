package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var idByID = Lever{Code: "APP217", Title: "one write per id",
	Line:    "ids are taken one by one from a table that only counts them",
	Promise: Behaviour, Order: 12, Saved: Share{Lo: 0.5, Hi: 0.98}, Of: OfStatements,
	find: findIDByID,
}

// findIDByID finds statements that write one row again to get a number:
//
//	res, err := db.Exec("REPLACE INTO ids (stub) VALUES ('a')")
//	…
//	id, err := res.LastInsertId()
//
// The fix takes a block of ids with one such write.
func findIDByID(r *reporter) error {
	o := &idTables{reporter: r, x: indexOf(r.pass), calls: callsOf(r.pass)}
	for _, c := range o.calls.Calls {
		if c.Op == sqlcall.Exec && c.Text != nil && !c.Named && !leftAlone(r.pass, c) {
			o.visit(c)
		}
	}
	return nil
}

type idTables struct {
	*reporter
	x     *index
	calls *sqlcall.Result
}

func (o *idTables) visit(c *sqlcall.Call) {
	tokens, ok := sqltext.Unknown.Tokens(c.SQL())
	table := countingTable(tokens)
	if !ok || table == "" || !o.constant(c) || o.x.startsUp(c.Expr) {
		return
	}
	result := o.resultOf(c)
	if result == nil || !o.onlyNumber(result, c) {
		return
	}
	p := place{node: c.Expr, statements: []string{c.SQL()}, promise: Behaviour,
		what: fmt.Sprintf("each id is taken by a write of its own to the table %s", table), how: "take a block of ids with one write: they are no longer consecutive"}
	other := o.otherUse(c, table)
	if o.needs(other == nil, nodeOr(other, c.Expr), "another statement uses the table %s", table) &&
		o.needs(c.Handle.Kind == sqlcall.DB && c.Prepared == nil && c.QueryArg != nil && !c.Must, c.Expr, "the statement is prepared, in a transaction, or ends the program on an error") &&
		o.needs(o.asText(result), c.Expr, "the id is not made a text, and a column of integers might not hold a larger one") {
		p.fixes, p.proof = o.fix(c), Tested
		o.no(c.Expr, nameTaken)
	}
	o.report(p)
}

func nodeOr(c *sqlcall.Call, n ast.Node) ast.Node {
	if c != nil {
		return c.Expr
	}
	return n
}

// countingTable is the table that a statement writes one row of to get a number, in lower case;
// "" for another statement.
func countingTable(tokens []sqltext.Token) string {
	if len(tokens) < 4 {
		return ""
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Is(words...) })
	}
	at := 1
	if tokens[0].Is("REPLACE", "INSERT") && tokens[at].Is("INTO") {
		at++
	}
	switch {
	case tokens[0].Is("REPLACE") && !has("SELECT") && oneRow(tokens):
	case tokens[0].Is("INSERT") && has("DUPLICATE") && has("LAST_INSERT_ID") && !has("SELECT") && oneRow(tokens):
	case tokens[0].Is("UPDATE") && has("LAST_INSERT_ID") && !has("SELECT", "JOIN"):
	default:
		return ""
	}
	if !tokens[at].IsName() {
		return ""
	}
	return strings.ToLower(tokens[at].Name())
}

// oneRow reports whether an INSERT has one tuple, or a SET.
func oneRow(tokens []sqltext.Token) bool {
	values := sqltext.Find(tokens, 0, "VALUES", "VALUE")
	if values < 0 {
		return sqltext.Find(tokens, 0, "SET") >= 0
	}
	tuples := 0
	for _, t := range tokens[values:] {
		if t.Is("ON") {
			break
		}
		if t.Text == "(" && t.Depth == 0 {
			tuples++
		}
	}
	return tuples == 1
}

// constant reports whether a statement writes the same each time.
func (o *idTables) constant(c *sqlcall.Call) bool {
	return c.Text.Holes == 0 && !c.Spread && !slices.ContainsFunc(c.Args, func(a ast.Expr) bool { return o.x.pass.TypesInfo.Types[a].Value == nil })
}

// resultOf is the variable that takes the sql.Result of a call; nil if there is none.
func (o *idTables) resultOf(c *sqlcall.Call) *types.Var {
	a, ok := o.x.parent[c.Expr].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 2 || len(a.Rhs) != 1 {
		return nil
	}
	v := o.x.variable(a.Lhs[0])
	if v == nil || !isLocal(v) {
		return nil
	}
	return v
}

// onlyNumber reports whether nothing but LastInsertId is asked of a result, which nothing else
// sets.
func (o *idTables) onlyNumber(v *types.Var, c *sqlcall.Call) bool {
	asked := false
	for _, id := range o.x.uses[v] {
		if within(id, o.x.parent[c.Expr]) {
			continue
		}
		sel, ok := o.x.parent[id].(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "LastInsertId" {
			return false
		}
		asked = true
	}
	return asked
}

// otherUse is a call that may send another statement about the table than those that empty it.
func (o *idTables) otherUse(c *sqlcall.Call, table string) *sqlcall.Call {
	for _, other := range o.calls.Calls {
		if other == c {
			continue
		}
		for _, sql := range textsOf(other) {
			tokens, _ := sqltext.Unknown.Tokens(sql)
			if len(tokens) == 0 || tokens[0].Is("DELETE", "TRUNCATE", "ALTER", "CREATE", "DROP") {
				continue
			}
			if slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.IsName() && strings.EqualFold(t.Name(), table) }) {
				return other
			}
		}
	}
	return nil
}

// asText reports whether an id that a result gives becomes a text that is no decimal number, and
// nothing else: then no column of integers has it. Comparisons with a constant are allowed.
func (o *idTables) asText(result *types.Var) bool {
	found := false
	for _, use := range o.x.uses[result] {
		sel, ok := o.x.parent[use].(*ast.SelectorExpr)
		if !ok {
			continue
		}
		a, ok := o.x.parent[o.x.parent[sel]].(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 2 {
			return false
		}
		id := o.x.variable(a.Lhs[0])
		if id == nil || !isLocal(id) {
			return false
		}
		for _, name := range o.x.uses[id] {
			if within(name, a) {
				continue
			}
			switch up := o.x.parent[name].(type) {
			case *ast.BinaryExpr:
				if !comparesWithConstant(o.x, up, name) {
					return false
				}
			case *ast.CallExpr:
				if !o.formats(up) {
					return false
				}
				found = true
			default:
				return false
			}
		}
	}
	return found
}

func comparesWithConstant(x *index, b *ast.BinaryExpr, e ast.Expr) bool {
	other := b.Y
	if other == e {
		other = b.X
	}
	basic, isBasic := x.typeOf(b).Underlying().(*types.Basic)
	return isBasic && basic.Info()&types.IsBoolean != 0 && x.pass.TypesInfo.Types[other].Value != nil
}

// formats reports whether a call makes a text of a number, also of a converted one, that is no
// decimal number: it has a letter.
func (o *idTables) formats(call *ast.CallExpr) bool {
	if o.x.pass.TypesInfo.Types[call.Fun].IsType() {
		up, ok := o.x.parent[call].(*ast.CallExpr)
		basic, isBasic := o.x.typeOf(call).Underlying().(*types.Basic)
		return ok && isBasic && slices.Contains([]types.BasicKind{types.Int, types.Int64, types.Uint64, types.Uint}, basic.Kind()) && o.formats(up)
	}
	fn := o.x.callee(call)
	switch {
	case isFunc(fn, "fmt", "Sprintf"):
		return lettered(decimalVerbs.ReplaceAllString(constantText(o.x.pass, call.Args[0]), "")) || o.prefixed(call)
	case isFunc(fn, "strconv", "FormatInt", "FormatUint"):
		base, known := intConstant(o.x.pass.TypesInfo, call.Args[1])
		return known && base > 10 || o.prefixed(call)
	}
	return (isFunc(fn, "fmt", "Sprint") || isFunc(fn, "strconv", "Itoa")) && o.prefixed(call)
}

// decimalVerbs are those of a format that write a number without a letter.
var decimalVerbs = regexp.MustCompile(`%[-+# 0-9.*\[\]]*[dvbosU]|%%`)

// lettered reports whether a text has a letter, other than that of an exponent.
func lettered(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) && r != 'e' && r != 'E' })
}

// prefixed reports whether constant text with a letter is added to a text.
func (o *idTables) prefixed(e ast.Expr) bool {
	sum, ok := o.x.parent[e].(*ast.BinaryExpr)
	return ok && sum.Op == token.ADD && slices.ContainsFunc(operands(sum, token.ADD), func(part ast.Expr) bool {
		v := o.x.pass.TypesInfo.Types[part].Value
		return v != nil && v.Kind() == constant.String && lettered(constant.StringVal(v))
	})
}

// fix puts the blocks between the statement and what it returns. Every form of asking and of
// handling an error stays as it is.
func (o *idTables) fix(c *sqlcall.Call) []analysis.SuggestedFix {
	rw := o.x.rewrite()
	blocks, taken := o.x.fresh("idBlocks"), o.x.fresh("takenID")
	held := o.x.fresh("ids")
	sql := rw.pkg(c.Pos(), "database/sql")
	sync, clock := rw.pkg(c.Pos(), "sync"), rw.pkg(c.Pos(), "time")
	rw.replace(c.Expr, fmt.Sprintf("%s.take(func() (%s.Result, error) { return %s })", held, sql, o.x.text(c.Expr)))
	decl := o.x.topDecl(c.Expr)
	rw.insert(decl.End(), "\n\n"+blockSource(held, blocks, taken, sql, sync, clock))
	fix, ok := rw.fix("Take ids in blocks")
	if !ok {
		return nil
	}
	return fix1(fix)
}

// blockSource is the code of the blocks.
func blockSource(held, blocks, taken, sql, sync, clock string) string {
	return strings.NewReplacer("HELD", held, "BLOCKS", blocks, "TAKEN", taken, "SQL.", sql+".", "SYNC.", sync+".", "TIME.", clock+".").Replace(
		`var HELD BLOCKS

// BLOCKS gives ids out of blocks, so that one write takes many. The table's number is the upper
// part of an id. The lower part goes on from block to block: where the table is emptied, and
// gives a number again, the ids are others.
type BLOCKS struct {
	mu                SYNC.Mutex
	block, next, left int64
}

const (
	BLOCKSSize = 1000
	BLOCKSMask = 1<<20 - 1
)

func (b *BLOCKS) take(write func() (SQL.Result, error)) (SQL.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left == 0 {
		res, err := write()
		if err != nil {
			return nil, err
		}
		block, err := res.LastInsertId()
		if err != nil || block <= 0 || block >= 1<<42 {
			return res, nil
		}
		if b.next == 0 {
			b.next = TIME.Now().UnixNano() >> 10
		}
		if b.next&BLOCKSMask > BLOCKSMask-BLOCKSSize {
			b.next += BLOCKSSize
		}
		b.block, b.left = block, BLOCKSSize
	}
	b.left--
	b.next++
	return TAKEN(b.block<<20 | b.next&BLOCKSMask), nil
}

// A TAKEN is an id of a block as the result of a write.
type TAKEN int64

func (id TAKEN) LastInsertId() (int64, error) { return int64(id), nil }

func (id TAKEN) RowsAffected() (int64, error) { return 1, nil }`)
}
