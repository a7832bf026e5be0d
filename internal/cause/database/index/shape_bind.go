package index

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// A binder turns a parsed statement into blocks.
type binder struct {
	schema *Schema
	db     string
	st     *Statement
	ctes   map[string]*ast.CommonTableExpression
	depth  int
}

// A scope is the refs that a name may refer to, with the scope of the outer
// query.
type scope struct {
	b     *Block
	refs  []int
	names map[string]ast.ExprNode // output aliases
	up    *scope
}

func (b *binder) selects(n *ast.SelectStmt, up *scope) *Block {
	blk := b.newBlock(up)
	if b.depth++; b.depth > 50 {
		return blk
	}
	defer func() { b.depth-- }()
	b.with(n.With)
	sc := &scope{b: blk, up: up}
	b.body(n, sc)
	return blk
}

func (b *binder) with(w *ast.WithClause) {
	if w == nil {
		return
	}
	for _, c := range w.CTEs {
		b.ctes[c.Name.L] = c
		if !w.IsRecursive {
			if q, ok := c.Query.Query.(ast.Node); ok {
				b.query(q, nil)
			}
		}
	}
}

// body reads the clauses of a SELECT into the scope's block.
func (b *binder) body(n *ast.SelectStmt, sc *scope) {
	if n.From != nil {
		b.from(n.From.TableRefs, sc)
	}
	b.fields(n.Fields, sc)
	if n.Where != nil {
		b.where(n.Where, sc, nil)
	}
	sc.b.Distinct = n.Distinct
	if n.GroupBy != nil {
		for _, item := range n.GroupBy.Items {
			if at, ok := b.item(item.Expr, sc); ok {
				sc.b.Group = append(sc.b.Group, at)
			} else {
				sc.b.BadGroup = true
			}
		}
	}
	if n.Having != nil {
		b.touch(n.Having.Expr, sc)
	}
	b.orderBy(n.OrderBy, sc)
	b.limits(n.Limit, sc.b)
}

func (b *binder) query(q ast.Node, up *scope) {
	switch q := q.(type) {
	case *ast.SelectStmt:
		b.selects(q, up)
	case *ast.SetOprStmt:
		b.union(q, up)
	case *ast.SetOprSelectList:
		for _, s := range q.Selects {
			b.query(s, up)
		}
	}
}

func (b *binder) union(n *ast.SetOprStmt, up *scope) {
	b.with(n.With)
	for _, s := range n.SelectList.Selects {
		b.query(s, up)
	}
}

func (b *binder) update(n *ast.UpdateStmt) {
	sc := &scope{b: b.newBlock(nil)}
	b.from(n.TableRefs.TableRefs, sc)
	for _, a := range n.List {
		if blk, at, ok := b.resolve(a.Column, sc); ok && blk == sc.b {
			b.st.Sets = append(b.st.Sets, at.Col)
			b.st.Into = blk.Refs[at.Ref].Table
		}
		b.touch(a.Expr, sc)
	}
	b.writes(sc, n.Where, n.Order, n.Limit)
}

func (b *binder) deletes(n *ast.DeleteStmt) {
	sc := &scope{b: b.newBlock(nil)}
	b.from(n.TableRefs.TableRefs, sc)
	b.writes(sc, n.Where, n.Order, n.Limit)
}

// writes analyses the part that UPDATE and DELETE share. All columns are read:
// the row is locked and changed in the clustered index.
func (b *binder) writes(sc *scope, where ast.ExprNode, order *ast.OrderByClause, limit *ast.Limit) {
	if where != nil {
		b.where(where, sc, nil)
	}
	b.orderBy(order, sc)
	b.limits(limit, sc.b)
	if b.st.Into == nil && len(sc.b.Refs) > 0 {
		b.st.Into = sc.b.Refs[0].Table
	}
	for i := range sc.b.All {
		sc.b.All[i] = true
	}
}

func (b *binder) insert(n *ast.InsertStmt) {
	if n.Table != nil {
		if src, ok := n.Table.TableRefs.Left.(*ast.TableSource); ok {
			if tn, ok := src.Source.(*ast.TableName); ok {
				b.st.Into = b.schema.find(tn.Schema.O, tn.Name.O, b.db)
			}
		}
	}
	b.st.Rows, b.st.Upsert = len(n.Lists), len(n.OnDuplicate) > 0
	if n.Select != nil {
		b.query(n.Select, nil)
	}
}

// from adds the refs of a FROM clause to the scope.
func (b *binder) from(n ast.ResultSetNode, sc *scope) {
	switch n := n.(type) {
	case *ast.Join:
		b.join(n, sc)
	case *ast.TableSource:
		b.source(n, sc)
	}
}

func (b *binder) source(n *ast.TableSource, sc *scope) {
	r := Ref{Alias: n.AsName.L}
	switch src := n.Source.(type) {
	case *ast.TableName:
		if r.Alias == "" {
			r.Alias = src.Name.L
		}
		if _, cte := b.ctes[src.Name.L]; !cte || src.Schema.L != "" {
			r.Table = b.schema.find(src.Schema.O, src.Name.O, b.db)
		}
		b.hints(src.IndexHints, &r)
	case *ast.Join:
		b.from(src, sc)
		return
	default:
		up := (*scope)(nil)
		if n.Lateral {
			up = sc
		}
		b.query(src, up)
	}
	sc.refs = append(sc.refs, sc.b.addRef(r))
}

// hints records the indexes named in a statement, and their effect on reading a
// table; hints only for the order or the groups have none.
func (b *binder) hints(hints []*ast.IndexHint, r *Ref) {
	for _, h := range hints {
		var named []string
		for _, n := range h.IndexNames {
			named = append(named, n.L)
			b.st.hints = append(b.st.hints, hint{r.Table, n.L})
		}
		switch {
		case h.HintScope != ast.HintForScan && h.HintScope != ast.HintForJoin:
		case h.HintType == ast.HintIgnore:
			r.never = append(r.never, named...)
		case h.HintType == ast.HintUse || h.HintType == ast.HintForce:
			r.only = append(append([]string{}, r.only...), named...) // USE INDEX () allows no index
		}
	}
}

// allows reports whether the hints of a ref permit an index.
func (r Ref) allows(ix *Index) bool {
	name := strings.ToLower(ix.Name)
	return (r.only == nil || slices.Contains(r.only, name)) && !slices.Contains(r.never, name)
}

func (b *binder) join(n *ast.Join, sc *scope) {
	left, right := n.Left, n.Right
	if n.Tp == ast.RightJoin {
		left, right = right, left
	}
	b.from(left, sc)
	if right == nil {
		return
	}
	before := append([]int(nil), sc.refs...)
	b.from(right, sc)
	inner := sc.refs[len(before):]
	outer := n.Tp == ast.LeftJoin || n.Tp == ast.RightJoin
	if outer {
		for _, i := range inner {
			sc.b.Refs[i].left = true
			sc.b.Refs[i].after = before
		}
	}
	if n.On != nil {
		only := inner
		if !outer {
			only = nil
		}
		b.where(n.On.Expr, sc, only)
	}
	for _, c := range n.Using {
		b.using(c.Name.L, before, inner, sc)
	}
}

// using joins two sides on a column that both have.
func (b *binder) using(col string, left, right []int, sc *scope) {
	l, okL := sc.b.owner(col, left)
	r, okR := sc.b.owner(col, right)
	if okL && okR {
		sc.b.addJoin(l, r)
	}
}

// addJoin records l = r on both sides.
func (blk *Block) addJoin(l, r ColumnAt) {
	blk.use(l)
	blk.use(r)
	blk.Predicates = append(blk.Predicates, Predicate{ColumnAt: l, Kind: PredJoin, With: r}, Predicate{ColumnAt: r, Kind: PredJoin, With: l})
}

func (blk *Block) owner(col string, refs []int) (ColumnAt, bool) {
	for _, i := range refs {
		if t := blk.Refs[i].Table; t != nil && t.ByName[col] != nil {
			return ColumnAt{i, col}, true
		}
	}
	return ColumnAt{}, false
}

func (blk *Block) use(at ColumnAt) { blk.Used[at.Ref][at.Col] = true }

// resolve finds the ref of a column name; the returned block may be that of an
// outer query.
func (b *binder) resolve(n *ast.ColumnName, sc *scope) (*Block, ColumnAt, bool) {
	for s := sc; s != nil; s = s.up {
		if at, ok := s.lookup(n); ok {
			if s.b != sc.b {
				sc.b.correlated = true
			}
			s.b.use(at)
			return s.b, at, true
		}
	}
	return nil, ColumnAt{}, false
}

func (s *scope) lookup(n *ast.ColumnName) (ColumnAt, bool) {
	if n.Table.L == "" {
		at, ok := s.b.owner(n.Name.L, s.refs)
		if !ok && len(s.refs) == 1 && s.b.Refs[s.refs[0]].Table == nil {
			return ColumnAt{s.refs[0], n.Name.L}, true
		}
		return at, ok
	}
	for _, i := range s.refs {
		if s.b.Refs[i].Alias == n.Table.L {
			return ColumnAt{i, n.Name.L}, true
		}
	}
	return ColumnAt{}, false
}

// fields analyses the output list: columns to read, aggregates, aliases.
func (b *binder) fields(list *ast.FieldList, sc *scope) {
	if list == nil {
		return
	}
	sc.names = map[string]ast.ExprNode{}
	counts := 0
	for _, f := range list.Fields {
		if f.WildCard != nil {
			b.wildcard(f.WildCard, sc)
			continue
		}
		if f.AsName.L != "" {
			sc.names[f.AsName.L] = f.Expr
		}
		if agg, ok := f.Expr.(*ast.AggregateFuncExpr); ok && strings.EqualFold(agg.F, "count") {
			counts++
		}
		if w := b.touch(f.Expr, sc); len(w.locals) == 1 && !w.opaque && column(f.Expr) {
			sc.b.Outputs = append(sc.b.Outputs, w.locals[0])
		}
	}
	if len(sc.b.Outputs) < len(list.Fields) {
		sc.b.Outputs = nil
	}
	sc.b.CountAll = counts > 0 && counts == len(list.Fields)
}

// column is the column of an expression that is only a column.
func column(e ast.ExprNode) bool {
	_, ok := bare(e).(*ast.ColumnNameExpr)
	return ok
}

func (b *binder) wildcard(w *ast.WildCardField, sc *scope) {
	for _, i := range sc.refs {
		if w.Table.L == "" || sc.b.Refs[i].Alias == w.Table.L {
			sc.b.All[i] = true
		}
	}
}

func (b *binder) orderBy(n *ast.OrderByClause, sc *scope) {
	if n == nil {
		return
	}
	for _, item := range n.Items {
		at, ok := b.item(item.Expr, sc)
		if !ok {
			if sc.b.BadOrder == "" {
				sc.b.BadOrder = restore(item.Expr)
			}
			continue
		}
		sc.b.Order = append(sc.b.Order, OrderItem{at, item.Desc})
	}
}

// item resolves an item of ORDER BY or GROUP BY: a column, a position, or an
// output alias.
func (b *binder) item(e ast.ExprNode, sc *scope) (ColumnAt, bool) {
	e = bare(e)
	if p, ok := e.(*ast.PositionExpr); ok {
		return b.position(p, sc)
	}
	c, ok := e.(*ast.ColumnNameExpr)
	if !ok {
		b.expression(e, sc)
		return ColumnAt{}, false
	}
	if c.Name.Table.L == "" {
		if named := sc.names[c.Name.Name.L]; named != nil {
			if inner, ok := bare(named).(*ast.ColumnNameExpr); ok {
				c = inner
			} else {
				return ColumnAt{}, false
			}
		}
	}
	blk, at, ok := b.resolve(c.Name, sc)
	return at, ok && blk == sc.b
}

// expression marks an order by an expression over columns. Expressions over
// groups are not marked.
func (b *binder) expression(e ast.ExprNode, sc *scope) {
	had := sc.b.Aggregates || len(sc.b.MinMax) > 0
	w := b.touch(e, sc)
	if !had && !sc.b.Aggregates && len(sc.b.MinMax) == 0 && len(w.locals) > 0 {
		b.marked(markOrder, sc, w.locals[0], e)
	}
}

// position resolves ORDER BY 2; without the output list the position is
// ignored.
func (b *binder) position(*ast.PositionExpr, *scope) (ColumnAt, bool) { return ColumnAt{}, false }

func (b *binder) limits(n *ast.Limit, blk *Block) {
	if n == nil {
		return
	}
	blk.Limited = true
	blk.Limit, blk.Offset = number(n.Count, 20), number(n.Offset, 0)
}

// number is the value of a literal, or byDefault for a placeholder.
func number(e ast.ExprNode, byDefault float64) float64 {
	if v, ok := e.(*test_driver.ValueExpr); ok {
		switch v.Kind() {
		case test_driver.KindInt64:
			return float64(v.GetInt64())
		case test_driver.KindUint64:
			return float64(v.GetUint64())
		}
	}
	return byDefault
}
