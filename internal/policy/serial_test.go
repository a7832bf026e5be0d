package policy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
	for _, dir := range makeFolders(t, "SERIAL") {
		serial(t, dir, true, map[string]bool{})
	}
	if found := concurrent(t, "internal/load/bench", true); len(found) == 0 {
		t.Error("no goroutine was found in a package that starts many")
	}
}

// makeVariable returns the text of a variable of the Makefile.
func makeVariable(t *testing.T, name string) string {
	t.Helper()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^` + name + ` = (.*)$`).FindStringSubmatch(string(makefile))
	if line == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	return strings.ReplaceAll(line[1], "$$", "$")
}

// makeFolders returns the folders in a variable of the Makefile, without "./".
func makeFolders(t *testing.T, name string) (folders []string) {
	t.Helper()
	for _, dir := range strings.Fields(makeVariable(t, name)) {
		folders = append(folders, filepath.Clean(dir))
	}
	return folders
}

// testsOf lists the names of the tests in a file.
func testsOf(f *ast.File) (tests []string) {
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil && strings.HasPrefix(fd.Name.Name, "Test") {
			tests = append(tests, fd.Name.Name)
		}
	}
	return tests
}

// TestComputing checks that the packages in COMPUTING start no goroutine, and that
// every test in a file that starts some is in CONCURRENT: make check runs only those
// with the race detector. Each test in CONCURRENT exists.
func TestComputing(t *testing.T) {
	concurrently := regexp.MustCompile(makeVariable(t, "CONCURRENT"))
	found, in := 0, makeFolders(t, "CONCURRENTIN")
	for _, dir := range makeFolders(t, "COMPUTING") {
		if starts := concurrent(t, dir, false); len(starts) > 0 {
			t.Errorf("%s: %s: test it with the race detector", dir, strings.Join(starts, ", "))
		}
		for _, f := range goFiles(t, dir, true) {
			starts := starting(f)
			for _, test := range testsOf(f) {
				switch named := concurrently.MatchString(test); {
				case named:
					if found++; !slices.Contains(in, dir) {
						t.Errorf("%s has %s, and is not in CONCURRENTIN", dir, test)
					}
				case len(starts) > 0:
					t.Errorf("%s: the file of %s has %s: name it in CONCURRENT", dir, test, strings.Join(starts, ", "))
				}
			}
		}
	}
	if want := strings.Count(concurrently.String(), "|") + 1; found != want {
		t.Errorf("%d tests of CONCURRENT were found, want %d", found, want)
	}
}

// TestKinds checks that the packages in KINDS have tests of conformance, which make check
// runs without the race detector, and that none of them starts a goroutine.
func TestKinds(t *testing.T) {
	for _, dir := range makeFolders(t, "KINDS") {
		for _, f := range goFiles(t, dir, false) {
			if starts := starting(f); len(starts) > 0 {
				t.Errorf("%s: %s: run all its tests with the race detector", dir, strings.Join(starts, ", "))
			}
		}
		found := false
		for _, f := range goFiles(t, dir, true) {
			found = found || slices.ContainsFunc(testsOf(f), func(test string) bool { return strings.Contains(test, "Conformance") })
		}
		if !found {
			t.Errorf("%s has no test of conformance", dir)
		}
	}
}

// TestLong checks that the tests in LONG, which make check runs without the race
// detector in LONGIN only, exist there and have no namesake elsewhere, and that the
// packages in LATER have no test that their command leaves out.
func TestLong(t *testing.T) {
	in := makeFolders(t, "LONGIN")
	names := map[string]int{}
	for pattern := range strings.SplitSeq(makeVariable(t, "LONG"), "|") {
		name, _, _ := strings.Cut(pattern, "/")
		names[strings.Trim(name, "^$")] = 0
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	servers := regexp.MustCompile(makeVariable(t, "REAL"))
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.ContainsAny(d.Name()[:1], "._") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			if _, ok := names[m[1]]; !ok {
				continue
			}
			if names[m[1]]++; !slices.Contains(in, filepath.Dir(path)) {
				t.Errorf("%s has %s, which is in LONG: no command of make check runs it", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("%s is in LONG and exists %d times", name, n)
		}
	}
	for _, dir := range makeFolders(t, "LATER") {
		for _, f := range goFiles(t, dir, true) {
			for _, test := range testsOf(f) {
				if servers.MatchString(test) || strings.HasSuffix(test, "UnderLoad") {
					t.Errorf("%s has %s: the command that tests it leaves that out", dir, test)
				}
			}
		}
	}
}

// TestDataIsSerial checks that no arena whose test TestGenerate runs without the race
// detector starts a goroutine in the files that draw and write its data, data*.go. The
// other tests of data in REAL only draw, but TestInitialData of isuports: what it checks,
// TestGenerateTenants checks of fewer rows with the detector.
func TestDataIsSerial(t *testing.T) {
	tests, err := filepath.Glob("arenas/*/data_test.go")
	if err != nil || len(tests) < 4 {
		t.Fatalf("%q, %v", tests, err)
	}
	starts := regexp.MustCompile(`\bgo (func|\w+[.(])|\.Go\(|parallel\.`)
	drawn := 0
	for _, test := range tests {
		text, err := os.ReadFile(test)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\nfunc TestGenerate(") {
			continue
		}
		drawn++
		sources, err := filepath.Glob(filepath.Join(filepath.Dir(test), "data*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			if text, err = os.ReadFile(source); err != nil {
				t.Fatal(err)
			}
			if at := starts.Find(text); at != nil {
				t.Errorf("%s has %q: another goroutine, so TestGenerate of its arena needs the race detector, and another name", source, at)
			}
		}
	}
	if drawn == 0 {
		t.Error("no arena has TestGenerate")
	}
}

// starting lists what a file starts goroutines with, or protects from them. Imports of
// packages that start goroutines of their own, as os/exec, are none of it.
func starting(f *ast.File) (found []string) {
	for _, i := range f.Imports {
		if i.Path.Value == `"sync"` || i.Path.Value == `"sync/atomic"` {
			found = append(found, "import "+i.Path.Value)
		}
	}
	return append(found, goroutines(f)...)
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
			if path, err := strconv.Unquote(i.Path.Value); err == nil && slices.Contains(manyGoroutines, path) && !(path == "net" && onlyAddresses(f)) {
				found = append(found, "import "+path)
			}
		}
		found = append(found, goroutines(f)...)
	}
	return found
}

// onlyAddresses reports whether a file uses nothing of package net but the functions that
// join and split addresses.
func onlyAddresses(f *ast.File) bool {
	only := true
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "net" && s.Sel.Name != "JoinHostPort" && s.Sel.Name != "SplitHostPort" {
				only = false
			}
		}
		return true
	})
	return only
}

// goroutines lists the statements of a file that start goroutines.
func goroutines(f *ast.File) (found []string) {
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
