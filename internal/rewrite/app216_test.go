package rewrite

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// TestApp216Refuses changes the app that fires, each time so that a write could be
// missed. The lever must offer no fix then.
func TestApp216Refuses(t *testing.T) {
	root, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "src", "app216", "fire", "a.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string][2]string{
		"a transaction of the caller":      {"func Log(text string) error {", "func Late(tx *sqlx.Tx) error { _, err := tx.Exec(\"DELETE FROM shop\"); return err }\n\nfunc Log(text string) error {"},
		"a goroutine":                      {"func Log(text string) error {", "func Late() { go func() { db.Exec(\"DELETE FROM shop\") }() }\n\nfunc Log(text string) error {"},
		"a program that goes on":           {"exec.Command(\"load.sh\").Run()", "exec.Command(\"load.sh\").Start()"},
		"a statement of an unknown kind":   {"func Log(text string) error {", "func Late(tx *sqlx.Tx, sql string) error { _, err := tx.Exec(sql); return err }\n\nfunc Log(text string) error {"},
		"a part that differs at each call": {"\" AND \"", "\" AND at < NOW() AND \""},
		"a library":                        {"package main", "package shop"},
	}
	// Each changed app is a package of its own, beside the one that fires: one load
	// serves all.
	overlay, packageOf := map[string][]byte{}, map[string]string{}
	for name, change := range changes {
		after := strings.Replace(string(text), change[0], change[1], 1)
		if after == string(text) {
			t.Fatalf("%s: %q is not in the source", name, change[0])
		}
		packageOf[name] = fmt.Sprintf("app216/refused%d", len(packageOf))
		overlay[filepath.Join(root, "src", packageOf[name], "a.go")] = []byte(after)
	}
	pkgs := loadGoldens(t, root, overlay, slices.Collect(maps.Values(packageOf)))
	for name := range changes {
		for _, h := range hitsOf(t, &builtSearch, pkgs[packageOf[name]]) {
			if len(h.Variants) > 0 {
				t.Errorf("%s: a fix is offered", name)
			}
		}
	}
}

// hitsOf runs a lever over a package.
func hitsOf(t *testing.T, l *Lever, p *packages.Package) (hits []Hit) {
	t.Helper()
	graph, err := checker.Analyze([]*analysis.Analyzer{l.Analyzer(shopFacts)}, []*packages.Package{p}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			t.Fatal(act.Err)
		}
		for _, at := range act.Result.([]place) {
			hits = append(hits, hitOf(p, l.Code, at))
		}
	}
	return hits
}
