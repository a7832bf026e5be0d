package host

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func sh(script string) Command {
	return Command{Path: "/bin/sh", Args: []string{"-c", script}, Dir: "/"}
}

func TestExec(t *testing.T) {
	r, err := Local{}.Exec(t.Context(), sh("echo out; echo err >&2; exit 3"))
	if err != nil || r.Status != 3 || string(r.Output) != "out\nerr\n" {
		t.Errorf("%+v %v", r, err)
	}
	r, err = Local{}.Exec(t.Context(), sh("kill -9 $$"))
	if err != nil || r.Status != -1 {
		t.Errorf("%+v %v", r, err)
	}
	if _, err = (Local{}).Exec(t.Context(), Command{Path: "/no/such/program"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error: %v", err)
	}
	t.Setenv("SECRET", "1")
	if r, err = (Local{}).Exec(t.Context(), sh("echo ${SECRET-none}")); err != nil || string(r.Output) != "none\n" {
		t.Errorf("the environment of this process was passed on: %s %v", r.Output, err)
	}
	if r, err = (Local{}).Exec(t.Context(), sh("head -c 3000000 /dev/zero; echo end >&2")); err != nil || len(r.Output) != MaxOutput || r.Status != 0 {
		t.Errorf("large output: %d bytes, status %d, %v", len(r.Output), r.Status, err)
	}
}

// TestExecEnds tests that the end of the context ends grandchildren too, and that
// Exec does not wait for a daemon that keeps the output open.
func TestExecEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for { // until the grandchild runs
			if b, _ := os.ReadFile(file); bytes.HasSuffix(b, []byte("\n")) {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := Local{}.Exec(ctx, sh("sleep 1000 & echo $! >"+file+"; wait"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); !gone(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the grandchild %d is left", pid)
		}
	}

	r, err := Local{}.Exec(t.Context(), sh("sleep 1000 & echo $!"))
	if err != nil {
		t.Fatal(err)
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(r.Output))); err != nil {
		t.Fatal(err)
	}
	if gone(pid) {
		t.Error("a daemon that a command left on purpose was ended")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// gone reports whether a process has ended, reaped or not.
func gone(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(b, []byte(") Z "))
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.conf")
	for _, body := range []string{"one", "two, longer", ""} {
		if err := (Local{}).Write(file, []byte(body), 0o640); err != nil {
			t.Fatal(err)
		}
		if b, err := (Local{}).Read(file); err != nil || string(b) != body {
			t.Errorf("read %q, %v", b, err)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	// An existing file keeps its mode and owner, and a link stays a link.
	if err := os.Chmod(file, 0o604); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(file, 12, 34); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link.conf")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := (Local{}).Write(link, []byte("three"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != 0o604 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if st := info.Sys().(*syscall.Stat_t); os.Geteuid() == 0 && (st.Uid != 12 || st.Gid != 34) {
		t.Errorf("owner %d:%d", st.Uid, st.Gid)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
}

// TestWriteKeeps tests that a file keeps its metadata: special bits, an access
// control list, other extended attributes.
func TestWriteKeeps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.conf")
	if err := os.WriteFile(file, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(file, 12, 34); err != nil {
			t.Fatal(err)
		}
	}
	// acl(5) in the kernel's format: version, then tag, rights and id of each entry.
	acl := []byte("\x02\x00\x00\x00" +
		"\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x38\x00\x00\x00" + "\x04\x00\x04\x00\xff\xff\xff\xff" +
		"\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff")
	large := bytes.Repeat([]byte("x"), 2000) // larger than the first buffer
	want := map[string][]byte{}
	for name, value := range map[string][]byte{"user.iikanji": large, "system.posix_acl_access": acl} {
		switch err := syscall.Setxattr(file, name, value, 0); {
		case errors.Is(err, syscall.ENOTSUP):
			t.Logf("no attribute %s here", name)
		case err != nil:
			t.Fatal(err)
		default:
			want[name] = value
		}
	}
	if err := os.Chmod(file, 0o640|os.ModeSetuid|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if before.Mode()&(os.ModeSetuid|os.ModeSetgid) == 0 {
		t.Fatalf("no special bits: %v", before.Mode())
	}
	for range 2 { // done and undone
		if err := (Local{}).Write(file, []byte("two"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := os.Stat(file); err != nil || after.Mode() != before.Mode() {
		t.Errorf("mode %v, was %v: %v", after.Mode(), before.Mode(), err)
	}
	for name, value := range want {
		if got, err := attribute(file, name); err != nil || !bytes.Equal(got, value) {
			t.Errorf("%s is %q, was %q: %v", name, got, value, err)
		}
	}
}

// TestReplaceable tests which kinds of files Write can replace.
func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(at("file"), nil, 0o600), os.WriteFile(at("two"), nil, 0o600), os.Link(at("two"), at("names")),
		os.Symlink(at("file"), at("link")), os.Symlink(at("two"), at("link to two")), os.Symlink(at("nowhere"), at("dangling")), os.Symlink("loop", at("loop")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"file": true, "link": true, "new": true, "two": false, "names": false, "link to two": false, "dangling": false, "loop": false} {
		if err := (Local{}).Replaceable(at(name)); (err == nil) != want {
			t.Errorf("%s: %v, want it replaceable: %v", name, err, want)
		}
	}
}

// TestWriteFails tests that a failed write leaves no temporary file and keeps the
// old content.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.conf")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (Local{}).Write(filepath.Join(dir, "no", "a.conf"), nil, 0o644); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error: %v", err)
	}
	if err := (Local{}).Write(dir, []byte("new"), 0o644); err == nil {
		t.Error("a folder was replaced by a file")
	}
	// A limit on the size of files replaces a full disk. It is above the size of the
	// files that the testing package writes meanwhile.
	const limit = 1 << 20
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	err := Local{}.Write(file, make([]byte, 2*limit), 0o644)
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); e != nil {
		t.Fatal(e)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("error: %v", err)
	}
	if b, _ := os.ReadFile(file); string(b) != "old" {
		t.Errorf("content %.10q", b)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
}

// TestWriteKernel writes the name of its thread, a kernel variable that cannot be
// replaced like a file, and one that refuses the value.
func TestWriteKernel(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const file = "/proc/thread-self/comm"
	was, err := Local{}.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"iikanji-test", strings.TrimSuffix(string(was), "\n")} {
		if err := (Local{}).Write(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
		if now, err := (Local{}).Read(file); err != nil || string(now) != name+"\n" {
			t.Errorf("read %q, %v, want %q", now, err, name)
		}
	}
	if err := (Local{}).Write("/proc/thread-self/oom_score_adj", []byte("many\n"), 0o644); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("error: %v", err)
	}
}
