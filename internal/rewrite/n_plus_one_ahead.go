package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

const (
	// aheadAfter is the number of look-ups of a loop from which the rest is read ahead.
	aheadAfter = 16
	// aheadRows bounds the rows that are read ahead: of a larger table, some are looked up
	// one by one as before.
	aheadRows = 5000
)

// lookAhead is the rewrite of a call of a getter in a loop whose keys are not known before
// it, as those of a file that is read line by line: from the sixteenth look-up on, one
// statement reads the rows of the table, up to a limit. A row that it did not find is read
// by itself, so that a missing one, and every error, is handled as before. Nothing in the
// loop writes the table.
func (l *perElement) lookAhead(call *ast.CallExpr, fn *types.Func, loop ast.Stmt) ([]analysis.TextEdit, bool) {
	g, ok := l.getterOf(l.calls.Decl(fn))
	if !ok || !l.needs(!call.Ellipsis.IsValid(), call, "the arguments are a list") {
		return nil, false
	}
	if _, labeled := parentOf(l.pass, loop).(*ast.LabeledStmt); labeled {
		return nil, l.no(loop, "the loop has a label")
	}
	b := &batch{perElement: l}
	for i, a := range call.Args {
		if !l.repeatable(a) || i != g.key && (l.varies(a, loop) || !b.unsetIn(a, loop)) {
			return nil, l.no(a, "an argument besides the key varies, or its evaluation does more than read")
		}
	}
	t, _ := onlyTable(g.s.selects())
	w := &tableWrites{perElement: l, table: t.name, known: map[*types.Func]bool{}}
	if !w.noneIn(loop, true) {
		return nil, l.no(loop, "the loop may write to the table %s", t.name)
	}
	return l.lookAheadEdits(call, g, loop)
}

// lookAheadEdits writes the rewrite.
func (l *perElement) lookAheadEdits(call *ast.CallExpr, g *getter, loop ast.Stmt) ([]analysis.TextEdit, bool) {
	c, ok := l.aheadCode(call, g, loop, "count")
	where := sqltext.Find(g.s.tokens, 0, "WHERE")
	if !ok || where < 0 {
		return nil, l.no(call, "the call is not the value of an assignment that the fix can keep")
	}
	names := c.names
	query := strings.TrimSpace(g.s.sql[:g.s.tokens[where].Start]) + fmt.Sprintf(" %s %d", sqltext.Like(g.s.tokens, "LIMIT"), aheadRows)
	lines := []string{
		fmt.Sprintf("// From the %dth look-up on, one statement reads up to %d rows. A row that it does not find is", aheadAfter, aheadRows),
		"// read by itself.",
		fmt.Sprintf("var %s map[%s]%s", names["byKey"], c.key, c.row),
		fmt.Sprintf("%s := 0", names["count"]),
		c.open(),
		fmt.Sprintf("if %s++; %s == %d {", names["count"], names["count"], aheadAfter),
		fmt.Sprintf("var %s []%s", names["rows"], c.row),
		fmt.Sprintf("if err := %s, %s); err == nil {", c.send, goString(query)),
		fmt.Sprintf("%s = make(map[%s]%s, len(%s))", names["byKey"], c.key, c.row, names["rows"]),
	}
	lines = append(append(lines, c.store()...), "}", "}")
	return c.edits(append(lines, c.find()...)), true
}

// A tableWrites looks for statements that could write a table.
type tableWrites struct {
	*perElement
	table string
	known map[*types.Func]bool
	grows bool              // rows may be inserted
	seen  map[ast.Node]bool // function literals, and functions that return one
	// all: every statement that is no SELECT counts as a write of the table, and so does an answer.
	all bool
	// culprit is what may write: the first such node that was met.
	culprit ast.Node
}

// noneIn reports whether nothing in a node writes the table: neither its statements nor
// those of the functions of the package that it calls. In a loop, what is returned is of no
// interest: it is evaluated on the way out. Goroutines and calls of functions that are not
// known to be harmless count as writes.
func (w *tableWrites) noneIn(node ast.Node, loop bool) bool {
	ok := true
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			return ok && !loop
		case *ast.BlockStmt:
			return ok && !(loop && leaves(w.pass.TypesInfo, n))
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.CallExpr:
			ok = ok && w.harmless(n)
		}
		if !ok && n != nil && w.culprit == nil {
			w.culprit = n
		}
		return ok
	})
	return ok
}

// harmlessMethods are methods that send no statement, by the path and name of their type.
//
// A log line, an encoder or a copy of bytes sends none either: harmlessPackages.
var harmlessMethods = map[string][]string{
	"sync.Mutex": {"Lock", "Unlock"}, "sync.RWMutex": {"Lock", "Unlock", "RLock", "RUnlock"},
	"database/sql.Result": {"LastInsertId", "RowsAffected"}, "database/sql.Rows": {"Next", "Scan", "Close", "Err", "Columns"},
}

// harmlessPackages send no statement, and call nothing of the app but methods of values
// that encode themselves.
var harmlessPackages = []string{"fmt", "log", "log/slog", "io", "bufio", "sort", "sync", "sync/atomic", "context", "mime", "image", "container/list", "testing",
	"github.com/sirupsen/logrus", "go.uber.org/zap", "github.com/rs/zerolog", "github.com/rs/zerolog/log", "github.com/pkg/errors", "golang.org/x/text/language"}

// answerPackages are those by whose methods handlers read requests and write answers.
var answerPackages = []string{"net/http", "github.com/gin-gonic/gin", "github.com/labstack/echo", "github.com/go-chi/render", "github.com/gofiber/fiber", "html/template"}

// actingMethods of these packages run other handlers, send requests, or wait.
var actingMethods = []string{"Next", "Do", "Get", "Head", "Post", "PostForm", "RoundTrip", "ServeHTTP", "HandleContext", "ListenAndServe", "ListenAndServeTLS", "Serve", "Run", "Start",
	"Shutdown", "Close", "Execute", "ExecuteTemplate", "Render", "HTML", "Stream"}

// answers reports whether a function reads a request or writes an answer, and runs nothing
// of the app but methods of values that encode or decode themselves.
func answers(fn *types.Func) bool {
	if fn.Pkg().Path() == "net/http" && fn.Signature().Recv() != nil && receiverName(fn.Signature().Recv().Type()) == "Header" {
		return true
	}
	return !slices.Contains(actingMethods, fn.Name()) &&
		slices.ContainsFunc(answerPackages, func(p string) bool { return fn.Pkg().Path() == p || strings.HasPrefix(fn.Pkg().Path(), p+"/") })
}

// harmless reports whether a call writes nothing to the table.
func (w *tableWrites) harmless(call *ast.CallExpr) bool {
	if c := w.calls.At(call); c != nil {
		texts := w.texts(c)
		if len(texts) == 0 && c.Op != sqlcall.Exec && w.unionOfSelects(c) {
			return true
		}
		return len(texts) > 0 && !slices.ContainsFunc(texts, w.writes)
	}
	if chained(w.calls, call) || w.still.quietCall(call) || contextual(w.pass, call) {
		return true
	}
	fn, ok := typeutil.Callee(w.pass.TypesInfo, call).(*types.Func)
	if !ok {
		return w.harmlessClosure(call)
	}
	if fn.Pkg() != nil && (slices.Contains(harmlessPackages, fn.Pkg().Path()) || answers(fn)) {
		return !w.all || fn.Pkg().Path() == "log" || fn.Pkg().Path() == "context"
	}
	if mapperReads(fn) {
		return true
	}
	if asksRows(fn, w.pass.Pkg) {
		return !w.all
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if named := namedOf(recv.Type()); named != nil && named.Obj().Pkg() != nil &&
			slices.Contains(harmlessMethods[named.Obj().Pkg().Path()+"."+named.Obj().Name()], fn.Name()) {
			return true
		}
	}
	if known, ok := w.known[fn]; ok {
		return known
	}
	there := *w
	there.perElement = w.homeOf(fn)
	d := there.calls.Decl(fn)
	if d == nil || d.Body == nil {
		return false
	}
	w.known[fn] = true // of a recursion, the other calls decide
	w.known[fn] = there.noneIn(d.Body, false)
	w.culprit = cmp.Or(w.culprit, there.culprit)
	return w.known[fn]
}

// writes reports whether a statement may write the table: every statement that names the
// table may, but a SELECT, and so may one that cannot be parsed.
func (w *tableWrites) writes(sql string) bool {
	s, err := parse(sql)
	if err != nil || w.all {
		return err != nil || s.selects() == nil
	}
	if n, ok := s.node.(*tidb.InsertStmt); ok && w.grows && !n.IsReplace && len(n.OnDuplicate) == 0 {
		return false
	}
	return s.selects() == nil && slices.ContainsFunc(s.tokens, func(t sqltext.Token) bool {
		return (t.Kind == sqltext.Word || t.Kind == sqltext.Quoted) && strings.EqualFold(t.Name(), w.table)
	})
}

// texts are the statements that a call may send: its own text or, where a parameter of the
// function has it, those of the function's calls in this package. None means that a
// statement is not known.
func (w *tableWrites) texts(c *sqlcall.Call) []string {
	if c.Text != nil || c.Texts != nil {
		return c.All()
	}
	d, ok := c.Func.(*ast.FuncDecl)
	id, isIdent := c.QueryArg.(*ast.Ident)
	if !ok || !isIdent {
		return nil
	}
	fn, _ := w.pass.TypesInfo.Defs[d.Name].(*types.Func)
	param, _ := w.pass.TypesInfo.Uses[id].(*types.Var)
	at := -1
	for i := range fn.Signature().Params().Len() {
		if fn.Signature().Params().At(i) == param {
			at = i
		}
	}
	if at < 0 || w.calls.Writes[param] > 0 || fn.Signature().Variadic() && at == fn.Signature().Params().Len()-1 {
		return nil
	}
	return w.constants(fn, at)
}

// constants returns the constant texts that the calls of a function pass as an argument. It
// returns nil if a call passes another text, if another package may call the function, or if
// the function is used as a value.
func (w *tableWrites) constants(fn *types.Func, at int) (all []string) {
	calls := 0
	for c := range rootOf(w.pass).Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		if typeutil.Callee(w.pass.TypesInfo, call) != fn {
			continue
		}
		calls++
		if at >= len(call.Args) {
			return nil
		}
		text := constantText(w.pass, call.Args[at])
		if strings.Contains(text, sqlcall.Hole) {
			return nil
		}
		all = append(all, text)
	}
	if calls != w.calls.Uses[fn] || token.IsExported(fn.Name()) {
		return nil
	}
	return all
}
