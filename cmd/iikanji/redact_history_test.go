package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestRedactedHistoryCommands: no command on the history prints a planted secret; with
// --literals each does.
func TestRedactedHistoryCommands(t *testing.T) {
	hist, run := secretHistory(t)
	h, err := history.View(hist)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := h.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	number, change := strconv.Itoa(int(run)), strconv.Itoa(int(changes[len(changes)-1].ID))
	for _, args := range [][]string{
		{"list", "isucondition"}, {"list", "isucondition", "--json"}, {"list", "isucondition", "--format", "tsv"},
		{"list", "isucondition", change}, {"list", "isucondition", change, "--json"},
		{"show", "isucondition", number}, {"show", "isucondition", number, "--json"},
		{"diff", "isucondition", "1", number}, {"diff", "isucondition", "1", number, "--json"},
	} {
		args = append([]string{"history"}, append(args, "--history", hist)...)
		text, errs, status := invoke(t, args...)
		if found := leaks(text + errs); len(found) > 0 || status != exitDone {
			t.Errorf("%q: status %d, leaks %q\n%s", args, status, found, errs)
		}
		if text, errs, status = invoke(t, append(args, "--literals")...); len(leaks(text)) == 0 && args[1] != "diff" || status != exitDone {
			t.Errorf("%q --literals shows none of the planted secrets: the test proves nothing\n%s", args, errs)
		}
	}
}

// TestRedactedCommit: no file of a commit of the history has a planted secret, and the
// files in the folder stay as they are. With --literals they are committed as they are.
func TestRedactedCommit(t *testing.T) {
	tier.Slow(t)
	hist, _ := secretHistory(t)
	repo := t.TempDir()
	at := filepath.Join(repo, "day")
	if err := os.CopyFS(at, os.DirFS(hist)); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	t.Setenv("GIT_AUTHOR_NAME", "t")
	t.Setenv("GIT_AUTHOR_EMAIL", "t@example.com")
	t.Setenv("GIT_COMMITTER_NAME", "t")
	t.Setenv("GIT_COMMITTER_EMAIL", "t@example.com")
	git("init", "-q")
	edit(t, filepath.Join(repo, "mine.txt"), "staged and not committed\n")
	git("add", "mine.txt")
	before := filesUnder(t, at)
	out, errs, status := invoke(t, "history", "commit", "isucondition", "--history", at)
	if status != exitDone || !strings.Contains(out, "without what may be a secret") {
		t.Fatalf("status %d\n%s%s", status, out, errs)
	}
	committed := func() (all string, names []string) {
		names = strings.Fields(git("ls-tree", "-r", "--name-only", "HEAD"))
		for _, name := range names {
			all += git("show", "HEAD:"+name)
		}
		return all, names
	}
	all, names := committed()
	if found := leaks(all); len(found) > 0 || len(names) < 10 || strings.Contains(strings.Join(names, " "), "mine.txt") {
		t.Errorf("the commit leaks %q; it has %q", found, names)
	}
	if !strings.Contains(git("status", "--short", "mine.txt"), "A  mine.txt") {
		t.Errorf("what the user had staged: %s", git("status", "--short"))
	}
	for i, text := range filesUnder(t, at)[:1] {
		if i < len(before) && len(leaks(strings.Join(before, ""))) > 0 && len(leaks(strings.Join(filesUnder(t, at), ""))) == 0 {
			t.Errorf("the files in the folder lost their content: %.100q", text)
		}
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git("clone", "-q", repo, clone)
	if out, errs, status := invoke(t, "history", "isucondition", "--history", filepath.Join(clone, "day")); status != exitDone || !strings.Contains(out, "nginxconf") || errs != "" {
		t.Errorf("the clone is not readable: status %d\n%s%s", status, out, errs)
	}
	if out, errs, status := invoke(t, "history", "commit", "isucondition", "--history", at); status != exitDone || out != "nothing to commit\n" {
		t.Errorf("again: status %d\n%s%s", status, out, errs)
	}
	if out, errs, status := invoke(t, "history", "commit", "isucondition", "--literals", "--history", at); status != exitDone {
		t.Errorf("--literals: status %d\n%s%s", status, out, errs)
	}
	if all, _ = committed(); len(leaks(all)) == 0 {
		t.Error("--literals commits none of the planted secrets: the test proves nothing")
	}
}

// TestRedactedMCP: no answer of a tool, and no error, has a planted secret.
func TestRedactedMCP(t *testing.T) {
	tier.Slow(t)
	hist, run := secretHistory(t)
	h, err := history.View(hist)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := h.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for _, literals := range []bool{false, true} {
		_, dir := shop(t)
		a, err := findTarget("shop")
		if err != nil {
			t.Fatal(err)
		}
		s := &mcpServer{env: &env{Stderr: &lockedBuffer{}, Now: time.Now, Cols: 80}, target: a, place: placeFlags{Dir: dir, History: hist}, literals: literals}
		near, far := mcp.NewInMemoryTransports()
		session, err := s.server().Connect(t.Context(), near, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := client(t, far)
		for tool, args := range map[string]map[string]any{
			"diagnose": {"run": int(run)}, "history": {"change": int(changes[len(changes)-1].ID)},
			"plan": {"remedies": []map[string]any{{"kind": "nginxconf", "target": "nginx", "says": "x", "args": map[string]string{"act": "gzip", "password": "Hunter2Password alice@example.org"}}}},
		} {
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
			if err != nil {
				t.Fatalf("%s: %v", tool, err)
			}
			text := r.Content[0].(*mcp.TextContent).Text
			if found := leaks(text); (len(found) > 0) != literals && (tool != "plan" || !literals) {
				t.Errorf("%s, literals %v: leaks %q\n%s", tool, literals, found, text)
			}
		}
		c.Close()
		session.Close()
	}
}
