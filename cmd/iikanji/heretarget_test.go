package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/site/target"
)

// TestHereTarget: a command line without a target is about the site of the working folder.
func TestHereTarget(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	e := &env{}
	model := newParser(t.Context(), e).Model.Node
	if _, err := hereTarget(model, []string{"history"}); err == nil || !strings.Contains(err.Error(), "a target is missing") {
		t.Errorf("in an empty folder: %v", err)
	}
	for _, args := range [][]string{{"history", "--help"}, {"history", "nonsense"}, {"lint"}, {"bench"}, {"version"}} {
		if got, err := hereTarget(model, args); err != nil || !slices.Equal(got, args) {
			t.Errorf("%q in an empty folder: %q, %v", args, got, err)
		}
	}
	text := "version = 1\nurl = \"http://127.0.0.1:8080\"\n[[service]]\nname = \"web\"\nrole = \"web\"\nlisten = \"127.0.0.1:8080\"\n"
	if err := errors.Join(os.WriteFile(target.Name, []byte(text), 0o600), os.Mkdir("out", 0o755)); err != nil {
		t.Fatal(err)
	}
	here := dir
	for _, c := range []struct{ args, want []string }{
		{[]string{"history"}, []string{"history", here}},
		{[]string{"history", "3"}, []string{"history", here, "3"}},
		{[]string{"history", "--runs"}, []string{"history", here, "--runs"}},
		{[]string{"history", "--history", "folder", "3"}, []string{"history", "--history", "folder", here, "3"}},
		{[]string{"history", "list"}, []string{"history", "list", here}},
		{[]string{"history", "show", "7"}, []string{"history", "show", here, "7"}},
		{[]string{"history", "diff", "7", "3"}, []string{"history", "diff", here, "7", "3"}},
		{[]string{"history", "note", "3", "quiet here"}, []string{"history", "note", here, "3", "quiet here"}},
		{[]string{"plan"}, []string{"plan", here}},
		{[]string{"plan", "DB101", "web102.1"}, []string{"plan", here, "DB101", "web102.1"}},
		{[]string{"plan", "mysqlconf", "target=db", "max_connections=300"}, []string{"plan", here, "mysqlconf", "target=db", "max_connections=300"}},
		{[]string{"apply", "DB101", "--dry-run"}, []string{"apply", here, "DB101", "--dry-run"}},
		{[]string{"apply", "--file", "remedy.json"}, []string{"apply", here, "--file", "remedy.json"}},
		{[]string{"judge", "DB101.2"}, []string{"judge", here, "DB101.2"}},
		{[]string{"revert", "--all"}, []string{"revert", here, "--all"}},
		{[]string{"revert", "3"}, []string{"revert", here, "3"}},
		{[]string{"recover"}, []string{"recover", here}},
		{[]string{"report", "--out", "day.md"}, []string{"report", here, "--out", "day.md"}},
		{[]string{"export", "out"}, []string{"export", here, "out"}},
		{[]string{"ui"}, []string{"ui", here}},
		// A target that is named stays, and so does a mistaken one.
		{[]string{"history", "."}, []string{"history", "."}},
		{[]string{"history", "isucondition", "3"}, []string{"history", "isucondition", "3"}},
		{[]string{"revert", here, "3"}, []string{"revert", here, "3"}},
		{[]string{"history", "isucondtion"}, []string{"history", "isucondtion"}},
		{[]string{"export", "isucondtion", "out"}, []string{"export", "isucondtion", "out"}},
		{[]string{"doctor"}, []string{"doctor"}},
	} {
		if got, err := hereTarget(model, c.args); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.args, got, err, c.want)
		}
	}
}
