package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// invoke runs a command line in this process and returns its output.
func invoke(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: time.Now, Cols: 80}
	status = run(t.Context(), e, args)
	return out.String(), errs.String(), status
}

// completionScript writes the script of a shell to a file.
func completionScript(t *testing.T, shell string) string {
	t.Helper()
	script, errs, status := invoke(t, "completion", shell)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, errs)
	}
	file := filepath.Join(t.TempDir(), "iikanji."+shell)
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// completionCases are typed words, with completions of the last word that must and
// must not be offered.
var completionCases = []struct {
	typed        string
	want, wanted string // one that must be offered, one that must not
}{
	{"iikanji rep", "report", "revert"},
	{"iikanji history sh", "show", "replay"},
	{"iikanji history isuc", "isucondition", "show"},
	{"iikanji history diff isuc", "isucondition", "diff"},
	{"iikanji history --format ", "markdown", "show"},
	{"iikanji bench --no", "--no-load", "--load"},
	{"iikanji tune --pro", "--proposer", "--price"},
	{"iikanji lad", "ladder", "lint"},
	{"iikanji ladder isuc", "isucondition", "show"},
	{"iikanji ladder --l", "--list", "--from"},
	{"iikanji arena ", "files", "report"},
	{"iikanji completion ", "fish", "report"},
	{"iikanji help met", "method", "report"},
}

// TestBashCompletion lets bash complete.
func TestBashCompletion(t *testing.T) {
	file := completionScript(t, "bash")
	for _, c := range completionCases {
		script := `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _iikanji; printf '%s\n' "${COMPREPLY[@]}"`
		out, err := exec.CommandContext(t.Context(), "bash", append([]string{"--norc", "-c", script, "bash", file}, strings.Split(c.typed, " ")...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("bash: %v\n%s", err, out)
		}
		offered(t, c.typed, string(out), c.want, c.wanted)
	}
}

// TestZshCompletion calls the function of the script in zsh. The functions of the
// completion system are replaced by ones that print what they are given.
func TestZshCompletion(t *testing.T) {
	zsh, err := exec.LookPath("zsh")
	if err != nil {
		t.Fatalf("%v (Debian's package zsh)", err)
	}
	file := completionScript(t, "zsh")
	for _, c := range completionCases {
		script := `compdef() { }; _files() { }
compadd() { shift; for w in "$@"; do [[ $w == $words[CURRENT]* ]] && print -r -- $w; done }
_describe() { for w in "${(P@)2}"; do w=${w%%:*}; [[ $w == $words[CURRENT]* ]] && print -r -- $w; done }
source "$1"; shift; words=("$@"); CURRENT=$#; _iikanji; true`
		out, err := exec.CommandContext(t.Context(), zsh, append([]string{"-f", "-c", script, "zsh", file}, strings.Split(c.typed, " ")...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("zsh: %v\n%s", err, out)
		}
		offered(t, c.typed, string(out), c.want, c.wanted)
	}
}

// TestFishCompletion lets fish complete.
func TestFishCompletion(t *testing.T) {
	tier.Slow(t)
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Fatalf("%v (Debian's package fish)", err)
	}
	file := completionScript(t, "fish")
	for _, c := range completionCases {
		cmd := exec.CommandContext(t.Context(), fish, "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, file, c.typed)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("fish: %v\n%s", err, out)
		}
		var words strings.Builder
		for line := range strings.Lines(string(out)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			words.WriteString(word + "\n")
		}
		offered(t, c.typed, words.String(), c.want, c.wanted)
	}
}

func offered(t *testing.T, typed, lines, want, unwanted string) {
	t.Helper()
	words := strings.Fields(lines)
	if !slices.Contains(words, want) || slices.Contains(words, unwanted) {
		t.Errorf("%q is completed to %q, want %q and not %q", typed, words, want, unwanted)
	}
}

// TestHelpTopics: each listed topic has its page, and a mistake has a hint.
func TestHelpTopics(t *testing.T) {
	tier.Slow(t)
	list, _, _ := invoke(t, "help")
	for _, topic := range slices.Concat(topics("."), topics("findings"), []string{"history", "tune", "arena"}) {
		if !strings.Contains(list, "  "+topic+" ") {
			t.Errorf("the list has no %s", topic)
		}
		page, errs, status := invoke(t, "help", topic)
		if status != exitDone || len(page) < 100 {
			t.Errorf("help %s: status %d, %d bytes, %s", topic, status, len(page), errs)
		}
	}
	page, _, _ := invoke(t, "help", "history", "diff")
	same, _, _ := invoke(t, "history", "diff", "--help")
	if page == "" || page != same {
		t.Errorf("help history diff differs from history diff --help:\n%s", page)
	}
	if _, errs, status := invoke(t, "help", "DB10"); status != exitUsage || !strings.Contains(errs, "hint: iikanji help DB10") {
		t.Errorf("status %d: %s", status, errs)
	}
}
