package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestManPage: man formats the page without a warning, and it has every command with its
// flags.
func TestManPage(t *testing.T) {
	page, errs, status := invoke(t, "help", "--man")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, errs)
	}
	file := filepath.Join(t.TempDir(), "iikanji.1")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, warnings strings.Builder
	man := exec.CommandContext(t.Context(), "man", "--warnings", "-P", "cat", "-l", file)
	man.Env = append(os.Environ(), "MANWIDTH=200", "LC_ALL=C.UTF-8", "MANROFFSEQ=")
	man.Stdout, man.Stderr = &out, &warnings
	if err := man.Run(); err != nil || warnings.Len() > 0 {
		t.Fatalf("man: %v\n%s", err, warnings.String())
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	e := &env{Stdin: strings.NewReader(""), Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Cols: 80}
	flags := 0
	for _, n := range everyNode(newParser(t.Context(), e).Model.Node) {
		if want := "iikanji " + pathOf(n); !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
		for _, f := range n.Flags {
			if flags++; !f.Hidden && !strings.Contains(text, flagForms(f)) {
				t.Errorf("the page lacks %s of %s", flagForms(f), pathOf(n))
			}
		}
	}
	if flags < 100 {
		t.Errorf("%d flags: the test would prove nothing", flags)
	}
	for _, line := range []string{"iikanji history diff isucondition 7 3", "Exit status: 0 done"} {
		if !strings.Contains(text, line) {
			t.Errorf("the page lacks %q", line)
		}
	}
}

// TestEscaped: no text of a help becomes a macro or an escape of roff.
func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{".so /etc/passwd": `\&.so /etc/passwd`, "'\\n": `\&'\en`, `--json "x"`: `\-\-json \(dqx\(dq`} {
		if got := escaped(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
