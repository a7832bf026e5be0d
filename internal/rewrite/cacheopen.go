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

// The cache goes between a pool and its driver, in whatever form the app opens the pool: by
// a driver's name, constant or not, by a connector, by a mapper's configuration, or through
// a driver of the app's own around one that is known.

// A poolOpen is a call that opens a pool.
type poolOpen struct {
	call *ast.CallExpr
	// at is what the edit changes: the driver's name, the connector, the configuration.
	at     ast.Expr
	form   openForm
	base   string // the driver's name without that of the cache
	name   string // the name that the call gives, "" if it is not constant
	cached bool
	why    string // the reason to refuse if the driver stays unknown
	// told is the library that must be told the name of the driver with the cache.
	told goapp.Library
}

// An openForm is the way in which a call gets its driver.
type openForm uint8

const (
	constantName openForm = iota
	computedName          // or a name that the app registers
	ofConnector
	oldGorm    // gorm.Open("mysql", dsn), of the first version
	gormOpen   // mysql.Open(dsn)
	gormConfig // mysql.New(mysql.Config{…})
	gormValue  // mysql.New(config)
)

// wrap puts the cache above the driver of a call. It reports whether the edit names the
// package of the cache.
func (f openForm) wrap(u *cacheUse, rw *rewrite, at poolOpen) bool {
	text := u.x.text(at.at)
	if at.told != goapp.NoLibrary {
		u.tell(rw, at)
		return true
	}
	cache := func() string { return rw.namedPkg(at.call.Pos(), u.path, "sqlcache") }
	switch f {
	case computedName:
		rw.replace(at.at, fmt.Sprintf("%s.Default.Driver(%s)", cache(), text))
		return true
	case oldGorm:
		rw.insert(at.call.Args[1].Pos(), fmt.Sprintf("%s.Default.Driver(%s), ", cache(), text))
		return true
	case ofConnector:
		rw.replace(at.at, fmt.Sprintf("%s.Default.Connector(%s, %q)", cache(), text, at.base))
		return true
	case gormValue:
		name, there := u.tellers["cachedGorm"+u.qualifier(at.call)]
		if !there {
			name = u.x.fresh("cachedGorm")
			u.tellers["cachedGorm"+u.qualifier(at.call)] = name
			rw.insert(u.x.fileOf(at.call.Pos()).FileEnd, tellGorm(u, rw, at, name))
		}
		rw.replace(at.at, name+"("+text+")")
		return true
	case gormOpen:
		pkg := strings.TrimSuffix(u.x.text(at.call.Fun), "Open")
		rw.replace(at.call, fmt.Sprintf("%sNew(%sConfig{DriverName: %q, DSN: %s})", pkg, pkg, cachedName(at.base), text))
	case gormConfig:
		lit := at.at.(*ast.CompositeLit)
		rw.insert(lit.Lbrace+1, fmt.Sprintf("DriverName: %q, ", cachedName(at.base)))
	default:
		rw.replace(at.at, strconv.Quote(cachedName(at.base)))
	}
	return false
}

// A foreignPool is a pool to an engine whose statements the cache does not know.
type foreignPool struct {
	call *ast.CallExpr
	why  string
}

// otherDialect is why a pool of a driver gets no cache.
func otherDialect(driver string) string {
	return fmt.Sprintf("the query cache knows the statements of MySQL, MariaDB and SQLite, and not those of the driver %s", driver)
}

// opensPgx reports whether a function opens connections of pgx, which database/sql does not see.
func opensPgx(fn *types.Func) bool {
	for _, version := range []string{"v4", "v5"} {
		if isFunc(fn, "github.com/jackc/pgx/"+version+"/pgxpool", "New", "NewWithConfig", "Connect", "ConnectConfig") ||
			isFunc(fn, "github.com/jackc/pgx/"+version, "Connect", "ConnectConfig") {
			return true
		}
	}
	return false
}

// open notes a call that opens a pool.
func (u *cacheUse) open(o goapp.Open, path string) {
	at := poolOpen{call: o.Call}
	if o.DSN >= 0 && o.DSN < len(o.Call.Args) && strings.Contains(strings.ToLower(constantText(u.x.pass, o.Call.Args[o.DSN])), "serializable") {
		u.block(o.Call, "the pool asks for serializable transactions, whose reads take locks")
	}
	switch {
	case o.Told == goapp.NoLibrary && strings.HasSuffix(path, "/ent/dialect/sql") && u.toldInEnt(o.Call):
	case o.Told == goapp.Ent && u.toldInEnt(o.Call):
	case o.Told != goapp.NoLibrary:
		u.openTold(o)
	case goapp.OfGorm(path):
		u.openGorm(o)
	case path == goapp.OldGorm:
		u.openOldGorm(o)
	case o.By == goapp.Connector:
		u.openConnector(o.Call)
	case o.By == goapp.Mapper && !o.Named && (o.Engine == mysqlDriver || o.Engine == ""):
		u.block(o.Call, "%s opens connections of its own", path)
	case o.By == goapp.Mapper && !o.Named: // of another engine; for files see fileOpeners
	case o.By == goapp.Wrapper && !o.Named:
		u.block(o.Call, "a pool is opened by %s, which wraps the driver", path)
	default:
		at.at = o.Call.Args[o.Driver]
		u.openNamed(at, o)
	}
}

// openOldGorm notes a pool that the first version of gorm opens: the driver's name stands
// behind that of the dialect.
func (u *cacheUse) openOldGorm(o goapp.Open) {
	at := poolOpen{call: o.Call, at: o.Call.Args[0], form: oldGorm, base: o.Name, name: o.Name, why: "the name of the dialect is not a constant"}
	switch {
	case len(o.Call.Args) == 3: // the driver's name, perhaps with the cache
		at.cached = strings.Contains(u.x.text(o.Call.Args[1]), ".Default.Driver(")
		if !at.cached {
			u.block(o.Call, "a pool is opened by a driver that gorm is told")
			return
		}
	case !isText(u.x.typeOf(o.Call.Args[1])):
		return // of a pool that the app has opened by other means
	}
	u.unsure = append(u.unsure, at)
}

// isText reports whether a type has texts.
func isText(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// openNamed notes a pool that is opened by the name of its driver.
func (u *cacheUse) openNamed(at poolOpen, o goapp.Open) {
	if inner := u.ofCache(at.at); inner != nil {
		at.cached, at.at = true, inner
		if v := u.x.pass.TypesInfo.Types[at.at].Value; v != nil && v.Kind() == constant.String {
			o.Name = constant.StringVal(v)
		}
	}
	base, cached := strings.CutSuffix(o.Name, goapp.CacheSuffix)
	at.name, at.cached = base, at.cached || cached
	switch {
	case base == mysqlDriver || slices.Contains(fileDrivers, base) && !u.opensMemory(o.Call, o.DSN):
		at.base = base
		u.opens = append(u.opens, at)
	case base != "" && goapp.ReachOf(base) == goapp.Server:
		u.foreign = append(u.foreign, foreignPool{o.Call, otherDialect(base)})
	case base != "" && (slices.Contains(fileDrivers, base) || goapp.ReachOf(base) != goapp.UnknownReach): // in memory, or another file
	default:
		at.form, at.why = computedName, "the name of the driver is not a constant"
		if base != "" {
			at.why = fmt.Sprintf("it is not known what the driver %q reaches", base)
		}
		at.base = u.driverIn(at.at, deepestDriver)
		u.unsure = append(u.unsure, at)
	}
}

func (u *cacheUse) openConnector(c *ast.CallExpr) {
	at := poolOpen{call: c, at: c.Args[0], form: ofConnector, why: "a pool is opened by a connector"}
	if inner, ok := ast.Unparen(c.Args[0]).(*ast.CallExpr); ok && strings.HasSuffix(u.x.text(inner.Fun), ".Default.Connector") {
		at.cached, at.at = true, inner.Args[0]
	}
	at.base = u.driverIn(at.at, deepestDriver)
	u.unsure = append(u.unsure, at)
}

// openGorm notes a pool that gorm opens to MySQL or to a file.
func (u *cacheUse) openGorm(o goapp.Open) {
	at := poolOpen{call: o.Call, at: o.Call.Args[0], form: gormOpen, base: o.Engine}
	if slices.Contains(fileDrivers, o.Engine) && u.opensMemory(o.Call, 0) {
		return
	}
	if fn := u.x.callee(o.Call); fn.Name() == "New" {
		at.form = gormValue
		if inner := u.ofCache(at.at); inner != nil {
			at.cached, at.at = true, inner
		} else if lit, ok := ast.Unparen(at.at).(*ast.CompositeLit); ok {
			if named, done := u.gormLiteral(&at, lit, o); done {
				return
			} else if named {
				u.openNamed(at, goapp.Open{Opener: o.Opener, Call: o.Call, Name: textOf(u.x.pass.TypesInfo.Types[at.at].Value)})
				return
			}
		}
	}
	if !u.gormTakesDriver(o.Call) {
		block := u.block
		if slices.Contains(fileDrivers, o.Engine) {
			block = u.blockFile
		}
		block(o.Call, "this version of %s takes no driver's name", u.x.callee(o.Call).Pkg().Path())
		return
	}
	u.opens = append(u.opens, at)
}

// gormLiteral reads a literal of gorm's configuration: named if it has the driver's name,
// done if it opens no pool.
func (u *cacheUse) gormLiteral(at *poolOpen, lit *ast.CompositeLit, o goapp.Open) (named, done bool) {
	at.at, at.form = lit, gormConfig
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			at.form = gormValue // its fields have no names
			return false, false
		}
		switch u.x.text(kv.Key) {
		case "Conn":
			return false, true // the app opens it by other means
		case "DriverName":
			at.at, at.form = kv.Value, constantName
			return true, false
		}
	}
	return false, false
}

// textOf is a constant text, "" for another value.
func textOf(v constant.Value) string {
	if v == nil || v.Kind() != constant.String {
		return ""
	}
	return constant.StringVal(v)
}

// gormTakesDriver reports whether gorm's Config has the field DriverName, and New takes it.
func (u *cacheUse) gormTakesDriver(c *ast.CallExpr) bool {
	pkg := u.x.callee(c).Pkg()
	config, _ := pkg.Scope().Lookup("Config").(*types.TypeName)
	if config == nil || pkg.Scope().Lookup("New") == nil {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(config.Type(), true, config.Pkg(), "DriverName")
	return obj != nil
}

// openerValue refuses a function that opens pools where it is no callee: the pools that it
// opens are not known.
func (u *cacheUse) openerValue(id *ast.Ident) {
	fn, _ := u.x.pass.TypesInfo.Uses[id].(*types.Func)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return
	}
	o, ok := goapp.OpenerOf(fn.Pkg().Path(), fn.Name())
	if !ok || o.Engine != "" && o.Engine != mysqlDriver {
		return
	}
	var e ast.Node = id
	if sel, ok := u.x.parent[id].(*ast.SelectorExpr); ok {
		e = sel
	}
	for {
		p, ok := u.x.parent[e].(*ast.ParenExpr)
		if !ok {
			break
		}
		e = p
	}
	if call, ok := u.x.parent[e].(*ast.CallExpr); !ok || call.Fun != e {
		u.block(id, "%s.%s is used as a value: the pools that it opens are not known", fn.Pkg().Name(), fn.Name())
	}
}

// register notes a driver of the app's own. It is known by the driver that its expression
// holds: proxy.New(&sqlite3.SQLiteDriver{}), a struct that embeds one.
func (u *cacheUse) register(c *ast.CallExpr) {
	base := u.driverIn(c.Args[1], deepestDriver)
	v := u.x.pass.TypesInfo.Types[c.Args[0]].Value
	name := ""
	if v != nil && v.Kind() == constant.String {
		name = constant.StringVal(v)
	}
	switch {
	case base == "":
		u.block(c, "the app registers a driver of its own")
	case slices.Contains(fileDrivers, base) && !u.plainFileDriver(c.Args[1]):
		u.blockFile(c, "the app registers a driver of its own")
	}
	if name != "" && base != "" {
		u.drivers[name] = base
	}
}

// plainFileDriver reports whether the driver of SQLite in an expression has no settings,
// such as functions of SQL that the app adds.
func (u *cacheUse) plainFileDriver(e ast.Expr) bool {
	plain := false
	ast.Inspect(e, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && u.bareDriver(sel) {
			plain = true
		}
		return true
	})
	return plain
}

// bareDriver reports whether a name is the type of an empty literal in a call of
// sql.Register.
func (u *cacheUse) bareDriver(s *ast.SelectorExpr) bool {
	lit, ok := u.x.parent[s].(*ast.CompositeLit)
	if !ok || len(lit.Elts) > 0 {
		return false
	}
	for n := ast.Node(lit); n != nil; n = u.x.parent[n] {
		if call, ok := n.(*ast.CallExpr); ok && isFunc(u.x.callee(call), "database/sql", "Register") {
			return true
		}
	}
	return false
}

// deepestDriver bounds the variables and functions that are followed to a driver.
const deepestDriver = 4

// driverIn is the one driver that an expression holds, by its packages' types and
// functions, and through variables and functions of the app; "" if it holds none, or
// several.
func (u *cacheUse) driverIn(e ast.Node, depth int) string {
	found := map[string]bool{}
	u.driversIn(e, depth, found)
	if len(found) != 1 {
		return ""
	}
	for name := range found {
		return name
	}
	return ""
}

func (u *cacheUse) driversIn(e ast.Node, depth int, found map[string]bool) {
	if e == nil || depth == 0 {
		return
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			u.driverText(n, found)
		case *ast.Ident:
			u.driverNamed(n, depth, found)
		}
		return true
	})
}

// driverText notes the driver of a name: a function may return it.
func (u *cacheUse) driverText(e ast.Expr, found map[string]bool) {
	v := u.x.pass.TypesInfo.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return
	}
	name := strings.TrimSuffix(constant.StringVal(v), goapp.CacheSuffix)
	if goapp.ReachOf(name) != goapp.UnknownReach {
		found[name] = true
	}
}

func (u *cacheUse) driverNamed(id *ast.Ident, depth int, found map[string]bool) {
	obj := u.x.pass.TypesInfo.ObjectOf(id)
	if obj == nil || obj.Pkg() == nil {
		return
	}
	if name := goapp.DriverOf(obj.Pkg().Path()); name != "" {
		found[name] = true
		return
	}
	switch obj := obj.(type) {
	case *types.Const:
		u.driverText(id, found)
	case *types.Var:
		if s := structOf(obj.Type()); s != nil {
			embeddedDrivers(s, found)
		}
		for _, arg := range u.x.argumentsOf(obj) {
			u.driversIn(arg, depth-1, found)
		}
		for _, use := range append([]*ast.Ident{u.x.defs[obj]}, u.x.uses[obj]...) {
			if use != nil && use != id {
				u.driversIn(u.assignedTo(use), depth-1, found)
			}
		}
	case *types.TypeName:
		if s := structOf(obj.Type()); s != nil {
			embeddedDrivers(s, found)
		}
	case *types.Func:
		if d := u.x.decls[obj]; d != nil && d.Body != nil {
			for _, result := range returned(d.Body) {
				u.driversIn(result, depth-1, found)
			}
		}
	}
}

// embeddedDrivers notes the drivers that a struct embeds.
func embeddedDrivers(s *types.Struct, found map[string]bool) {
	for f := range s.Fields() {
		named := namedOf(f.Type())
		if f.Embedded() && named != nil && named.Obj().Pkg() != nil && goapp.DriverOf(named.Obj().Pkg().Path()) != "" {
			found[goapp.DriverOf(named.Obj().Pkg().Path())] = true
		}
	}
}

// assignedTo is the value that a place sets a variable to; nil if it only reads it.
func (u *cacheUse) assignedTo(id *ast.Ident) ast.Node {
	switch p := u.x.parent[id].(type) {
	case *ast.AssignStmt:
		for i, l := range p.Lhs {
			if l == ast.Expr(id) {
				return p.Rhs[min(i, len(p.Rhs)-1)]
			}
		}
	case *ast.ValueSpec:
		for i, l := range p.Names {
			if l == id && len(p.Values) > 0 {
				return p.Values[min(i, len(p.Values)-1)]
			}
		}
	case *ast.KeyValueExpr:
		if p.Key == ast.Expr(id) {
			return p.Value // of a field
		}
	case *ast.SelectorExpr:
		if a, ok := u.x.parent[p].(*ast.AssignStmt); ok && p.Sel == id {
			if value := valueOf(p, a.Lhs, a.Rhs); value != nil {
				return value
			}
		}
	}
	return nil
}

// resolve finds the drivers of the pools that one package alone does not show: by the names
// that any package registers, or because the app has one driver only.
func resolve(found []*cacheUse) {
	drivers, linked := map[string]string{}, map[string]bool{}
	for _, u := range found {
		for name, base := range u.drivers {
			drivers[name] = base
		}
		for name := range u.linked {
			linked[name] = true
		}
	}
	for _, u := range found {
		for _, at := range u.unsure {
			base := at.base
			if own := drivers[at.name]; own != "" {
				base = own
			}
			switch {
			case base != "":
			case len(linked) == 1:
				for name := range linked {
					base = name
				}
			case at.form == oldGorm || at.form == computedName && at.name == "":
				// One of several, by the site's settings: the cache knows the name when the pool
				// is opened. Its plan is that of the site's database.
				base = severalDrivers(found, linked)
			}
			u.settle(at, base)
		}
		u.unsure = nil
	}
}

// severalDrivers is the driver of MySQL if the app links it beside others that reach a server
// or files. Where another pool is of MySQL for certain, one of an unknown driver is something
// else: the files of tenants, for example.
func severalDrivers(found []*cacheUse, linked map[string]bool) string {
	for _, u := range found {
		for _, at := range u.opens {
			if at.base == mysqlDriver && at.form != computedName {
				return ""
			}
		}
	}
	for name := range linked {
		if goapp.ReachOf(name) == goapp.UnknownReach {
			return ""
		}
	}
	if linked[mysqlDriver] {
		return mysqlDriver
	}
	return ""
}

// settle notes a pool whose driver was looked for.
func (u *cacheUse) settle(at poolOpen, base string) {
	at.base = base
	opensFile := at.form == computedName && u.opensFile(at.call, min(1, len(at.call.Args)-1))
	switch {
	case base == "" && opensFile:
		u.blockFile(at.call, "%s", at.why)
	case base == "":
		u.block(at.call, "%s", at.why)
	case slices.Contains(fileDrivers, base) && at.form == ofConnector:
		u.blockFile(at.call, "a pool to a file is opened by a connector")
	case base == mysqlDriver || slices.Contains(fileDrivers, base):
		u.opens = append(u.opens, at)
	}
}
