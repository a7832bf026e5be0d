package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/summary/summarytest"
)

// TestCommittedPaths: the committed history of a search has no path of the machine.
func TestCommittedPaths(t *testing.T) {
	tier.Slow(t)
	hist := summarytest.Make(t)
	committedHistory(t, hist, "isucondition", "--dir", filepath.Dir(hist))
}

// committedHistory commits a copy of a history whose work folder, given by flags, is at
// its old place. No committed file has a path of the machine. In a clone, the changes
// are the same once the roots are there, and cannot be undone without them.
func committedHistory(t *testing.T, hist, target string, place ...string) {
	t.Helper()
	repo := t.TempDir()
	at := filepath.Join(repo, "day")
	if err := os.CopyFS(at, os.DirFS(hist)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(at, ".git")); err != nil { // it may be a repository of its own
		t.Fatal(err)
	}
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "t@example.com")
	}
	git("init", "-q")
	shell(t, exitDone, append([]string{"history", "commit", target, "--history", at, "--literals"}, place...)...)
	local := []string{repo, filepath.Dir(filepath.Dir(hist)), hist} // the folder above the work folder is in no other path
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		local = append(local, home+"/")
	}
	changes := 0
	for _, name := range strings.Fields(git("ls-files")) {
		text := git("show", "HEAD:"+name)
		for _, path := range local {
			if i := strings.Index(text, path); i >= 0 {
				t.Errorf("%s is committed with the path %s: %.200q", name, path, text[max(0, i-100):])
			}
		}
		if strings.HasSuffix(name, "/change.json") {
			changes++
		}
	}
	if changes == 0 || strings.Contains(git("ls-files"), history.RootsName) {
		t.Errorf("%d changes are committed:\n%s", changes, git("ls-files"))
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git("clone", "-q", repo, clone)
	sameChanges(t, at, filepath.Join(clone, "day"))
}

// sameChanges checks that a cloned history has the changes of the first one, once it
// has its roots, and that without them no change can be undone.
func sameChanges(t *testing.T, from, clone string) {
	t.Helper()
	for _, known := range []bool{false, true} {
		if known {
			text, err := os.ReadFile(filepath.Join(from, history.RootsName))
			if err == nil {
				err = os.WriteFile(filepath.Join(clone, history.RootsName), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		a, err := history.View(from)
		if err != nil {
			t.Fatal(err)
		}
		b, err := history.View(clone)
		if err != nil {
			t.Fatal(err)
		}
		wants, err := a.Changes()
		if err != nil {
			t.Fatal(err)
		}
		unknown := 0
		for _, want := range wants {
			got, err := b.LoadChange(want.ID)
			if err != nil {
				t.Fatal(err)
			}
			if history.Resolved(got) != nil {
				unknown++
			}
			for i := range want.Undo {
				if known && got.Undo[i] != want.Undo[i] {
					t.Errorf("change %d of the clone: %+v, want %+v", want.ID, got.Undo[i], want.Undo[i])
				}
			}
		}
		if (unknown == 0) != known {
			t.Errorf("roots known: %v; %d changes have places of unknown roots", known, unknown)
		}
	}
}
