package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// leastCapacity is the least constant that is a capacity. A count is compared with 0 and 1 to
// learn whether there is any.
const leastCapacity = 2

// Words of capacities.
const (
	capacityHow    = "try another number"
	capacityWhat   = "what exists is counted, and no more than a fixed number is let in"
	capacityPlaced = "the number is in the text of a statement that an edit would change elsewhere, too"
)

// A counts is what the code of a package counts.
type counts struct {
	// scanned are variables and fields that a statement sets to COUNT(…), with the statement;
	// listed are slices that a statement fills.
	scanned map[types.Object]*sqlcall.Call
	listed  map[types.Object]*sqlcall.Call
	funcs   map[*types.Func]*sqlcall.Call // functions that return a scanned variable
	grown   map[types.Object]bool         // fields and variables of the package that are added to
}

// statements finds what the statements of the package count, and the capacities in their texts.
func (k *knobs) statements(sql *sqlcall.Result) {
	k.sql = sql
	k.counts = counts{map[types.Object]*sqlcall.Call{}, map[types.Object]*sqlcall.Call{}, map[*types.Func]*sqlcall.Call{}, map[types.Object]bool{}}
	for _, c := range sql.Calls {
		tokens, ok := plainTokens(c)
		if !ok {
			continue
		}
		k.comparedInSQL(c, tokens)
		at := countedItem(tokens)
		for i, dest := range c.Dests {
			obj := k.x.pointed(dest)
			switch {
			case obj == nil:
			case c.Op == sqlcall.Select:
				k.counts.listed[obj] = c
			case i == at:
				k.counts.scanned[obj] = c
			}
		}
	}
	for fn, d := range k.x.decls {
		if c := k.returned(d); c != nil {
			k.counts.funcs[fn] = c
		}
	}
	for _, f := range k.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if obj := k.grows(n); obj != nil {
				k.counts.grown[obj] = true
			}
			return true
		})
	}
}

// plainTokens are the tokens of a call's statement without comments.
func plainTokens(c *sqlcall.Call) (out []sqltext.Token, ok bool) {
	if c.Text == nil || c.Text.Holes > 0 || c.Text.Expanded {
		return nil, false
	}
	all, ok := sqltext.Unknown.Tokens(c.Text.SQL)
	for _, t := range all {
		if t.Kind != sqltext.Comment {
			out = append(out, t)
		}
	}
	return out, ok
}

// comparedInSQL finds COUNT(…) that a statement compares with a number or with a parameter
// that is a constant.
func (k *knobs) comparedInSQL(c *sqlcall.Call, tokens []sqltext.Token) {
	param := 0
	for i, t := range tokens {
		if t.Kind == sqltext.Placeholder {
			param++
		}
		if !t.Spells("<", "<=", ">", ">=") || i == 0 || i+1 == len(tokens) {
			continue
		}
		bound, at := tokens[i+1], param
		if !countsBefore(tokens, i-1) {
			if bound, at = tokens[i-1], param-1; !countsAfter(tokens, i+1) {
				continue
			}
		}
		switch {
		case bound.Kind == sqltext.Number && c.Prepared == nil: // else it is reported where it is prepared
			k.inText(c, bound)
		case bound.Kind == sqltext.Placeholder && bound.Text == "?" && !c.Named && !c.Spread && at < len(c.Args):
			k.capacity(c.Args[at], c)
		}
	}
}

// countsBefore reports whether tokens end, at index i, with COUNT(…), or with a subquery of it
// that guards a write.
func countsBefore(tokens []sqltext.Token, i int) bool {
	if tokens[i].Text != ")" {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		if tokens[j].Depth == tokens[i].Depth && tokens[j].Text == "(" {
			return j > 0 && tokens[j-1].Is("COUNT") && inList(tokens, j-1) || countsAfter(tokens, j)
		}
	}
	return false
}

// countsAfter reports whether COUNT(…) begins at index i, or a subquery of it that guards a
// write.
func countsAfter(tokens []sqltext.Token, i int) bool {
	is := func(i int, text string) bool { return i < len(tokens) && tokens[i].Spells(text) }
	if is(i, "COUNT") && is(i+1, "(") {
		return inList(tokens, i)
	}
	return is(i, "(") && is(i+1, "SELECT") && is(i+2, "COUNT") && is(i+3, "(") &&
		(inList(tokens, i) || tokens[0].Is("INSERT", "REPLACE", "UPDATE"))
}

// inList reports whether an expression at index i is in a list of SELECT. In other clauses it
// chooses rows.
func inList(tokens []sqltext.Token, i int) bool {
	depth := tokens[i].Depth
	for j := i - 1; j >= 0; j-- {
		depth = min(depth, tokens[j].Depth)
		if tokens[j].Depth == depth && tokens[j].Is("SELECT", "FROM", "WHERE", "HAVING", "ON", "SET", "VALUES", "BY", "LIMIT") {
			return tokens[j].Is("SELECT")
		}
	}
	return false
}

// countedItem is the index of the item that is COUNT(…) in the list of a SELECT; -1 without.
func countedItem(tokens []sqltext.Token) int {
	if len(tokens) == 0 || !tokens[0].Is("SELECT") {
		return -1
	}
	end := sqltext.Find(tokens, 1, "FROM")
	if end < 0 {
		return -1
	}
	n := 0
	for item := range splitTokens(tokens[1:end]) {
		if len(item) > 2 && item[0].Is("COUNT") && item[1].Text == "(" {
			return n
		}
		n++
	}
	return -1
}

// pointed is the variable or the field whose address an expression takes; nil for others.
func (x *index) pointed(e ast.Expr) types.Object {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	if !ok || u.Op != token.AND {
		return nil
	}
	return x.named(u.X)
}

// returned is the statement whose count a function returns; nil for other functions.
func (k *knobs) returned(d *ast.FuncDecl) (c *sqlcall.Call) {
	if d.Body == nil {
		return nil
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		ret, ok := n.(*ast.ReturnStmt)
		if ok && len(ret.Results) > 0 && c == nil {
			c = k.counts.scanned[k.x.named(ret.Results[0])]
		}
		return c == nil
	})
	return c
}

// grows is the field or the variable of the package that a node adds one element or one to;
// nil for other nodes.
func (k *knobs) grows(n ast.Node) types.Object {
	var to ast.Expr
	switch n := n.(type) {
	case *ast.IncDecStmt:
		if n.Tok == token.INC {
			to = n.X
		}
	case *ast.SendStmt:
		to = n.Chan
	case *ast.AssignStmt:
		if len(n.Lhs) != 1 {
			return nil
		}
		call, _ := ast.Unparen(n.Rhs[0]).(*ast.CallExpr)
		at, indexed := ast.Unparen(n.Lhs[0]).(*ast.IndexExpr)
		switch {
		case n.Tok == token.ADD_ASSIGN && isInteger(k.x.typeOf(n.Lhs[0])), call != nil && isBuiltin(k.x.pass.TypesInfo, call, "append"):
			to = n.Lhs[0]
		case indexed:
			to = at.X
		}
	}
	if to == nil {
		return nil
	}
	return k.shared(to)
}

// shared is the object of a field that is reached from a receiver, or of a variable of the
// package: several requests see it. nil for others.
func (k *knobs) shared(e ast.Expr) types.Object {
	obj := k.x.named(e)
	v, ok := obj.(*types.Var)
	if !ok {
		return nil
	}
	if v.Parent() == k.x.pass.Pkg.Scope() {
		return origin(v)
	}
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || !v.IsField() {
		return nil
	}
	for {
		inner, deeper := ast.Unparen(sel.X).(*ast.SelectorExpr)
		if !deeper {
			break
		}
		sel = inner
	}
	root := k.x.variable(sel.X)
	if root == nil {
		return nil
	}
	def := k.x.defs[root] // nil for the variable of a type switch
	if d, ok := k.x.topDecl(e).(*ast.FuncDecl); ok && d.Recv != nil && def != nil && within(def, d.Recv) || root.Parent() == k.x.pass.Pkg.Scope() {
		return origin(v)
	}
	return nil
}

// counted finds a count that is compared with a constant, where what is above is refused.
func (k *knobs) counted(b *ast.BinaryExpr) {
	number, bound, op := b.X, b.Y, b.Op
	if _, isConst := k.constant(number); isConst {
		number, bound, op = b.Y, b.X, mirrored(op)
	}
	v, isConst := k.constant(bound)
	if !isConst || v.Kind() != constant.Int || op != token.LSS && op != token.LEQ && op != token.GTR && op != token.GEQ {
		return
	}
	if c, ok := k.countOf(number); ok && k.refuses(b, number, op) {
		k.capacity(bound, c)
	}
}

// countOf reports whether an expression is the number of what exists: of rows that a statement
// counts or lists, or of elements of something that several requests share. The call is nil
// without a statement.
func (k *knobs) countOf(e ast.Expr) (*sqlcall.Call, bool) {
	e = ast.Unparen(e)
	call, ok := e.(*ast.CallExpr)
	if !ok {
		if v := k.x.variable(e); v != nil {
			if from, ok := ast.Unparen(k.x.fixedValue(v)).(*ast.CallExpr); ok {
				if c := k.counts.funcs[k.x.callee(from)]; c != nil {
					return c, true
				}
			}
		}
		c := k.counts.scanned[k.x.named(e)]
		return c, c != nil || k.x.inRequest(e) && k.counts.grown[k.shared(e)]
	}
	if k.x.pass.TypesInfo.Types[call.Fun].IsType() && len(call.Args) == 1 { // a conversion
		return k.countOf(call.Args[0])
	}
	if isBuiltin(k.x.pass.TypesInfo, call, "len") {
		c := k.counts.listed[k.x.named(call.Args[0])]
		return c, c != nil || k.x.inRequest(e) && k.counts.grown[k.shared(call.Args[0])]
	}
	c := k.counts.funcs[k.x.callee(call)]
	return c, c != nil
}

// refuses reports whether a comparison decides that no more is let in: the branch above the
// bound leaves without what was counted, or the branch below it writes.
func (k *knobs) refuses(b *ast.BinaryExpr, number ast.Expr, op token.Token) bool {
	if _, answered := k.x.parent[b].(*ast.ReturnStmt); answered { // return n < capacity
		return true
	}
	branch := k.x.conditionOf(b)
	if branch == nil {
		return false
	}
	above := branch.Body
	if op == token.LSS || op == token.LEQ {
		otherwise, _ := branch.Else.(*ast.BlockStmt)
		if above = otherwise; above == nil {
			return k.writes(branch.Body)
		}
	}
	last := len(above.List) - 1
	if last < 0 {
		return false
	}
	if _, returns := above.List[last].(*ast.ReturnStmt); !returns {
		return false
	}
	list := ast.Unparen(number)
	call, isLen := list.(*ast.CallExpr)
	return !isLen || len(call.Args) != 1 || !k.x.mentions(above, k.x.named(call.Args[0]))
}

// writes reports whether a block sends a statement that is executed for its effect.
func (k *knobs) writes(b *ast.BlockStmt) bool {
	for _, c := range k.sql.Within(b) {
		if c.Op == sqlcall.Exec {
			return true
		}
	}
	return false
}

// mentions reports whether a node names an object.
func (x *index) mentions(n ast.Node, obj types.Object) bool {
	if obj == nil {
		return false
	}
	for _, id := range x.uses[origin(obj)] {
		if within(id, n) {
			return true
		}
	}
	return false
}

// capacity notes a constant that what exists is compared with.
func (k *knobs) capacity(e ast.Expr, c *sqlcall.Call) {
	e = ast.Unparen(e)
	v, isConst := k.constant(e)
	if !isConst || !constant.Compare(constant.ToInt(v), token.GEQ, constant.MakeInt64(leastCapacity)) {
		return
	}
	what := capacityWhat
	if obj, ok := k.x.named(e).(*types.Const); ok {
		what += ": " + obj.Name()
	}
	if k.add(e, capacity, what, capacityHow) && c != nil {
		k.found[len(k.found)-1].statements = []string{c.SQL()}
	}
}

// inText reports a number in the text of a statement that what exists is compared with.
func (k *knobs) inText(c *sqlcall.Call, number sqltext.Token) {
	n, err := strconv.Atoi(number.Text)
	if err != nil || n < leastCapacity {
		return
	}
	p := place{node: c.QueryArg, statements: []string{c.SQL()}, capacity: true, what: fmt.Sprintf("%s (%d)", capacityWhat, n), how: capacityHow}
	if p.node == nil {
		p.node = c.Expr
	}
	for _, v := range []struct {
		title string
		value int
	}{{"4 times", 4 * n}, {"double", 2 * n}, {"half", (n + 1) / 2}} {
		edits, ok := c.Text.Edits(sqltext.Edit{Start: number.Start, End: number.End, New: strconv.Itoa(v.value)})
		if !k.r.needs(ok, c.Expr, capacityPlaced) {
			break
		}
		p.fixes = append(p.fixes, suggested(v.title, edits)...)
	}
	if len(p.fixes) > 0 {
		p.promise, p.proof = Behaviour, Tested
		p.how = fmt.Sprintf("%s (%d or %d or %d)", capacityHow, 4*n, 2*n, (n+1)/2)
	}
	k.r.report(p)
}
