package lever

import (
	"bytes"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
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
	files, fixes, firing := placesOf(t, root, l, folder+"/fire")
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
	_, fixes, _ = placesOf(t, root, l, folder+"/still")
	for _, f := range fixes {
		t.Errorf("%s/still: a fix for a lookalike: %+v", folder, f)
	}
	if n := functions(t, filepath.Join(root, "src", folder, "still")); n < still {
		t.Errorf("%s: %d lookalikes, want at least %d", folder, n, still)
	}
}

// placesOf runs a lever over one package, checks the comments `// want`, and
// returns the first fix of each place and the functions that have one.
func placesOf(t *testing.T, root string, l *Lever, pkg string) (map[string][]byte, []Fix, map[string]bool) {
	t.Helper()
	files, names := map[string][]byte{}, map[string]bool{}
	var fixes []Fix
	for _, r := range analysistest.Run(t, root, l.Analyzer, pkg) {
		p := r.Action.Package
		for _, file := range p.Syntax {
			name := p.Fset.Position(file.FileStart).Filename
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = text
		}
		places, _ := r.Action.Result.([]place)
		for _, at := range places {
			h := hitOf(p, l.Code, at)
			if (h.Proof == Hint) != (len(h.Variants) == 0) {
				t.Errorf("%s:%d: proof %s with %d fixes", h.File, h.Line, h.Proof, len(h.Variants))
			}
			if len(h.Variants) > 0 {
				names[h.Func] = true
				fixes = append(fixes, h.Variants[0])
			}
		}
	}
	return files, fixes, names
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
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: root, Overlay: after,
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
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedSyntax | packages.NeedFiles | packages.NeedTypes, Dir: dir,
		Env: append(os.Environ(), "GO111MODULE=off", "GOPATH="+filepath.Join(strings.Split(dir, "/src/")[0]))}, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.IsExported() {
					n++
				}
			}
		}
	}
	return n
}
