package lever

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

var shopFacts = Facts{Tables: map[string]Table{"shop": {Unique: [][]string{{"id"}}, Columns: map[string]Column{
	"id": {Type: "bigint(20)"}, "name": {Type: "varchar(64)"}, "lat": {Type: "double"}, "lon": {Type: "double"}, "rank_": {Type: "int(11)"}}}}}

func TestApp216(t *testing.T) { golden(t, newApp216(shopFacts), "app216", 1, 9) }

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
	for name, change := range map[string][2]string{
		"a transaction of the caller":      {"func Log(text string) error {", "func Late(tx *sqlx.Tx) error { _, err := tx.Exec(\"DELETE FROM shop\"); return err }\n\nfunc Log(text string) error {"},
		"a goroutine":                      {"func Log(text string) error {", "func Late() { go func() { db.Exec(\"DELETE FROM shop\") }() }\n\nfunc Log(text string) error {"},
		"a program that goes on":           {"exec.Command(\"load.sh\").Run()", "exec.Command(\"load.sh\").Start()"},
		"a statement of an unknown kind":   {"func Log(text string) error {", "func Late(tx *sqlx.Tx, sql string) error { _, err := tx.Exec(sql); return err }\n\nfunc Log(text string) error {"},
		"a part that differs at each call": {"\" AND \"", "\" AND at < NOW() AND \""},
		"a library":                        {"package main", "package shop"},
	} {
		after := strings.Replace(string(text), change[0], change[1], 1)
		if after == string(text) {
			t.Fatalf("%s: %q is not in the source", name, change[0])
		}
		pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: root, Overlay: map[string][]byte{file: []byte(after)},
			Env: append(os.Environ(), "GOPATH="+root, "GO111MODULE=off", "GOPROXY=off")}, "app216/fire")
		if err != nil || len(pkgs) != 1 {
			t.Fatal(err, len(pkgs))
		}
		for _, e := range pkgs[0].Errors {
			t.Errorf("%s: %v", name, e)
		}
		for _, h := range hitsOf(t, newApp216(shopFacts), pkgs[0]) {
			if len(h.Variants) > 0 {
				t.Errorf("%s: a fix is offered", name)
			}
		}
	}
}

// hitsOf runs a lever over a package.
func hitsOf(t *testing.T, l *Lever, p *packages.Package) (hits []Hit) {
	t.Helper()
	graph, err := checker.Analyze([]*analysis.Analyzer{l.Analyzer}, []*packages.Package{p}, nil)
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
