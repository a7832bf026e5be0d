package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/site/target"
)

// TestTargetHere: without a name, the site is the one that the working folder describes.
func TestTargetHere(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if a, err := findTargetOrHere(""); err == nil || !strings.Contains(err.Error(), "a target is missing") {
		t.Errorf("in an empty folder: %+v, %v", a, err)
	}
	if a, err := findTarget("."); err == nil || err.Error() != "the folder . has no iikanji.toml: iikanji init writes one" {
		t.Errorf("an empty folder by its name: %+v, %v", a, err)
	}
	for name, make := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o755) },
		"loop":   func(path string) error { return os.Symlink(target.Name, path) },
	} {
		if err := errors.Join(os.Mkdir(name, 0o755), make(filepath.Join(name, target.Name))); err != nil {
			t.Fatal(err)
		}
		if _, err := findTarget(name); err == nil || !strings.Contains(err.Error(), filepath.Join(name, target.Name)+" is not a file that can be read") {
			t.Errorf("a %s as the file: %v", name, err)
		}
	}
	text := "version = 1\nurl = \"http://127.0.0.1:8080\"\n[[service]]\nname = \"web\"\nrole = \"web\"\nlisten = \"127.0.0.1:8080\"\n"
	if err := os.WriteFile(target.Name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := findTargetOrHere("")
	if err != nil || here.file == nil || here.Name != dir {
		t.Fatalf("%+v, %v", here, err)
	}
	named, err := findTarget(dir)
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := here.defaultDir()
	other, err2 := named.defaultDir()
	if err1 != nil || err2 != nil || one != other {
		t.Errorf("work folders %s and %s, %v, %v", one, other, err1, err2)
	}
	if a, err := findTargetOrHere("isucondition"); err != nil || a.arena == nil {
		t.Errorf("an arena's name: %+v, %v", a, err)
	}
}
