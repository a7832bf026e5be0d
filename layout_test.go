package iikanji_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/iikanji/iikanji"

// layout is the statement of policy: which rooms a room may import, of ours.
// "words" is the root package. A key ending in "/*" covers every folder below
// it that has no line of its own. A new arrow needs a line here and a reason
// in the commit.
var layout = map[string][]string{
	"words":                    {},
	"internal/stats":           {},
	"internal/lines":           {},
	"internal/tally":           {"words"},
	"internal/scenario":        {"words"},
	"internal/host":            {"words"},
	"internal/history":         {"words"},
	"internal/filter":          {}, // the language of --where, for every kind of log
	"internal/accesslog":       {"words", "internal/lines", "internal/tally", "internal/filter"},
	"internal/slowlog":         {"words", "internal/lines", "internal/tally", "internal/filter"},
	"internal/errorlog":        {"words", "internal/lines"},
	"internal/hoststat":        {"words", "internal/tally", "internal/host"},
	"internal/facts":           {"words", "internal/tally", "internal/host"},
	"internal/facts/factstest": {}, // a private MariaDB for tests
	"internal/bench":           {"words", "internal/scenario", "internal/tally"},
	"internal/diagnose":        {"words"},
	"internal/change":          {"words", "internal/host", "internal/history"},
	"internal/change/*":        {"words", "internal/host", "internal/history", "internal/change"},
	"internal/change/all":      {"internal/change/*"},
	"internal/export":          {"words", "internal/history", "internal/change"},
	"internal/propose":         {"words"},
	"internal/stack":           {"words", "internal/host", "internal/arena"},                     // see docs/adr/0001
	"internal/site":            {"words", "internal/arena", "internal/change", "internal/stack"}, // wires the two, which do not know each other
	"internal/target":          {"words", "internal/host"},
	"internal/report":          {"words"},
	"internal/arena":           {"words", "internal/scenario", "internal/host"},
	"internal/arena/arenatest": {"*"},
	"arenas/all":               {"arenas/*"},
	"arenas/*":                 {"words", "internal/scenario", "internal/host", "internal/arena"},
	"internal/loop": {"words", "internal/stats", "internal/lines", "internal/tally", "internal/scenario",
		"internal/host", "internal/history", "internal/accesslog", "internal/slowlog", "internal/errorlog", "internal/hoststat",
		"internal/facts", "internal/bench", "internal/diagnose", "internal/change", "internal/stack",
		"internal/target", "internal/report", "internal/arena"},
	"internal/portal": {"words", "internal/history", "internal/scenario", "internal/bench", "internal/report", "internal/arena"},
	"bench/*":         {"*"}, // comparisons with peers: programs that nothing imports
	"cmd/*":           {"*"},
}

type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// room is the name by which the table knows a package, or "" for a stranger's.
func room(path string) string {
	if path == module {
		return "words"
	}
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return rest
	}
	return ""
}

// rule finds the line of a room: its own, or the nearest one above that ends in "/*".
func rule(room string) (key string, ok bool) {
	if _, ok := layout[room]; ok {
		return room, true
	}
	for dir := filepath.Dir(room); dir != "."; dir = filepath.Dir(dir) {
		if _, ok := layout[dir+"/*"]; ok {
			return dir + "/*", true
		}
	}
	return "", false
}

// covers says whether an allowance covers a room.
func covers(allowed []string, to string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		if prefix, ok := strings.CutSuffix(a, "*"); ok {
			return strings.HasPrefix(to, prefix)
		}
		return a == to
	})
}

// breaches lists the arrows of imports that the table does not allow.
func breaches(from string, imports []string) []string {
	key, ok := rule(from)
	if !ok {
		return []string{fmt.Sprintf("%s has no line in the layout table", from)}
	}
	var bad []string
	for _, imp := range imports {
		to := room(imp)
		if to == "" || to == from || covers(layout[key], to) {
			continue
		}
		bad = append(bad, fmt.Sprintf("%s may not import %s", from, to))
	}
	return bad
}

// TestLayout holds the import table against the source. Tests may import more
// (a reader's test may boot a real server), but never cmd or the portal.
func TestLayout(t *testing.T) {
	pkgs := listPackages(t)
	if len(pkgs) < 2 {
		t.Fatalf("only %d packages listed: the test would prove nothing", len(pkgs))
	}
	for _, p := range pkgs {
		for _, b := range breaches(room(p.ImportPath), p.Imports) {
			t.Error(b)
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			if to := room(imp); strings.HasPrefix(to, "cmd/") || strings.HasPrefix(to, "internal/portal") {
				t.Errorf("tests of %s may not import %s", room(p.ImportPath), to)
			}
		}
	}
}

// TestLayoutCatches proves that the table can fail.
func TestLayoutCatches(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"words", "internal/tally"},
		{"internal/diagnose", "internal/host"},
		{"internal/scenario", "internal/bench"},
		{"arenas/x", "internal/bench"},
		{"internal/change/ddl", "internal/loop"},
		{"internal/nowhere", "words"},
	} {
		to := module + "/" + c.to
		if c.to == "words" {
			to = module
		}
		if len(breaches(c.from, []string{to})) == 0 {
			t.Errorf("%s → %s was not caught", c.from, c.to)
		}
	}
}

// TestRootEntries keeps the root readable: under 20 folders and files besides
// the words themselves and their tests.
func TestRootEntries(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), ".go") {
			n++
		}
	}
	if n > 20 {
		t.Errorf("%d entries beside the words in the root: find them a room", n)
	}
}
