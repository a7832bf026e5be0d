package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
)

// A readOnly is a host on which nothing can be changed. It embeds the host that
// it protects and replaces the methods that have an effect.
type readOnly struct{ Host }

func (h readOnly) refuse(what string) error { return fmt.Errorf("%s: %w", what, fs.ErrPermission) }

// Exec refuses every command: any could change something.
func (h readOnly) Exec(_ context.Context, c Command) (Result, error) {
	return Result{}, h.refuse("running " + c.Path)
}

// Write implements Host.
func (h readOnly) Write(path string, _ []byte, _ os.FileMode) error {
	return h.refuse("writing " + path)
}

// Create implements Host.
func (h readOnly) Create(path string, _ []byte, _ os.FileMode) error {
	return h.refuse("making " + path)
}

// Symlink implements Host.
func (h readOnly) Symlink(_, path string) error { return h.refuse("making " + path) }

// Chown implements Host.
func (h readOnly) Chown(path string, _ Owner) error { return h.refuse("changing the owner of " + path) }

// Rmdir implements Host.
func (h readOnly) Rmdir(path string) error { return h.refuse("removing " + path) }

// WriteBeneath implements Host.
func (h readOnly) WriteBeneath(_, path string, _ []byte, _ New) error {
	return h.refuse("writing " + path)
}

// RemoveBeneath implements Host.
func (h readOnly) RemoveBeneath(_, path string) error { return h.refuse("removing " + path) }

// RmdirBeneath implements Host.
func (h readOnly) RmdirBeneath(_, path string) error { return h.refuse("removing " + path) }

// Remove implements Host.
func (h readOnly) Remove(path string) error { return h.refuse("removing " + path) }

// RemoveAll implements Host.
func (h readOnly) RemoveAll(path string) error { return h.refuse("removing " + path) }

// Mkdir implements Host.
func (h readOnly) Mkdir(path string, _ os.FileMode) error { return h.refuse("making " + path) }

// Replaceable implements Host: no file can be replaced.
func (h readOnly) Replaceable(path string) error { return h.refuse("replacing " + path) }

// Signal implements Host. Signal 0 has no effect.
func (h readOnly) Signal(pid int, sig syscall.Signal) error {
	if sig == 0 {
		return h.Host.Signal(pid, sig)
	}
	return h.refuse(fmt.Sprintf("signalling process %d", pid))
}

// passedOn are the methods that a readOnly leaves to the host that it embeds. A
// lock of Hold changes no content.
// Dial and SQL are among them: what a connection may change is decided by the
// account that it uses.
var passedOn = []string{"Name", "Read", "ReadBeneath", "Open", "Stat", "Lstat", "ReadDir", "Readlink", "RealPath", "Glob", "Walk", "FreeSpace", "ProcFolder", "Dial", "SQL", "Hold", "Account", "User"}

// TestNewHost: a host with other rules is a type with the methods of Host, and
// its errors wrap those of package fs. docs/contributing.md quotes the type.
func TestNewHost(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var h Host = readOnly{&Fake{Root: dir, Host: "db1", Alive: map[int]bool{7: true}}}
	if err := os.WriteFile(filepath.Join(dir, "kept"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := h.Read("/kept"); err != nil || string(b) != "x" || h.Name() != "db1" {
		t.Errorf("%s: %q, %v", h.Name(), b, err)
	}
	_, ran := h.Exec(t.Context(), Command{Path: "/bin/true"})
	refused := map[string]error{
		"Exec": ran, "Write": h.Write("/kept", nil, 0o644), "Remove": h.Remove("/kept"), "WriteBeneath": h.WriteBeneath("/", "/kept", nil, New{}), "RemoveBeneath": h.RemoveBeneath("/", "/kept"), "RmdirBeneath": h.RmdirBeneath("/", "/kept"), "RemoveAll": h.RemoveAll("/kept"),
		"Mkdir": h.Mkdir("/new", 0o755), "Create": h.Create("/new", nil, 0o644), "Symlink": h.Symlink("/kept", "/new"),
		"Chown": h.Chown("/kept", Owner{}), "Rmdir": h.Rmdir("/kept"), "Replaceable": h.Replaceable("/kept"), "Signal": h.Signal(7, syscall.SIGTERM),
	}
	for method, err := range refused {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", method, err)
		}
	}
	// A method that Host gets later is in neither list until its effect is known.
	for i := range reflect.TypeFor[Host]().NumMethod() {
		name := reflect.TypeFor[Host]().Method(i).Name
		if _, ok := refused[name]; ok == slices.Contains(passedOn, name) {
			t.Errorf("%s must be either refused or passed on", name)
		}
	}
	if es, err := os.ReadDir(dir); err != nil || len(es) != 1 || es[0].Name() != "kept" {
		t.Errorf("the host's files are %v, %v", es, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "kept")); err != nil || string(b) != "x" {
		t.Errorf("the file is %q, %v", b, err)
	}
}
