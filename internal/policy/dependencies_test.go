package policy_test

import (
	"encoding/json"
	"fmt"
	"go/version"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/mod/modfile"
)

// moduleLine matches a table line of docs/dependencies.md whose first cell is a module path.
var moduleLine = regexp.MustCompile(`(?m)^\| ([a-z0-9-]+(?:\.[a-z0-9-]+)+/[^ |]+) \|`)

// indirectTable begins the table of indirect modules.
var indirectTable = regexp.MustCompile(`(?m)^\| indirect module`)

// appTable begins the table of the modules of the arenas' apps.
var appTable = regexp.MustCompile(`(?m)^\| module of an app`)

// requirements reads a file in the format of go.mod.
func requirements(t *testing.T, file string) []*modfile.Require {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	return mod.Require
}

// required returns the modules that go.mod files require; true means directly.
func required(t *testing.T, files ...string) map[string]bool {
	t.Helper()
	modules := map[string]bool{}
	for _, file := range files {
		for _, r := range requirements(t, file) {
			modules[r.Mod.Path] = modules[r.Mod.Path] || !r.Indirect
		}
	}
	return modules
}

// appModules lists the module files of the arenas' apps and of the tests' apps
// that are built from real modules.
func appModules(t *testing.T) (arenas, tests []string) {
	t.Helper()
	for _, root := range []string{"arenas", "bench", "internal"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "go.mod.txt" {
				return err
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), "go.sum.txt")); err != nil {
				return nil // a stand-in module without dependencies outside of its folder
			}
			if root == "arenas" {
				arenas = append(arenas, file)
			} else {
				tests = append(tests, file)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return arenas, tests
}

// TestAppVersions checks that apps and product agree on the versions of the
// modules that both use, so that one download serves both.
func TestAppVersions(t *testing.T) {
	versions := map[string]string{}
	for _, r := range requirements(t, "go.mod") {
		versions[r.Mod.Path] = r.Mod.Version
	}
	arenas, tests := appModules(t)
	if len(arenas) == 0 || len(tests) == 0 {
		t.Fatalf("%d apps of arenas and %d of tests: the test would prove nothing", len(arenas), len(tests))
	}
	for _, file := range slices.Concat(arenas, tests) {
		if oldGo(t, file) {
			continue
		}
		for _, r := range requirements(t, file) {
			if versions[r.Mod.Path] == "" {
				versions[r.Mod.Path] = r.Mod.Version
			} else if versions[r.Mod.Path] != r.Mod.Version {
				t.Errorf("%s requires %s, another module file %s", file, r.Mod, versions[r.Mod.Path])
			}
		}
	}
}

// oldGo reports whether a module file has a go line below 1.21: the newer versions of its
// modules cannot be required there.
func oldGo(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(file, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.Go != nil && version.Compare("go"+f.Go.Version, "go1.21") < 0
}

// listed returns the modules that the page has a line for, in both tables.
func listed(page string) (direct, indirect []string) {
	split := len(page)
	if at := indirectTable.FindStringIndex(page); at != nil {
		split = at[0]
	}
	for _, m := range moduleLine.FindAllStringSubmatch(page[:split], -1) {
		direct = append(direct, m[1])
	}
	for _, m := range moduleLine.FindAllStringSubmatch(page[split:], -1) {
		indirect = append(indirect, m[1])
	}
	return direct, indirect
}

// differences lists where the page and go.mod disagree.
func differences(page string, modules map[string]bool) []string {
	var bad []string
	direct, indirect := listed(page)
	seen := map[string]bool{}
	for _, m := range slices.Concat(direct, indirect) {
		if seen[m] {
			bad = append(bad, m+" has two lines")
		}
		seen[m] = true
	}
	for _, m := range direct {
		if !modules[m] {
			bad = append(bad, m+" has a line, and go.mod does not require it directly")
		}
	}
	for _, m := range indirect {
		if isDirect, ok := modules[m]; !ok || isDirect {
			bad = append(bad, m+" is named as indirect, and go.mod does not require it so")
		}
	}
	for m, isDirect := range modules {
		if isDirect && !slices.Contains(direct, m) {
			bad = append(bad, m+" has no line")
		}
	}
	slices.Sort(bad)
	return bad
}

// TestDependencies compares docs/dependencies.md with go.mod.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	at := appTable.FindIndex(page)
	if at == nil {
		t.Fatal("docs/dependencies.md has no table of the apps' modules")
	}
	modules := required(t, "go.mod")
	if len(modules) == 0 {
		t.Fatal("go.mod requires nothing: the test would prove nothing")
	}
	for _, b := range differences(string(page[:at[0]]), modules) {
		t.Errorf("docs/dependencies.md: %s", b)
	}
	arenas, _ := appModules(t)
	for _, b := range differences(string(page[at[0]:]), required(t, arenas...)) {
		t.Errorf("docs/dependencies.md, modules of the apps: %s", b)
	}
}

// TestDependenciesCatches proves that the comparison can fail.
func TestDependenciesCatches(t *testing.T) {
	const page = "| module | for |\n|---|---|\n| a.org/x | y |\n\n| indirect module | for |\n|---|---|\n| b.org/x/v2 | y |\n"
	modules := func(change string, direct bool) map[string]bool {
		m := map[string]bool{"a.org/x": true, "b.org/x/v2": false}
		m[change] = direct
		return m
	}
	if bad := differences(page, modules("c.org/x", false)); len(bad) > 0 {
		t.Errorf("a page that agrees: %v", bad)
	}
	for _, c := range []struct {
		page    string
		modules map[string]bool
		want    string
	}{
		{page, modules("c.org/x", true), "c.org/x has no line"},
		{page, modules("a.org/x", false), "a.org/x has a line, and go.mod does not require it directly"},
		{page, map[string]bool{"a.org/x": true}, "b.org/x/v2 is named as indirect, and go.mod does not require it so"},
		{page + "| a.org/x | again |\n", modules("a.org/x", true), "a.org/x has two lines"},
	} {
		if bad := differences(c.page, c.modules); !slices.Contains(bad, c.want) {
			t.Errorf("got %s, want %q", fmt.Sprint(bad), c.want)
		}
	}
}

// packageLine matches a table line of docs/dependencies.md whose first cell is a package
// of npm.
var packageLine = regexp.MustCompile(`(?m)^\| ([a-z0-9@/._-]+) \(npm\) \|`)

// exactVersion is a version that is no range.
var exactVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// TestNodePackages compares the packages of the app in Node.js with the page. Each has
// an exact version and, in the lock file, the hash of its content, but no address: every
// machine gets it from the registry that its npm is set up for.
func TestNodePackages(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range packageLine.FindAllStringSubmatch(string(page), -1) {
		lines = append(lines, m[1])
	}
	var app struct{ Dependencies map[string]string }
	read(t, "arenas/isucondition/files/node/package.json", &app)
	if names := slices.Sorted(maps.Keys(app.Dependencies)); len(names) == 0 || !slices.Equal(lines, names) {
		t.Errorf("docs/dependencies.md has lines for %q, the app has %q", lines, names)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	read(t, "arenas/isucondition/files/node/package-lock.json", &lock)
	for name, version := range app.Dependencies {
		if !exactVersion.MatchString(version) || lock.Packages["node_modules/"+name].Version != version {
			t.Errorf("%s: version %q, and %q in the lock file; want the same exact one", name, version, lock.Packages["node_modules/"+name].Version)
		}
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Integrity == "" || p.Resolved != "") {
			t.Errorf("the lock file: %s has the hash %q and the address %q, want a hash only", name, p.Integrity, p.Resolved)
		}
	}
}

// read reads a file of JSON.
func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
}
