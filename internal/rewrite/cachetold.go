package rewrite

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// Some libraries take the dialect of SQL from the driver's name, and know those names only
// that they were told. The app gets a function that tells them the name of the driver with
// the query cache, and opens its pool through it.

// A toldLibrary is how a library is told the name of a driver.
type toldLibrary struct {
	name string // of the function that the app gets
	// text is the function, "" where the library cannot be told.
	text func(u *cacheUse, rw *rewrite, at poolOpen, name string) string
}

var toldLibraries = map[goapp.Library]toldLibrary{
	goapp.Xorm:  {"cachedXorm", tellXorm},
	goapp.Dbx:   {"cachedDbx", tellDbx},
	goapp.Beego: {"cachedBeego", tellBeego},
	goapp.Ent:   {"cachedEnt", openEnt},
}

// openTold notes a pool that such a library opens.
func (u *cacheUse) openTold(o goapp.Open) {
	at := poolOpen{call: o.Call, at: o.Call.Args[o.Driver], told: o.Told}
	if !isText(u.x.typeOf(at.at)) {
		return // a group of engines that are open already
	}
	if !u.canTell(at) {
		u.block(o.Call, "this version of the library that opens the pool cannot be told the name of a driver")
		return
	}
	u.openNamed(at, o)
}

// canTell reports whether the version of the library has what the app would call.
func (u *cacheUse) canTell(at poolOpen) bool {
	pkg := u.x.callee(at.call).Pkg()
	switch at.told {
	case goapp.Xorm:
		return dialectsOfXorm(pkg) != nil
	case goapp.Dbx:
		return pkg.Scope().Lookup("BuilderFuncMap") != nil
	case goapp.Beego:
		return pkg.Scope().Lookup("RegisterDriver") != nil
	}
	return true
}

// tell puts the function into the app, once for each package and library, and the call of
// it into the place that opens the pool.
func (u *cacheUse) tell(rw *rewrite, at poolOpen) {
	library := toldLibraries[at.told]
	key := library.name + u.x.callee(at.call).Pkg().Path()
	name, there := u.tellers[key]
	if !there {
		name = u.x.fresh(library.name)
		u.tellers[key] = name
		rw.insert(u.x.fileOf(at.call.Pos()).FileEnd, library.text(u, rw, at, name))
	}
	if at.told == goapp.Ent {
		rw.replace(at.call.Fun, name)
		return
	}
	rw.replace(at.at, name+"("+u.x.text(at.at)+")")
}

// qualifier is what stands before the names of the package of a call: "xorm.".
func (u *cacheUse) qualifier(call *ast.CallExpr) string {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return u.x.text(sel.X) + "."
	}
	return ""
}

// dialectsOfXorm is the package with the dialects of a version of xorm, nil if it has none
// that can be told the name of a driver.
func dialectsOfXorm(xorm *types.Package) *types.Package {
	engine, _ := xorm.Scope().Lookup("Engine").(*types.TypeName)
	if engine == nil {
		return nil
	}
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(engine.Type()), true, xorm, "Dialect")
	method, ok := obj.(*types.Func)
	if !ok || method.Signature().Results().Len() != 1 {
		return nil
	}
	named := namedOf(method.Signature().Results().At(0).Type())
	if named == nil || named.Obj().Pkg() == nil {
		return nil
	}
	// What a package of an indirect dependency declares is known in part only.
	if pkg := named.Obj().Pkg(); slices.Contains(xormDialects, pkg.Path()) {
		return pkg
	}
	return nil
}

// xormDialects are the packages with RegisterDriver and QueryDriver of xorm's versions.
var xormDialects = []string{"xorm.io/xorm/dialects", "xorm.io/core", "github.com/go-xorm/core"}

func tellXorm(u *cacheUse, rw *rewrite, at poolOpen, name string) string {
	pos := at.call.Pos()
	dialects := rw.namedPkg(pos, dialectsOfXorm(u.x.callee(at.call).Pkg()).Path(), "dialects")
	return fmt.Sprintf(`
// %[1]s is the name of a driver with the query cache above it, which xorm is told
// to speak the same dialect.
func %[1]s(name string) string {
	cached := %[2]s.Default.Driver(name)
	if %[3]s.QueryDriver(cached) == nil {
		%[3]s.RegisterDriver(cached, %[3]s.QueryDriver(name))
	}
	return cached
}
`, name, rw.namedPkg(pos, u.path, "sqlcache"), dialects)
}

func tellDbx(u *cacheUse, rw *rewrite, at poolOpen, name string) string {
	return fmt.Sprintf(`
// %[1]s is the name of a driver with the query cache above it, for which dbx is told
// to build the same statements.
func %[1]s(name string) string {
	cached := %[2]s.Default.Driver(name)
	if build, ok := %[3]sBuilderFuncMap[name]; ok {
		%[3]sBuilderFuncMap[cached] = build
	}
	return cached
}
`, name, rw.namedPkg(at.call.Pos(), u.path, "sqlcache"), u.qualifier(at.call))
}

func tellBeego(u *cacheUse, rw *rewrite, at poolOpen, name string) string {
	dialect := "DRMySQL"
	if slices.Contains(fileDrivers, at.base) {
		dialect = "DRSqlite"
	}
	return fmt.Sprintf(`
// %[1]s is the name of a driver with the query cache above it, which the orm is told
// to speak the same dialect.
func %[1]s(name string) string {
	cached := %[2]s.Default.Driver(name)
	if err := %[3]sRegisterDriver(cached, %[3]s%[4]s); err != nil {
		panic(err)
	}
	return cached
}
`, name, rw.namedPkg(at.call.Pos(), u.path, "sqlcache"), u.qualifier(at.call), dialect)
}

func openEnt(u *cacheUse, rw *rewrite, at poolOpen, name string) string {
	pos := at.call.Pos()
	return fmt.Sprintf(`
// %[1]s opens a client whose statements go through the query cache.
func %[1]s(driver, source string, options ...%[3]sOption) (*%[3]sClient, error) {
	drv, err := %[4]s.Open(%[2]s.Default.Driver(driver), source)
	if err != nil {
		return nil, err
	}
	return %[3]sNewClient(append(options, %[3]sDriver(drv))...), nil
}
`, name, rw.namedPkg(pos, u.path, "sqlcache"), u.qualifier(at.call), rw.namedPkg(pos, goapp.EntSQL(u.x.callee(at.call).Pkg()), "entsql"))
}

// tellGorm is the function that gives gorm's configuration the driver with the cache.
func tellGorm(u *cacheUse, rw *rewrite, at poolOpen, name string) string {
	return fmt.Sprintf(`
// %[1]s has gorm open its pool by the driver with the query cache.
func %[1]s(c %[3]sConfig) %[3]sConfig {
	if c.Conn != nil {
		return c // a pool that is open already
	}
	if c.DriverName == "" {
		c.DriverName = %[4]q
	}
	c.DriverName = %[2]s.Default.Driver(c.DriverName)
	return c
}
`, name, rw.namedPkg(at.call.Pos(), u.path, "sqlcache"), u.qualifier(at.call), at.base)
}

// ofCache is the argument of a call that puts the cache above a driver, by a function of
// the package of the cache or by one that tell has put into the app; nil for others.
func (u *cacheUse) ofCache(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	if strings.HasSuffix(u.x.text(call.Fun), ".Default.Driver") {
		return call.Args[0]
	}
	if d := u.x.decls[u.x.callee(call)]; d != nil && d.Body != nil && strings.Contains(u.x.text(d.Body), ".Default.Driver(") {
		return call.Args[0]
	}
	return nil
}

// toldInEnt reports whether a call is the one by which the client that ent generates opens
// its pool: the calls of its Open are what counts.
func (u *cacheUse) toldInEnt(c *ast.CallExpr) bool {
	if goapp.GeneratedByEnt(u.x.pass.Pkg) {
		return true
	}
	return u.x.pass.Pkg.Name() == "enttest"
}

// driverNameAsked notes a call that asks a library for the name of its driver, which is
// another one with the cache.
func (u *cacheUse) driverNameAsked(c *ast.CallExpr) {
	fn := u.x.callee(c)
	if fn == nil || fn.Name() != "DriverName" || fn.Pkg() == nil || fn.Signature().Recv() == nil || len(c.Args) > 0 {
		return
	}
	switch path := fn.Pkg().Path(); {
	case path == "github.com/jmoiron/sqlx", path == xormPath, path == oldXormPath, strings.HasSuffix(path, "/dialects"),
		strings.HasSuffix(path, "/ozzo-dbx"), path == "github.com/pocketbase/dbx":
		u.asked = append(u.asked, c)
	}
}

// nameAsBefore has the calls that ask for the name of a driver get the one without the cache.
func (u *cacheUse) nameAsBefore(rw *rewrite) {
	for _, c := range u.asked {
		if outer, ok := u.x.parent[c].(*ast.CallExpr); ok && isFunc(u.x.callee(outer), "strings", "TrimSuffix") {
			continue // it does already
		}
		rw.replace(c, fmt.Sprintf("%s.TrimSuffix(%s, %q)", rw.namedPkg(c.Pos(), "strings", "strings"), u.x.text(c), goapp.CacheSuffix))
	}
}
