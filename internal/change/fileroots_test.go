package change

import (
	"errors"
	"os"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestFileRoot: a root that is one file may be written, with the folder that it needs; an
// undo leaves nothing of either, and nothing beside the file may be written.
func TestFileRoot(t *testing.T) {
	r := newRig(t)
	r.write(t, "there.conf", "old\n")
	r.site.Roots = []string{r.path("new.d/90-own.conf"), r.path("there.conf"), r.path("folder")}
	c := &iikanji.Change{Kind: "test", Target: "web", Says: "test"}
	FromEdits(c, iikanji.Reload, Edit{Path: r.path("there.conf"), Old: []byte("old\n"), New: []byte("new\n")},
		Edit{Path: r.path("new.d/90-own.conf"), New: []byte("own\n"), Folder: true})
	if err := errors.Join(Check(c), r.site.replaceable(c), r.h.AddChange(c, Diff(c))); err != nil {
		t.Fatal(err)
	}
	entries := r.entries(t)
	if err := r.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(r.path("new.d/90-own.conf")); err != nil || string(b) != "own\n" || r.entries(t) != entries+2 {
		t.Errorf("%q, %v, %d entries", b, err, r.entries(t))
	}
	r.outside(t)
	if err := r.Revert(t.Context(), c.ID, "a test"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(r.path("there.conf")); err != nil || string(b) != "old\n" || r.entries(t) != entries {
		t.Errorf("%q, %v, %d entries, want %d", b, err, r.entries(t), entries)
	}
	r.outside(t)
}

// outside tries to write around the roots of TestFileRoot.
func (r *rig) outside(t *testing.T) {
	t.Helper()
	for _, name := range []string{"new.d/other.conf", "new.d", "other.conf", "there.conf/x", "there.conf.bak", "folder", "a/new.d/90-own.conf", "90-own.conf"} {
		op := iikanji.Op{Verb: iikanji.Write, Place: r.path(name), Body: "x", Folder: true, Expect: Absent}
		if err := r.site.Perform(t.Context(), op); err == nil {
			t.Errorf("%s was written", name)
		}
		if err := r.site.MayWrite("", r.path(name)); err == nil {
			t.Errorf("%s may be written", name)
		}
		if err := r.site.replaceable(&iikanji.Change{Do: []iikanji.Op{op}}); err == nil {
			t.Errorf("a change of %s is planned", name)
		}
	}
}

// TestUnitGrants: with the drop-in of a unit as a root, its settings may be changed and it may
// be started and ended; another unit may not, and none may be enabled.
func TestUnitGrants(t *testing.T) {
	s := &Site{Roots: host.UnitFiles("app.service")}
	if err := s.MayChangeUnit("", "app.service"); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"another unit": s.MayChangeUnit("", "app2.service"), "another host": s.MayChangeUnit("db", "app.service"), "enabling": s.MayEnable("", "app.service")} {
		if err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
	s.Roots = []string{"db:" + UnitsFolder}
	if err := errors.Join(s.MayChangeUnit("db", "app2.service"), s.MayEnable("db", "app2.service")); err != nil {
		t.Error(err)
	}
	if !ReloadsUnits(host.UnitFiles("a.service")) || !ReloadsUnits([]string{UnitsFolder}) || ReloadsUnits([]string{"/etc", host.KernelFile, "db:" + UnitsFolder}) {
		t.Error("what makes systemd read its units anew")
	}
	for entry, want := range map[string]string{host.KernelFile: "/etc/sysctl.d", host.UnitFiles("a.service")[0]: UnitsFolder, host.UnitFiles("a.service")[1]: UnitsFolder, UnitsFolder: "", "/etc/nginx": "", "/etc/x.conf": ""} {
		if got := host.SystemFolder(entry); got != want {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}
