package sqlcache_test

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// oldest is the minor version of Go 1 that the copy in an app must build with.
const oldest = 13

// copied parses the files that an app gets.
func copied(t *testing.T, fset *token.FileSet) (files []*ast.File) {
	names, err := fs.Glob(sqlcache.Source, "*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		body, err := sqlcache.Source.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(fset, name, body, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// TestOldLanguage type-checks the copy in the language of an app whose go.mod says 1.13.
func TestOldLanguage(t *testing.T) {
	fset := token.NewFileSet()
	files := copied(t, fset)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{GoVersion: fmt.Sprintf("go1.%d", oldest), Importer: importer.ForCompiler(fset, "gc", compiled(t))}
	if _, err := conf.Check("sqlcache", fset, files, info); err != nil {
		t.Fatal(err)
	}
	newer := newerThan(t, oldest)
	if len(newer) < 1000 || newer["errors.Join"] == 0 || newer["sync/atomic.Uint64.Load"] == 0 {
		t.Fatalf("%d names are newer", len(newer))
	}
	for id, obj := range info.Uses {
		if obj.Pkg() == nil || obj.Pkg().Name() == "sqlcache" {
			continue
		}
		name := obj.Pkg().Path() + "." + obj.Name()
		if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
			recv := fn.Signature().Recv().Type()
			if p, ok := recv.(*types.Pointer); ok {
				recv = p.Elem()
			}
			if named, ok := recv.(*types.Named); ok {
				name = obj.Pkg().Path() + "." + named.Obj().Name() + "." + obj.Name()
			}
		}
		if minor := newer[name]; minor > 0 {
			t.Errorf("%s: %s came with Go 1.%d", fset.Position(id.Pos()), name, minor)
		}
	}
}

// compiled finds the compiled packages that the copy imports. The sources of the standard
// library cannot be asked for: a test that is built with -trimpath does not know where they are.
func compiled(t *testing.T) importer.Lookup {
	list, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
}

// apiLine is a line of Go's lists of what each version brought.
var apiLine = regexp.MustCompile(`^pkg ([\w/]+)(?: \([^)]*\))?, (?:func|type|var|const|method \(\*?(\w+)(?:\[[^\]]*\])?\)) (\w+)`)

// newerThan are the names of the standard library that came after a minor version.
func newerThan(t *testing.T, minor int) map[string]int {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	out, known := map[string]int{}, map[string]bool{}
	for v := 0; ; v++ {
		list := fmt.Sprintf("go1.%d.txt", v)
		if v == 0 {
			list = "go1.txt"
		}
		f, err := os.Open(filepath.Join(strings.TrimSpace(string(root)), "api", list))
		if err != nil {
			return out
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			m := apiLine.FindStringSubmatch(lines.Text())
			if m == nil {
				continue
			}
			name := m[1] + "."
			if m[2] != "" {
				name += m[2] + "."
			}
			if name += m[3]; !known[name] && v > minor {
				out[name] = v
			}
			known[name] = true
		}
		f.Close()
	}
}
