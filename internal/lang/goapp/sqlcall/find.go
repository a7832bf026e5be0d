package sqlcall

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// index counts uses and writes of objects and keeps what they are set to.
func (r *Result) index(root inspector.Cursor) {
	info := r.pass.TypesInfo
	for _, obj := range info.Uses {
		r.Uses[obj]++
	}
	rebound := map[*ast.AssignStmt]bool{}
	for c := range root.Preorder((*ast.AssignStmt)(nil)) {
		if n := c.Node().(*ast.AssignStmt); r.rebinds(n) {
			rebound[n] = true
			r.bound[info.ObjectOf(n.Lhs[0].(*ast.Ident))] = true
			r.Uses[info.ObjectOf(n.Lhs[0].(*ast.Ident))] -= 2
		}
	}
	kinds := []ast.Node{(*ast.SelectorExpr)(nil), (*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.UnaryExpr)(nil), (*ast.IncDecStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncDecl)(nil)}
	for c := range root.Preorder(kinds...) {
		switch n := c.Node().(type) {
		case *ast.AssignStmt:
			if rebound[n] {
				continue
			}
			r.assigned(n.Lhs, n.Rhs)
			if n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
				r.write(n.Lhs[0]) // += adds to what it was: it counts twice
			}
		case *ast.ValueSpec:
			var lhs []ast.Expr
			for _, name := range n.Names {
				lhs = append(lhs, name)
			}
			if len(n.Values) > 0 {
				r.assigned(lhs, n.Values)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				r.write(n.X)
			}
		case *ast.IncDecStmt:
			r.write(n.X)
		case *ast.RangeStmt:
			r.write(n.Key)
			r.write(n.Value)
		case *ast.FuncDecl:
			if f, ok := info.Defs[n.Name].(*types.Func); ok {
				r.funcs[f] = n
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && n.Sel.Name == "Close" {
				r.closes[info.ObjectOf(id)]++
			}
		}
	}
}

// rebinds reports whether a statement is text = db.Rebind(text), which keeps the
// question marks of MySQL and SQLite: it does not change the variable.
func (r *Result) rebinds(a *ast.AssignStmt) bool {
	if a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	v, ok := a.Lhs[0].(*ast.Ident)
	call, isCall := a.Rhs[0].(*ast.CallExpr)
	if !ok || !isCall || len(call.Args) != 1 || !r.isRebind(call) {
		return false
	}
	arg, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	obj := r.pass.TypesInfo.ObjectOf(v)
	return ok && obj != nil && r.pass.TypesInfo.ObjectOf(arg) == obj
}

// isRebind reports whether a call is Rebind of sqlx.
func (r *Result) isRebind(call *ast.CallExpr) bool {
	f, ok := typeutil.Callee(r.pass.TypesInfo, call).(*types.Func)
	return ok && f.Pkg() != nil && f.Name() == "Rebind" && f.Pkg().Path() == sqlxPath && len(call.Args) == 1
}

// Unbound is the argument of Rebind of sqlx, and any other expression as it is.
func (r *Result) Unbound(e ast.Expr) ast.Expr {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && r.isRebind(call) {
		return call.Args[0]
	}
	return e
}

func (r *Result) assigned(lhs, rhs []ast.Expr) {
	for i, l := range lhs {
		r.write(l)
		id, ok := l.(*ast.Ident)
		if !ok {
			continue
		}
		obj := r.pass.TypesInfo.ObjectOf(id)
		switch {
		case obj == nil:
		case len(lhs) == len(rhs):
			r.values[obj] = value{expr: rhs[i]}
		case len(rhs) == 1:
			r.values[obj] = value{expr: rhs[0], index: i}
		}
	}
}

func (r *Result) write(e ast.Expr) {
	if id, ok := e.(*ast.Ident); ok {
		if obj := r.pass.TypesInfo.ObjectOf(id); obj != nil {
			r.Writes[obj]++
		}
	}
}

const (
	sqlPath  = "database/sql"
	sqlxPath = "github.com/jmoiron/sqlx"
)

// ops are the names of methods, without "Context" at the end.
var ops = map[string]Call{
	"Query":         {Op: Query},
	"Queryx":        {Op: Query, Sqlx: true},
	"NamedQuery":    {Op: Query, Sqlx: true, Named: true},
	"QueryRow":      {Op: QueryRow},
	"QueryRowx":     {Op: QueryRow, Sqlx: true},
	"Get":           {Op: Get, Sqlx: true},
	"Select":        {Op: Select, Sqlx: true},
	"Exec":          {Op: Exec},
	"MustExec":      {Op: Exec, Must: true},
	"NamedExec":     {Op: Exec, Sqlx: true, Named: true},
	"Prepare":       {Op: Prepare},
	"Preparex":      {Op: Prepare, Sqlx: true},
	"PrepareNamed":  {Op: Prepare, Sqlx: true, Named: true},
	"MustPrepare":   {Op: Prepare, Must: true},
	"NamedQueryRow": {Op: QueryRow, Sqlx: true, Named: true},
}

// call recognises one call; nil if it sends no statement.
func (r *Result) call(cur inspector.Cursor) *Call {
	expr := cur.Node().(*ast.CallExpr)
	callee, ok := typeutil.Callee(r.pass.TypesInfo, expr).(*types.Func)
	if !ok || callee.Pkg() == nil {
		return nil
	}
	form, ok := ops[strings.TrimSuffix(callee.Name(), "Context")]
	if !ok {
		return nil
	}
	sig := callee.Signature()
	c := form
	c.Expr, c.Cursor, c.Callee, c.Name = expr, cur, callee, callee.Name()
	args := expr.Args
	params := sig.Params()
	at := 0
	if at < params.Len() && at < len(args) && isType(params.At(at).Type(), "context", "Context") {
		c.Context = args[at]
		at++
	}
	switch sel, _ := ast.Unparen(expr.Fun).(*ast.SelectorExpr); {
	case sig.Recv() == nil && callee.Pkg().Path() == sqlxPath && at < len(args): // sqlx.Get(handle, &dest, query)
		c.Handle.Expr = args[at]
		at++
	case sig.Recv() != nil && sel != nil:
		c.Handle.Expr = sel.X
	default:
		return nil
	}
	c.Handle.Kind = kindOf(r.pass.TypesInfo.TypeOf(c.Handle.Expr), sig)
	if !r.parameters(&c, sig, args, at) || !knownShape(&c, sig) {
		return nil
	}
	r.surroundings(&c)
	return &c
}

// parameters reads destination, query and arguments from position at on.
func (r *Result) parameters(c *Call, sig *types.Signature, args []ast.Expr, at int) bool {
	params := sig.Params()
	if c.Op == Get || c.Op == Select {
		if at >= len(args) || at >= params.Len() {
			return false
		}
		c.Dests = []ast.Expr{args[at]}
		at++
	}
	if c.Handle.Kind != Stmt {
		if at >= params.Len() || at >= len(args) || !isString(params.At(at).Type()) {
			return false
		}
		c.QueryArg = args[at]
		at++
	}
	c.Args = args[min(at, len(args)):]
	c.Spread = c.Expr.Ellipsis.IsValid()
	return true
}

// knownShape reports whether a method has the shape of one of database/sql or sqlx:
// it belongs to these packages, or its results do, or it is a method of an
// interface with a destination, a query and arguments.
func knownShape(c *Call, sig *types.Signature) bool {
	pkg := c.Callee.Pkg().Path()
	if pkg == sqlPath || pkg == sqlxPath {
		return true
	}
	if c.Op == Get || c.Op == Select {
		return sig.Variadic() && sig.Recv() != nil && types.IsInterface(sig.Recv().Type()) && sig.Results().Len() == 1
	}
	for v := range sig.Results().Variables() {
		if named := namedOf(v.Type()); named != nil && named.Obj().Pkg() != nil {
			if p := named.Obj().Pkg().Path(); p == sqlPath || p == sqlxPath {
				return true
			}
		}
	}
	return false
}

// surroundings finds the function, the loop and the Scan around a call.
func (r *Result) surroundings(c *Call) {
	for cur := range c.Cursor.Enclosing() {
		switch n := cur.Node().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if c.Func == nil {
				c.Func = n
			}
		case *ast.ForStmt, *ast.RangeStmt:
			if c.Func == nil && c.Loop == nil && inBody(n, c.Expr) {
				c.Loop = n.(ast.Stmt)
			}
		}
	}
	if c.Op != QueryRow {
		return
	}
	if sel, ok := c.Cursor.Parent().Node().(*ast.SelectorExpr); ok && strings.HasSuffix(sel.Sel.Name, "Scan") {
		if call, ok := c.Cursor.Parent().Parent().Node().(*ast.CallExpr); ok {
			c.Scan, c.Dests = call, call.Args
		}
	}
}

// inBody reports whether an expression runs in each round of a loop.
func inBody(loop ast.Node, e ast.Expr) bool {
	var body *ast.BlockStmt
	switch l := loop.(type) {
	case *ast.ForStmt:
		body = l.Body
		if l.Cond != nil && l.Cond.Pos() <= e.Pos() && e.End() <= l.Cond.End() {
			return true
		}
	case *ast.RangeStmt:
		body = l.Body
	}
	return body.Pos() <= e.Pos() && e.End() <= body.End()
}

// kindOf is the kind of a handle by its type.
func kindOf(t types.Type, sig *types.Signature) HandleKind {
	for _, t := range []types.Type{t, recvType(sig)} {
		named := namedOf(t)
		if named == nil || named.Obj().Pkg() == nil {
			continue
		}
		if p := named.Obj().Pkg().Path(); p != sqlPath && p != sqlxPath {
			continue
		}
		switch named.Obj().Name() {
		case "DB":
			return DB
		case "Tx":
			return Tx
		case "Conn":
			return Conn
		case "Stmt", "NamedStmt":
			return Stmt
		}
	}
	return Unknown
}

func recvType(sig *types.Signature) types.Type {
	if sig.Recv() == nil {
		return nil
	}
	return sig.Recv().Type()
}

// namedOf is the named type of a type or of what it points to; nil for others.
func namedOf(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

func isType(t types.Type, path, name string) bool {
	named := namedOf(t)
	return named != nil && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == path && named.Obj().Name() == name
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}
