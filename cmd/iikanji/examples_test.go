package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji/internal/policy/tier"
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
	if err := os.WriteFile(filepath.Join(dir, "messages.txt"), nil, 0o600); err != nil { // read by a redirection
		t.Fatal(err)
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
	tier.Slow(t)
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
		args, err = chooseApp(args)
	}
	if err == nil {
		args, err = settingFlags(args, declaredFor(args))
	}
	if err == nil {
		_, err = parserFor(t.Context(), e, args).Parse(args)
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
