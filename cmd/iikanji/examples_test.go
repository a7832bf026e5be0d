package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/observe"
	"github.com/iikanji/iikanji/internal/summary/summarytest"
)

// exampleLine is a line of the section Examples of a help text.
var exampleLine = regexp.MustCompile(`(?m)^  +(\S.*)$`)

// examplesOf are the lines of the examples of a command's help.
func examplesOf(n *kong.Node) (lines []string) {
	text, ok := "", false
	if h, is := n.Target.Addr().Interface().(kong.HelpProvider); is {
		parts := regexp.MustCompile(`(?m)^Examples?:\n`).Split(h.Help(), 2)
		text, ok = parts[len(parts)-1], len(parts) == 2
	}
	if !ok {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n\n")
	for _, m := range exampleLine.FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// commandsOf lists the commands that can be run, as arena commands cannot: their help
// is declared by arenas.
func commandsOf(n *kong.Node) (all []*kong.Node) {
	for _, child := range n.Children {
		if child.Leaf() || child.DefaultCmd != nil {
			all = append(all, child)
		}
		all = append(all, commandsOf(child)...)
	}
	return all
}

// callsOf lets a shell run an example in which iikanji prints its arguments, and
// returns these.
func callsOf(t *testing.T, dir, line string) (calls [][]string) {
	t.Helper()
	for _, folder := range []string{".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "calls")
	script := `iikanji() { printf '%s\n' "$@" '--- end' >>"$CALLS"; }
zcat() { :; }
sh() { :; }
cd() { :; }
claude() { while [ "$1" != -- ]; do shift; done; shift; "$@"; }
` + line
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CALLS="+out, "HOME="+dir)
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, printed)
	}
	data, err := os.ReadFile(out)
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	for _, call := range strings.Split(strings.TrimSuffix(string(data), "--- end\n"), "--- end\n") {
		calls = append(calls, strings.Split(strings.TrimSuffix(call, "\n"), "\n"))
	}
	return calls
}

// TestExamplesParse: each command has an example in its help, and a shell and the
// parser accept all of them.
func TestExamplesParse(t *testing.T) {
	e := &env{Stdin: strings.NewReader(""), Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Cols: 80}
	dir := t.TempDir()
	for _, n := range commandsOf(newParser(t.Context(), e).Model.Node) {
		if slices.Contains(arenaCommandNames(), n.Name) {
			continue
		}
		lines := examplesOf(n)
		if len(lines) == 0 {
			t.Errorf("iikanji %s --help has no example", pathOf(n))
		}
		own := false
		for _, line := range lines {
			for _, args := range callsOf(t, dir, line) {
				own = own || strings.HasPrefix(strings.Join(args, " ")+" ", pathOf(n)+" ") || n.Parent.DefaultCmd == n
				tryParse(t, e, line, args)
			}
		}
		if !own {
			t.Errorf("no example of iikanji %s is of that command: %q", pathOf(n), lines)
		}
	}
}

// tryParse parses the arguments of an example as run does.
func tryParse(t *testing.T, e *env, line string, args []string) {
	t.Helper()
	args, err := translateArgs(e, args)
	if err == nil {
		args, err = settingFlags(args, declaredFor(args))
	}
	if err == nil {
		_, err = newParser(t.Context(), e).Parse(args)
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
}

// sampleFiles are the files that examples name.
var sampleFiles = map[string]string{
	"access.log": `127.0.0.1 - - [22/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 10 "-" "x" 0.010` + "\n" + `127.0.0.1 - - [22/Nov/2026:10:00:01 +0000] "GET /b HTTP/1.1" 500 10 "-" "x" 0.020` + "\n",
	"slow.log":   "# Time: 2026-11-22T10:00:00.000000Z\n# User@Host: isu[isu] @ localhost []\n# Query_time: 0.010000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 10\nuse isu;\nSELECT 1 FROM t WHERE id = 1;\n",
}

// TestExamplesRun runs the examples of the commands that need no stack, on sample
// files and a small history: each is a success. Names of targets stand for the
// history of the test.
func TestExamplesRun(t *testing.T) {
	hist := summarytest.Make(t)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	for name, data := range map[string]string{"access.log": "access.log", "access.log.1": "access.log", "host-a.log": "access.log", "host-b.log": "access.log",
		"slow.log": "slow.log", "before.log": "slow.log", "after.log": "slow.log", "slow-before.log": "slow.log", "slow-after.log": "slow.log"} {
		if err := os.WriteFile(name, []byte(sampleFiles[data]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"before", "after", "a", "b", "c"} {
		if out, errs, status := invoke(t, "access", "--save", name+".json", "access.log"); status != exitDone {
			t.Fatalf("saving %s: %s%s", name, out, errs)
		}
	}
	for _, name := range []string{"before", "after"} {
		makeWindow(t, name)
	}
	git(t.Context(), dir, "init", "--quiet")
	ran := map[string]int{}
	for _, command := range []string{"report", "ui", "history", "history list", "history show", "history diff", "history note", "completion", "help", "version", "access", "slow", "diff", "merge", "arena", "arena list"} {
		n := nodeOf(t, command)
		for _, line := range examplesOf(n) {
			for _, args := range callsOf(t, dir, line) {
				if slices.ContainsFunc(args, func(a string) bool {
					return strings.HasPrefix(a, "/") || strings.HasSuffix(a, ".gz") || a == "-" && args[0] == "access" || strings.HasSuffix(a, ".yaml")
				}) {
					continue // files of another machine
				}
				if slices.ContainsFunc(args, func(a string) bool { _, ok := arena.Find(a); return ok }) && args[0] != "arena" {
					args = append(args, "--history", hist)
				}
				if command == "ui" { // it serves until it is interrupted, at addresses that may be taken
					args = append(args, "--check", "--listen", "127.0.0.1:0", "--otlp", "127.0.0.1:0")
				}
				ran[command]++
				if out, errs, status := invoke(t, args...); status != exitDone || out == "" {
					t.Errorf("%s: status %d\n%s%s", line, status, out, errs)
				}
			}
		}
		if ran[command] == 0 && len(examplesOf(n)) > 0 {
			t.Errorf("no example of %s was run", command)
		}
	}
}

// makeWindow writes a folder as iikanji collect does, with one route.
func makeWindow(t *testing.T, dir string) {
	t.Helper()
	h, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, _, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	run := &iikanji.Run{Version: iikanji.RunVersion, ID: id, Scenario: "shop", Began: time.Unix(1_800_000_000, 0), Took: time.Minute, Outcome: iikanji.Passed, Watched: true}
	ob := &observe.Observation{Run: run, Profiles: []iikanji.Profile{{Version: iikanji.ProfileVersion, Source: iikanji.Access,
		Rows: []iikanji.Row{{Key: "GET /a", Count: 100, Mean: time.Millisecond, Web: &iikanji.WebRow{}}}}}}
	if err := observe.Keep(h, ob, nil); err != nil {
		t.Fatal(err)
	}
	if err := windowOf(ob).Save(dir); err != nil {
		t.Fatal(err)
	}
}

// nodeOf finds a command.
func nodeOf(t *testing.T, command string) *kong.Node {
	t.Helper()
	at := newParser(t.Context(), &env{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}}).Model.Node
	for _, name := range strings.Fields(command) {
		i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == name })
		if i < 0 {
			t.Fatalf("there is no command %s", command)
		}
		at = at.Children[i]
	}
	return at
}

// TestExamplesOnSite runs examples of the commands that need a stack, on a small site:
// the help's own lines, with the name of that site and its folder.
func TestExamplesOnSite(t *testing.T) {
	_, dir := shop(t)
	t.Chdir(t.TempDir())
	shopHistory(t, filepath.Join(dir, "history"), 7)
	each := oneOfEach()
	for from, to := range map[string]string{remedyFile(t, each["mysqlconf"], each["nginxconf"]): "remedies.json", remedyFile(t, each["nginxconf"]): "remedy.json"} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	git(t.Context(), filepath.Join(dir, "history"), "init", "--quiet")
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "test@example.com")
	}
	for _, x := range []struct {
		command, example string
		more             []string
	}{
		{"plan", "--file remedies.json", []string{"--dir", dir}}, {"apply", "--file remedy.json", []string{"--dir", dir}}, {"recover", "iikanji recover isucondition", []string{"--dir", dir}},
		{"export", "./tuned", []string{"--dir", dir}}, {"history replay", "--dry-run", []string{"--dir", dir}}, {"history commit", "-m ", []string{"--history", filepath.Join(dir, "history")}},
		{"revert", "--all", []string{"--dir", dir}}, {"top", "-s app=", []string{"-n", "1", "--every", "100ms"}},
	} {
		lines := examplesOf(nodeOf(t, x.command))
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, x.example) })
		if i < 0 {
			t.Errorf("no example of %s has %q: %q", x.command, x.example, lines)
			continue
		}
		for _, args := range callsOf(t, t.TempDir(), lines[i]) {
			for i := range args {
				args[i] = strings.NewReplacer("isucondition", "shop", "app=1234", fmt.Sprintf("app=%d", os.Getpid()), "db=987", fmt.Sprintf("db=%d", os.Getppid())).Replace(args[i])
			}
			if out, errs := shell(t, exitDone, append(args, x.more...)...); out+errs == "" {
				t.Errorf("%s prints nothing", lines[i])
			}
		}
	}
}

// shopHistory makes a history with some runs.
func shopHistory(t *testing.T, dir string, runs int) {
	t.Helper()
	h, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range runs {
		id, _, err := h.NewRun()
		if err == nil {
			err = h.SaveRun(&iikanji.Run{Version: iikanji.RunVersion, ID: id, Scenario: "shop", Began: time.Now(), Outcome: iikanji.Passed, Score: 100, Took: time.Second})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
