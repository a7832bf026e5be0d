package sqlcall

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

// A statement may have one of several texts, where conditions choose or add to it:
//
//	query := "SELECT … ORDER BY at DESC"
//	if !all {
//		query += " LIMIT 3"
//	}
//
// Its texts are found by following the statements from the variable's declaration to the call.

// mostVariants bounds the texts of one call.
const mostVariants = 8

// A chooser follows one local variable to one call.
type chooser struct {
	*Result
	v      *types.Var
	writes int               // places that set the variable, as Writes counts them
	path   map[ast.Node]bool // what encloses the call
	at     token.Pos         // of the call
	failed bool              // the variable is set in a way that is not followed
}

// texts are all texts that a call may send if its text is a variable that is set several
// times; nil if one of them is not known.
func (r *Result) texts(c *Call) []string {
	if c.QueryArg == nil {
		return nil
	}
	return r.textsOf(c.QueryArg, c.Cursor, 0)
}

func (r *Result) textsOf(e ast.Expr, at inspector.Cursor, depth int) []string {
	e = ast.Unparen(e)
	if text, ok := r.whole(e); ok {
		return []string{text}
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op != token.ADD || depth > maxDepth {
			return nil
		}
		return joined(r.textsOf(e.X, at, depth+1), r.textsOf(e.Y, at, depth+1))
	case *ast.Ident:
		if v, ok := r.pass.TypesInfo.Uses[e].(*types.Var); ok && depth <= maxDepth {
			return r.chosen(v, at)
		}
	case *ast.CallExpr:
		if r.isRebind(e) {
			return r.textsOf(e.Args[0], at, depth+1)
		}
	}
	return nil
}

// whole is the text of an expression that has one text.
func (r *Result) whole(e ast.Expr) (string, bool) {
	if v := r.pass.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v), true
	}
	t := r.resolve(e)
	if t == nil || t.Holes > 0 || t.Expanded {
		return "", false
	}
	return t.SQL, true
}

// joined are the sums of two lists of texts.
func joined(a, b []string) (out []string) {
	if len(a)*len(b) > mostVariants {
		return nil
	}
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// chosen are the texts that a local variable may have at a call.
func (r *Result) chosen(v *types.Var, at inspector.Cursor) []string {
	if v.IsField() || v.Parent() == r.pass.Pkg.Scope() || !isString(v.Type()) {
		return nil
	}
	w := &chooser{Result: r, v: v, path: map[ast.Node]bool{}, at: at.Node().Pos()}
	for c := range at.Enclosing() {
		n := c.Node()
		w.path[n] = true
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.FuncDecl, *ast.FuncLit:
			return nil // a parameter, or a variable around a closure
		}
		for i, s := range list {
			if first, ok := w.declares(s); ok && s.Pos() < w.at && !hasBranch(n, token.GOTO) {
				out := w.block(list[i+1:], first)
				if w.failed || w.writes != r.Writes[v] || len(out) > mostVariants {
					return nil
				}
				return out
			}
		}
	}
	return nil
}

// declares are the texts to which a statement that declares the variable sets it.
func (w *chooser) declares(s ast.Stmt) ([]string, bool) {
	switch s := s.(type) {
	case *ast.DeclStmt:
		g, ok := s.Decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			return nil, false
		}
		for _, spec := range g.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || !slices.ContainsFunc(v.Names, func(id *ast.Ident) bool { return w.pass.TypesInfo.Defs[id] == w.v }) {
				continue
			}
			if len(v.Values) == 0 {
				return []string{""}, true
			}
			w.writes++
			return w.declared(len(v.Names) == 1 && len(v.Values) == 1, v.Values[0]), true
		}
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			return nil, false
		}
		for i, l := range s.Lhs {
			if id, ok := l.(*ast.Ident); ok && w.pass.TypesInfo.Defs[id] == w.v {
				w.writes++
				return w.declared(len(s.Lhs) == len(s.Rhs), s.Rhs[min(i, len(s.Rhs)-1)]), true
			}
		}
	}
	return nil, false
}

func (w *chooser) declared(single bool, e ast.Expr) []string {
	if !single {
		w.failed = true
		return nil
	}
	return w.known(e)
}

// known is the text of an expression, and notes one that is not known. A variable that is
// set several times is none: it may change before the call.
func (w *chooser) known(e ast.Expr) []string {
	text, ok := w.whole(e)
	if !ok {
		w.failed = true
		return nil
	}
	return []string{text}
}

// block follows statements up to the call. What sets the variable behind it is not counted, so
// that the texts are refused.
func (w *chooser) block(list []ast.Stmt, texts []string) []string {
	for _, s := range list {
		if w.failed || s.Pos() > w.at || texts == nil {
			return texts
		}
		texts = w.statement(s, texts)
	}
	return texts
}

// statement is what a statement makes of the texts; nil where it leaves the block.
func (w *chooser) statement(s ast.Stmt, texts []string) []string {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return w.assign(s, texts)
	case *ast.BlockStmt:
		return w.block(s.List, texts)
	case *ast.IfStmt:
		return w.branches(s, texts)
	case *ast.SwitchStmt:
		return w.cases(s, s.Body, texts)
	case *ast.ReturnStmt, *ast.BranchStmt:
		return nil
	case *ast.ForStmt:
		return w.loop(s, s.Body, texts)
	case *ast.RangeStmt:
		return w.loop(s, s.Body, texts)
	}
	return texts // what it sets is not counted, so that the texts are refused
}

// loop follows the body of a loop around the call. Nothing in it may set the variable, which
// is declared outside of it: the next round would set it again.
func (w *chooser) loop(s ast.Stmt, body *ast.BlockStmt, texts []string) []string {
	if !w.path[s] {
		return texts
	}
	before := w.writes
	texts = w.block(body.List, texts)
	w.failed = w.failed || w.writes != before
	return texts
}

func (w *chooser) assign(s *ast.AssignStmt, texts []string) []string {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || !w.is(s.Lhs[0]) || w.rebinds(s) {
		return texts
	}
	w.writes++
	switch s.Tok {
	case token.ADD_ASSIGN:
		w.writes++ // as Writes counts it
		return w.limited(joined(texts, w.known(s.Rhs[0])))
	case token.ASSIGN:
		if b, ok := s.Rhs[0].(*ast.BinaryExpr); ok && b.Op == token.ADD && w.is(b.X) {
			return w.limited(joined(texts, w.known(b.Y)))
		}
		return w.known(s.Rhs[0])
	}
	w.failed = true
	return nil
}

func (w *chooser) limited(texts []string) []string {
	w.failed = w.failed || len(texts) == 0
	return texts
}

func (w *chooser) is(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && w.pass.TypesInfo.ObjectOf(id) == w.v
}

// branches follows both ways of an if, or the one to the call.
func (w *chooser) branches(s *ast.IfStmt, texts []string) []string {
	switch {
	case w.path[s.Body]:
		return w.block(s.Body.List, texts)
	case s.Else != nil && w.path[s.Else]:
		return w.statement(s.Else, texts)
	}
	then, other := w.block(s.Body.List, texts), texts
	if s.Else != nil {
		other = w.statement(s.Else, texts)
	}
	return union(then, other)
}

// cases follows the ways of a switch, or the one to the call.
func (w *chooser) cases(s ast.Stmt, body *ast.BlockStmt, texts []string) (out []string) {
	hasDefault := false
	for _, n := range body.List {
		c := n.(*ast.CaseClause)
		hasDefault = hasDefault || c.List == nil
		if w.path[c] {
			return w.block(c.Body, texts)
		}
		for _, inner := range withoutBreak(c.Body) {
			w.failed = w.failed || hasBranch(inner, token.BREAK) || hasBranch(inner, token.FALLTHROUGH)
		}
		out = union(out, w.block(withoutBreak(c.Body), texts))
	}
	if !hasDefault {
		out = union(out, texts)
	}
	return out
}

// withoutBreak is the body of a case without a break at its end.
func withoutBreak(list []ast.Stmt) []ast.Stmt {
	if n := len(list); n > 0 {
		if b, ok := list[n-1].(*ast.BranchStmt); ok && b.Tok == token.BREAK && b.Label == nil {
			return list[:n-1]
		}
	}
	return list
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// hasBranch reports whether a node has a branch of a kind.
func hasBranch(n ast.Node, kind token.Token) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && b.Tok == kind
		return !found
	})
	return found
}
