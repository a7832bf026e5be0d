package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// swapped is a folder "in" with a file, and a folder "out" that nothing may write
// to. Each attack puts a link in the way of in/a/f.
var swapped = map[string]func(root string) error{
	"the file":    func(root string) error { return relink(root, "in/a/f", "out/f") },
	"its folder":  func(root string) error { return relink(root, "in/a", "out") },
	"within root": func(root string) error { return relink(root, "in/a/f", "in/other") },
	"the root":    func(root string) error { return relink(root, "in", "out") },
}

// relink replaces a file or folder by a link to another.
func relink(root, name, target string) error {
	return errors.Join(os.RemoveAll(filepath.Join(root, name)), os.Symlink(filepath.Join(root, target), filepath.Join(root, name)))
}

func swapGround(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in/a/f", "in/other", "out/f", "out/a/f"} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("old "+name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestBeneathLinks: a link that is put into a path is not followed, by no operation
// and at no part of the path, and nothing outside changes.
func TestBeneathLinks(t *testing.T) {
	for name, attack := range swapped {
		for _, kind := range []string{"local", "fake"} {
			root := swapGround(t)
			var h Host = Local{}
			in, path := filepath.Join(root, "in"), filepath.Join(root, "in/a/f")
			if kind == "fake" {
				h, in, path = &Fake{Root: root}, "/in", "/in/a/f"
			}
			if b, err := h.ReadBeneath(in, path); err != nil || string(b) != "old in/a/f" {
				t.Fatalf("%s: %q, %v", kind, b, err)
			}
			if err := h.WriteBeneath(in, path, []byte("new"), New{Perm: 0o644}); err != nil {
				t.Fatal(err)
			}
			if err := attack(root); err != nil {
				t.Fatal(err)
			}
			if kind == "fake" && name != "the file" && name != "within root" { // a Fake's links begin at its root
				continue
			}
			_, read := h.ReadBeneath(in, path)
			for what, err := range map[string]error{"read": read, "write": h.WriteBeneath(in, path, []byte("evil"), New{Perm: 0o644}), "remove": h.RemoveBeneath(in, path),
				"write in a new folder": h.WriteBeneath(in, filepath.Join(path, "f"), []byte("evil"), New{Perm: 0o644, Folder: true}), "remove a folder": h.RmdirBeneath(in, path)} {
				if kind == "local" && !errors.Is(err, ErrLink) || err == nil {
					t.Errorf("%s of %s through a link: %s: %v", what, kind, name, err)
				}
			}
			for _, out := range []string{"out/f", "out/a/f"} {
				if b, err := os.ReadFile(filepath.Join(root, out)); err != nil || string(b) != "old "+out {
					t.Errorf("%s: %s is %q, %v", name, out, b, err)
				}
			}
			if b, err := os.ReadFile(filepath.Join(root, "in/other")); name == "within root" && (err != nil || string(b) != "old in/other") {
				t.Errorf("%s: the other file is %q, %v", name, b, err)
			}
			if left, _ := filepath.Glob(filepath.Join(root, "*", ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}

// TestBeneathRace: while another process exchanges a folder and a link to outside as
// fast as it can, no write arrives outside.
func TestBeneathRace(t *testing.T) {
	root := swapGround(t)
	in, a, spare := filepath.Join(root, "in"), filepath.Join(root, "in/a"), filepath.Join(root, "in/spare")
	if err := os.Symlink(filepath.Join(root, "out"), spare); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	done := make(chan int)
	go func() {
		swaps := 0
		for ; !stop.Load(); swaps++ {
			_ = os.Rename(a, a+"2")
			_ = os.Rename(spare, a)
			_ = os.Rename(a, spare)
			_ = os.Rename(a+"2", a)
		}
		done <- swaps
	}()
	written, refused := 0, 0
	for range 2000 {
		if err := (Local{}).WriteBeneath(in, filepath.Join(a, "f"), []byte("evil"), New{Perm: 0o644}); err != nil {
			refused++
		} else {
			written++
		}
	}
	stop.Store(true)
	t.Logf("%d writes, %d refused, %d exchanges", written, refused, <-done)
	if b, err := os.ReadFile(filepath.Join(root, "out/f")); err != nil || string(b) != "old out/f" {
		t.Errorf("the file outside is %q, %v", b, err)
	}
	if es, _ := os.ReadDir(filepath.Join(root, "out")); len(es) != 2 {
		t.Errorf("outside there are now %v", es)
	}
	if written == 0 || refused == 0 {
		t.Errorf("%d writes, %d refused: the test proves nothing", written, refused)
	}
}

// TestBeneathOutside: a path that is not below its root is refused before anything
// is opened.
func TestBeneathOutside(t *testing.T) {
	root := swapGround(t)
	in := filepath.Join(root, "in")
	for _, path := range []string{filepath.Join(root, "out/f"), in + "/../out/f", in, in + "2/f", "relative", in + "//a/f", ""} {
		for _, h := range []Host{Local{}, &Fake{Root: "/"}} {
			_, read := h.ReadBeneath(in, path)
			for _, err := range []error{read, h.WriteBeneath(in, path, nil, New{Perm: 0o644}), h.RemoveBeneath(in, path), h.RmdirBeneath(in, path)} {
				if !errors.Is(err, ErrOutside) {
					t.Errorf("%q: %v", path, err)
				}
			}
		}
	}
}

// TestBeneathErrors: errors name the path of the file, not that of a descriptor.
func TestBeneathErrors(t *testing.T) {
	root := swapGround(t)
	path := filepath.Join(root, "in/a")
	if err := (Local{}).WriteBeneath(root, path, nil, New{Perm: 0o644}); err == nil || strings.Contains(err.Error(), "/proc/") || !strings.Contains(err.Error(), path) {
		t.Errorf("over a folder: %v", err)
	}
	if err := (Local{}).RemoveBeneath(root, path); err == nil {
		t.Error("a folder was removed")
	}
	if err := (Local{}).RemoveBeneath(root, filepath.Join(root, "none/f")); err != nil {
		t.Errorf("in a missing folder there is nothing to remove: %v", err)
	}
}

// TestBeneathFolder: a file is written into a folder of its own, which goes with its
// last file and not before.
func TestBeneathFolder(t *testing.T) {
	for _, kind := range []string{"local", "fake"} {
		root := t.TempDir()
		h, in, want := Host(Local{}), root, filepath.Join(root, "new")
		if kind == "fake" {
			h, in = &Fake{Root: root}, "/"
		}
		folder := filepath.Join(in, "new")
		a, b := filepath.Join(folder, "a"), filepath.Join(folder, "b")
		if err := h.WriteBeneath(in, a, nil, New{Perm: 0o644}); err == nil {
			t.Errorf("%s: a folder was made unasked", kind)
		}
		if err := h.WriteBeneath(in, filepath.Join(folder, "deep/f"), nil, New{Perm: 0o644, Folder: true}); err == nil {
			t.Errorf("%s: two folders were made", kind)
		}
		for _, path := range []string{a, b, a} {
			if err := h.WriteBeneath(in, path, []byte("x"), New{Perm: 0o644, Folder: true}); err != nil {
				t.Fatal(err)
			}
		}
		for i, path := range []string{a, b} {
			if err := errors.Join(h.RemoveBeneath(in, path), h.RmdirBeneath(in, folder)); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(want); (err == nil) != (i == 0) {
				t.Errorf("%s: after %d removals: %v", kind, i+1, err)
			}
		}
		if err := h.RmdirBeneath(in, folder); err != nil {
			t.Errorf("%s: a missing folder: %v", kind, err)
		}
	}
}
