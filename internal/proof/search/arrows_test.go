package search_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostUp is the largest share of the arrows between files that may point to a layer above.
const mostUp = 0.10

// layerLine is a line of doc.go that lists the files of a layer.
var layerLine = regexp.MustCompile(`(?m)^//   - ([a-z_.go, ]+):`)

// layersOf reads the layers of a package from its doc.go, the highest first.
func layersOf(t *testing.T, dir string) map[string]int {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(dir, "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	layers := map[string]int{}
	for i, m := range layerLine.FindAllStringSubmatch(string(doc), -1) {
		for _, name := range strings.Split(m[1], ", ") {
			layers[name] = i
		}
	}
	return layers
}

// exportData finds the compiled packages that a package imports.
func exportData(t *testing.T, dir string) func(path string) (io.ReadCloser, error) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing the imports of %s: %v", dir, err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// An arrow is a use of another file's declaration.
type arrow struct{ from, to, name string }

// arrowsOf are the uses of declarations of other files in a package, one for each use.
func arrowsOf(t *testing.T, dir string) []arrow {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", exportData(t, dir)), Error: func(error) {}}
	pkg, _ := conf.Check(dir, fset, files, info) // what other packages declare is no matter here
	var all []arrow
	for id, obj := range info.Uses {
		if obj.Pkg() != pkg || !obj.Pos().IsValid() || obj.Parent() != nil && obj.Parent() != pkg.Scope() {
			continue
		}
		if _, field := obj.(*types.Var); field && obj.Parent() == nil { // a field: data has no direction
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(obj.Pos()).Filename)
		if from != to {
			all = append(all, arrow{from, to, obj.Name()})
		}
	}
	return all
}

// TestArrows: doc.go of the rooms of a search lists their files in layers, and at most a
// tenth of the uses of another file's declarations point to a layer above.
func TestArrows(t *testing.T) {
	for _, dir := range []string{".", "../trial", "../tune"} {
		layers := layersOf(t, dir)
		arrows := arrowsOf(t, dir)
		up := map[arrow]int{}
		ups := 0
		for _, a := range arrows {
			from, known := layers[a.from]
			to, also := layers[a.to]
			if !known || !also {
				t.Errorf("%s: doc.go has no layer for %s or %s", dir, a.from, a.to)
				return
			}
			if to < from {
				up[a]++
				ups++
			}
		}
		share := float64(ups) / float64(max(1, len(arrows)))
		t.Logf("%s: %d of %d arrows point up, %.1f %%", dir, ups, len(arrows), 100*share)
		if share <= mostUp && len(arrows) > 20 {
			continue
		}
		t.Errorf("%s: %.1f %% of %d arrows point up, at most %.0f %% may", dir, 100*share, len(arrows), 100*mostUp)
		var lines []string
		for a, n := range up {
			lines = append(lines, a.from+" → "+a.to+": "+a.name+strings.Repeat("'", n-1))
		}
		slices.Sort(lines)
		t.Log(strings.Join(lines, "\n"))
	}
}
