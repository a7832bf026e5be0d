package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// mysqlDriver is the name of the driver of MySQL and MariaDB. fileDrivers are those of
// SQLite that a cache may wrap.
const mysqlDriver = "mysql"

var fileDrivers = []string{"sqlite", "sqlite3"}

// cachedName is the name under which the package of a query cache registers itself above
// a driver.
func cachedName(driver string) string { return driver + goapp.CacheSuffix }

// A cacheUse is what a query cache must know of a package: where the pool is opened,
// which functions run other programs, and what makes a cache unsafe.
type cacheUse struct {
	x        *index
	path     string // import path of the package with the cache
	opens    []poolOpen
	foreign  []foreignPool
	unsure   []poolOpen        // of drivers that are known when all packages are read
	drivers  map[string]string // names that the app registers, with the driver below
	linked   map[string]bool   // drivers that the package imports
	programs []ranProgram
	blockers []string
	// fileBlockers make a cache unsafe if the database is files.
	fileBlockers []string
	asked        []*ast.CallExpr   // for the name of a driver
	tellers      map[string]string // functions that the app gets, by library and package
}

func cacheUseOf(x *index, path string) *cacheUse {
	u := &cacheUse{x: x, path: path, drivers: map[string]string{}, linked: map[string]bool{}, tellers: map[string]string{}}
	for _, f := range x.files {
		u.imports(f)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				u.call(n)
			case *ast.SelectorExpr:
				u.fileSelector(n)
			case *ast.Ident:
				u.openerValue(n)
			}
			return true
		})
	}
	return u
}

// of are the places that open a pool by a driver.
func (u *cacheUse) of(base string) (out []poolOpen) {
	for _, at := range u.opens {
		if at.base == base {
			out = append(out, at)
		}
	}
	return out
}

func (u *cacheUse) imports(f *ast.File) {
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if name := goapp.DriverOf(path); name != "" {
			u.linked[name] = true
		}
		switch {
		case err != nil:
		case goapp.Maps(path, mysqlDriver) && !goapp.TakesDriver(path): // its statements would go past the cache
			u.block(spec, "%s opens connections of its own", path)
		case slices.Contains(fileOpeners, path):
			u.blockFile(spec, "%s opens files of its own", path)
		case slices.Contains(fileChangers, path):
			u.blockFile(spec, "%s changes files: they may be those of the database", path)
		}
	}
}

// block notes why a cache cannot be used, with the place.
func (u *cacheUse) block(n ast.Node, format string, args ...any) {
	u.blockers = append(u.blockers, u.reason(n, format, args...))
}

func (u *cacheUse) reason(n ast.Node, format string, args ...any) string {
	at := u.x.pass.Fset.Position(n.Pos())
	name := at.Filename[strings.LastIndexByte(at.Filename, '/')+1:]
	return fmt.Sprintf("%s:%d: ", name, at.Line) + fmt.Sprintf(format, args...)
}

func (u *cacheUse) call(c *ast.CallExpr) {
	fn := u.x.callee(c)
	o, opens := goapp.OpenIn(u.x.pass.TypesInfo, c)
	u.driverNameAsked(c)
	switch {
	case opens:
		u.open(o, fn.Pkg().Path())
	case opensPgx(fn):
		u.foreign = append(u.foreign, foreignPool{c, "the statements go past database/sql, by pgx itself: open the pool by pgx's stdlib, or change the source by hand"})
	case isFunc(fn, "os/exec", "Command", "CommandContext"):
		u.program(c)
	case isFunc(fn, "os", "StartProcess"), isFunc(fn, "syscall", "ForkExec", "StartProcess"):
		u.block(c, "a program is started that may write to the database, and its end is not known")
	case isFunc(fn, "database/sql", "Register") && len(c.Args) == 2:
		u.register(c)
	case isFunc(fn, "github.com/golang-migrate/migrate/v4", "New", "NewWithSourceInstance"):
		u.migrates(c)
	}
}

// migrates notes a function that runs migrations through connections of their own.
func (u *cacheUse) migrates(c *ast.CallExpr) {
	fn := u.x.function(c)
	if d, ok := fn.(*ast.FuncDecl); fn == nil || ok && d.Name.Name == "main" {
		u.block(c, "migrations are run through a connection of their own, in no function that ends with them")
		return
	}
	if !slices.ContainsFunc(u.programs, func(p ranProgram) bool { return p.fn == fn }) {
		u.programs = append(u.programs, ranProgram{fn, anything})
	}
}

// opensFile reports whether the DSN of a pool, which is argument i, begins with the
// scheme of a file: only drivers of SQLite take such a DSN.
func (u *cacheUse) opensFile(c *ast.CallExpr, i int) bool {
	if len(c.Args) <= i {
		return false
	}
	e := ast.Unparen(c.Args[i])
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) > 0 && isFunc(u.x.callee(call), "fmt", "Sprintf") {
		e = ast.Unparen(call.Args[0])
	}
	for {
		b, ok := e.(*ast.BinaryExpr)
		if !ok {
			break
		}
		e = ast.Unparen(b.X)
	}
	v := u.x.pass.TypesInfo.Types[e].Value
	return v != nil && v.Kind() == constant.String && strings.HasPrefix(constant.StringVal(v), "file:")
}

// endsIn reports whether the program of a command has ended when the function
// returns: it is run in it, and the command goes nowhere else.
func (u *cacheUse) endsIn(c *ast.CallExpr, fn ast.Node) bool {
	if sel, ok := u.x.parent[c].(*ast.SelectorExpr); ok {
		_, called := u.x.parent[sel].(*ast.CallExpr)
		return called && slices.Contains(endings, sel.Sel.Name)
	}
	a, ok := u.x.parent[c].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 {
		return false
	}
	cmd := u.x.variable(a.Lhs[0])
	if cmd == nil || !isLocal(cmd) || len(u.x.writes(cmd)) > 0 {
		return false
	}
	started, waited := false, false
	for _, id := range u.x.uses[cmd] {
		sel, ok := u.x.parent[id].(*ast.SelectorExpr)
		if !ok || u.x.function(id) != fn {
			return false
		}
		started = started || sel.Sel.Name == "Start"
		waited = waited || sel.Sel.Name == "Wait"
		if _, called := u.x.parent[sel].(*ast.CallExpr); !called && (sel.Sel.Name == "Start" || slices.Contains(endings, sel.Sel.Name)) {
			return false // a method value
		}
	}
	return started == waited
}

// isLocal reports whether a variable is declared in a function.
func isLocal(v *types.Var) bool {
	return v.Pkg() != nil && v.Parent() != v.Pkg().Scope() && !v.IsField()
}

// rewrite switches the cache above a driver on in a package: the driver's name where a
// pool is opened, and a call around what runs other programs. ok is false if a name that
// is needed cannot be used.
func (u *cacheUse) rewrite(base string) (edits []goapp.Edit, ok bool) {
	rw := u.x.rewrite()
	named := map[*ast.File]bool{}
	for _, run := range u.programs {
		fn := run.fn
		if run.harmless(base) {
			continue
		}
		body := bodyOfFunc(fn)
		if strings.Contains(u.x.text(body), ".Default.Outside()") {
			continue // the cache knows it already
		}
		rw.insert(body.Lbrace+1, fmt.Sprintf("\ndefer %s.Default.Outside()() // a program may write to the database past the cache\n", rw.namedPkg(body.Lbrace, u.path, "sqlcache")))
		named[u.x.fileOf(fn.Pos())] = true
	}
	for _, at := range u.of(base) {
		if !at.cached && at.form.wrap(u, rw, at) {
			named[u.x.fileOf(at.call.Pos())] = true
		}
	}
	for _, at := range u.of(base) { // a file that names the package imports it already
		if f := u.x.fileOf(at.call.Pos()); !at.cached && !named[f] {
			rw.addNamedImport(f, "_", u.path)
			named[f] = true
		}
	}
	if len(u.of(base)) > 0 {
		u.nameAsBefore(rw)
	}
	if len(rw.edits) == 0 {
		return nil, true
	}
	fix, ok := rw.fix("keep answers in a query cache")
	return offsets(u.x.pass.Fset, fix.TextEdits), ok
}

func bodyOfFunc(fn ast.Node) *ast.BlockStmt {
	if lit, ok := fn.(*ast.FuncLit); ok {
		return lit.Body
	}
	return fn.(*ast.FuncDecl).Body
}
