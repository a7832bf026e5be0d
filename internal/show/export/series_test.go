package export_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all"
	"github.com/iikanji/iikanji/internal/show/export"
)

// TestSeries: git applies the changes of source as commits, in their order and to
// the byte, and their messages have the proof.
func TestSeries(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is needed")
	}
	p := newPast(t)
	source := func(says, old, new string) *iikanji.Change {
		c := edits("gocode", "app", says, iikanji.Restart, change.Edit{Path: "webapp/go/main.go", Old: []byte(old), New: []byte(new)},
			change.Edit{Path: "webapp/go/sub/x.go", Old: []byte("package sub\n// " + old), New: []byte("package sub\n// " + new)})
		c.Answers = "APP201"
		c.Remedy = &iikanji.Remedy{Kind: "gocode", Target: "app", Args: map[string]string{"levers": "APP201", "file": "main.go", "func": "two"}}
		return c
	}
	p.add(index(), keptStages...)
	long := "add LIMIT 1 in two, which is a description that is much longer than a subject line of a commit may be (APP201; main.go)"
	p.add(source("first\x1b[2J rewrite", oldApp, midApp), keptStages...)
	second := source(long, midApp, newApp)
	second.Weakens = []iikanji.Promise{iikanji.TestedOnly}
	p.add(second, keptStages...)
	if err := p.h.SaveVerdict(3, &iikanji.Verdict{Call: iikanji.Keep, Reason: iikanji.Proven, Effect: iikanji.Interval{Mid: 0.2, Lo: 0.1, Hi: 0.3, Level: 0.9},
		Base: []iikanji.RunID{1, 3}, Tried: []iikanji.RunID{2, 4}, Answered: &iikanji.Answered{Requests: 1200, Routes: 12, Borders: 300}}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := export.Write(dir, p.h, export.Options{Name: "tiny", Root: root, Places: places}); err != nil {
		t.Fatal(err)
	}
	patches, err := filepath.Glob(filepath.Join(dir, "series", "*.patch"))
	if err != nil || len(patches) != 2 || filepath.Base(patches[0]) != "0001-first-2j-rewrite.patch" {
		t.Fatalf("%v, %v", patches, err)
	}
	repo := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if err := os.Mkdir(filepath.Join(repo, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": oldApp, "sub/x.go": "package sub\n// " + oldApp} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "as it was")
	git(append([]string{"am", "-q", "-p3"}, patches...)...)
	if got := read(t, filepath.Join(repo, "main.go")); got != newApp {
		t.Errorf("after the series main.go is\n%s", got)
	}
	if got := strings.Fields(git("log", "--format=%h")); len(got) != 3 {
		t.Errorf("%d commits", len(got))
	}
	log := git("log", "-1", "--format=%an%n%s%n%b")
	for _, want := range []string{"iikanji\nadd LIMIT 1 in two", long, "Finding: APP201\n", "Effect on the score: +22.1 %", "keep (proven)", "Tried in 2 pairs",
		"Answers of both builds were the same: 1200 requests on 12 routes, 300 of them at borders of parameters", "Weakens tested-only"} {
		if !strings.Contains(log, want) {
			t.Errorf("the message lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(git("log"), "\x1b") {
		t.Error("a message has a control character")
	}
	if !strings.Contains(read(t, filepath.Join(dir, "README.md")), "git am -p3") {
		t.Error("README.md does not name the series")
	}
}
