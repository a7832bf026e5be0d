// Package sqlcall finds the calls in typed Go source that send SQL statements:
// through database/sql, through sqlx, and through interfaces and wrappers with
// methods of the same shape. It resolves the text of each statement with the place
// of each byte in the source, so that an edit can change a literal in place.
package sqlcall

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// An Op is what a call does.
type Op uint8

const (
	Query    Op = iota // rows: Query, Queryx, NamedQuery
	QueryRow           // one row that is scanned: QueryRow, QueryRowx
	Get                // the first row into a destination (sqlx)
	Select             // all rows into a slice (sqlx)
	Exec               // Exec, MustExec
	Prepare            // a prepared statement
)

// A HandleKind is the kind of the value that a statement goes through.
type HandleKind uint8

const (
	Unknown HandleKind = iota // an interface or a wrapper
	DB                        // a pool: each statement may use another connection
	Conn                      // one connection
	Tx                        // one transaction
	Stmt                      // a prepared statement
)

// A Handle is the value that a statement goes through.
type Handle struct {
	Kind HandleKind
	Expr ast.Expr
	// Real: it is an interface that only handles of database/sql and sqlx implement.
	// Faked: a type of the program implements the interface by methods of its own.
	Real, Faked bool
}

// A Call is one call that sends a statement, or prepares one.
type Call struct {
	Expr     *ast.CallExpr
	Cursor   inspector.Cursor
	Callee   *types.Func
	Name     string // of the method or function: "SelectContext"
	Op       Op
	Named    bool // placeholders are names, and the argument is a struct or a map
	Must     bool // errors panic
	Sqlx     bool // the destination is filled by the column names
	Handle   Handle
	Context  ast.Expr // nil if the call has none
	QueryArg ast.Expr // nil for a prepared statement
	Text     *Text    // nil if the statement is unknown
	// Texts are all texts that it may have where conditions choose or add to it; nil where
	// Text is the whole one, or where one of them is not known.
	Texts    []string
	Args     []ast.Expr
	Spread   bool       // the last argument is args...
	Dests    []ast.Expr // destinations of Get and Select, and of the Scan of a QueryRow
	Scan     *ast.CallExpr
	Prepared *Call    // the call that prepared the statement
	Func     ast.Node // innermost *ast.FuncDecl or *ast.FuncLit; nil outside of functions
	Loop     ast.Stmt // innermost loop around it in Func: *ast.ForStmt or *ast.RangeStmt
}

// A Result has the calls of one package and an index of its variables.
type Result struct {
	Calls []*Call
	// Uses counts the places that name an object, its declaration not among them.
	Uses map[types.Object]int
	// Writes counts the places that set a variable or take its address, its
	// declaration with a value among them.
	Writes map[types.Object]int

	pass   *analysis.Pass
	values map[types.Object]value
	byExpr map[*ast.CallExpr]*Call
	funcs  map[*types.Func]*ast.FuncDecl
	closes map[types.Object]int  // calls of x.Close()
	bound  map[types.Object]bool // set by text = db.Rebind(text)
	faces  map[*types.Interface]implementers
	types  []*types.Named // that may implement an interface; nil: not listed yet
}

// A value is the expression that a constant or a variable is set to. index is the
// result that it takes of a call with several results.
type value struct {
	expr  ast.Expr
	index int
}

// Analyzer finds the calls of a package.
var Analyzer = &analysis.Analyzer{
	Name:       "sqlcall",
	Doc:        "find calls that send SQL statements",
	Requires:   []*analysis.Analyzer{inspect.Analyzer},
	ResultType: reflect.TypeFor[*Result](),
	Run:        func(pass *analysis.Pass) (any, error) { return find(pass), nil },
}

func find(pass *analysis.Pass) *Result {
	r := &Result{pass: pass, Uses: map[types.Object]int{}, Writes: map[types.Object]int{},
		values: map[types.Object]value{}, byExpr: map[*ast.CallExpr]*Call{}, funcs: map[*types.Func]*ast.FuncDecl{}, closes: map[types.Object]int{}, bound: map[types.Object]bool{}, faces: map[*types.Interface]implementers{}}
	root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	r.index(root)
	for c := range root.Preorder((*ast.CallExpr)(nil)) {
		if call := r.call(c); call != nil {
			r.judge(call)
			r.Calls = append(r.Calls, call)
			r.byExpr[call.Expr] = call
		}
	}
	for _, call := range r.Calls {
		r.link(call)
		if call.Text == nil || call.Text.Holes > 0 {
			call.Texts = r.texts(call)
		}
	}
	r.freeze()
	return r
}

// freeze forbids edits of the texts of prepared statements that have other users
// than one call, and of those that a type of the app may read.
func (r *Result) freeze() {
	for _, c := range r.Calls {
		if c.Text != nil && c.Handle.Faked {
			c.Text.frozen = true
		}
		if c.Prepared == nil || c.Text == nil {
			continue
		}
		id, ok := ast.Unparen(c.Handle.Expr).(*ast.Ident)
		if !ok || r.Uses[r.pass.TypesInfo.ObjectOf(id)]-r.closes[r.pass.TypesInfo.ObjectOf(id)] != 1 {
			c.Text.frozen = true
		}
	}
}

// link finds the prepared statement and the text of a call.
func (r *Result) link(c *Call) {
	if c.QueryArg != nil {
		c.Text = r.resolve(c.QueryArg)
		return
	}
	if c.Handle.Kind != Stmt {
		return
	}
	if p := r.byExpr[r.origin(c.Handle.Expr)]; p != nil && p.Op == Prepare {
		c.Prepared, c.Handle.Faked = p, p.Handle.Faked
		if p.Text == nil && p.QueryArg != nil {
			p.Text = r.resolve(p.QueryArg)
		}
		c.Text = p.Text
	}
}

// origin is the call whose first result a variable holds; nil if it is not set
// exactly once.
func (r *Result) origin(e ast.Expr) *ast.CallExpr {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return e
	case *ast.Ident:
		obj := r.pass.TypesInfo.ObjectOf(e)
		v, ok := r.values[obj]
		if !ok || r.Writes[obj] != 1 || v.index != 0 {
			return nil
		}
		call, _ := ast.Unparen(v.expr).(*ast.CallExpr)
		return call
	}
	return nil
}

// Info are the types of the package.
func (r *Result) Info() *types.Info { return r.pass.TypesInfo }

// At returns the call that an expression is, or nil.
func (r *Result) At(e ast.Expr) *Call {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		return r.byExpr[call]
	}
	return nil
}

// Within lists the calls inside of a node.
func (r *Result) Within(n ast.Node) (calls []*Call) {
	for _, c := range r.Calls {
		if n.Pos() <= c.Expr.Pos() && c.Expr.End() <= n.End() {
			calls = append(calls, c)
		}
	}
	return calls
}

// Decl is the declaration of a function of this package, or nil.
func (r *Result) Decl(f *types.Func) *ast.FuncDecl {
	if f == nil {
		return nil
	}
	return r.funcs[f.Origin()]
}

// SQL is the text of the statement, "" if it is unknown.
func (c *Call) SQL() string {
	if c.Text == nil {
		return ""
	}
	return c.Text.SQL
}

// All are the texts that the call may send; nil if one of them is not known.
func (c *Call) All() []string {
	if c.Text != nil && c.Text.Holes == 0 {
		return []string{c.Text.SQL}
	}
	return c.Texts
}

// Pos is the position of the call.
func (c *Call) Pos() token.Pos { return c.Expr.Pos() }
