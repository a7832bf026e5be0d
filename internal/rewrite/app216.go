package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcall"
)

var builtSearch = Lever{Code: "APP216", Title: "the answer of a built search is computed again",
	Line:    "it could be kept until its table is written",
	Promise: TestedOnly, Order: 16, Saved: Share{Lo: 0.05, Hi: 0.9}, Of: OfStatements,
	find: findBuiltSearches,
}

// findBuiltSearches finds searches whose text is built at run time: the query cache of APP207
// knows whole texts only. Their answers are kept in the app until it writes to the
// table.
func findBuiltSearches(r *reporter) error {
	k := &keeping{r: r, x: indexOf(r.pass), sql: callsOf(r.pass), facts: r.facts}
	for _, c := range k.sql.Calls {
		if name, ok := k.table(c); ok && !skipped(r.pass, c.Pos()) {
			k.add(name, c)
		}
	}
	if len(k.tables) > 0 && k.alone() {
		k.report()
	}
	return nil
}

// A keeping is the search for answers that can be kept.
type keeping struct {
	r      *reporter
	x      *index
	sql    *sqlcall.Result
	facts  Facts
	tables []*keptTable
}

// A keptTable is a table with its searches and with the functions that may write it.
type keptTable struct {
	name     string
	searches []*sqlcall.Call
	writers  []ast.Node // *ast.FuncDecl or *ast.FuncLit
}

func (k *keeping) add(name string, c *sqlcall.Call) {
	i := slices.IndexFunc(k.tables, func(t *keptTable) bool { return t.name == name })
	if i < 0 {
		i, k.tables = len(k.tables), append(k.tables, &keptTable{name: name})
	}
	k.tables[i].searches = append(k.tables[i].searches, c)
}

// table is the table of a search whose conditions are built: a SELECT of one table
// with constant text up to WHERE, through a pool, into values without references.
func (k *keeping) table(c *sqlcall.Call) (string, bool) {
	if c.Op != sqlcall.Get && c.Op != sqlcall.Select || c.Text == nil || c.Text.Holes == 0 || c.Text.Expanded || c.Named || c.QueryArg == nil ||
		c.Handle.Kind != sqlcall.DB || c.Context != nil || c.Callee.Signature().Recv() == nil || len(c.Dests) != 1 || !k.plainDest(c) {
		return "", false
	}
	head, _, _ := strings.Cut(c.Text.SQL, sqlcall.Hole)
	tokens, ok := sqltext.Unknown.Tokens(head)
	if !ok || len(tokens) < 5 || !tokens[0].Is("SELECT") {
		return "", false
	}
	from, where := sqltext.Find(tokens, 1, "FROM"), sqltext.Find(tokens, 1, "WHERE")
	if from < 0 || where != from+2 {
		return "", false // an alias, a join or another database
	}
	for i, t := range tokens {
		if i > 0 && t.Is("SELECT") || t.Kind == sqltext.Comment {
			return "", false
		}
	}
	name := strings.ToLower(tokens[from+1].Name())
	_, known := k.facts.Tables[name]
	return name, known && !volatileText(c.Text.SQL)
}

// plainDest reports whether the destination is the address of a basic value, or of a
// slice of them or of structs of them, so that a copy shares nothing with it.
func (k *keeping) plainDest(c *sqlcall.Call) bool {
	u, ok := ast.Unparen(c.Dests[0]).(*ast.UnaryExpr)
	if !ok || u.Op != token.AND {
		return false
	}
	t := k.x.typeOf(u.X)
	if s, isSlice := t.Underlying().(*types.Slice); isSlice && c.Op == sqlcall.Select {
		t = s.Elem()
	} else if isSlice || c.Op == sqlcall.Select {
		return false
	}
	if st, isStruct := t.Underlying().(*types.Struct); isStruct {
		for i := range st.NumFields() {
			if !isBasic(st.Field(i).Type()) {
				return false
			}
		}
		return true
	}
	return isBasic(t)
}

func isBasic(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() != types.UnsafePointer
}

// volatile are names of functions and variables with another value each time.
var volatile = []string{"NOW", "RAND", "UUID", "UUID_SHORT", "CURDATE", "CURTIME", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME",
	"LOCALTIMESTAMP", "SYSDATE", "UNIX_TIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP", "SLEEP", "CONNECTION_ID", "LAST_INSERT_ID", "FOUND_ROWS",
	"ROW_COUNT", "GET_LOCK", "IS_FREE_LOCK", "NEXTVAL", "BENCHMARK", "LOAD_FILE", "USER", "LASTVAL"}

// volatileText reports whether a text names one of them, a variable or a lock.
func volatileText(text string) bool {
	if strings.Contains(text, "@") {
		return true
	}
	for _, w := range strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		if slices.Contains(volatile, w) || w == "UPDATE" || w == "SHARE" || w == "INTO" || w == "PROCEDURE" {
			return true
		}
	}
	return false
}

// alone reports whether the package shows all that writes: it is a program without
// packages of its own, it opens its pools by name, and each program that it runs ends
// within a function. It notes the functions that write.
func (k *keeping) alone() bool {
	if k.x.pass.Pkg.Name() != "main" || !k.singlePackage() {
		return false
	}
	use := cacheUseOf(k.x, "")
	if len(use.blockers) > 0 || k.volatileParts() {
		return false
	}
	for _, t := range k.tables {
		for _, fn := range use.programs {
			t.writtenBy(fn)
		}
	}
	for _, c := range k.sql.Calls {
		if !k.writer(c) {
			return false
		}
	}
	return true
}

// volatileParts reports whether a literal that may become a part of a search has a
// function with another value each time. Statements that write are no such part.
func (k *keeping) volatileParts() (found bool) {
	for _, f := range k.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return !found
			}
			words := strings.Fields(strings.ToUpper(strings.Trim(lit.Value, "\"`")))
			writes := len(words) > 0 && slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "REPLACE"}, words[0])
			found = found || !writes && strings.Contains(lit.Value, "(") && volatileText(lit.Value)
			return !found
		})
	}
	return found
}

// singlePackage reports whether the program imports no package of its own module.
func (k *keeping) singlePackage() bool {
	own := k.x.pass.Pkg.Path()
	if m := k.x.pass.Module; m != nil && m.Path != "" {
		own = m.Path
	}
	return !slices.ContainsFunc(k.x.pass.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == own || strings.HasPrefix(p.Path(), own+"/") })
}

func (t *keptTable) writtenBy(fn ast.Node) {
	if !slices.Contains(t.writers, fn) {
		t.writers = append(t.writers, fn)
	}
}

// writer notes the function of a call that writes to a kept table. It reports
// whether its end is the end of the write: the statement commits by itself, or the
// transaction begins in the same function.
func (k *keeping) writer(c *sqlcall.Call) bool {
	if skipped(k.x.pass, c.Pos()) {
		return true
	}
	sql := ""
	if c.Text != nil {
		sql = c.Text.SQL
	}
	if c.Op == sqlcall.Prepare || IsSelect(sql) {
		return true // a prepared statement writes where it is executed
	}
	if strings.Contains(sql, sqlcall.Hole) {
		sql = k.repeated(c.QueryArg) // unknown if a part varies otherwise
	}
	for _, t := range k.tables {
		if sql != "" && !names(sql, t.name) {
			continue
		}
		fn := c.Func
		if fn == nil || !k.endsWithin(c) {
			return false
		}
		t.writtenBy(fn)
	}
	return true
}

// repeated is all text of a sum of constants and of repetitions of constants, as of an
// INSERT of many rows; "" for others.
func (k *keeping) repeated(x ast.Expr) string {
	if x == nil {
		return ""
	}
	if v := k.x.pass.TypesInfo.Types[x].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		if left, right := k.repeated(x.X), k.repeated(x.Y); x.Op == token.ADD && left != "" && right != "" {
			return left + right
		}
	case *ast.CallExpr:
		if f := k.x.callee(x); f != nil && isFunc(f, "strings", "Repeat") {
			return k.repeated(x.Args[0])
		}
	}
	return ""
}

// names reports whether a text has a word.
func names(text, word string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && r != '$' && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80
	}), word)
}

// endsWithin reports whether what a call writes is committed or given up when its
// function returns, and the function runs in the goroutine of its caller.
func (k *keeping) endsWithin(c *sqlcall.Call) bool {
	if lit, ok := c.Func.(*ast.FuncLit); ok {
		if call, called := k.x.parent[lit].(*ast.CallExpr); called {
			if _, isGo := k.x.parent[call].(*ast.GoStmt); isGo {
				return false
			}
		}
	}
	handle := c.Handle
	if c.Prepared != nil {
		handle = c.Prepared.Handle
	}
	switch handle.Kind {
	case sqlcall.DB:
		return true
	case sqlcall.Tx:
		v := k.x.variable(handle.Expr)
		return v != nil && k.x.defs[v] != nil && within(k.x.defs[v], bodyOfFunc(c.Func)) // begun here, not a parameter
	}
	return false
}

// report reports the searches of each table. The fix of a table is one for all of
// its searches: a writer announces its write to all of them.
func (k *keeping) report() {
	if !goAtLeast(k.x.pass, k.x.files[0].Pos(), "go1.21") {
		return
	}
	for _, t := range k.tables {
		fix, ok := k.fix(t)
		var all []string
		for _, c := range t.searches {
			all = append(all, c.SQL())
		}
		for i, c := range t.searches {
			p := place{node: c.Expr, statements: all, proof: Tested, promise: TestedOnly,
				what: "the answer of a search of " + t.name + " is computed again, also while nothing is written to it",
				how:  "keep the answers of the searches of " + t.name + " until it is written to"}
			if ok && i == 0 {
				p.fixes = suggested("keep the answers of the searches of "+t.name, fix)
			}
			if len(p.fixes) > 0 || !ok {
				k.r.report(p)
			}
		}
	}
}

// fix keeps the answers of the searches of a table: they go through a new value, and
// each function that writes announces it. The new type is added to the file of the
// first search.
func (k *keeping) fix(t *keptTable) ([]analysis.TextEdit, bool) {
	rw := k.x.rewrite()
	v, kind := k.x.fresh(camel("kept", t.name)), k.x.fresh(camel(t.name, "answers"))
	for _, c := range t.searches {
		args := k.x.between(c.Dests[0].Pos(), c.Expr.Rparen)
		rw.replace(c.Expr, fmt.Sprintf("%s.ask(%s.%s, %s)", v, k.x.text(c.Handle.Expr), c.Name, args))
	}
	for _, fn := range t.writers {
		rw.insert(bodyOfFunc(fn).Lbrace+1, fmt.Sprintf("\n\tdefer %s.write()() // it may write to %s\n", v, t.name))
	}
	rw.insert(k.x.fileOf(t.searches[0].Pos()).FileEnd, fmt.Sprintf(keptSource, v, kind, t.name, mostKept))
	fix, ok := rw.fix("")
	return fix.TextEdits, ok && len(t.writers) > 0 && plainName(t.name)
}

// mostKept is the most answers of one table that are kept.
const mostKept = 2000

// keptSource is the source of a value that keeps answers. An answer is used and kept
// only if no write is under way, and none was while the database was asked: then the
// database would answer the same.
const keptSource = `
// %[1]s keeps the answers of searches of the table %[3]s until it is written to.
var %[1]s = &%[2]s{kept: map[string]reflect.Value{}}

type %[2]s struct {
	mu      sync.Mutex
	writing int // writes under way
	ended   int // writes that have ended
	kept    map[string]reflect.Value
}

// write announces a write. The function that it returns ends it.
func (a *%[2]s) write() (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writing++
	clear(a.kept)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.writing--
		a.ended++
	}
}

// ask answers a search with a copy of a kept answer, or sends it.
func (a *%[2]s) ask(send func(dest any, query string, args ...any) error, dest any, query string, args ...any) error {
	into := reflect.ValueOf(dest).Elem()
	isSlice := into.Kind() == reflect.Slice
	key := fmt.Sprintf("%%T %%q %%#v", dest, query, args)
	known := strings.Count(strings.ToUpper(query), "SELECT") == 1 && !(isSlice && into.Len() > 0)
	for _, arg := range args {
		kind := reflect.Invalid
		if arg != nil {
			kind = reflect.TypeOf(arg).Kind()
		}
		known = known && (kind >= reflect.Bool && kind <= reflect.Float64 || kind == reflect.String)
	}
	if !known {
		return send(dest, query, args...)
	}
	a.mu.Lock()
	answer, ok := a.kept[key]
	quiet, ended := a.writing == 0, a.ended
	a.mu.Unlock()
	switch {
	case ok && isSlice:
		into.Set(reflect.AppendSlice(into, answer))
		return nil
	case ok:
		into.Set(answer)
		return nil
	}
	if err := send(dest, query, args...); err != nil {
		return err
	}
	answer = reflect.New(into.Type()).Elem()
	if isSlice {
		answer.Set(reflect.AppendSlice(answer, into))
	} else {
		answer.Set(into)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if quiet && a.writing == 0 && a.ended == ended {
		if len(a.kept) >= %[4]d {
			clear(a.kept)
		}
		a.kept[key] = answer
	}
	return nil
}
`
