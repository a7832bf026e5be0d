package ties

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"iter"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// fileCalls are functions of os and io/ioutil that change files.
var fileCalls = []string{"Create", "WriteFile", "OpenFile", "Mkdir", "MkdirAll", "Rename", "Remove", "RemoveAll", "Symlink", "Link", "Truncate", "Chmod", "Chtimes"}

// uploads are methods of routers' requests that keep an uploaded file.
var uploads = []string{"SaveUploadedFile", "SaveFile"}

// programs are programs that change files.
var programs = []string{"cp", "mv", "rm", "mkdir", "touch", "tar", "unzip", "zip", "rsync", "ln", "dd"}

// calls lists the ties by what is called.
func (s *source) calls() (out []Tie) {
	for _, b := range s.bodies {
		temporary := s.temporary(b)
		ast.Inspect(b.code, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name := s.writesFile(b, call); name != "" && !mentions(b.pkg, call, temporary) {
				out = append(out, s.tie(Files, call, name, b.name))
			}
			if from, name := outside(b.pkg, call.Fun); name == "Flock" && (from == "syscall" || from == "golang.org/x/sys/unix") || name == "New" && from == "github.com/gofrs/flock" {
				out = append(out, s.tie(Lock, call, "flock", b.name))
			}
			return true
		})
		out = append(out, s.locks(b)...)
	}
	for _, b := range slices.Concat(s.bodies, s.starts) {
		ast.Inspect(b.code, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				out = append(out, s.opens(b, n)...)
			case *ast.BasicLit:
				if text := s.text(b.pkg, n); unixDSN.MatchString(text) {
					out = append(out, s.tie(Socket, n, "connects by a unix socket", b.name))
				}
			}
			return true
		})
	}
	return append(out, s.locals()...)
}

func (s *source) tie(k Kind, n ast.Node, name, function string) Tie {
	file, line := s.at(n)
	return Tie{Kind: k, File: file, Line: line, Name: name, Func: function}
}

// writesFile names a call that changes files; "" for another one.
func (s *source) writesFile(b body, call *ast.CallExpr) string {
	from, name := outside(b.pkg, call.Fun)
	switch {
	case from == "os" && name == "OpenFile" && len(call.Args) == 3:
		if reading(b.pkg, call.Args[1]) {
			return ""
		}
		return "os.OpenFile"
	case (from == "os" || from == "io/ioutil") && slices.Contains(fileCalls, name):
		return strings.TrimPrefix(from, "io/") + "." + name
	case from == "os/exec" && (name == "Command" || name == "CommandContext"):
		args := call.Args
		if name == "CommandContext" && len(args) > 0 {
			args = args[1:]
		}
		return s.program(b.pkg, args)
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && from == "" && slices.Contains(uploads, sel.Sel.Name) {
		return sel.Sel.Name
	}
	return ""
}

var shellWrites = regexp.MustCompile(`(^|[|;&\s])(cp|mv|rm|mkdir|tar|unzip|zip|sqlite3)\s|[^0-9&>]>{1,2}\s*[^&\s/]|>\s*/(?:[^dt]|d[^e]|t[^m])`)

// program names a program that changes files.
func (s *source) program(p *packages.Package, args []ast.Expr) string {
	if len(args) == 0 {
		return ""
	}
	name := s.text(p, args[0])
	if slices.Contains(programs, name) {
		return name
	}
	if (name == "sh" || name == "bash" || name == "/bin/sh" || name == "/bin/bash") && len(args) > 2 && shellWrites.MatchString(s.text(p, args[2])) {
		return name + " -c"
	}
	return ""
}

// reading reports whether the flags of an OpenFile only read.
func reading(p *packages.Package, flags ast.Expr) bool {
	_, name := outside(p, flags)
	if lit, ok := flags.(*ast.BasicLit); ok {
		return lit.Value == "0"
	}
	return name == "O_RDONLY"
}

// temporary are the variables of a body that have a temporary file or its name.
func (s *source) temporary(b body) (out []types.Object) {
	ast.Inspect(b.code, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) == 0 {
			return true
		}
		from := false
		for _, r := range a.Rhs {
			if call, ok := ast.Unparen(r).(*ast.CallExpr); ok {
				path, name := outside(b.pkg, call.Fun)
				from = from || (path == "os" || path == "io/ioutil") && slices.Contains([]string{"CreateTemp", "MkdirTemp", "TempFile", "TempDir"}, name)
			}
			from = from || mentions(b.pkg, r, out)
		}
		if from {
			for _, lhs := range a.Lhs {
				if o := objectOf(b.pkg, lhs); o != nil && o.Name() != "err" {
					out = append(out, o)
				}
			}
		}
		return true
	})
	return out
}

// text is the value of a constant text, "" for another expression.
func (s *source) text(p *packages.Package, e ast.Expr) string {
	v := p.TypesInfo.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return ""
	}
	return constant.StringVal(v)
}

var (
	unixDSN    = regexp.MustCompile(`@?unix\([^)]*/[^)]*\)`)
	sqliteName = regexp.MustCompile(`(?i)^sqlite`)
	stores     = regexp.MustCompile(`(?i)go\.etcd\.io/bbolt|boltdb/bolt|dgraph-io/badger|syndtr/goleveldb|cockroachdb/pebble|tidwall/buntdb|blevesearch/bleve`)
)

// opening are functions that open a database.
var opening = []string{"Open", "MustOpen", "Connect", "MustConnect", "ConnectContext"}

// drivesSQLite reports whether the program has a driver of SQLite.
func (s *source) drivesSQLite() bool {
	for importPath := range s.imports {
		if goapp.DrivesSQLite(importPath) {
			return true
		}
	}
	return false
}

// opens lists the ties of a call that opens something.
func (s *source) opens(b body, call *ast.CallExpr) (out []Tie) {
	from, name := outside(b.pkg, call.Fun)
	add := func(k Kind, what string) { out = append(out, s.tie(k, call, what, b.name)) }
	first := ""
	if len(call.Args) > 0 {
		first = s.text(b.pkg, call.Args[0])
	}
	switch {
	case slices.Contains(opening, name) && from != "" && sqliteName.MatchString(first):
		add(SQLite, name+" "+first)
	case name == "ConnectContext" && len(call.Args) > 1 && sqliteName.MatchString(s.text(b.pkg, call.Args[1])):
		add(SQLite, name)
	case slices.Contains(opening, name) && (from == "database/sql" || strings.HasSuffix(from, "sqlx")) && first == "" && s.drivesSQLite():
		add(SQLite, name+" by a driver of SQLite")
	case name == "Open" && strings.HasSuffix(from, "/sqlite"):
		add(SQLite, "sqlite.Open")
	case name == "Open" && stores.MatchString(from):
		add(SQLite, "a store in files, "+from)
	case name == "Listen" && from == "net" && strings.HasPrefix(first, "unix"):
		add(Socket, "listens at a unix socket")
	}
	if from != "" || strings.Contains(name, "Store") {
		out = append(out, s.sessionStore(b, call, from, name)...)
	}
	if !s.inRequest(b) {
		out = append(out, s.madeKey(b, call, from, name)...)
	}
	return out
}

func (s *source) inRequest(b body) bool {
	return slices.ContainsFunc(s.bodies, func(o body) bool { return o.node == b.node })
}

// sessionStore lists stores of sessions that are no cookie and no server.
func (s *source) sessionStore(b body, call *ast.CallExpr, from, name string) (out []Tie) {
	add := func(what string) { out = append(out, s.tie(Sessions, call, what, b.name)) }
	switch {
	case from == "github.com/gorilla/sessions" && name == "NewFilesystemStore":
		add("sessions in files")
	case strings.Contains(from, "memstore"), from == "github.com/gofiber/storage/memory" && name == "New", from == "github.com/gofiber/storage/memory/v2" && name == "New":
		add("sessions in memory")
	case strings.Contains(from, "gofiber/fiber") && strings.HasSuffix(from, "/middleware/session") && name == "New" && !hasField(call, "Storage"):
		add("sessions in memory")
	case strings.HasPrefix(from, "github.com/alexedwards/scs") && name == "New" && !s.assigns("Store"):
		add("sessions in memory")
	}
	return out
}

// hasField reports whether an argument is a literal that sets a field.
func hasField(call *ast.CallExpr, field string) bool {
	for _, a := range call.Args {
		lit, ok := a.(*ast.CompositeLit)
		if ok && slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				return false
			}
			id, ok := kv.Key.(*ast.Ident)
			return ok && id.Name == field
		}) {
			return true
		}
	}
	return false
}

// assigns reports whether the app sets a field of a name.
func (s *source) assigns(field string) (is bool) {
	for _, b := range slices.Concat(s.starts, s.bodies) {
		ast.Inspect(b.code, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
				for _, lhs := range a.Lhs {
					sel, ok := lhs.(*ast.SelectorExpr)
					is = is || ok && sel.Sel.Name == field
				}
			}
			return !is
		})
	}
	return is
}

var secretName = regexp.MustCompile(`(?i)secret|key|salt|token|cookie|jwt|hmac|signing|csrf`)

// madeKey lists keys that a start makes: a random value that a call of a store of cookies
// takes, or that a variable of such a name gets.
func (s *source) madeKey(b body, call *ast.CallExpr, from, name string) (out []Tie) {
	if random(from, name) {
		if into := s.receives(b, call); secretName.MatchString(into) {
			out = append(out, s.tie(Key, call, into, b.name))
		}
	}
	return out
}

// random reports whether a call makes a value that no other process has.
func random(from, name string) bool {
	switch from {
	case "crypto/rand":
		return name == "Text" || name == "Read" || name == "Int"
	case "github.com/gorilla/securecookie":
		return name == "GenerateRandomKey"
	case "crypto/rsa", "crypto/ecdsa", "crypto/ed25519":
		return name == "GenerateKey"
	case "github.com/google/uuid":
		return name == "NewString" || name == "New" || name == "NewRandom" || name == "Must"
	}
	return false
}

// receives is the name of what takes the value of a call: the variable that it is assigned to
// or that it fills, or the function around it.
func (s *source) receives(b body, call *ast.CallExpr) (into string) {
	holds := func(n ast.Node) bool { return n != nil && n.Pos() <= call.Pos() && call.End() <= n.End() }
	name := func(e ast.Expr) {
		switch e := ast.Unparen(e).(type) {
		case *ast.Ident:
			into += " " + e.Name
		case *ast.SelectorExpr:
			into += " " + e.Sel.Name
		case *ast.SliceExpr:
			if id, ok := e.X.(*ast.Ident); ok {
				into += " " + id.Name
			}
		}
	}
	for _, a := range call.Args {
		name(a)
	}
	ast.Inspect(b.code, func(n ast.Node) bool {
		if !holds(n) {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				name(lhs)
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				name(id)
			}
		case *ast.CallExpr:
			if n != call {
				name(n.Fun)
			}
		case *ast.KeyValueExpr:
			name(n.Key)
		}
		return true
	})
	return strings.TrimSpace(into)
}

// packageKeys lists keys that are made where package variables get their values.
func (s *source) packageKeys() (out []Tie) {
	for p, v := range s.packageVariables() {
		ast.Inspect(v, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			from, name := outside(p, call.Fun)
			if random(from, name) && secretName.MatchString(v.Names[0].Name) {
				out = append(out, s.tie(Key, call, v.Names[0].Name, ""))
			}
			b := body{pkg: p}
			out = append(out, s.sessionStore(b, call, from, name)...)
			return true
		})
	}
	return out
}

// packageVariables are the declarations of package variables, each with its package.
func (s *source) packageVariables() iter.Seq2[*packages.Package, *ast.ValueSpec] {
	return func(yield func(*packages.Package, *ast.ValueSpec) bool) {
		for _, p := range s.all {
			for _, f := range p.Syntax {
				for _, d := range f.Decls {
					g, ok := d.(*ast.GenDecl)
					if !ok || g.Tok != token.VAR {
						continue
					}
					for _, spec := range g.Specs {
						if v, ok := spec.(*ast.ValueSpec); ok && !yield(p, v) {
							return
						}
					}
				}
			}
		}
	}
}
