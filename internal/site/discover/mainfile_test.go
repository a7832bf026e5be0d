package discover

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestMainFile expects the source of a program that was built elsewhere, and nothing
// for a program without paths or without a line table.
func TestMainFile(t *testing.T) {
	source, out := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"go.mod": "module far/away\n\ngo 1.25\n", "main.go": "package main\n\nfunc main() { println(1) }\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := func(name string, flags ...string) string {
		program := filepath.Join(out, name)
		cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-buildvcs=false", "-o", program}, flags...), ".")...)
		cmd.Dir = source
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return program
	}
	s := &search{host: host.Local{}}
	// The compiler's flag names the file as go build does without -trimpath, and with it. That
	// flag itself would compile the standard library anew. The folder in the flag keeps apart
	// what go build with -trimpath would take for the same package.
	if got := s.mainFile(build("plain", "-ldflags=-s -w", "-gcflags=far/away=-trimpath="+source+"=>"+source)); got != filepath.Join(source, "main.go") {
		t.Errorf("the source of main is %q", got)
	}
	if got := s.mainFile(build("trimmed", "-gcflags=far/away=-trimpath="+source+"=>far/away")); got != "" {
		t.Errorf("a program without paths has its source in %q", got)
	}
	if got := s.mainFile("/bin/sh"); got != "" {
		t.Errorf("a shell has its source in %q", got)
	}
}

// FuzzMainIn reads any line table without a panic.
func FuzzMainIn(f *testing.F) {
	f.Add([]byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8, 0, 0, 0, 0}, uint64(4096))
	f.Fuzz(func(t *testing.T, table []byte, text uint64) {
		if file := mainIn(table, text); file != "" && !filepath.IsAbs(file) {
			t.Errorf("%q", file)
		}
	})
}
