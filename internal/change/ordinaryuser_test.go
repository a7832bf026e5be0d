package change

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// apartVariable holds the folder of a test that runs itself in another process,
// with another user or in a mount namespace of its own.
const apartVariable = "CHANGE_TEST_APART"

// runApart runs the calling test in another process. It is "" in the caller, which
// is done then, and the folder in that process.
func runApart(t *testing.T, dir string, attr *syscall.SysProcAttr) (folder string) {
	t.Helper()
	if folder := os.Getenv(apartVariable); folder != "" {
		return folder
	}
	binary := filepath.Join(dir, "test-binary") // one that the other user may execute
	if out, err := exec.Command("cp", fmt.Sprintf("/proc/%d/exe", os.Getpid()), binary).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(binary, "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "1m")
	cmd.Env = append(os.Environ(), apartVariable+"="+dir, "TMPDIR="+dir, "GORACE=atexit_sleep_ms=0")
	attr.Pdeathsig = syscall.SIGKILL
	cmd.Dir, cmd.SysProcAttr = dir, attr
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("this machine does not allow it: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return ""
}

// cycleRig is a rig in a folder, which another process has made.
func cycleRig(t *testing.T, dir string) *rig {
	t.Helper()
	r := newRig(t)
	r.dir = filepath.Join(dir, "etc")
	r.site.Roots = []string{r.dir}
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	r.h, r.Journal = h, h
	return r
}

// cyclePlan is a change that edits a file, makes one and removes one.
func cyclePlan(t *testing.T, r *rig) *iikanji.Change {
	t.Helper()
	c := &iikanji.Change{Kind: "test", Target: "web", Says: "test"}
	read := func(name string) []byte {
		b, err := r.site.ReadOld("", r.path(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	FromEdits(c, iikanji.Reload, Edit{Path: r.path("a.conf"), Old: read("a.conf"), New: []byte("new\n")},
		Edit{Path: r.path("b.conf"), New: []byte("b\n")}, Edit{Path: r.path("gone.conf"), Old: read("gone.conf")})
	if err := r.site.rememberRemoved(c); err != nil {
		t.Fatal(err)
	}
	return c
}

func cycleGround(t *testing.T, dir string) {
	t.Helper()
	for name, mode := range map[string]os.FileMode{"a.conf": 0o640, "gone.conf": 0o604} {
		path := filepath.Join(dir, "etc", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("old "+name+"\n"), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOrdinaryUser plans, applies, keeps, reverts and recovers as an ordinary user
// in folders of its own. A file of another owner or group is refused in the plan:
// the undo could not give it back.
func TestOrdinaryUser(t *testing.T) {
	const other = 65534 // nobody
	dir := os.Getenv(apartVariable)
	if dir == "" {
		if os.Geteuid() != 0 {
			t.Skip("it is an ordinary user already: every test here is this one")
		}
		dir, err := os.MkdirTemp("", "iikanji-user-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		cycleGround(t, dir)
		for _, name := range []string{"", "etc", "etc/a.conf", "etc/gone.conf"} {
			if err := os.Chown(filepath.Join(dir, name), other, other); err != nil {
				t.Fatal(err)
			}
		}
		for name, owner := range map[string][2]int{"root.conf": {0, 0}, "group.conf": {other, 0}} {
			path := filepath.Join(dir, "etc", name)
			if err := errors.Join(os.WriteFile(path, []byte("x"), 0o644), os.Chown(path, owner[0], owner[1])); err != nil {
				t.Fatal(err)
			}
		}
		runApart(t, dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}})
		return
	}
	if os.Geteuid() != other {
		t.Fatalf("the user is %d", os.Geteuid())
	}
	r := cycleRig(t, dir)
	before := r.files(t)
	c := cyclePlan(t, r)
	if err := errors.Join(r.h.AddChange(c, Diff(c)), r.Apply(t.Context(), c.ID), r.Keep(c.ID, "")); err != nil {
		t.Fatal(err)
	}
	if after := r.files(t); !strings.Contains(after, `a.conf -rw-r----- "new\n"`) || strings.Contains(after, "gone.conf") {
		t.Errorf("applied:\n%s", after)
	}
	if err := r.Revert(t.Context(), c.ID, "test"); err != nil {
		t.Fatal(err)
	}
	if got := r.files(t); !strings.Contains(before, "a.conf -rw-r-----") || got != before {
		t.Errorf("reverted\n%s\nwant\n%s", got, before)
	}
	second := cyclePlan(t, r)
	if err := errors.Join(r.h.AddChange(second, Diff(second)), r.h.MoveChange(second.ID, iikanji.Applying, ""), r.site.Perform(t.Context(), second.Do[0])); err != nil {
		t.Fatal(err)
	}
	if ids, err := r.Recover(t.Context()); err != nil || len(ids) != 1 {
		t.Errorf("recovered %v, %v", ids, err)
	}
	Register(overwriting{[]byte("y")})
	defer delete(registry, "overwriting")
	for _, name := range []string{"root.conf", "group.conf"} {
		_, err := Plan(t.Context(), r.site, iikanji.Remedy{Kind: "overwriting", Args: map[string]string{"path": r.path(name)}})
		if err == nil || !strings.Contains(err.Error(), "could not be undone") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ownMounts is the attribute of a process with mounts of its own.
func ownMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	}
	return attr
}

// TestReadOnlyMount applies and reverts on a file system that is mounted read-only,
// really: nothing changes, and recover ends what is stuck once it can be written.
func TestReadOnlyMount(t *testing.T) {
	dir := os.Getenv(apartVariable)
	if dir == "" {
		dir = t.TempDir()
		cycleGround(t, dir)
		runApart(t, dir, ownMounts())
		return
	}
	r := cycleRig(t, dir)
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount(r.dir, r.dir, "", unix.MS_BIND, "")); err != nil {
		t.Fatal(err)
	}
	readOnly := func(on uintptr) {
		t.Helper()
		if err := unix.Mount("", r.dir, "", unix.MS_BIND|unix.MS_REMOUNT|on, ""); err != nil {
			t.Fatal(err)
		}
	}
	before := r.files(t)
	c := cyclePlan(t, r)
	if err := r.h.AddChange(c, Diff(c)); err != nil {
		t.Fatal(err)
	}
	readOnly(unix.MS_RDONLY)
	if err := r.Apply(t.Context(), c.ID); !errors.Is(err, syscall.EROFS) || r.files(t) != before {
		t.Errorf("applied on a read-only disk: %v\n%s", err, r.files(t))
	}
	readOnly(0)
	if _, err := r.Recover(t.Context()); err != nil || r.stage(t, c.ID) != iikanji.Reverted || r.files(t) != before {
		t.Fatalf("recovered: %v, %s\n%s", err, r.stage(t, c.ID), r.files(t))
	}
	if err := r.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	applied := r.files(t)
	readOnly(unix.MS_RDONLY)
	if err := r.Revert(t.Context(), c.ID, "test"); !errors.Is(err, syscall.EROFS) || r.files(t) != applied || r.stage(t, c.ID) != iikanji.Stuck {
		t.Errorf("reverted on a read-only disk: %v, %s\n%s", err, r.stage(t, c.ID), r.files(t))
	}
	if _, err := r.Recover(t.Context()); err == nil {
		t.Error("recovered on a read-only disk")
	}
	readOnly(0)
	if _, err := r.Recover(t.Context()); err != nil || r.stage(t, c.ID) != iikanji.Reverted {
		t.Errorf("recovered: %v, %s", err, r.stage(t, c.ID))
	}
	if got := r.files(t); got != before {
		t.Errorf("in the end\n%s\nwant\n%s", got, before)
	}
}

// TestFullTmpfs runs the cycle on a small file system that is full up to n blocks,
// for every n until the cycle succeeds: with the history and the site on it, each
// write fails once for lack of space. With space again, recover gives back every
// byte.
func TestFullTmpfs(t *testing.T) {
	dir := os.Getenv(apartVariable)
	if dir == "" {
		runApart(t, t.TempDir(), ownMounts())
		return
	}
	const block = 4096
	failures := 0
	for blocks := 0; ; blocks++ {
		if blocks > 60 {
			t.Fatal("the cycle never succeeded")
		}
		disk := filepath.Join(dir, fmt.Sprintf("disk%d", blocks))
		if err := errors.Join(os.Mkdir(disk, 0o755), unix.Mount("iikanji", disk, "tmpfs", 0, "size=512k")); err != nil {
			t.Fatal(err)
		}
		cycleGround(t, disk)
		r := cycleRig(t, disk)
		before := r.files(t)
		fill(t, disk, blocks*block)
		err := fullCycle(t, r)
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d blocks: %v", blocks, err)
		}
		if e := os.Remove(filepath.Join(disk, "ballast")); e != nil {
			t.Fatal(e)
		}
		// Another process: one that could not write its journal refuses to go on.
		if e := r.h.Close(); e != nil {
			t.Fatal(e)
		}
		again := cycleRig(t, disk)
		if _, e := again.Recover(t.Context()); e != nil {
			t.Errorf("%d blocks: after %v: recovering: %v", blocks, err, e)
		}
		if _, e := again.RevertAll(t.Context(), "test"); e != nil {
			t.Errorf("%d blocks: reverting: %v", blocks, e)
		}
		if got := again.files(t); got != before {
			t.Errorf("%d blocks: after %v the site is\n%s\nwant\n%s", blocks, err, got, before)
		}
		if e := errors.Join(again.h.Close(), unix.Unmount(disk, unix.MNT_DETACH)); e != nil {
			t.Fatal(e)
		}
		if err == nil {
			break
		}
		failures++
	}
	if failures < 4 {
		t.Errorf("only %d cycles failed for lack of space: the test proves little", failures)
	}
	t.Logf("%d cycles failed for lack of space", failures)
}

// fill leaves free bytes on a disk.
func fill(t *testing.T, disk string, free int) {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(disk, &st); err != nil {
		t.Fatal(err)
	}
	size := int(st.Bfree)*int(st.Bsize) - free
	if size < 0 {
		t.Fatalf("the disk has less than %d bytes", free)
	}
	if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
}

func fullCycle(t *testing.T, r *rig) error {
	c := cyclePlan(t, r)
	if err := r.h.AddChange(c, Diff(c)); err != nil {
		return err
	}
	if err := r.Apply(t.Context(), c.ID); err != nil {
		return err
	}
	if err := r.Keep(c.ID, ""); err != nil {
		return err
	}
	return r.Revert(t.Context(), c.ID, "test")
}
