package live

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/host"
	"github.com/iikanji/iikanji/internal/target"
	"github.com/iikanji/iikanji/internal/target/machine"
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
	s := &Subject{options: Options{File: &target.File{Path: filepath.Join(dir, target.Name)}, Dir: t.TempDir(), Progress: func(string) {}}, host: host.Local{}, services: map[string]*running{}}
	s.builds = newBuilds(t.TempDir())
	self, err := machine.ReadProcess(host.Local{}, os.Getpid()) // a restart looks for a process that is alive
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(source, "one.txt"), "source of one")
	write(filepath.Join(source, "two.txt"), "source of two")
	for _, name := range []string{"one", "two"} {
		program := filepath.Join(dir, "bin", name)
		write(program, "built elsewhere: "+name)
		r := &running{proc: self, Service: &target.Service{Name: name, Role: iikanji.RoleApp, Program: program, Restart: target.ByCommand, Health: "none",
			App: target.App{Source: source, Build: "cat one.txt two.txt > " + program}, Commands: target.Commands{Restart: "true"}}}
		s.names, s.services[name] = append(s.names, name), r
		if err := s.builds.start(r); err != nil {
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
