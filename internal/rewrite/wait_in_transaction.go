package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

var waitInTransaction = Lever{Code: "APP227", Title: "waits in a transaction",
	Line:    "a transaction stays open while the code sleeps, or waits for another server, a program or a lock",
	Promise: NoPromise, Order: 15, Saved: Share{Lo: 0, Hi: 0.5}, Of: OfStatements, Holds: true,
	find: findWaitsInTransactions,
}

// findWaitsInTransactions finds what waits between the begin and the end of a transaction,
// which holds a connection and locks of rows meanwhile. There is no rewrite: whether the
// statements on both sides of the wait belong together is not written in the source.
func findWaitsInTransactions(r *reporter) error {
	t := &txWaits{r: r, x: indexOf(r.pass), sql: r.pass.ResultOf[sqlcall.Analyzer].(*sqlcall.Result), told: map[ast.Node]bool{}}
	t.locks = &lockSearch{r: r, x: t.x, sql: t.sql}
	for _, f := range t.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				t.begun(n)
			case *ast.FuncDecl:
				t.within(n.Type, n.Body)
			case *ast.FuncLit:
				t.within(n.Type, n.Body)
			}
			return true
		})
	}
	return nil
}

// A txWaits searches the transactions of a package.
type txWaits struct {
	r    *reporter
	x    *index
	sql  *sqlcall.Result
	told map[ast.Node]bool // waits that are reported

	locks *lockSearch
}

// begun reports what waits behind "tx, err := db.Begin()".
func (t *txWaits) begun(a *ast.AssignStmt) {
	if len(a.Rhs) != 1 || len(a.Lhs) == 0 {
		return
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	tx := t.x.variable(a.Lhs[0])
	if !ok || tx == nil || !isTransaction(tx.Type()) || t.x.startsUp(a) || !t.opens(call) {
		return
	}
	block, at := t.x.blockOf(a)
	if block == nil {
		return
	}
	begin := t.r.pass.Fset.Position(a.Pos())
	t.until(tx, block.List[at+1:], func(w wait) string {
		if file := t.r.pass.Fset.Position(w.call.Pos()).Filename; file != begin.Filename {
			return fmt.Sprintf("the transaction that begins in %s, line %d", filepath.Base(begin.Filename), begin.Line)
		}
		return fmt.Sprintf("the transaction that begins in line %d", begin.Line)
	})
}

// opens reports whether a call begins a transaction: a method of a pool or of a connection.
func (t *txWaits) opens(c *ast.CallExpr) bool {
	fn := t.x.callee(c)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() == nil {
		return false
	}
	return fn.Pkg().Path() == "database/sql" || fn.Pkg().Path() == "github.com/jmoiron/sqlx"
}

// within reports what waits in a function that gets a transaction.
func (t *txWaits) within(f *ast.FuncType, body *ast.BlockStmt) {
	if body == nil || f.Params == nil {
		return
	}
	for _, field := range f.Params.List {
		for _, name := range field.Names {
			if tx := t.x.variable(name); tx != nil && isTransaction(tx.Type()) {
				t.until(tx, body.List, func(wait) string { return "the transaction " + name.Name })
			}
		}
	}
}

func isTransaction(t types.Type) bool {
	return isNamed(t, "database/sql", "Tx") || isNamed(t, "github.com/jmoiron/sqlx", "Tx")
}

// blockOf is the block that a statement is in, or that the if statement is in whose
// initialization it is, and its place there.
func (x *index) blockOf(s ast.Stmt) (*ast.BlockStmt, int) {
	if i, ok := x.parent[s].(*ast.IfStmt); ok && i.Init == s {
		s = i
	}
	block, ok := x.parent[s].(*ast.BlockStmt)
	if !ok {
		return nil, 0
	}
	return block, slices.Index(block.List, s)
}

// until reports what waits in statements, up to the end of a transaction.
func (t *txWaits) until(tx *types.Var, list []ast.Stmt, where func(wait) string) {
	statements := t.statements(tx)
	for _, s := range list {
		if t.ends(tx, s) {
			return
		}
		for _, w := range t.waitsIn(s, 4) {
			t.report(w, statements, where(w))
		}
	}
}

// ends reports whether a statement commits or rolls back a transaction, whichever way the
// code goes.
func (t *txWaits) ends(tx *types.Var, s ast.Stmt) bool {
	if i, ok := s.(*ast.IfStmt); ok {
		otherwise, both := i.Else.(*ast.BlockStmt)
		return i.Init != nil && t.ends(tx, i.Init) || // if err := tx.Commit(); err != nil
			both && t.endsIn(tx, i.Body) && t.endsIn(tx, otherwise)
	}
	if _, later := s.(*ast.DeferStmt); later {
		return false
	}
	for _, id := range t.x.uses[tx] {
		sel, ok := t.x.parent[id].(*ast.SelectorExpr)
		if ok && within(id, s) && (sel.Sel.Name == "Commit" || sel.Sel.Name == "Rollback") {
			switch s.(type) {
			case *ast.ExprStmt, *ast.AssignStmt, *ast.ReturnStmt:
				return true
			}
		}
	}
	return false
}

// endsIn reports whether a statement of a block ends a transaction.
func (t *txWaits) endsIn(tx *types.Var, b *ast.BlockStmt) bool {
	return slices.ContainsFunc(b.List, func(s ast.Stmt) bool { return t.ends(tx, s) })
}

// statements are the texts that go through a transaction in its function.
func (t *txWaits) statements(tx *types.Var) (out []string) {
	for _, c := range t.sql.Calls {
		if t.x.variable(c.Handle.Expr) == tx && c.SQL() != "" && !slices.Contains(out, c.SQL()) {
			out = append(out, c.SQL())
		}
	}
	return out
}

// report reports a wait at its place.
func (t *txWaits) report(w wait, statements []string, where string) {
	if t.told[w.call] {
		return
	}
	t.told[w.call] = true
	if polled := t.polled(w.call); polled != "" && !slices.Contains(statements, polled) {
		statements = append([]string{polled}, statements...)
	}
	t.r.report(place{node: w.call, statements: statements, waits: w.took, what: w.what + " in " + where,
		how: "do it before the transaction begins or after it has ended",
		why: refusal{w.call, "whether the statements on both sides belong together is not written in the source"}})
}

// polled is the statement that is sent in each round of the loop that a wait is in; "" without.
func (t *txWaits) polled(c *ast.CallExpr) string {
	fn := t.x.function(c)
	for n := t.x.parent[c]; n != nil && n != fn; n = t.x.parent[n] {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			for _, sent := range t.sql.Within(n) {
				if sent.SQL() != "" {
					return sent.SQL()
				}
			}
		}
	}
	return ""
}

// A wait is a call that waits for something outside of the process, or for the clock.
type wait struct {
	call *ast.CallExpr
	what string
	took time.Duration // of a sleep for a constant time; 0 if unknown
}

// waitsIn lists the waits in a node, each once. Functions of the package are followed up to a
// depth, and what is started beside is not.
func (t *txWaits) waitsIn(n ast.Node, depth int) (out []wait) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.FuncLit: // it runs here only where it is called
			call, called := t.x.parent[n].(*ast.CallExpr)
			return called && ast.Unparen(call.Fun) == n
		case *ast.CallExpr:
			if w := t.waitOf(n); w.what != "" {
				out = append(out, w)
				return true
			}
			if fn := t.x.callee(n); fn != nil && depth > 0 {
				if d := t.x.decls[fn]; d != nil && d.Body != nil {
					out = append(out, t.waitsIn(d.Body, depth-1)...)
				}
			}
		}
		return true
	})
	return out
}

// waitOf is the wait that a call is; none where its text is "".
func (t *txWaits) waitOf(c *ast.CallExpr) wait {
	fn := t.x.callee(c)
	switch {
	case fn == nil:
		return wait{}
	case isFunc(fn, "time", "Sleep"):
		return wait{c, "the code sleeps", t.x.durationOf(c.Args)}
	case isFunc(fn, "net/http", "Get", "Post", "Head", "PostForm", "Client.Do", "Client.Get", "Client.Post", "Client.Head", "Client.PostForm"):
		return wait{c, "another server is requested", 0}
	case isFunc(fn, "google.golang.org/grpc", "ClientConn.Invoke", "ClientConn.NewStream"), isFunc(fn, "net", "Dial", "DialTimeout", "Dialer.Dial", "Dialer.DialContext"):
		return wait{c, "another server is called", 0}
	case isFunc(fn, "os/exec", "Cmd.Run", "Cmd.Output", "Cmd.CombinedOutput", "Cmd.Wait"):
		return wait{c, "a program runs", 0}
	case isFunc(fn, "sync", "Mutex.Lock", "RWMutex.Lock", "Locker.Lock"):
		// A lock that is held for the time of a computation is not worth a finding.
		if sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok && t.locks.section(c, sel) != "" {
			return wait{c, "a lock is waited for that others hold while they wait", 0}
		}
		return wait{}
	case isFunc(fn, "syscall", "Flock"), isFunc(fn, "golang.org/x/sys/unix", "Flock"):
		return wait{c, "the lock of a file is waited for", 0}
	}
	return t.lockOfDatabase(c)
}

// lockOfDatabase is a statement that waits for a lock by its name, or sleeps in the server.
func (t *txWaits) lockOfDatabase(c *ast.CallExpr) wait {
	for _, arg := range c.Args {
		v := t.x.pass.TypesInfo.Types[arg].Value
		if v == nil || v.Kind() != constant.String {
			continue
		}
		tokens, ok := sqltext.Unknown.Tokens(constant.StringVal(v))
		if !ok || len(tokens) == 0 || !tokens[0].Is("SELECT", "DO") {
			continue
		}
		for i, word := range tokens[:len(tokens)-1] {
			if word.Is("GET_LOCK", "SLEEP", "PG_SLEEP") && tokens[i+1].Text == "(" {
				if word.Is("GET_LOCK") {
					return wait{c, "a lock of the database is waited for by its name", 0}
				}
				return wait{c, "a statement sleeps", 0}
			}
		}
	}
	return wait{}
}

// durationOf is the constant that is the only argument of a call; 0 for another one.
func (x *index) durationOf(args []ast.Expr) time.Duration {
	if len(args) != 1 {
		return 0
	}
	v := x.pass.TypesInfo.Types[args[0]].Value
	if v == nil {
		return 0
	}
	ns, _ := constant.Int64Val(constant.ToInt(v))
	return time.Duration(ns)
}
