package goapp

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// packagesOf has packages with functions of the names that open pools, with any arguments.
type packagesOf map[string]*types.Package

func (p packagesOf) Import(path string) (*types.Package, error) {
	if p[path] != nil {
		return p[path], nil
	}
	list, ok := openers[path]
	if !ok {
		return importer.Default().Import(path)
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	pkg := types.NewPackage(path, name)
	anything := types.NewParam(0, pkg, "", types.NewSlice(types.Universe.Lookup("any").Type()))
	for fn := range list {
		result := types.NewTuple(types.NewParam(0, pkg, "", types.Typ[types.Int]))
		pkg.Scope().Insert(types.NewFunc(0, pkg, fn, types.NewSignatureType(nil, nil, nil, types.NewTuple(anything), result, true)))
	}
	pkg.MarkComplete()
	p[path] = pkg
	return pkg, nil
}

// TestOpens: every form in which Go apps open pools is found with its driver, and methods
// and other functions of these names are not.
func TestOpens(t *testing.T) {
	const source = `package main

import (
	"database/sql"
	"os"

	mydb "github.com/jmoiron/sqlx"
	"github.com/XSAM/otelsql"
	"gorm.io/driver/mysql"
	"xorm.io/xorm"
	ent "entgo.io/ent/dialect/sql"
)

const driver = "my" + "sql"

type store struct{}

func (store) Open(name, dsn string) int { return 0 }
func Open(name, dsn string) int         { return 0 }

var a, b, c, d, e, f, g, h, i = sql.Open(driver, "x"), sql.OpenDB(nil), mydb.MustConnect("sqlite3", "file:x"), mydb.ConnectContext(nil, "pgx", "x"),
	otelsql.Open("mysql", "x"), mysql.Open("x"), xorm.NewEngine("mysql", "x"), ent.Open("postgres", "x"), sql.Open(os.Args[0], "x")
var j, k = store{}.Open("mysql", "x"), Open("mysql", "x")
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "main.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	known := packagesOf{"os": types.NewPackage("os", "os")}
	known["os"].Scope().Insert(types.NewVar(0, known["os"], "Args", types.NewSlice(types.Typ[types.String])))
	known["os"].MarkComplete()
	if _, err := (&types.Config{Importer: known}).Check("main", fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range opens(info, []*ast.File{file}) {
		got = append(got, fmt.Sprintf("%d %s", o.By, o.Name))
	}
	want := "0 mysql, 1 , 0 sqlite3, 0 pgx, 3 mysql, 2 mysql, 2 mysql, 2 postgres, 0 "
	if is := strings.Join(got, ", "); is != want {
		t.Errorf("%s, want %s", is, want)
	}
}

func TestReachOf(t *testing.T) {
	for name, want := range map[string]Reach{"mysql": Server, "mysql+cache": Server, "sqlite+cache": SQLiteFile, "duckdb": OtherFile, "mine": UnknownReach, "": UnknownReach} {
		if got := ReachOf(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
	for path, want := range map[string][2]bool{"github.com/upper/db/v4/adapter/mysql": {true, false}, "xorm.io/xorm": {true, true}, "database/sql": {},
		"gorm.io/driver/sqlite": {}, ConfigOfGorm: {true, true}, "entgo.io/ent/dialect/sql": {true, true}} {
		maps, takes := Maps(path, "mysql"), TakesDriver(path)
		if maps != want[0] || maps && takes != want[1] {
			t.Errorf("%s: maps MySQL %v, takes a driver %v, want %v", path, maps, takes, want)
		}
	}
}

// opens are the calls in files that open pools, in the order of the source.
func opens(info *types.Info, files []*ast.File) (out []Open) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if o, ok := OpenIn(info, call); ok {
					out = append(out, o)
				}
			}
			return true
		})
	}
	return out
}
