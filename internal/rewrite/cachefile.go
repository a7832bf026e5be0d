package rewrite

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// What makes a query cache above a driver of SQLite unsafe, besides what makes any cache
// unsafe: the app reaches its files by other ways than the pools that it opens by the
// driver's name.

// fileOpeners are packages that open files of SQLite by functions of their own, or
// whose driver takes a name of fileDrivers and was not tested with the cache.
var fileOpeners = []string{"github.com/glebarez/sqlite", "github.com/glebarez/go-sqlite", "github.com/ncruces/go-sqlite3",
	"github.com/ncruces/go-sqlite3/driver", "zombiezen.com/go/sqlite", "zombiezen.com/go/sqlite/sqlitex", "crawshaw.io/sqlite", "crawshaw.io/sqlite/sqlitex",
	"github.com/upper/db/v4/adapter/sqlite", "github.com/golang-migrate/migrate/v4/database/sqlite", "github.com/golang-migrate/migrate/v4/database/sqlite3",
	"github.com/benbjohnson/litestream"}

// testedFileDrivers are the packages whose drivers a cache may wrap.
var testedFileDrivers = []string{"modernc.org/sqlite", "github.com/mattn/go-sqlite3"}

// fileChangers are packages that copy, replace or write files by functions of their own.
var fileChangers = []string{"github.com/otiai10/copy", "github.com/spf13/afero", "github.com/google/renameio", "github.com/google/renameio/v2",
	"github.com/natefinch/atomic", "gopkg.in/natefinch/lumberjack.v2"}

// blockFile notes why a cache of files cannot be used, with the place.
func (u *cacheUse) blockFile(n ast.Node, format string, args ...any) {
	u.fileBlockers = append(u.fileBlockers, u.reason(n, format, args...))
}

// changing are the functions of package os that write, replace or remove files which
// may be those of a database. Those that make a new file of a random name, or only
// folders, are not among them.
var changing = []string{"Create", "WriteFile", "Rename", "Remove", "RemoveAll", "Truncate", "Link", "Symlink", "CopyFS", "OpenRoot", "OpenInRoot"}

// changingCalls are the same by system calls.
var changingCalls = []string{"Open", "Openat", "Openat2", "Creat", "Rename", "Renameat", "Renameat2", "Unlink", "Unlinkat", "Link", "Linkat", "Symlink", "Symlinkat",
	"Truncate", "Ftruncate"}

// fileSelector looks at a name that may reach files past the pools: of a package, or a
// method.
func (u *cacheUse) fileSelector(s *ast.SelectorExpr) {
	obj := u.x.pass.TypesInfo.Uses[s.Sel]
	if obj == nil || obj.Pkg() == nil {
		return
	}
	path, name := obj.Pkg().Path(), obj.Name()
	fn, _ := obj.(*types.Func)
	method := fn != nil && fn.Signature().Recv() != nil
	switch {
	case slices.Contains(testedFileDrivers, path):
		if !harmlessOfDriver(obj) && !u.bareDriver(s) {
			u.blockFile(s, "%s.%s reaches the driver of the files", obj.Pkg().Name(), name)
		}
	case path == "database/sql" && method && name == "Raw":
		u.blockFile(s, "a connection of the driver is used by itself")
	case path == "os" && !method && slices.Contains(changing, name), path == "io/ioutil" && name == "WriteFile",
		path == "os" && method && name == "Truncate", (path == "syscall" || path == "golang.org/x/sys/unix") && slices.Contains(changingCalls, name),
		method && name == "SaveUploadedFile":
		u.blockFile(s, "the app itself changes files by %s.%s: they may be those of the database", obj.Pkg().Name(), name)
	case path == "os" && !method && name == "OpenFile" && !u.opensToRead(s):
		u.blockFile(s, "the app itself opens a file for writing: it may be one of the database")
	}
}

// harmlessOfDriver reports whether a name of a driver's package describes errors only.
func harmlessOfDriver(obj types.Object) bool {
	switch o := obj.(type) {
	case *types.Const, *types.Var:
		return true // also fields of an error
	case *types.TypeName:
		return slices.Contains([]string{"Error", "ErrNo", "ErrNoExtended"}, o.Name())
	case *types.Func:
		recv := o.Signature().Recv()
		return recv != nil && namedOf(recv.Type()) != nil && harmlessOfDriver(namedOf(recv.Type()).Obj())
	}
	return false
}

// opensToRead reports whether os.OpenFile is called with the constant flag O_RDONLY.
func (u *cacheUse) opensToRead(s *ast.SelectorExpr) bool {
	call, ok := u.x.parent[s].(*ast.CallExpr)
	if !ok || call.Fun != s || len(call.Args) != 3 {
		return false
	}
	v := u.x.pass.TypesInfo.Types[call.Args[1]].Value
	if v == nil || v.Kind() != constant.Int {
		return false
	}
	flags, exact := constant.Int64Val(v)
	return exact && flags == 0
}

// opensMemory reports whether the constant DSN of a pool, which is argument i, is a
// database in memory: no cache helps it.
func (u *cacheUse) opensMemory(c *ast.CallExpr, i int) bool {
	if len(c.Args) <= i {
		return false
	}
	v := u.x.pass.TypesInfo.Types[c.Args[i]].Value
	if v == nil || v.Kind() != constant.String {
		return false
	}
	dsn := constant.StringVal(v)
	path, query, _ := strings.Cut(dsn, "?")
	return path == "" || path == ":memory:" || path == "file::memory:" || strings.HasPrefix(path, "file:") && strings.Contains(query, "mode=memory")
}
