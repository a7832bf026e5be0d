package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
)

var syncedFile = Lever{Code: "APP229", Title: "a SQLite file is synced at each commit",
	Line:    "each write to a SQLite file waits until the disk has it",
	Promise: Durability, Order: 13, Saved: Share{Lo: 0, Hi: 0.7}, Of: OfStatements,
	find: findSyncedFiles,
}

// findSyncedFiles finds where files of SQLite are opened with its default: each commit waits for
// the disk twice or more. The fix asks the driver for synchronous = OFF: what was committed
// survives the end of the process, and perhaps not a power cut.
func findSyncedFiles(r *reporter) error {
	s := &syncedFiles{reporter: r, x: indexOf(r.pass), pools: newPools(r.pass)}
	var opens []goapp.Open
	for _, f := range s.x.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && !skipped(r.pass, c.Pos()) {
				if o, opened := opensByName(r.pass, c); opened && (s.pools.openedBy(o) == filePool || goapp.ReachOf(o.Name) == goapp.SQLiteFile) {
					opens = append(opens, o)
				}
			}
			return true
		})
	}
	if len(opens) == 0 {
		return nil
	}
	writes := s.writes()
	for _, o := range opens {
		s.visit(o, writes)
	}
	return nil
}

type syncedFiles struct {
	*reporter
	x     *index
	pools *pools
}

// writes are the statements of the package that write to files.
func (s *syncedFiles) writes() (out []string) {
	for _, c := range callsOf(s.pass).Calls {
		if c.Op == sqlcall.Exec && c.Text != nil && s.pools.of(c.Handle.Expr) != serverPool {
			out = append(out, textsOf(c)...)
		}
	}
	return out
}

func (s *syncedFiles) visit(o goapp.Open, writes []string) {
	dsn := o.Call.Args[o.DSN]
	if v := s.x.variable(dsn); v != nil && isLocal(v) && len(s.x.uses[v]) == 1 {
		if value := s.x.fixedValue(v); value != nil {
			dsn = value
		}
	}
	text := constantText(s.pass, dsn)
	low := strings.ToLower(text)
	if len(writes) == 0 || strings.Contains(low, "sync") || strings.Contains(low, "mode=ro") || strings.Contains(low, "immutable") || strings.Contains(low, "memory") {
		return
	}
	p := place{node: o.Call, statements: writes, promise: Durability, what: "each commit of a SQLite file waits for the disk", how: "open it with synchronous = OFF: a power cut may lose what was committed last, or damage the file"}
	option := s.option(o)
	if s.needs(strings.HasPrefix(text, "file:"), dsn, "the name of the file may have no options") &&
		s.needs(option != "", o.Call, "it is not known which driver opens the file, and so how it takes the option") {
		if edits, ok := s.asked(dsn, text, option); s.needs(ok, dsn, "the name of the file is put together in a way that the fix does not know") {
			p.fixes = suggested("Do not wait for the disk", edits)
		}
	}
	s.report(p)
}

// option is how the driver of a pool is asked for it, "" if it is not known which driver that is.
func (s *syncedFiles) option(o goapp.Open) string {
	mattn, modernc := importsAny(s.pass, "github.com/mattn/go-sqlite3"), importsAny(s.pass, "modernc.org/sqlite")
	switch {
	case o.Name == "sqlite3" && mattn, mattn && !modernc:
		return "_synchronous=OFF"
	case o.Name == "sqlite" && modernc, modernc && !mattn:
		return "_pragma=synchronous(0)"
	}
	return ""
}

// asked adds an option to the name of a file: to the end of the literal that ends it, or behind a
// value that does.
func (s *syncedFiles) asked(dsn ast.Expr, text, option string) ([]analysis.TextEdit, bool) {
	joint := "?"
	if strings.Contains(text, "?") {
		joint = "&"
	}
	if !s.endsKnown(dsn) {
		return nil, false
	}
	e := ast.Unparen(dsn)
	if call, ok := e.(*ast.CallExpr); ok && isFunc(s.x.callee(call), "fmt", "Sprintf") && len(call.Args) > 1 {
		e = ast.Unparen(call.Args[0])
	}
	parts := operands(e, token.ADD)
	last := ast.Unparen(parts[len(parts)-1])
	if lit, ok := last.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		return []analysis.TextEdit{edit(lit.End()-1, lit.End()-1, joint+option)}, true
	}
	if joint == "&" || s.x.pass.TypesInfo.Types[last].Value != nil {
		return nil, false
	}
	basic, isText := s.x.typeOf(last).Underlying().(*types.Basic)
	if !isText || basic.Info()&types.IsString == 0 || e != ast.Unparen(dsn) {
		return nil, false
	}
	return []analysis.TextEdit{edit(e.End(), e.End(), ` + "`+joint+option+`"`)}, true
}

// endsInText matches a format whose last part is a value that may be any text.
var endsInText = regexp.MustCompile(`(^|[^%])(%%)*%[-+# 0-9.*\[\]]*[^-+# 0-9.*\[\]%d]$`)

// endsKnown reports whether it is known how a name ends: with constant text, a number or an
// escaped path. Other text, such as a setting, may end with options of its own.
func (s *syncedFiles) endsKnown(e ast.Expr) bool {
	parts := operands(e, token.ADD)
	e = ast.Unparen(parts[len(parts)-1])
	if s.x.pass.TypesInfo.Types[e].Value != nil {
		return true
	}
	if v := s.x.variable(e); v != nil && isLocal(v) {
		value := s.x.fixedValue(v)
		return value != nil && s.endsKnown(value)
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 && call.Ellipsis.IsValid() {
		return false
	}
	switch fn := s.x.callee(call); {
	case isFunc(fn, "net/url", "URL.EscapedPath", "PathEscape", "QueryEscape"), isFunc(fn, "strconv", "Itoa", "FormatInt", "FormatUint"):
		return true
	case isFunc(fn, "path/filepath", "Join"), isFunc(fn, "path", "Join"):
		return len(call.Args) > 0 && s.endsKnown(call.Args[len(call.Args)-1])
	case isFunc(fn, "fmt", "Sprintf"):
		format := constantText(s.x.pass, call.Args[0])
		return !strings.HasSuffix(format, sqlcall.Hole) && !endsInText.MatchString(format)
	}
	return false
}
