package policy_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestKeptLinks builds a program by scripts/links.sh: an unchanged one is taken from the
// folder, also in another clone, and a changed one is linked.
func TestKeptLinks(t *testing.T) {
	kept := linksFolder(t)
	one, two := linksModule(t), linksModule(t)
	builds := func(dir, text, want string) {
		t.Helper()
		writeText(t, filepath.Join(dir, "main.go"), "package main\n\nfunc main() { println(`"+text+"`) }\n")
		if out := linksRun(t, dir, "go", "build", "-trimpath", "-o", "program", "."); out != "" {
			t.Fatalf("go build: %s", out)
		}
		if out := linksRun(t, dir, "./program"); out != want+"\n" {
			t.Fatalf("the program of %q prints %q, want %q", text, out, want)
		}
	}
	builds(one, "first", "first")
	if err := os.Remove(onlyFile(t, kept)); err != nil {
		t.Fatal(err)
	}
	builds(one, "next!", "next!")
	next := onlyFile(t, kept)
	text, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	if _, size, _ := strings.Cut(filepath.Base(next), ":"); size != strconv.Itoa(len(text)) {
		t.Errorf("%s has %d bytes", filepath.Base(next), len(text))
	}

	// The texts have the same length: which of them is printed shows what was taken.
	if err := os.WriteFile(next, []byte(strings.ReplaceAll(string(text), "next!", "taken")), 0o755); err != nil {
		t.Fatal(err)
	}
	builds(two, "next!", "taken")
	builds(two, "first", "first")

	// A file that is too short, as after a crash, is not taken. The program is kept again.
	if err := os.Remove(filepath.Join(one, "program")); err != nil { // go build would leave it
		t.Fatal(err)
	}
	if err := os.WriteFile(next, text[:len(text)/2], 0o755); err != nil {
		t.Fatal(err)
	}
	builds(one, "next!", "next!")
	if now, err := os.ReadFile(next); err != nil || len(now) != len(text) {
		t.Errorf("the damaged file has %d bytes (%v), want %d", len(now), err, len(text))
	}
}

// TestOldLinks puts files into the folder: those that are not used for long are removed.
func TestOldLinks(t *testing.T) {
	kept, dir := linksFolder(t), linksModule(t)
	file := func(name string, age time.Duration, gib int64) {
		t.Helper()
		path, used := filepath.Join(kept, name), time.Now().Add(-age)
		writeText(t, path, "")
		// The file has a hole: it takes no room on the disk.
		if err := errors.Join(os.Truncate(path, gib<<30), os.Chtimes(path, used, used)); err != nil {
			t.Fatal(err)
		}
	}
	file("old", 4*24*time.Hour, 1)
	file("day", 36*time.Hour, 3)
	file("hour", time.Hour, 3)
	for _, c := range []struct {
		gib  int64
		want string
	}{{1, "day hour now"}, {3, "hour now"}, {7, "now"}} { // 8 GiB may stay
		file("now", 0, c.gib)
		linksRun(t, dir, "true")
		names, err := filepath.Glob(filepath.Join(kept, "*"))
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, name := range names {
			left = append(left, filepath.Base(name))
		}
		if got := strings.Join(left, " "); got != c.want {
			t.Errorf("with %d GiB more: left %q, want %q", c.gib, got, c.want)
		}
	}
}

// linksModule is a folder with a module and the scripts.
func linksModule(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"links.sh", "link.sh"} {
		text, err := os.ReadFile(filepath.Join("scripts", name))
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, filepath.Join(dir, "scripts", name), string(text))
	}
	writeText(t, filepath.Join(dir, "go.mod"), "module links\n\ngo 1.26\n")
	return dir
}

// linksFolder is where the scripts keep programs: in a cache of the test's own. The go
// commands have their usual one.
func linksFolder(t *testing.T) string {
	t.Helper()
	build, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("GOCACHE", strings.TrimSpace(string(build)))
	t.Setenv("XDG_CACHE_HOME", cache)
	return filepath.Join(cache, "iikanji-tests", "links")
}

// linksRun runs a command by scripts/links.sh.
func linksRun(t *testing.T, dir string, args ...string) (out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "scripts/links.sh", append([]string{"8", "0"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
	return string(text)
}

// writeText writes a file, which may be a script, and its folder.
func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// onlyFile returns the path of the one file in a folder.
func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s has %q (%v), want one file", dir, names, err)
	}
	return names[0]
}
