package index

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// A found is the analysis of one conjunct.
type found struct {
	preds    []Predicate
	ors      []either
	residual int
}

// where analyses a condition into the scope's block. In the ON of an outer
// join, only the predicates on the inner side filter. Elsewhere a predicate on
// an inner side makes the join an inner one, because it rejects NULL rows.
func (b *binder) where(e ast.ExprNode, sc *scope, inner []int) {
	for _, c := range conjuncts(e) {
		f := b.conjunct(c, sc, true)
		for _, p := range f.preds {
			if inner != nil && !slices.Contains(inner, p.Ref) {
				continue
			}
			if r := &sc.b.Refs[p.Ref]; inner == nil && r.left && p.Kind != PredNull {
				r.left, r.after = false, nil
			}
			sc.b.Predicates = append(sc.b.Predicates, p)
		}
		for _, o := range f.ors {
			if inner == nil || slices.Contains(inner, o.ref) {
				sc.b.ors = append(sc.b.ors, o)
			}
		}
		sc.b.residual += f.residual
	}
}

// conjuncts splits a condition at its top-level ANDs.
func conjuncts(e ast.ExprNode) []ast.ExprNode { return split(e, opcode.LogicAnd) }

func split(e ast.ExprNode, op opcode.Op) []ast.ExprNode {
	if n, ok := bare(e).(*ast.BinaryOperationExpr); ok && n.Op == op {
		return append(split(n.L, op), split(n.R, op)...)
	}
	return []ast.ExprNode{bare(e)}
}

// bare removes parentheses.
func bare(e ast.ExprNode) ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// conjunct analyses one conjunct. top is true at the top of a WHERE, where a
// subquery can be flattened into a join.
func (b *binder) conjunct(e ast.ExprNode, sc *scope, top bool) found {
	switch n := e.(type) {
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicOr:
			return b.either(n, sc)
		case opcode.EQ, opcode.NullEQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE:
			return b.compare(n, sc)
		}
	case *ast.PatternInExpr:
		return b.in(n, sc, top)
	case *ast.BetweenExpr:
		return b.between(n, sc)
	case *ast.IsNullExpr:
		return b.null(n, sc)
	case *ast.PatternLikeOrIlikeExpr:
		return b.like(n, sc)
	case *ast.ExistsSubqueryExpr:
		if sub, ok := n.Sel.(*ast.SubqueryExpr); ok && top && !n.Not {
			if sel, ok := flat(sub); ok {
				b.flatten(sel, sc)
				return found{}
			}
		}
	case *ast.FuncCallExpr:
		return b.call(n, sc)
	}
	b.touch(e, sc)
	return found{residual: 1}
}

// A side is one operand of a comparison.
type side struct {
	at      ColumnAt
	column  *catalog.Column // of a bare column of this block
	isCol   bool
	locals  []ColumnAt // columns of this block inside an expression
	literal byte       // 's' text, 'n' number, 0 not a literal
	plain   bool       // literals only: its text can be asked of the server
}

func (b *binder) side(e ast.ExprNode, sc *scope) side {
	e = bare(e)
	if c, ok := e.(*ast.ColumnNameExpr); ok {
		blk, at, ok := b.resolve(c.Name, sc)
		if ok && blk == sc.b {
			return side{at: at, isCol: true, locals: []ColumnAt{at}, column: blk.Column(at)}
		}
		return side{}
	}
	w := b.touch(e, sc)
	s := side{locals: w.locals, plain: w.plain()}
	if v, ok := e.(*test_driver.ValueExpr); ok {
		switch v.Kind() {
		case test_driver.KindString, test_driver.KindBytes:
			s.literal = 's'
		case test_driver.KindInt64, test_driver.KindUint64, test_driver.KindMysqlDecimal, test_driver.KindFloat64:
			s.literal = 'n'
		}
	}
	return s
}

// Column is the definition of a column of a ref; nil when unknown.
func (blk *Block) Column(at ColumnAt) *catalog.Column {
	if t := blk.Refs[at.Ref].Table; t != nil {
		return t.ByName[at.Col]
	}
	return nil
}

func (b *binder) compare(n *ast.BinaryOperationExpr, sc *scope) found {
	l, r := b.side(n.L, sc), b.side(n.R, sc)
	if !l.isCol && r.isCol {
		l, r = r, l
	}
	equal := n.Op == opcode.EQ || n.Op == opcode.NullEQ
	switch {
	case l.isCol && r.isCol && l.at.Ref != r.at.Ref && equal:
		return b.joins(l, r, n, sc)
	case l.isCol && len(r.locals) == 0:
		if b.unlike(l, r, n, sc) {
			return found{residual: 1}
		}
		kind := PredRange
		if equal {
			kind = PredEq
		} else if n.Op == opcode.NE {
			kind = PredNot
		}
		return found{preds: []Predicate{{ColumnAt: l.at, Kind: kind, Text: askable(n, r.plain)}}}
	case l.isCol && equal && !slices.ContainsFunc(r.locals, func(a ColumnAt) bool { return a.Ref == l.at.Ref }):
		return found{preds: []Predicate{{ColumnAt: l.at, Kind: PredJoin, With: r.locals[0]}}}
	case len(l.locals)+len(r.locals) == 1 && n.Op != opcode.NE:
		at := append(l.locals, r.locals...)[0]
		b.marked(markExpression, sc, at, n)
		return b.other(at, n, sc)
	}
	return found{residual: 1}
}

// other is a predicate that no index can serve, kept for its selectivity.
func (b *binder) other(at ColumnAt, n ast.Node, sc *scope) found {
	w := &walk{b: b, sc: sc}
	n.Accept(w)
	if w.opaque {
		return found{residual: 1}
	}
	return found{preds: []Predicate{{ColumnAt: at, Kind: PredOther, Text: unqualified(n)}}}
}

// joins analyses column = column of two refs. With unlike types, an index
// cannot be used on the text side, nor on the other side without a conversion
// that no server makes.
func (b *binder) joins(l, r side, n ast.Node, sc *scope) found {
	if l.column != nil && r.column != nil && (text(l.column) && numeric(r.column) || numeric(l.column) && text(r.column)) {
		at := l.at
		if text(r.column) {
			at = r.at
		}
		b.marked(markTypes, sc, at, n)
		return found{residual: 1}
	}
	return found{preds: []Predicate{{ColumnAt: l.at, Kind: PredJoin, With: r.at}, {ColumnAt: r.at, Kind: PredJoin, With: l.at}}}
}

// unlike reports whether a text column is compared with a number: the server
// then converts the text of every row.
func (b *binder) unlike(l, r side, n ast.Node, sc *scope) bool {
	if l.column == nil || !text(l.column) || r.literal != 'n' {
		return false
	}
	b.marked(markTypes, sc, l.at, n)
	return true
}

func (b *binder) marked(why markKind, sc *scope, at ColumnAt, n ast.Node) {
	b.st.marks = append(b.st.marks, mark{why: why, ref: sc.b.Refs[at.Ref].Table, col: at.Col, text: restore(n)})
}

func (b *binder) between(n *ast.BetweenExpr, sc *scope) found {
	c, lo, hi := b.side(n.Expr, sc), b.side(n.Left, sc), b.side(n.Right, sc)
	if c.isCol && !n.Not && len(lo.locals)+len(hi.locals) == 0 {
		if b.unlike(c, lo, n, sc) {
			return found{residual: 1}
		}
		return found{preds: []Predicate{{ColumnAt: c.at, Kind: PredRange, N: 2, Text: askable(n, lo.plain && hi.plain)}}}
	}
	if len(c.locals) == 1 && !c.isCol {
		b.marked(markExpression, sc, c.locals[0], n)
	}
	return found{residual: 1}
}

func (b *binder) null(n *ast.IsNullExpr, sc *scope) found {
	c := b.side(n.Expr, sc)
	if !c.isCol {
		return found{residual: 1}
	}
	kind := PredNull
	if n.Not {
		kind = PredRange
	}
	return found{preds: []Predicate{{ColumnAt: c.at, Kind: kind, Text: askable(n, true)}}}
}

func (b *binder) like(n *ast.PatternLikeOrIlikeExpr, sc *scope) found {
	c, p := b.side(n.Expr, sc), b.side(n.Pattern, sc)
	v, ok := bare(n.Pattern).(*test_driver.ValueExpr)
	if !c.isCol || n.Not || len(p.locals) > 0 {
		return found{residual: 1}
	}
	pattern := ""
	switch head, built := concatHead(n.Pattern); {
	case ok && p.literal == 's':
		pattern = v.GetString()
	case built: // the rest is not known, and may be a prefix
		pattern = head + "%"
	default:
		return found{preds: []Predicate{{ColumnAt: c.at, Kind: PredPrefix}}}
	}
	if pattern == "" || pattern[0] == '%' || pattern[0] == '_' {
		b.marked(markWildcard, sc, c.at, n)
		return found{preds: []Predicate{{ColumnAt: c.at, Kind: PredOther, Text: askable(n, true)}}}
	}
	kind := PredPrefix
	if !strings.ContainsAny(pattern, "%_") {
		kind = PredEq
	}
	return found{preds: []Predicate{{ColumnAt: c.at, Kind: kind, Text: askable(n, true)}}}
}

// concatHead is the text with which a pattern begins that CONCAT builds; ok is false if
// the text is not known.
func concatHead(n ast.ExprNode) (head string, ok bool) {
	call, ok := bare(n).(*ast.FuncCallExpr)
	if !ok || call.FnName.L != ast.Concat || len(call.Args) == 0 {
		return "", false
	}
	v, ok := bare(call.Args[0]).(*test_driver.ValueExpr)
	if !ok || v.Kind() != test_driver.KindString {
		return "", false
	}
	return v.GetString(), v.GetString() != ""
}

func (b *binder) in(n *ast.PatternInExpr, sc *scope, top bool) found {
	if n.Sel != nil {
		return b.inQuery(n, sc, top)
	}
	if row, ok := bare(n.Expr).(*ast.RowExpr); ok {
		return b.inRows(row, n, sc)
	}
	c := b.side(n.Expr, sc)
	plain := true
	for _, e := range n.List {
		s := b.side(e, sc)
		if len(s.locals) > 0 || c.isCol && b.unlike(c, s, n, sc) {
			return found{residual: 1}
		}
		plain = plain && s.plain
	}
	if !c.isCol {
		if len(c.locals) == 1 && !n.Not {
			b.marked(markExpression, sc, c.locals[0], n)
		}
		return found{residual: 1}
	}
	p := Predicate{ColumnAt: c.at, Kind: PredIn, N: len(n.List), Text: askable(n, plain)}
	switch {
	case n.Not:
		p.Kind = PredNot
	case len(n.List) == 1:
		p.Kind = PredEq
	}
	return found{preds: []Predicate{p}}
}

// inRows analyses (a, b) IN ((1, 2), (3, 4)) as one IN per column.
func (b *binder) inRows(row *ast.RowExpr, n *ast.PatternInExpr, sc *scope) found {
	f := found{residual: 1}
	for _, e := range n.List {
		b.touch(e, sc)
	}
	for _, e := range row.Values {
		if c := b.side(e, sc); c.isCol && !n.Not {
			f.preds = append(f.preds, Predicate{ColumnAt: c.at, Kind: PredIn, N: len(n.List)})
		}
	}
	return f
}

// inQuery analyses column IN (SELECT …): flattened into a semi-join where the
// server does so, else as a separate query.
func (b *binder) inQuery(n *ast.PatternInExpr, sc *scope, top bool) found {
	sub, ok := n.Sel.(*ast.SubqueryExpr)
	c := b.side(n.Expr, sc)
	if !ok {
		return found{residual: 1}
	}
	if sel, ok := flat(sub); ok && top && !n.Not && c.isCol && len(sel.Fields.Fields) == 1 && sel.Fields.Fields[0].Expr != nil {
		inner := b.flatten(sel, sc)
		if o := b.side(sel.Fields.Fields[0].Expr, inner); o.isCol && o.at.Ref != c.at.Ref {
			sc.b.addJoin(c.at, o.at)
			return found{}
		}
		return found{residual: 1}
	}
	if node, ok := sub.Query.(ast.Node); ok {
		b.query(node, sc)
	}
	return found{residual: 1}
}

// flat reports whether a subquery can be flattened into a semi-join.
func flat(sub *ast.SubqueryExpr) (*ast.SelectStmt, bool) {
	sel, ok := sub.Query.(*ast.SelectStmt)
	if !ok || sel.From == nil || sel.GroupBy != nil || sel.Having != nil || sel.Limit != nil || sel.With != nil || sel.Fields == nil {
		return nil, false
	}
	for _, f := range sel.Fields.Fields {
		if _, agg := f.Expr.(*ast.AggregateFuncExpr); agg {
			return nil, false
		}
	}
	return sel, true
}

// flatten adds the tables and conditions of a subquery to the block.
func (b *binder) flatten(sel *ast.SelectStmt, sc *scope) *scope {
	inner := &scope{b: sc.b, up: sc}
	b.from(sel.From.TableRefs, inner)
	for _, i := range inner.refs {
		sc.b.Refs[i].Semi = true
	}
	if sel.Where != nil {
		b.where(sel.Where, inner, nil)
	}
	return inner
}

// either analyses a disjunction.
func (b *binder) either(n *ast.BinaryOperationExpr, sc *scope) found {
	var arms []found
	for _, e := range split(n, opcode.LogicOr) {
		var arm found
		for _, c := range conjuncts(e) {
			f := b.conjunct(c, sc, false)
			for _, p := range f.preds {
				if p.Kind == PredOther {
					arm.residual++
				} else {
					arm.preds = append(arm.preds, p)
				}
			}
			arm.residual += f.residual + len(f.ors)
		}
		arms = append(arms, arm)
	}
	f := found{residual: 1}
	if len(arms[0].preds) == 0 {
		return f
	}
	ref := arms[0].preds[0].Ref
	for _, at := range commonColumns(arms) {
		if p, whole := oneColumn(arms, at); whole {
			p.Text = askable(n, p.Text != "")
			return found{preds: []Predicate{p}}
		} else if p.Text != "" {
			f.preds = append(f.preds, p)
		}
	}
	or := either{ref: ref}
	for _, a := range arms {
		usable := slices.DeleteFunc(slices.Clone(a.preds), func(p Predicate) bool { return p.Ref != ref })
		if len(usable) == 0 {
			return f
		}
		or.arms = append(or.arms, usable)
	}
	f.ors = []either{or}
	return f
}

// commonColumns are the columns that every arm restricts.
func commonColumns(arms []found) []ColumnAt {
	var out []ColumnAt
	for _, p := range arms[0].preds {
		in := func(a found) bool {
			return slices.ContainsFunc(a.preds, func(q Predicate) bool { return q.ColumnAt == p.ColumnAt })
		}
		if !slices.Contains(out, p.ColumnAt) && !slices.ContainsFunc(arms[1:], func(a found) bool { return !in(a) }) {
			out = append(out, p.ColumnAt)
		}
	}
	return out
}

// oneColumn is the restriction of one column by a disjunction whose arms all
// restrict it: an IN if all are equalities, else a range. whole is true if the
// arms restrict nothing else.
func oneColumn(arms []found, at ColumnAt) (p Predicate, whole bool) {
	p, whole = Predicate{ColumnAt: at, Kind: PredIn}, true
	var texts []string
	for _, a := range arms {
		whole = whole && len(a.preds) == 1 && a.residual == 0
		i := slices.IndexFunc(a.preds, func(q Predicate) bool { return q.ColumnAt == at })
		q := a.preds[i]
		texts = append(texts, q.Text)
		p.N += max(1, q.N)
		if q.Kind != PredEq && q.Kind != PredIn && q.Kind != PredNull {
			p.Kind = PredRange
		}
	}
	if !slices.Contains(texts, "") {
		p.Text = strings.Join(texts, " OR ")
	}
	return p, whole
}

var spatialCalls = []string{"st_contains", "st_within", "st_intersects", "st_overlaps", "st_touches", "st_crosses",
	"st_equals", "mbrcontains", "mbrwithin", "mbrintersects", "mbroverlaps", "mbrtouches", "mbrequal", "mbrequals",
	"contains", "within", "intersects", "overlaps"}

// call analyses a function used as a condition; only functions of geometry can
// use an index.
func (b *binder) call(n *ast.FuncCallExpr, sc *scope) found {
	if !slices.Contains(spatialCalls, n.FnName.L) || len(n.Args) != 2 {
		b.touch(n, sc)
		return found{residual: 1}
	}
	l, r := b.side(n.Args[0], sc), b.side(n.Args[1], sc)
	if !l.isCol {
		l, r = r, l
	}
	switch {
	case l.isCol && len(r.locals) == 0:
		return found{preds: []Predicate{{ColumnAt: l.at, Kind: PredSpatial, Text: askable(n, r.plain)}}}
	case len(l.locals)+len(r.locals) > 0:
		b.marked(markSpatial, sc, append(l.locals, r.locals...)[0], n)
	}
	return found{residual: 1}
}
