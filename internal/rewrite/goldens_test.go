package rewrite

import (
	"bytes"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/iikanji/iikanji/internal/lang/goapp"
)

// goldenLevers are the levers with goldens. One load of all packages serves them.
// fire, fix and still are the least numbers of functions that must fire, of those
// with a fix, and of lookalikes.
var goldenLevers = []struct {
	lever            *Lever
	facts            Facts
	fire, fix, still int
}{
	{&firstRowOnly, testFacts, 16, 16, 25},
	{&loopStopsEarly, testFacts, 17, 17, 21},
	{&unreadColumns, testFacts, 13, 13, 31},
	{&rowByRowInsert, testFacts, 58, 58, 57},
	{&nPlusOne, testFacts, 80, 80, 78},
	{&madeAnew, Facts{}, 19, 19, 16},
	{&slowEncoder, Facts{}, 11, 10, 13},
	{&programPerRequest, Facts{}, 24, 15, 20},
	{&readOnlyTransaction, Facts{}, 20, 20, 19},
	{&workUnderLock, Facts{}, 13, 2, 17},
	{&droppedConnections, Facts{}, 13, 10, 13},
	{&overread, Facts{}, 17, 17, 24},
	{&throttlingConstant, Facts{}, 31, 31, 26},
	{&testPerRow, shopFacts, 6, 6, 17},
	{&waitInTransaction, Facts{}, 10, 0, 10},
	{&wholeFileInMemory, Facts{}, 16, 14, 13},
	{&idByID, Facts{}, 6, 6, 17},
	{&derivedForAll, testFacts, 11, 11, 21},
	{&syncedFile, Facts{}, 8, 8, 11},
}

// TestGoldens runs each lever over testdata/src/app2xx/fire, whose files after all
// fixes equal the .golden files and type-check, and over app2xx/still, where it
// offers no fix: what it reports there are hints. Comments `// want` name every place
// that is reported.
func TestGoldens(t *testing.T) {
	root, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for _, g := range goldenLevers {
		patterns = append(patterns, g.lever.name()+"/fire", g.lever.name()+"/still")
	}
	pkgs := loadGoldens(t, root, nil, patterns)
	overlay := map[string][]byte{}
	for _, g := range goldenLevers {
		t.Run(g.lever.Code, func(t *testing.T) {
			name := g.lever.name()
			firing, fixed, fixes := judged(t, g.lever, g.facts, pkgs[name+"/fire"])
			if len(firing) < g.fire || len(fixed) < g.fix {
				t.Errorf("%d functions fire, %d with a fix, want at least %d and %d", len(firing), len(fixed), g.fire, g.fix)
			}
			t.Logf("%d functions fire, %d with a fix, %d lookalikes", len(firing), len(fixed), exported(pkgs[name+"/still"]))
			after, err := goapp.Apply(filesOf(t, pkgs[name+"/fire"]), fixes)
			if err != nil {
				t.Fatal(err)
			}
			for file, text := range after {
				compareGolden(t, file+".golden", text)
			}
			maps.Copy(overlay, after)
			if _, _, fixes := judged(t, g.lever, g.facts, pkgs[name+"/still"]); len(fixes) > 0 {
				t.Errorf("a fix for a lookalike: %+v", fixes)
			}
			if n := exported(pkgs[name+"/still"]); n < g.still {
				t.Errorf("%d lookalikes, want at least %d", n, g.still)
			}
		})
	}
	loadGoldens(t, root, overlay, patterns) // the rewritten code has no type error
}

// loadGoldens loads packages of testdata/src and fails on type errors.
func loadGoldens(t *testing.T, root string, overlay map[string][]byte, patterns []string) map[string]*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{Dir: filepath.SplitList(root)[0], Overlay: overlay,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedExportFile,
		Env: goldenEnv(root)}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*packages.Package{}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Errorf("%v", e)
		}
		out[p.PkgPath] = p
	}
	if len(out) != len(patterns) {
		t.Fatalf("%d of %d packages were loaded", len(out), len(patterns))
	}
	return out
}

// goldenEnv finds the packages of testdata/src by their folders.
func goldenEnv(root string) []string {
	return append(os.Environ(), "GOPATH="+root, "GO111MODULE=off", "GOPROXY=off")
}

// judged runs a lever over a package, compares its reports with the comments, and
// returns the functions with a report, those with a fix, and the first fix of each place.
func judged(t *testing.T, l *Lever, f Facts, p *packages.Package) (firing, fixed map[string]bool, fixes []goapp.Fix) {
	t.Helper()
	graph, err := checker.Analyze([]*analysis.Analyzer{l.Analyzer(f)}, []*packages.Package{p}, nil)
	if err != nil {
		t.Fatal(err)
	}
	firing, fixed = map[string]bool{}, map[string]bool{}
	wanted := wants(t, p)
	for _, act := range graph.Roots {
		if act.Err != nil {
			t.Fatal(act.Err)
		}
		for _, at := range act.Result.([]place) {
			h := hitOf(p, l.Code, at)
			if (h.Proof == Hint) != (len(h.Variants) == 0) {
				t.Errorf("%s:%d: proof %s with %d fixes", h.File, h.Line, h.Proof, len(h.Variants))
			}
			if why := withoutReason(h); why != "" {
				t.Error(why)
			}
			firing[h.Func] = true
			if len(h.Variants) > 0 {
				fixed[h.Func] = true
				fixes = append(fixes, h.Variants[0])
			}
			key, said := fmt.Sprintf("%s:%d", h.File, h.Line), l.Code+": "+h.What+"; "+h.How
			i := slices.IndexFunc(wanted[key], func(re *regexp.Regexp) bool { return re.MatchString(said) })
			if i < 0 {
				t.Errorf("%s: unexpected: %s", key, said)
				continue
			}
			wanted[key] = slices.Delete(wanted[key], i, i+1)
		}
	}
	for key, left := range wanted {
		for _, re := range left {
			t.Errorf("%s: nothing was reported that matches %q", key, re)
		}
	}
	return firing, fixed, fixes
}

// withoutReason says what is wrong with the reason of a place: one without a fix names
// the condition and the line, one with a fix has none. "" is good.
func withoutReason(h Hit) string {
	switch {
	case (h.Reason == nil) != (len(h.Variants) > 0):
		return fmt.Sprintf("%s:%d: %s: %d fixes, and the reason %+v", h.File, h.Line, h.Code, len(h.Variants), h.Reason)
	case h.Reason != nil && (h.Reason.Text == "" || h.Reason.Line == 0 || !filepath.IsAbs(h.Reason.File)):
		return fmt.Sprintf("%s:%d: %s: no condition and line in %+v", h.File, h.Line, h.Code, *h.Reason)
	}
	return ""
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

var quotedWant = regexp.MustCompile("`[^`]*`|\"[^\"]*\"")

// wants reads the comments "// want `pattern` …" by file and line.
func wants(t *testing.T, p *packages.Package) map[string][]*regexp.Regexp {
	t.Helper()
	out := map[string][]*regexp.Regexp{}
	for _, f := range p.Syntax {
		for _, group := range f.Comments {
			for _, c := range group.List {
				_, list, ok := strings.Cut(c.Text, "// want ")
				if !ok {
					continue
				}
				pos := p.Fset.Position(c.Pos())
				for _, q := range quotedWant.FindAllString(list, -1) {
					pattern, err := strconv.Unquote(q)
					if err != nil {
						t.Fatal(err)
					}
					key := fmt.Sprintf("%s:%d", pos.Filename, pos.Line)
					out[key] = append(out[key], regexp.MustCompile(pattern))
				}
			}
		}
	}
	return out
}

func filesOf(t *testing.T, p *packages.Package) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range p.CompiledGoFiles {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = text
	}
	return files
}

// exported counts the functions whose names begin with a capital letter: the
// others are helpers.
func exported(p *packages.Package) (n int) {
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Name.IsExported() {
				n++
			}
		}
	}
	return n
}
