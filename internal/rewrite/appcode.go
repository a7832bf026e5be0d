package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

// An appCode is the packages that are analysed together, for what one package alone does not
// show: who calls a function of another package, also through an interface.
type appCode struct {
	parts []*part
	// sites are the calls of each function, those through an interface among them.
	sites map[*types.Func][]site
	decls map[*types.Func]*part // the package that declares a function
	// methods are the methods of the program that a call through an interface may reach.
	methods map[*types.Func][]*types.Func
	facts   Facts
}

// A part is one of the packages.
type part struct {
	pkg   *packages.Package
	x     *index
	calls *sqlcall.Result
	use   *cacheUse // nil if it was not asked for
	sent  []*sent
}

// A site is a call in a package.
type site struct {
	p    *part
	call *ast.CallExpr
}

// A sent is a call that sends a statement.
type sent struct {
	site
	texts   []string // that it may send, as far as they are known
	args    []ast.Expr
	dests   []ast.Expr
	inserts bool   // it adds a row; otherwise it reads
	mapper  string // that makes the text, "" where the source has it
	how     string // what a mapper has instead of a loop
}

// appCodeOf is the program of the packages that were analysed by indexAnalyzer and
// sqlcall.Analyzer.
func appCodeOf(graph *checker.Graph) *appCode {
	g := &appCode{sites: map[*types.Func][]site{}, decls: map[*types.Func]*part{}, methods: map[*types.Func][]*types.Func{}}
	of := map[*packages.Package]*part{}
	for _, act := range graph.Roots {
		p := of[act.Package]
		if p == nil {
			p = &part{pkg: act.Package}
			of[act.Package] = p
			g.parts = append(g.parts, p)
		}
		switch r := act.Result.(type) {
		case *index:
			p.x = r
		case *sqlcall.Result:
			p.calls = r
		case *cacheUse:
			p.use = r
		}
	}
	g.parts = slices.DeleteFunc(g.parts, func(p *part) bool { return p.x == nil || p.calls == nil })
	for _, p := range g.parts {
		for fn := range p.x.decls {
			g.decls[fn] = p
		}
	}
	for _, p := range g.parts {
		for fn, calls := range p.x.calls {
			for _, call := range calls {
				for _, to := range g.reached(fn) {
					g.sites[to] = append(g.sites[to], site{p, call})
				}
			}
		}
		p.sent = sentIn(p)
	}
	for _, list := range g.sites {
		slices.SortStableFunc(list, func(a, b site) int { return int(a.call.Pos() - b.call.Pos()) })
	}
	return g
}

// reached are the declared functions that a call of a function may run.
func (g *appCode) reached(fn *types.Func) []*types.Func {
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		if g.decls[fn] == nil {
			return nil
		}
		return []*types.Func{fn}
	}
	if known, ok := g.methods[fn]; ok {
		return known
	}
	var found []*types.Func
	face := recv.Type().Underlying().(*types.Interface)
	for method := range g.decls {
		to := method.Signature().Recv()
		if to == nil || method.Name() != fn.Name() {
			continue
		}
		if named := namedOf(to.Type()); named != nil && named.TypeParams().Len() == 0 && (types.Satisfies(named, face) || types.Satisfies(types.NewPointer(named), face)) {
			found = append(found, method)
		}
	}
	slices.SortFunc(found, func(a, b *types.Func) int { return int(a.Pos() - b.Pos()) })
	g.methods[fn] = found
	return found
}

// sentIn finds the calls of a package that read rows or add one: by a text, or by a mapper.
func sentIn(p *part) (out []*sent) {
	for _, c := range p.calls.Calls {
		if c.Text == nil && c.Texts == nil || c.Op == sqlcall.Prepare || leftAlone(p.x.pass, c) {
			continue
		}
		s := &sent{site: site{p, c.Expr}, args: c.Args, dests: c.Dests}
		switch text := sentText(c); {
		case c.Texts != nil:
			if s.texts = c.Texts; c.Op == sqlcall.Exec || slices.ContainsFunc(c.Texts, func(t string) bool { return !IsSelect(t) }) {
				continue
			}
		case c.Op != sqlcall.Exec && IsSelect(text):
			if c.Text.Holes == 0 {
				s.texts = []string{text}
			}
		case c.Op == sqlcall.Exec && isInsert(text) && c.Text.Holes == 0 && !c.Spread: // of one row
			s.texts, s.inserts = []string{text}, true
		default:
			continue
		}
		if c.Op == sqlcall.Query {
			s.dests = scannedInto(p.x, c.Expr)
		}
		out = append(out, s)
	}
	for _, f := range p.x.files {
		if ast.IsGenerated(f) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name, how := mapperIn(p.x.pass.TypesInfo, call); name != "" {
				s := &sent{site: site{p, call}, texts: mapperTexts(p.x, call), mapper: name, how: how}
				s.chained()
				out = append(out, s)
			}
			return true
		})
	}
	slices.SortStableFunc(out, func(a, b *sent) int { return int(a.call.Pos() - b.call.Pos()) })
	return out
}

// isInsert reports whether a statement adds rows.
func isInsert(sql string) bool {
	return len(sql) > 6 && (startsWith(sql, "INSERT") || startsWith(sql, "REPLACE"))
}

func startsWith(sql, word string) bool {
	for len(sql) > 0 && (sql[0] == ' ' || sql[0] == '\n' || sql[0] == '\t' || sql[0] == '\r') {
		sql = sql[1:]
	}
	return len(sql) >= len(word) && equalFoldASCII(sql[:len(word)], word)
}

func equalFoldASCII(a, b string) bool {
	for i := range len(a) {
		if a[i]&^0x20 != b[i]&^0x20 {
			return false
		}
	}
	return true
}

// chained notes the arguments of all calls of a mapper's chain, and the destination of the
// last one.
func (s *sent) chained() {
	for call := s.call; ; {
		for i, a := range call.Args {
			if u, ok := ast.Unparen(a).(*ast.UnaryExpr); ok && u.Op == token.AND && call == s.call && i == 0 {
				if _, plain := ast.Unparen(u.X).(*ast.CompositeLit); !plain {
					s.dests = append(s.dests, a)
					continue
				}
			}
			if call == s.call && i == 0 && s.p.x.variable(a) != nil {
				s.dests = append(s.dests, a)
				continue
			}
			s.args = append(s.args, a)
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return
		}
		from := ast.Unparen(sel.X)
		if v := s.p.x.variable(from); v != nil && isLocal(v) {
			if set := s.p.x.setBefore(v, from.Pos()); set != nil && set.Pos() < call.Pos() {
				from = ast.Unparen(set)
			}
		}
		if call, ok = from.(*ast.CallExpr); !ok {
			return
		}
	}
}

// scannedInto are the variables to which the rows of a Query are appended, or into which
// they are scanned: rows, err := db.Query(…); for rows.Next() { … xs = append(xs, x) }.
func scannedInto(x *index, query *ast.CallExpr) (out []ast.Expr) {
	a, ok := x.parent[query].(*ast.AssignStmt)
	if !ok || len(a.Lhs) == 0 {
		return nil
	}
	rows := x.variable(a.Lhs[0])
	if rows == nil {
		return nil
	}
	out = append(out, a.Lhs[0])
	for _, id := range x.uses[rows] {
		loop := enclosing[*ast.ForStmt](x, id)
		if loop == nil || id.Pos() > loop.Body.Pos() {
			continue
		}
		ast.Inspect(loop.Body, func(n ast.Node) bool {
			if set, ok := n.(*ast.AssignStmt); ok && len(set.Rhs) == 1 && len(set.Lhs) == 1 {
				if call, ok := set.Rhs[0].(*ast.CallExpr); ok && isBuiltin(x.pass.TypesInfo, call, "append") {
					out = append(out, set.Lhs[0])
				}
			}
			return true
		})
	}
	return out
}
