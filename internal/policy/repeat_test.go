package policy_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repeatPackages are packages with tests that fail in different ways.
var repeatPackages = map[string]string{
	"pass":   `func TestPass(t *testing.T) {}`,
	"once":   `func TestOnce(t *testing.T) { if os.Mkdir("seen", 0o755) == nil { t.Fatal("first") } }`,
	"always": `func TestAlways(t *testing.T) { t.Fatal("each time") }`,
	"panics": `func TestPanic(t *testing.T) { if os.Mkdir("seen", 0o755) == nil { panic("first") } }`,
	"ends":   `func TestEnd(t *testing.T) { if os.Mkdir("seen", 0o755) == nil { os.Exit(1) } }`,
	"broken": `func TestBroken(t *testing.T) { undefined() }`,
	"races": `func TestRace(t *testing.T) {
	if os.Mkdir("seen", 0o755) != nil { return }
	n, done := 0, make(chan int)
	go func() { n++; close(done) }()
	n++
	<-done
}`,
	"flags": `var text string
func TestFlags(t *testing.T) {
	if os.Mkdir("seen", 0o755) == nil || text != "it's" || os.Getenv("REPEATED") != "as before" { t.Fatal("first, or with other flags") }
}`,
	"four": `func once(t *testing.T, name string) { if os.Mkdir(name, 0o755) == nil { t.Error("first") } }
func TestA(t *testing.T) { once(t, "a") }
func TestB(t *testing.T) { once(t, "b") }
func TestC(t *testing.T) { once(t, "c") }
func TestD(t *testing.T) { once(t, "d") }`,
}

// TestRepeat runs scripts/repeat.sh on packages of its own: a test that failed once is
// repeated alone and named, and what is a defect on any machine fails the check.
func TestRepeat(t *testing.T) {
	script, err := filepath.Abs("scripts/repeat.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		packages   []string
		race       bool
		note, pass bool   // the two steps succeed
		want       string // in the output
	}{
		{packages: []string{"pass"}, note: true, pass: true},
		{packages: []string{"pass", "once"}, note: true, pass: true, want: "PASSED ALONE: repeat/once ^(TestOnce)$"},
		{packages: []string{"flags"}, note: true, pass: true, want: "PASSED ALONE: repeat/flags ^(TestFlags)$"},
		{packages: []string{"once", "always"}, note: true, want: "PASSED ALONE: repeat/once ^(TestOnce)$"},
		{packages: []string{"four"}, note: true, want: "4 tests failed beside others"},
		{packages: []string{"panics"}, want: "panic: first"},
		{packages: []string{"once", "ends"}},
		{packages: []string{"broken"}, want: "build failed"},
		{packages: []string{"races"}, race: true, want: "DATA RACE"},
	} {
		t.Run(strings.Join(c.packages, " and "), func(t *testing.T) {
			dir := repeatModule(t)
			args := []string{"note", "go", "test"}
			if c.race {
				args = append(args, "-race")
			}
			args = append(args, "-ldflags", `-X "repeat/flags.text=it's"`, "-exec", "env 'REPEATED=as before'", ":", "-p", "1")
			for _, p := range c.packages {
				args = append(args, "./"+p)
			}
			out, noted := repeatStep(t, dir, script, args...)
			if noted != c.note {
				t.Fatalf("note succeeded: %v\n%s", noted, out)
			}
			if noted {
				again, passed := repeatStep(t, dir, script, "alone")
				if passed != c.pass {
					t.Errorf("alone succeeded: %v\n%s", passed, again)
				}
				out += again
			}
			if !strings.Contains(out, c.want) || c.want == "" && strings.Contains(out, "repeated") {
				t.Errorf("want %q in:\n%s", c.want, out)
			}
		})
	}
}

// repeatModule writes the packages into a module of their own.
func repeatModule(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files := map[string]string{"go.mod": "module repeat\n\ngo 1.26\n"}
	for _, name := range slices.Sorted(maps.Keys(repeatPackages)) {
		text := "package " + name + "\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Exit\n\n" + repeatPackages[name] + "\n"
		files[filepath.Join(name, name+"_test.go")] = text
	}
	for name, text := range files {
		writeText(t, filepath.Join(dir, name), text)
	}
	return dir
}

// repeatStep runs the script in a folder.
func repeatStep(t *testing.T, dir, script string, args ...string) (out string, succeeded bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), script, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=1") // the race detector needs it
	text, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(text), err == nil
}
