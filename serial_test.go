package iikanji_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSerial checks that the packages that make check tests without the race
// detector, SERIAL in the Makefile, have one goroutine only: neither they, nor
// their tests, nor the packages of this module that they import start another.
func TestSerial(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^SERIAL = (.*)$`).FindStringSubmatch(string(makefile))
	if line == nil {
		t.Fatal("the Makefile has no SERIAL")
	}
	for _, dir := range strings.Fields(line[1]) {
		serial(t, filepath.Clean(dir), true, map[string]bool{})
	}
	if found := concurrent(t, "internal/bench", true); len(found) == 0 {
		t.Error("no goroutine was found in a package that starts many")
	}
}

// serial checks a folder and the packages that it imports.
func serial(t *testing.T, dir string, tests bool, seen map[string]bool) {
	t.Helper()
	if seen[dir] {
		return
	}
	seen[dir] = true
	if found := concurrent(t, dir, tests); len(found) > 0 {
		t.Errorf("%s: %s: test it with the race detector", dir, strings.Join(found, ", "))
	}
	for _, f := range goFiles(t, dir, tests) {
		for _, i := range f.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err == nil && (path == module || strings.HasPrefix(path, module+"/")) {
				serial(t, filepath.Clean("."+strings.TrimPrefix(path, module)), false, seen)
			}
		}
	}
}

// manyGoroutines are imports of code that runs in several goroutines.
var manyGoroutines = []string{"sync", "sync/atomic", "net", "net/http", "os/exec", "os/signal", "database/sql"}

// concurrent lists what starts goroutines or protects from them.
func concurrent(t *testing.T, dir string, tests bool) (found []string) {
	t.Helper()
	for _, f := range goFiles(t, dir, tests) {
		for _, i := range f.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err == nil && slices.Contains(manyGoroutines, path) {
				found = append(found, "import "+path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = append(found, "a go statement")
			case *ast.SelectorExpr:
				if n.Sel.Name == "Parallel" || n.Sel.Name == "AfterFunc" {
					found = append(found, n.Sel.Name)
				}
			}
			return true
		})
	}
	return found
}

func goFiles(t *testing.T, dir string, tests bool) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: no Go file (%v)", dir, err)
	}
	for _, name := range names {
		if !tests && strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
