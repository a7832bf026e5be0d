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

// layout is the import policy: the packages of this module that each package may
// import. "words" is the root package. A key ending in "/*" covers every folder
// below it that has no line of its own. A new import needs a line here and a
// reason in the commit.
var layout = map[string][]string{
	"words":                            {},
	"internal/stats":                   {},
	"internal/lines":                   {},
	"internal/filter":                  {}, // the language of --where, for every kind of log
	"internal/nginx":                   {},
	"internal/plain":                   {},        // the one cleaner of text from outside
	"internal/redact":                  {"words"}, // removes secrets from what leaves the machine
	"internal/tally":                   {"words"},
	"internal/scenario":                {"words"},
	"internal/host":                    {},
	"internal/sqlitefile":              {"words", "internal/host"}, // SQLite files: read, planned in, altered
	"internal/history":                 {"words"},
	"internal/accesslog":               {"words", "internal/lines", "internal/tally", "internal/filter", "internal/nginx"},
	"internal/slowlog":                 {"words", "internal/lines", "internal/tally", "internal/filter"},
	"internal/errorlog":                {"words", "internal/lines"},
	"internal/hoststat":                {"words", "internal/host"},
	"internal/hostproc":                {"internal/host"},                      // single processes of a host from /proc
	"internal/appserver":               {"internal/host", "internal/hostproc"}, // how many processes and threads an app server runs
	"internal/facts":                   {"words", "internal/nginx", "internal/host", "internal/hostproc", "internal/hoststat", "internal/sqlitefile", "internal/appserver"},
	"internal/facts/factstest":         {}, // a private MariaDB for tests
	"internal/bench":                   {"words", "internal/scenario", "internal/tally"},
	"internal/attribute":               {}, // pure: no clock, no I/O
	"internal/diagnose":                {"words", "internal/attribute"},
	"internal/change":                  {"words", "internal/host", "internal/hostproc", "internal/history", "internal/sqlitefile"},
	"internal/change/changetest":       {"words", "internal/history", "internal/change", "internal/redact"},
	"internal/change/*":                {"words", "internal/host", "internal/hostproc", "internal/change", "internal/change/promise", "internal/nginx", "internal/change/nginxedit"},
	"internal/change/gocode":           {"words", "internal/host", "internal/hostproc", "internal/change", "internal/change/promise", "internal/facts", "internal/gosource", "internal/lever", "internal/lever/cacheplan", "internal/sqlcache", "internal/sqlitefile"}, // who has the SQLite files open
	"internal/change/httpcache":        {"words", "internal/host", "internal/change", "internal/change/promise", "internal/nginx", "internal/change/nginxedit", "internal/lever", "internal/pagegen"},
	"internal/pagegen":                 {},                                                                                                              // copied into apps: the standard library only
	"internal/change/nginxedit":        {"words", "internal/host", "internal/hostproc", "internal/change", "internal/change/promise", "internal/nginx"}, // edits of nginx's configuration, for several kinds
	"internal/answers":                 {},                                                                                                              // answers of two builds of an app
	"internal/gosource":                {"words", "internal/lever", "internal/slowlog"},                                                                 // source of Go apps as facts
	"internal/change/promise":          {"words"},                                                                                                       // pure: which promises a value weakens
	"internal/change/ddl":              {"words", "internal/host", "internal/change", "internal/change/promise", "internal/sqlitefile"},                 // indexes, also in SQLite files
	"internal/change/workers":          {"words", "internal/host", "internal/change", "internal/change/promise", "internal/appserver"},                  // processes and threads of app servers
	"internal/change/all":              {"internal/change/*"},
	"internal/window":                  {"words", "internal/stats", "internal/slowlog"}, // what was observed, redacted and compared
	"internal/export":                  {"words", "internal/host", "internal/history", "internal/change", "internal/plain", "internal/redact"},
	"internal/propose":                 {"words", "internal/change", "internal/plain", "internal/redact"},                                           // describes the acts that kinds of change declare
	"internal/stack":                   {"words", "internal/host", "internal/hostproc", "internal/hoststat", "internal/arena", "internal/freeport"}, // see docs/adr/0001
	"internal/field":                   {"words", "internal/accesslog", "internal/scenario", "internal/bench", "internal/history", "internal/host", "internal/hoststat", "internal/change", "internal/facts", "internal/judge", "internal/observe", "internal/tune", "internal/gosource", "internal/goprofile", "internal/answers", "internal/timeline"},
	"internal/lever/sqltext":           {},                         // SQL by its tokens
	"internal/lever/sqlcall":           {"internal/lever/sqltext"}, // finds SQL calls in Go source
	"internal/sqlcache":                {},                         // copied into apps: the standard library only
	"internal/sqlcache/model":          {},                         // checks the cache against its promise
	"internal/lever/cacheplan":         {"internal/lever/sqltext", "internal/sqlcache"},
	"internal/lever":                   {"internal/lever/*"},                                                                                                     // analyzers of Go source; no server, no words
	"internal/site":                    {"words", "internal/scenario", "internal/host", "internal/arena", "internal/change", "internal/stack", "internal/field"}, // an arena's stack as a Subject
	"internal/target":                  {"words"},
	"internal/target/machine":          {"internal/host", "internal/hostproc", "internal/hoststat"},
	"internal/target/discover":         {"words", "internal/nginx", "internal/host", "internal/hoststat", "internal/appserver", "internal/target", "internal/target/machine", "internal/target/sourcedb"},
	"internal/target/sourcedb":         {},                                                                                                                                                              // connections in the source of apps: an evaluator without I/O
	"internal/target/live":             {"words", "internal/host", "internal/facts", "internal/history", "internal/nginx", "internal/change", "internal/field", "internal/target", "internal/target/*"}, // a site that runs already as a Subject
	"internal/target/loader":           {"words", "internal/bench", "internal/scenario", "internal/field", "internal/target"},                                                                           // an outside benchmarker as a Loader
	"internal/target/doctor":           {"words", "internal/lines", "internal/host", "internal/accesslog", "internal/sqlitefile", "internal/target", "internal/target/*"},
	"internal/target/targettest":       {}, // a small foreign site for tests
	"internal/target/keeper":           {"internal/host", "internal/target/machine"},
	"internal/report":                  {"words", "internal/plain"},
	"internal/progress":                {"words"},                                                                                                                                            // the state of a running command, in a file
	"internal/otlp":                    {},                                                                                                                                                   // receives traces; knows no word of ours
	"internal/timeline":                {"words", "internal/history", "internal/bench", "internal/lines", "internal/slowlog", "internal/attribute", "internal/observe", "internal/hoststat"}, // the raw files of a run
	"internal/ui":                      {"words", "docs", "internal/history", "internal/progress", "internal/otlp", "internal/timeline", "internal/chart", "internal/summary", "internal/observe", "internal/redact", "internal/report", "internal/report/document"},
	"internal/report/document":         {"words", "internal/report", "internal/chart", "internal/summary", "internal/observe"}, // a whole history as one file
	"docs":                             {},                                                                                     // the pages that iikanji help prints
	"internal/chart":                   {},                                                                                     // SVG; knows no word of ours
	"internal/summary":                 {"words", "internal/history", "internal/change", "internal/judge", "internal/observe", "internal/tune"},
	"internal/summary/summarytest":     {"words", "internal/bench", "internal/history", "internal/change", "internal/hoststat", "internal/observe", "internal/tune"}, // small histories for tests
	"internal/arena":                   {"words", "internal/scenario"},
	"internal/arena/kit/*":             {"words", "internal/scenario", "internal/arena/kit/*"}, // code that several arenas need
	"internal/arena/arenatest":         {"*"},
	"internal/arena/arenatest/apptest": {"words", "internal/arena", "internal/stack"}, // an arena up, for the tests of its app
	"internal/arena/arenatest/grading": {"words"},                                     // answers.txt against findings
	"internal/servertest":              {"internal/freeport"},                         // real servers in tests
	"internal/freeport":                {},                                            // ports that a server can listen on
	"internal/judge":                   {"words", "internal/stats"},                   // pure: no clock, no I/O
	"internal/observe":                 {"words", "internal/lines", "internal/scenario", "internal/host", "internal/history", "internal/accesslog", "internal/slowlog", "internal/errorlog", "internal/hoststat", "internal/facts", "internal/bench", "internal/diagnose", "internal/tally", "internal/sqlitefile"},
	"internal/ladder":                  {"words", "internal/change"},                                                                                              // rows of a write-up as remedies
	"internal/selftest":                {"words", "internal/stats", "internal/history", "internal/change", "internal/judge", "internal/observe", "internal/tune"}, // simulated searches
	"internal/tune":                    {"words", "internal/stats", "internal/history", "internal/change", "internal/judge", "internal/observe"},
	"arenas/all":                       {"arenas/*"},
	"arenas/*":                         {"words", "internal/scenario", "internal/arena", "internal/arena/kit/*"},
	"bench/*":                          {"*"},                        // comparisons with peers: programs that nothing imports
	"scripts/*":                        {"internal/arena/kit/files"}, // programs of make check
	"cmd/*":                            {"*"},
	"internal/goprofile":               {"words"}, // CPU profiles of Go apps
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

// packageName is the name of a package in the table, or "" for a package of another module.
func packageName(path string) string {
	if path == module {
		return "words"
	}
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return rest
	}
	return ""
}

// rule finds the line of a package: its own, or the nearest parent that ends in "/*".
func rule(name string) (key string, ok bool) {
	if _, ok := layout[name]; ok {
		return name, true
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if _, ok := layout[dir+"/*"]; ok {
			return dir + "/*", true
		}
	}
	return "", false
}

// covers reports whether an allowance covers a package.
func covers(allowed []string, to string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		if prefix, ok := strings.CutSuffix(a, "*"); ok {
			return strings.HasPrefix(to, prefix)
		}
		return a == to
	})
}

// breaches lists the imports that the table does not allow.
func breaches(from string, imports []string) []string {
	key, ok := rule(from)
	if !ok {
		return []string{fmt.Sprintf("%s has no line in the layout table", from)}
	}
	var bad []string
	for _, imp := range imports {
		to := packageName(imp)
		if to == "" || to == from || covers(layout[key], to) {
			continue
		}
		bad = append(bad, fmt.Sprintf("%s may not import %s", from, to))
	}
	return bad
}

// TestLayout compares the source with the import table. Tests may import more
// (a reader's test may boot a real server), but never cmd or the portal.
func TestLayout(t *testing.T) {
	pkgs := listPackages(t)
	if len(pkgs) < 2 {
		t.Fatalf("only %d packages listed: the test would prove nothing", len(pkgs))
	}
	for _, p := range pkgs {
		for _, b := range breaches(packageName(p.ImportPath), p.Imports) {
			t.Error(b)
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			if to := packageName(imp); strings.HasPrefix(to, "cmd/") || strings.HasPrefix(to, "internal/portal") {
				t.Errorf("tests of %s may not import %s", packageName(p.ImportPath), to)
			}
		}
	}
}

// unused lists the lines of the table for packages that do not exist, and the
// allowances that no import uses.
func unused(table map[string][]string, pkgs []pkg) []string {
	used := map[string]map[string]bool{} // allowance by line
	for _, p := range pkgs {
		key, ok := rule(packageName(p.ImportPath))
		if !ok {
			continue
		}
		if used[key] == nil {
			used[key] = map[string]bool{}
		}
		for _, imp := range p.Imports {
			for _, a := range table[key] {
				if to := packageName(imp); to != "" && covers([]string{a}, to) {
					used[key][a] = true
				}
			}
		}
	}
	var out []string
	for key, allowed := range table {
		if used[key] == nil {
			out = append(out, fmt.Sprintf("the layout table has a line for %s: there is no such package", key))
			continue
		}
		for _, a := range allowed {
			if a != "*" && !used[key][a] {
				out = append(out, fmt.Sprintf("%s may import %s and does not: remove the allowance", key, a))
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestLayoutUsed checks that the table has no unused lines or allowances.
func TestLayoutUsed(t *testing.T) {
	pkgs := listPackages(t)
	for _, u := range unused(layout, pkgs) {
		t.Error(u)
	}
	spoilt := map[string][]string{"internal/judge": {"words", "internal/stats", "internal/host"}, "internal/nowhere": {}}
	if got := unused(spoilt, pkgs); len(got) != 2 {
		t.Errorf("an unused allowance and a package that does not exist were found as %q", got)
	}
}

// impure are packages of the standard library that read a clock, wait, or do I/O.
var impure = []string{"os", "os/exec", "net", "net/http", "database/sql", "syscall", "io/fs", "log", "log/slog", "context"}

// TestPure checks that pure packages import no impure package.
func TestPure(t *testing.T) {
	pure := []string{"words", "internal/stats", "internal/judge", "internal/attribute", "internal/diagnose"}
	for _, p := range listPackages(t) {
		if !slices.Contains(pure, packageName(p.ImportPath)) {
			continue
		}
		for _, imp := range p.Imports {
			if slices.Contains(impure, imp) {
				t.Errorf("%s imports %s: the package is pure", packageName(p.ImportPath), imp)
			}
		}
	}
}

// TestLayoutCatches checks that TestLayout can fail.
func TestLayoutCatches(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"words", "internal/tally"},
		{"internal/diagnose", "internal/host"},
		{"internal/scenario", "internal/bench"},
		{"arenas/x", "internal/bench"},
		{"internal/change/ddl", "internal/tune"},
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

// TestRootEntries limits the entries of the root folder: at most 20 folders and
// files, without hidden ones and Go files.
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
		t.Errorf("%d entries beside the words in the root: find them a package", n)
	}
}
