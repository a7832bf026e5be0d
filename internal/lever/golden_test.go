package lever

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/packages"
)

// golden runs a lever over two folders of testdata/src/<folder>. In "fire" every
// function has a place with a fix; the files after all fixes equal the .golden
// files and type-check. In "still" no function has a fix; places that a comment
// `// want` names are hints. fire and still are the least numbers of functions.
func golden(t *testing.T, l *Lever, folder string, fire, still int) {
	t.Helper()
	root, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var fixes []Fix
	files, firing := map[string][]byte{}, map[string]bool{}
	for _, r := range analysistest.Run(t, root, l.Analyzer, folder+"/fire", folder+"/still") {
		p := r.Action.Package
		readFiles(t, p, files)
		places, _ := r.Action.Result.([]place)
		for _, at := range places {
			h := hitOf(p, l.Code, at)
			switch {
			case (h.Proof == Hint) != (len(h.Variants) == 0):
				t.Errorf("%s:%d: proof %s with %d fixes", h.File, h.Line, h.Proof, len(h.Variants))
			case len(h.Variants) == 0:
			case p.PkgPath == folder+"/still":
				t.Errorf("%s:%d: a fix for a lookalike: %+v", h.File, h.Line, h.Variants)
			default:
				firing[h.Func] = true
				fixes = append(fixes, h.Variants[0])
			}
		}
	}
	if len(firing) < fire {
		t.Errorf("%s: %d functions have a fix, want at least %d", folder, len(firing), fire)
	}
	after, err := Apply(files, fixes)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range after {
		compareGolden(t, name+".golden", text)
	}
	typeCheck(t, root, folder+"/fire", after)
	if n := functions(t, filepath.Join(root, "src", folder, "still")); n < still {
		t.Errorf("%s: %d lookalikes, want at least %d", folder, n, still)
	}
}

// readFiles reads the files of a package.
func readFiles(t *testing.T, p *packages.Package, files map[string][]byte) {
	t.Helper()
	for _, file := range p.Syntax {
		name := p.Fset.Position(file.FileStart).Filename
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = text
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s\n%s", name, diff.Diff("want", want, "got", got))
	}
}

// typeCheck checks the types of a package after its fixes.
func typeCheck(t *testing.T, root, pkg string, after map[string][]byte) {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: root, Overlay: after,
		Env: append(os.Environ(), "GOPATH="+root, "GO111MODULE=off", "GOPROXY=off")}, pkg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Errorf("after the fixes: %v", e)
		}
	}
}

// functions counts the functions of a folder whose names begin with a capital
// letter: the others are helpers.
func functions(t *testing.T, dir string) (n int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.IsExported() {
				n++
			}
		}
	}
	return n
}
