package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
)

const cnf = "/etc/my.cnf"

// twoHosts is a site with two hosts that have a file of the same path.
func twoHosts(t *testing.T) *Site {
	t.Helper()
	hosts := map[string]host.Host{}
	for _, name := range []string{"db1", "db2"} {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(root, "etc"), 0o755); err != nil {
			t.Fatal(err)
		}
		hosts[name] = &host.Fake{Root: root, Host: name}
		if err := hosts[name].Write(cnf, []byte("old "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &Site{Hosts: hosts, Roots: []string{"/etc", "db1:/etc", "db2:/etc"}}
}

// TestTwoHosts: files of the same path on two hosts are two places, in a
// change, in its fingerprints, and when one of them was edited since.
func TestTwoHosts(t *testing.T) {
	s := twoHosts(t)
	c := &iikanji.Change{Kind: "k", Target: "t", Says: "s"}
	var edits []Edit
	for _, name := range []string{"db1", "db2"} {
		old, err := s.ReadOld(name, cnf)
		if err != nil || string(old) != "old "+name {
			t.Fatalf("%q, %v", old, err)
		}
		edits = append(edits, OnHost(name, Edit{Path: cnf, Old: old, New: []byte("new " + name)})...)
	}
	FromEdits(c, iikanji.VerbUnknown, edits...)
	if err := Check(c); err != nil {
		t.Fatal(err)
	}
	if diff := Diff(c); !strings.Contains(diff, "db1:/etc/my.cnf") || !strings.Contains(diff, "db2:/etc/my.cnf") {
		t.Errorf("the diff does not name the hosts:\n%s", diff)
	}
	same := &iikanji.Change{Kind: "k", Target: "t", Says: "s"}
	FromEdits(same, iikanji.VerbUnknown, OnHost("db2", edits[:1]...)...)
	here := &iikanji.Change{Kind: "k", Target: "t", Says: "s"}
	FromEdits(here, iikanji.VerbUnknown, OnHost("db1", edits[:1]...)...)
	if same.Ground == here.Ground {
		t.Error("the same file of two hosts has one fingerprint")
	}

	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	if err := h.AddChange(c, Diff(c)); err != nil {
		t.Fatal(err)
	}
	x := &Executor{Hands: s, Journal: h}
	if err := x.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	content := func(name string) string {
		b, err := s.Hosts[name].Read(cnf)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if content("db1") != "new db1" || content("db2") != "new db2" {
		t.Errorf("applied: %q, %q", content("db1"), content("db2"))
	}
	if err := s.Hosts["db2"].Write(cnf, []byte("by hand"), 0o644); err != nil {
		t.Fatal(err)
	}
	var moved *MovedError
	if err := x.Revert(t.Context(), c.ID, "test"); !errors.As(err, &moved) || moved.Place != "db2:/etc/my.cnf" {
		t.Errorf("an edit on the second host: %v", err)
	}
	if err := s.Hosts["db2"].Write(cnf, []byte("new db2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := x.Revert(t.Context(), c.ID, "test"); err != nil {
		t.Fatal(err)
	}
	if content("db1") != "old db1" || content("db2") != "old db2" {
		t.Errorf("reverted: %q, %q", content("db1"), content("db2"))
	}
}

// TestRootsOfHosts: a root allows writing on its own host only.
func TestRootsOfHosts(t *testing.T) {
	s := twoHosts(t)
	s.Roots = []string{"/tmp", "db1:/etc"}
	write := func(on, path string) error {
		return s.Perform(context.Background(), iikanji.Op{Verb: iikanji.Write, Host: on, Place: path, Body: "x"})
	}
	if err := write("db1", cnf); err != nil {
		t.Error(err)
	}
	for _, on := range []string{"db2", "", "db3"} {
		if err := write(on, cnf); err == nil {
			t.Errorf("written on %q", on)
		}
	}
}

// TestScratchOnHost: the copies of a plan are made, swept and removed on the
// service's own host.
func TestScratchOnHost(t *testing.T) {
	s := twoHosts(t)
	h := s.Hosts["db1"]
	for _, err := range []error{h.Mkdir("/src", 0o755), h.Write("/src/main.go", []byte("old"), 0o644), h.Write("/src/gone.go", []byte("x"), 0o644),
		h.Symlink("/etc/my.cnf", "/src/link"), h.Mkdir("/src/.git", 0o755), h.Write("/etc/.iikanji-test-7.cnf", nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func(dir string) (names []string) {
		entries, err := h.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	svc := Service{Host: "db1", Config: cnf, Source: "/src"}
	err := s.InScratchFile(svc, "/etc", ".cnf", []byte("text"), func(path string) error {
		if b, err := h.Read(path); err != nil || string(b) != "text" || filepath.Dir(path) != "/etc" || len(list("/etc")) != 2 {
			t.Errorf("%s has %q (%v) among %q", path, b, err, list("/etc"))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	svc.Running = acting{build: func(_ context.Context, dir string) error {
		main, err := h.Read(filepath.Join(dir, "main.go"))
		link, e := h.Readlink(filepath.Join(dir, "link"))
		if err != nil || e != nil || string(main) != "new" || link != "/etc/my.cnf" || strings.Join(list(dir), " ") != "link main.go" {
			t.Errorf("main.go is %q, link to %q, files %q (%v, %v)", main, link, list(dir), err, e)
		}
		return nil
	}}
	edits := []Edit{{Path: "/src/main.go", Old: []byte("old"), New: []byte("new")}, {Path: "/src/gone.go", Old: []byte("x")}}
	if err := s.Compile(t.Context(), svc, "/src", edits); err != nil {
		t.Error(err)
	}
	s.Services = map[string]Service{"a": svc}
	if err := errors.Join(h.Mkdir("/.iikanji-build-9", 0o755), s.Sweep()); err != nil {
		t.Error(err)
	}
	if got := strings.Join(append(list("/"), list("/etc")...), " "); got != "etc src my.cnf" {
		t.Errorf("left: %s", got)
	}
	svc.Host = "db3"
	if err := s.Compile(t.Context(), svc, "/src", nil); err == nil {
		t.Error("compiled on a host that is not there")
	}
}
