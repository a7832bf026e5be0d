package livesite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestSharedSource: two programs of one source folder are both as they were, to the byte,
// once the edits of both are undone, in whichever order.
func TestSharedSource(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "src")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := placedAs(&Subject{options: Options{File: &target.File{Path: filepath.Join(dir, target.Name)}, Dir: t.TempDir(), Progress: func(string) {}}, hosts: map[string]host.Host{"": host.Local{}}})
	s.builds = newBuilds(t.TempDir())
	self, err := process.ReadProcess(host.Local{}, os.Getpid()) // a restart looks for a process that is alive
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(source, "one.txt"), "source of one")
	write(filepath.Join(source, "two.txt"), "source of two")
	for _, name := range []string{"one", "two"} {
		program := filepath.Join(dir, "bin", name)
		write(program, "built elsewhere: "+name)
		r := &running{host: host.Local{}, proc: self, Service: &target.Service{Name: name, Role: iikanji.RoleApp, Program: program, Restart: target.ByCommand, Health: "none",
			App: target.App{Source: source, Build: "cat one.txt two.txt > " + program}, Commands: target.Commands{Restart: "true"}}}
		s.names, s.running()[name] = append(s.names, name), r
		if err := s.builds.start(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(name, text string) {
		t.Helper()
		write(filepath.Join(source, name+".txt"), text)
		if err := s.Refresh(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	program := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "bin", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, undo := range [][]string{{"one", "two"}, {"two", "one"}} {
		edit("one", "edited")
		edit("two", "edited, too")
		if program("two") != "editededited, too" {
			t.Errorf("built %q", program("two"))
		}
		for _, name := range undo {
			edit(name, "source of "+name)
		}
		for _, name := range []string{"one", "two"} {
			if got := program(name); got != "built elsewhere: "+name {
				t.Errorf("undone in the order %q, program %s is %q", undo, name, got)
			}
		}
	}
}

// TestCompile: the source of a Go app is compiled, and nothing is linked: the linker would
// refuse the flag. Its errors are those of the compiler.
func TestCompile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-no-such-flag"))
	s := placedAs(&Subject{hosts: map[string]host.Host{"": host.Local{}}})
	r := &running{host: host.Local{}, Service: &target.Service{Name: "app", Engine: iikanji.EngineGo, App: target.App{Source: dir, Package: "./cmd"}}}
	for _, c := range [][2]string{{"undefined()", "main.go:3"}, {"", ""}} {
		text, want := c[0], c[1]
		for name, body := range map[string]string{"go.mod": "module example.org/app\n\ngo 1.24\n", "cmd/main.go": "package main\n\nfunc main() { " + text + " }\n"} {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(body), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		err := s.compile(t.Context(), r, dir)
		var build *process.BuildError
		if want == "" && err != nil || want != "" && (!errors.As(err, &build) || !strings.Contains(strings.Join(build.Lines, " "), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 2 {
			t.Errorf("files after the build: %q, %v", files, err)
		}
	}
	r.Program = filepath.Join(t.TempDir(), "program")
	err := s.goBuild(r, dir).Make(t.Context())
	if build := (*process.BuildError)(nil); !errors.As(err, &build) {
		t.Errorf("a build: %v", err)
	}
}

// TestTwins: where two services are processes of one program, an edit of its source and
// the undoing restart both. Another change restarts only its own service.
func TestTwins(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "src", "a.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	write("before")
	for _, program := range []string{"app", "job"} {
		if err := os.WriteFile(filepath.Join(dir, program), []byte("built elsewhere"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := process.ReadProcess(host.Local{}, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	s := placedAs(&Subject{options: Options{File: &target.File{Path: filepath.Join(dir, target.Name)}, Dir: t.TempDir(), Progress: func(string) {}}, hosts: map[string]host.Host{"": host.Local{}}})
	s.builds = newBuilds(t.TempDir())
	restarts := filepath.Join(dir, "restarts")
	for _, c := range [][2]string{{"one", "app"}, {"two", "app"}, {"other", "job"}} {
		r := &running{host: host.Local{}, proc: self, Service: &target.Service{Name: c[0], Role: iikanji.RoleApp, Program: filepath.Join(dir, c[1]), Restart: target.ByCommand, Health: "none",
			App: target.App{Source: filepath.Dir(file), Build: "true"}, Commands: target.Commands{Restart: "cat " + file + " >> " + restarts + "; echo ' " + c[0] + "' >> " + restarts}}}
		s.names, s.running()[c[0]] = append(s.names, c[0]), r
		if err := s.builds.start(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"before", "edited", "edited", "before"} {
		write(text)
		if err := s.Refresh(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(restarts)
	if want := "before one\nedited one\nedited two\nedited one\nbefore one\nbefore two\n"; err != nil || string(got) != want {
		t.Errorf("restarts %q, %v; want %q", got, err, want)
	}
}

// TestProgramInSource: where the program lies in the folder of its source, a build is no edit, and
// the undo restores the program that was there, built by whom and how ever. So it is for a later
// process: after a kill between an edit and its build, and after one within an undo.
func TestProgramInSource(t *testing.T) {
	source, work := t.TempDir(), t.TempDir()
	program := filepath.Join(source, "app")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := process.ReadProcess(host.Local{}, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	open := func() (*Subject, *running) {
		t.Helper()
		s := placedAs(&Subject{options: Options{File: &target.File{Path: filepath.Join(source, target.Name)}, Dir: work, Progress: func(string) {}}, hosts: map[string]host.Host{"": host.Local{}}})
		s.builds = newBuilds(work)
		r := &running{host: host.Local{}, proc: self, Service: &target.Service{Name: "app", Role: iikanji.RoleApp, Program: program, Restart: target.ByCommand, Health: "none",
			App: target.App{Source: source, Build: "cp a.txt app"}, Commands: target.Commands{Restart: "true"}}}
		s.names, s.running()["app"] = []string{"app"}, r
		if err := s.builds.start(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return s, r
	}
	refresh := func(s *Subject, want string) {
		t.Helper()
		if err := s.Refresh(t.Context(), "app"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(program); err != nil || string(got) != want {
			t.Errorf("the program is %q, %v, want %q", got, err, want)
		}
	}
	const found = "built elsewhere"
	write("a.txt", "before")
	write("app", found)
	s, r := open()
	if err := s.compile(t.Context(), r, t.TempDir()); err != nil { // a plan
		t.Fatal(err)
	}
	refresh(s, found)
	write("a.txt", "edited")
	refresh(s, "edited")
	refresh(s, "edited")
	write("a.txt", "before")
	refresh(s, found)

	write("a.txt", "edited again") // and killed
	s, _ = open()
	write("a.txt", "before")
	refresh(s, found)

	write("a.txt", "edited at last")
	refresh(s, "edited at last")
	write("a.txt", "before") // and killed
	s, _ = open()
	refresh(s, found)
}
