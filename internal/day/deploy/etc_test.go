package deploy

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// gitIn runs git in a folder, as a person of the team would.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestEtc: a file of the ledger is written where the host has what the ledger took last,
// and a file that was edited on the host since is a conflict.
func TestEtc(t *testing.T) {
	ledger, root := t.TempDir(), t.TempDir()
	h := &host.Fake{Root: root}
	gitIn(t, ledger, "init", "-q")
	both := func(name, text string) {
		put(t, ledger, "hosts/web/etc/"+name, text)
		put(t, root, "etc/"+name, text)
	}
	for _, name := range []string{"same", "edited", "host-edited", "both", "gone"} {
		both(name, "one\n")
	}
	gitIn(t, ledger, "add", "-A")
	gitIn(t, ledger, "commit", "-qm", "run 7: 37,019 begin")
	find := func() ([]EtcFile, error) { return EtcFiles(t.Context(), host.Local{}, h, ledger, "web") }
	if files, err := find(); err != nil || len(files) != 0 {
		t.Fatalf("nothing was edited: %v, %v", files, err)
	}
	put(t, ledger, "hosts/web/etc/edited", "two\n")
	put(t, ledger, "hosts/web/etc/new", "new\n")
	put(t, root, "etc/host-edited", "by hand\n")
	gitIn(t, ledger, "add", "-A")
	gitIn(t, ledger, "commit", "-qm", "keepalive of 64") // a person's commit is no version of the host
	files, err := find()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path+" "+string(f.Old)+">"+string(f.New))
	}
	slices.Sort(names)
	if want := []string{"/etc/edited one\n>two\n", "/etc/new >new\n"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	put(t, ledger, "hosts/web/etc/both", "two\n")
	put(t, root, "etc/both", "three\n")
	put(t, ledger, "hosts/web/etc/gone", "two\n")
	if err := os.Remove(filepath.Join(root, "etc/gone")); err != nil {
		t.Fatal(err)
	}
	var conflict *ConflictError
	if _, err := find(); !errors.As(err, &conflict) || !slices.Equal(conflict.Paths, []string{"/etc/both", "/etc/gone"}) || len(conflict.Hints()) == 0 {
		t.Errorf("%v", err)
	}
}

// static is an app that is always healthy, with its source in git.
func static(t *testing.T) (Options, string) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "src")
	put(t, source, "app.py", "print(1)\n")
	put(t, source, "requirements.txt", "")
	nothing := func(context.Context) error { return nil }
	return Options{Host: host.Local{}, Dir: filepath.Join(dir, "kept"), As: process.OwnerOf, Restart: nothing, Healthy: nothing, Now: time.Now, Limit: time.Second,
		App: App{Name: "app", Source: source}}, source
}

// TestBranch: a branch that lacks commits of the remote's main branch is refused.
func TestBranch(t *testing.T) {
	o, source := static(t)
	if note, err := Branch(t.Context(), &o); err != nil || note != "" {
		t.Errorf("without git: %q, %v", note, err)
	}
	remote, other := filepath.Join(t.TempDir(), "remote.git"), filepath.Join(t.TempDir(), "other")
	gitIn(t, t.TempDir(), "init", "-q", "--bare", remote)
	gitIn(t, source, "init", "-q")
	gitIn(t, source, "add", "-A")
	gitIn(t, source, "commit", "-qm", "one")
	gitIn(t, source, "branch", "-M", "main")
	if _, err := Branch(t.Context(), &o); err != nil {
		t.Errorf("without a remote: %v", err)
	}
	gitIn(t, source, "remote", "add", "origin", remote)
	gitIn(t, source, "push", "-qu", "origin", "main")
	if _, err := Branch(t.Context(), &o); err != nil {
		t.Errorf("at the remote's main: %v", err)
	}
	gitIn(t, t.TempDir(), "clone", "-q", "-b", "main", remote, other)
	put(t, other, "app.py", "print(2)\n")
	gitIn(t, other, "commit", "-qam", "two")
	gitIn(t, other, "push", "-q")
	var behind *BehindError
	if _, err := Branch(t.Context(), &o); !errors.As(err, &behind) || behind.Missing != "1" || !strings.Contains(err.Error(), "origin/main") {
		t.Errorf("behind: %v", err)
	}
	if err := Pull(t.Context(), &o); err != nil {
		t.Errorf("pull: %v", err)
	}
	if _, err := Branch(t.Context(), &o); err != nil || read(t, filepath.Join(source, "app.py")) != "print(2)\n" {
		t.Errorf("after the pull: %v", err)
	}
	if err := os.RemoveAll(remote); err != nil {
		t.Fatal(err)
	}
	if note, err := Branch(t.Context(), &o); err != nil || !strings.Contains(note, "does not answer") {
		t.Errorf("a remote that is gone: %q, %v", note, err)
	}
	gitIn(t, source, "remote", "set-url", "origin", "git@portal.example.com:team/app.git")
	o.Forbids = func(remote string) string {
		if strings.Contains(remote, "portal.example.com") {
			return "portal.example.com"
		}
		return ""
	}
	var forbidden *ForbiddenError
	if err := Pull(t.Context(), &o); !errors.As(err, &forbidden) || forbidden.Host != "portal.example.com" {
		t.Errorf("pull from a host that is forbidden: %v", err)
	}
	if note, err := Branch(t.Context(), &o); err != nil || !strings.Contains(note, "forbids") {
		t.Errorf("a remote on a host that is forbidden: %q, %v", note, err)
	}
}

// TestSources: files of another folder are put over the source, git's last commit is what a
// first deployment returns to, a link that the source's owner made is not followed, and a
// killed deployment loses nothing.
func TestSources(t *testing.T) {
	o, source := static(t)
	gitIn(t, source, "init", "-q")
	gitIn(t, source, "add", "-A")
	gitIn(t, source, "commit", "-qm", "one")
	put(t, source, "app.py", "print(3)\n")
	put(t, source, "more.py", "x = 1\n")
	gitIn(t, source, "add", "-N", "more.py")
	bad := errors.New("it is not healthy")
	o.Healthy = func(context.Context) error {
		if strings.Contains(read(t, filepath.Join(source, "app.py")), "print(1)") {
			return nil
		}
		return bad
	}
	var failed *FailedError
	if _, err := Deploy(t.Context(), o); !errors.As(err, &failed) || !failed.Returned || failed.Kept == "" || !errors.Is(err, bad) {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(source, "more.py")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of the failed version stays: %v", err)
	}
	from := t.TempDir()
	put(t, from, "lib/new.py", "y = 2\n")
	o.From = from
	if res, err := Deploy(t.Context(), o); err != nil || !slices.Contains(res.Changed, "lib/new.py") {
		t.Errorf("%+v, %v", res, err)
	}
	o.From = ""
	outside := filepath.Join(t.TempDir(), "outside")
	put(t, filepath.Dir(outside), "outside", "theirs\n")
	if err := errors.Join(os.Remove(filepath.Join(source, "app.py")), os.Symlink(outside, filepath.Join(source, "app.py"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Deploy(t.Context(), o); !errors.As(err, &failed) || !failed.Returned {
		t.Errorf("a link: %v", err)
	}
	if got := read(t, outside); got != "theirs\n" {
		t.Errorf("a file outside of the source was written: %q", got)
	}
	put(t, source, "app.py", "print(4)\n")
	o.Restart = func(context.Context) error { panic("killed") }
	func() {
		defer func() { _ = recover() }()
		_, _ = Deploy(t.Context(), o)
	}()
	var said []string
	o.Say = func(line string) { said = append(said, line) }
	o.Restart = func(context.Context) error { return nil }
	if err := Back(t.Context(), o); err != nil || read(t, filepath.Join(source, "app.py")) != "print(1)\n" {
		t.Errorf("after a kill: %v, %q", err, said)
	}
}

// TestDependencies: they are installed where their file has changed, and again for the
// version that returns.
func TestDependencies(t *testing.T) {
	o, source := static(t)
	log := filepath.Join(t.TempDir(), "pip.log")
	bin := t.TempDir()
	put(t, bin, "python3", "#!/bin/sh\n[ \"$2\" = pip ] && { cat requirements.txt >> "+log+"; exit 0; }\nexec /usr/bin/env -i PATH=/usr/bin:/bin python3 \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "python3"), 0o755); err != nil {
		t.Fatal(err)
	}
	o.App.Interpreter = filepath.Join(bin, "python3")
	put(t, source, "requirements.txt", "one\n")
	if _, err := Deploy(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the first deployment installs: %v", err)
	}
	put(t, source, "requirements.txt", "two\n")
	if _, err := Deploy(t.Context(), o); err != nil || read(t, log) != "two\n" {
		t.Errorf("%v, %q", err, read(t, log))
	}
	put(t, source, "requirements.txt", "three\n")
	o.Healthy = func(context.Context) error {
		if strings.Contains(read(t, filepath.Join(source, "requirements.txt")), "three") {
			return syscall.ECONNREFUSED
		}
		return nil
	}
	var failed *FailedError
	if _, err := Deploy(t.Context(), o); !errors.As(err, &failed) || !failed.Returned || read(t, log) != "two\nthree\ntwo\n" {
		t.Errorf("%v, %q", err, read(t, log))
	}
}
