package goapp

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// An Opener is a function that opens a pool of connections to databases.
type Opener struct {
	By Way
	// Driver and DSN are the arguments with the name of the driver and with the DSN, -1
	// without one.
	Driver, DSN int
	// Engine is what an opener of one engine alone reaches, as a driver's name.
	Engine string
	// Named: a Mapper or a Wrapper gives the driver's name to sql.Open, so that it takes
	// the name of any driver that is registered.
	Named bool
	// Told is the library that must be told which dialect the driver of a new name speaks.
	Told Library
}

// A Library is one that takes the dialect of SQL from the driver's name.
type Library uint8

// The libraries.
const (
	NoLibrary Library = iota
	Xorm              // it looks the name up among the drivers of its dialects
	Dbx               // it looks the name up in BuilderFuncMap
	Beego             // it looks the name up among those of RegisterDriver
	Ent               // the Open that ent generates takes three names only
)

// A Way is how the statements of a pool reach the driver.
type Way int

// The ways.
const (
	// Plain: the app's statements go to the driver of the name that it gives.
	Plain Way = iota
	// Connector: the driver has no name.
	Connector
	// Mapper: an object-relational mapper makes the statements.
	Mapper
	// Wrapper: a library puts itself between, as to trace statements.
	Wrapper
)

var (
	byName    = Opener{Driver: 0, DSN: 1}
	wrapped   = Opener{By: Wrapper, Driver: 0, DSN: 1}
	passing   = Opener{By: Wrapper, Driver: 0, DSN: 1, Named: true}
	connector = Opener{By: Connector, Driver: -1, DSN: -1}
	ofXorm    = Opener{By: Mapper, Driver: 0, DSN: 1, Named: true, Told: Xorm}
	ofDbx     = Opener{By: Mapper, Driver: 0, DSN: 1, Named: true, Told: Dbx}
	ofBeego   = Opener{By: Mapper, Driver: 1, DSN: 2, Named: true, Told: Beego}
	ofEnt     = Opener{By: Mapper, Driver: 0, DSN: 1, Named: true, Told: Ent}
	entDriver = Opener{By: Mapper, Driver: 0, DSN: 1, Named: true}
)

var (
	xorms  = map[string]Opener{"NewEngine": ofXorm, "NewEngineWithParams": ofXorm, "NewEngineGroup": ofXorm}
	dbxes  = map[string]Opener{"Open": ofDbx, "MustOpen": ofDbx}
	beegos = map[string]Opener{"RegisterDataBase": ofBeego}
)

// mapper is the opener of a mapper's driver of one engine.
func mapper(engine string) Opener { return Opener{By: Mapper, Driver: -1, DSN: 0, Engine: engine} }

// openers are the functions that open pools, by the packages' paths and their names.
var openers = map[string]map[string]Opener{
	"database/sql": {"Open": byName, "OpenDB": connector},
	"github.com/jmoiron/sqlx": {"Open": byName, "MustOpen": byName, "Connect": byName, "MustConnect": byName,
		"ConnectContext": {Driver: 1, DSN: 2}},
	"gorm.io/driver/mysql":                                 {"Open": mapper("mysql"), "New": mapper("mysql")},
	"gorm.io/driver/postgres":                              {"Open": mapper("postgres"), "New": mapper("postgres")},
	"gorm.io/driver/sqlite":                                {"Open": mapper("sqlite3"), "New": mapper("sqlite3")},
	"github.com/glebarez/sqlite":                           {"Open": mapper("sqlite"), "New": mapper("sqlite")},
	OldGorm:                                                {"Open": {By: Mapper, Driver: 0, DSN: 1, Named: true}},
	"github.com/upper/db/v4/adapter/mysql":                 {"Open": mapper("mysql")},
	"xorm.io/xorm":                                         xorms,
	"github.com/go-xorm/xorm":                              xorms,
	"github.com/go-ozzo/ozzo-dbx":                          dbxes,
	"github.com/pocketbase/dbx":                            dbxes,
	"github.com/beego/beego/v2/client/orm":                 beegos,
	"github.com/beego/beego/client/orm":                    beegos,
	"github.com/astaxie/beego/orm":                         beegos,
	"entgo.io/ent/dialect/sql":                             {"Open": entDriver},
	"github.com/facebook/ent/dialect/sql":                  {"Open": entDriver},
	"github.com/facebookincubator/ent/dialect/sql":         {"Open": entDriver},
	"github.com/XSAM/otelsql":                              {"Open": passing},
	"github.com/uptrace/opentelemetry-go-extra/otelsql":    {"Open": passing},
	"github.com/uptrace/opentelemetry-go-extra/otelsqlx":   {"Open": wrapped, "Connect": wrapped, "MustConnect": wrapped},
	"gopkg.in/DataDog/dd-trace-go.v1/contrib/database/sql": {"Open": wrapped},
	"gopkg.in/DataDog/dd-trace-go.v1/contrib/jmoiron/sqlx": {"Open": wrapped, "Connect": wrapped, "MustConnect": wrapped},
	"go.elastic.co/apm/module/apmsql":                      {"Open": wrapped},
	"go.elastic.co/apm/module/apmsql/v2":                   {"Open": wrapped},
}

// OpenerOf is how a function of a package opens a pool; false for another function.
func OpenerOf(importPath, name string) (Opener, bool) {
	o, ok := openers[importPath][name]
	return o, ok
}

// Maps reports whether a package is a mapper that opens pools to an engine inside of its
// own functions: their statements are not in the app's source.
func Maps(importPath, engine string) bool {
	for _, o := range openers[importPath] {
		if o.By == Mapper && (o.Engine == engine || o.Engine == "") {
			return true
		}
	}
	return false
}

// TakesDriver reports whether all functions of a mapper that open pools can open them by
// the name of any driver.
func TakesDriver(importPath string) bool {
	for _, o := range openers[importPath] {
		if !o.Named && !OfGorm(importPath) {
			return false
		}
	}
	return true
}

// OfGorm reports whether a package has a driver of gorm whose configuration may have the
// name of the driver of database/sql.
func OfGorm(importPath string) bool {
	return slices.Contains([]string{ConfigOfGorm, "gorm.io/driver/sqlite", "github.com/glebarez/sqlite"}, importPath)
}

// ConfigOfGorm is the package of gorm that opens pools to MySQL. Its type Config has the
// name of a driver to open them by.
const ConfigOfGorm = "gorm.io/driver/mysql"

// OldGorm is the first version of gorm. Its Open takes the name of a dialect, and may have
// that of the driver behind it.
const OldGorm = "github.com/jinzhu/gorm"

// An Open is a call that opens a pool.
type Open struct {
	Opener
	Call *ast.CallExpr
	// Name is the driver's name, "" if it is no constant.
	Name string
}

// OpenIn is the pool that a call opens; false for another call.
func OpenIn(info *types.Info, call *ast.CallExpr) (Open, bool) {
	fn, _ := typeutil.Callee(info, call).(*types.Func)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return Open{}, false
	}
	o, ok := OpenerOf(fn.Pkg().Path(), fn.Name())
	if fn.Name() == "Open" && GeneratedByEnt(fn.Pkg()) {
		o, ok = ofEnt, true
	}
	if !ok || len(call.Args) <= max(o.Driver, o.DSN) {
		return Open{}, false
	}
	out := Open{Opener: o, Call: call, Name: o.Engine}
	if o.Driver >= 0 {
		if v := info.Types[call.Args[o.Driver]].Value; v != nil && v.Kind() == constant.String {
			out.Name = constant.StringVal(v)
		}
	}
	return out, true
}

// GeneratedByEnt reports whether a package is a client that ent generates.
func GeneratedByEnt(p *types.Package) bool {
	for _, name := range []string{"Client", "NewClient", "Driver", "Option"} {
		if p.Scope().Lookup(name) == nil {
			return false
		}
	}
	return EntSQL(p) != ""
}

// EntSQL is the path of ent's package of drivers that a package imports, "" for none.
func EntSQL(p *types.Package) string {
	for _, i := range p.Imports() {
		if path := i.Path(); strings.HasSuffix(path, "/ent/dialect/sql") {
			return path
		}
	}
	return ""
}

// A Reach is what a driver connects to.
type Reach int

// What drivers connect to.
const (
	UnknownReach Reach = iota
	SQLiteFile
	Server
	OtherFile // of another embedded database
)

var reaches = map[string]Reach{"sqlite": SQLiteFile, "sqlite3": SQLiteFile, "duckdb": OtherFile,
	"mysql": Server, "mariadb": Server, "postgres": Server, "pgx": Server, "pq": Server, "sqlserver": Server, "mssql": Server,
	"oracle": Server, "godror": Server, "clickhouse": Server}

// CacheSuffix is behind the name of a driver with the query cache above it.
const CacheSuffix = "+cache"

// ReachOf is what a driver with a name connects to, also below a query cache. The name of a
// driver that the app registers itself tells nothing.
func ReachOf(driver string) Reach { return reaches[strings.TrimSuffix(driver, CacheSuffix)] }

// sqliteDrivers are the packages with a driver of SQLite.
var sqliteDrivers = []string{"modernc.org/sqlite", "github.com/glebarez/go-sqlite", "github.com/ncruces/go-sqlite3/driver", "github.com/mattn/go-sqlite3"}

// driverPackages are packages that register a driver by its name when they are imported,
// or whose mapper or tracer does.
var driverPackages = map[string]string{
	"github.com/go-sql-driver/mysql": "mysql", ConfigOfGorm: "mysql", "github.com/newrelic/go-agent/v3/integrations/nrmysql": "mysql",
	"modernc.org/sqlite": "sqlite", "github.com/glebarez/go-sqlite": "sqlite", "github.com/glebarez/sqlite": "sqlite",
	"github.com/mattn/go-sqlite3": "sqlite3", "gorm.io/driver/sqlite": "sqlite3", "github.com/ncruces/go-sqlite3/driver": "sqlite3",
	OldGorm + "/dialects/mysql": "mysql", OldGorm + "/dialects/sqlite": "sqlite3", OldGorm + "/dialects/postgres": "postgres", OldGorm + "/dialects/mssql": "sqlserver",
	"github.com/lib/pq": "postgres", "gorm.io/driver/postgres": "postgres", "github.com/jackc/pgx/v4/stdlib": "pgx", "github.com/jackc/pgx/v5/stdlib": "pgx",
	"github.com/microsoft/go-mssqldb": "sqlserver", "github.com/ClickHouse/clickhouse-go/v2": "clickhouse",
}

// DriverOf is the driver that a package has, by the name under which it registers it; ""
// for another package.
func DriverOf(importPath string) string { return driverPackages[importPath] }

// DrivesSQLite reports whether a package has a driver of SQLite.
func DrivesSQLite(importPath string) bool { return slices.Contains(sqliteDrivers, importPath) }
