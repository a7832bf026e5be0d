package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func TestUp(t *testing.T) {
	tier.Slow(t)
	l := &lines{}
	s := bring(t, tiny(), Options{Dir: openDir(t), Progress: l.say, Env: []string{"FURTHER=yes", "LANG=ja_JP.UTF-8"}})
	t.Log(l.all)
	p := s.Places()
	if got := page(t, p.URL()); got != "hello 3" {
		t.Errorf("page: %q", got)
	}
	for _, want := range []string{"setting up the database", "building the app", "loading the initial data", "generating"} {
		if !l.has(want) {
			t.Errorf("the first start does not say %q", want)
		}
	}
	mustExist(t, filepath.Join(s.Data(), "things.json"), true)
	mustExist(t, filepath.Join(s.Source(app), "go.mod"), true)
	mustExist(t, filepath.Join(p.Webapp, "etc", "nginx.conf"), false) // the file to edit is the rendered one
	checkTarget(t, s)
	checkUsers(t, s)
	env := page(t, p.URL()+"/env")
	if !strings.Contains(env, "FURTHER=yes") || !strings.Contains(env, "LANG=ja_JP.UTF-8") || strings.Contains(env, "LANG=C") || strings.Contains(env, "GORACE") {
		t.Errorf("environment of the app: %s", env)
	}
	if status, body := ask(t, p.URL()+"/write"); status != 200 {
		t.Errorf("the app cannot write into its own folder: %s", body)
	}
	down(t, s)
	if _, open := <-s.Died(); open {
		t.Error("a stopped service was reported dead")
	}

	again := &lines{}
	s = bring(t, tiny(), Options{Dir: s.dir.root, Progress: again.say})
	if got := page(t, s.Places().URL()); got != "hello 3" {
		t.Errorf("page after a restart: %q", got)
	}
	if !reflect.DeepEqual(s.Places(), p) {
		t.Errorf("places moved: %+v, were %+v", s.Places(), p)
	}
	for _, not := range []string{"setting up", "building", "loading", "generating", "edits"} {
		if again.has(not) {
			t.Errorf("the second start says %q: %v", not, again.all)
		}
	}
	mustExist(t, filepath.Join(s.Logs(), accessLog+".1"), true)
}

func checkTarget(t *testing.T, s *Stack) {
	t.Helper()
	target := s.Target()
	if target.Name != "tiny" || target.Bench.URL != s.Places().URL() || len(target.Services) != 3 {
		t.Fatalf("target: %+v", target)
	}
	for _, service := range target.Services {
		if len(service.PIDs) != 1 || !slices.Equal(service.PIDs, s.Groups()[service.Name]) {
			t.Errorf("%s: processes %v, groups %v", service.Name, service.PIDs, s.Groups())
		}
		for _, l := range service.Logs {
			mustExist(t, l.Path, true)
		}
		for _, c := range service.Configs {
			mustExist(t, c, true)
		}
		c, err := net.Dial("tcp", service.Address)
		if err != nil {
			t.Errorf("%s: %v", service.Name, err)
			continue
		}
		_ = c.Close()
	}
	mustExist(t, target.Services[0].Socket, true)
}

// checkUsers asserts that no service runs as root, and that all run as the account.
func checkUsers(t *testing.T, s *Stack) {
	t.Helper()
	for name, pids := range s.Groups() {
		var st unix.Stat_t
		if err := unix.Stat(fmt.Sprintf("/proc/%d", pids[0]), &st); err != nil {
			t.Fatal(err)
		}
		if int(st.Uid) != s.dir.as.uid || st.Uid == 0 {
			t.Errorf("the %s runs as user %d", name, st.Uid)
		}
	}
}

// TestOutside asserts that files outside of the folder that a server touches by
// default stay untouched, and that Debian's own configuration is not read.
func TestOutside(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	for name, pids := range s.Groups() {
		for _, p := range append(process.Descendants(pids[0]), process.ID{PID: pids[0]}) {
			fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.PID))
			if err != nil || len(fds) == 0 {
				t.Fatalf("%s: no open files are seen: %v", name, err)
			}
			for _, fd := range fds {
				to, err := os.Readlink(fd)
				if err != nil || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "/dev/") || strings.HasPrefix(to, "/usr/") ||
					strings.HasPrefix(to, "/proc/") || strings.HasPrefix(to, "/sys/") || strings.HasPrefix(to, "/[aio]") {
					continue
				}
				if !strings.HasPrefix(to, s.dir.root+"/") {
					t.Errorf("%s (%d) has %s open", name, p.PID, to)
				}
			}
		}
	}
}

func TestPinning(t *testing.T) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for c := range 1024 {
		if set.IsSet(c) {
			cpu = c // the last one
		}
	}
	s := bring(t, tiny(), Options{Dir: shared(t), StackCPUs: []int{cpu}})
	for name, pids := range s.Groups() {
		for _, p := range append(process.Descendants(pids[0]), process.ID{PID: pids[0]}) {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(b), "Cpus_allowed_list:\t"+strconv.Itoa(cpu)+"\n") {
				t.Errorf("%s (%d) is not on CPU %d alone", name, p.PID, cpu)
			}
		}
	}
	if err := s.Restart(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	if st := page(t, s.Places().URL()+"/status"); !strings.Contains(st, "Cpus_allowed_list:\t"+strconv.Itoa(cpu)+"\n") {
		t.Error("the restarted app is not pinned")
	}
}

// TestLongPath brings a stack up where the socket's default path would be too long.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(openDir(t), strings.Repeat("long", 20), "stack")
	s := bring(t, tiny(), Options{Dir: dir})
	p := s.Places()
	if len(p.Service(database).Socket) > socketLimit || s.outside == "" {
		t.Errorf("socket: %s", p.Service(database).Socket)
	}
	if err := s.Restart(t.Context(), database); err != nil {
		t.Errorf("restarting the database: %v", err)
	}
	page(t, p.URL())
	down(t, s)
	mustExist(t, s.outside, false)
}

func TestBadEnv(t *testing.T) {
	for _, bad := range []string{"X", "=1", "", "X=\x00"} {
		if _, err := Up(t.Context(), tiny(), Options{Dir: filepath.Join(t.TempDir(), "stack"), Env: []string{bad}}); err == nil || !strings.Contains(err.Error(), "is not K=V, as in") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestMissing(t *testing.T) {
	bin := t.TempDir()
	dir := filepath.Join(t.TempDir(), "stack")
	_, err := Up(t.Context(), tiny(), Options{Dir: dir, Path: bin})
	var m *MissingError
	if !errors.As(err, &m) || m.Package != "mariadb-server nginx mariadb-client" {
		t.Fatalf("error: %v %+v", err, m)
	}
	if got, want := m.Hints()[0], "sudo apt-get install -y mariadb-server nginx mariadb-client"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
	mustExist(t, dir, false)
	if err := os.WriteFile(filepath.Join(bin, "nginx"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = Up(t.Context(), tiny(), Options{Dir: dir, Path: bin})
	if !errors.As(err, &m) || m.Program != "mariadbd, mariadb-install-db, mariadb" {
		t.Errorf("error: %v", err)
	}
}

// TestNoGo asserts that a start works without a Go toolchain if nothing has to be
// built.
func TestNoGo(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	down(t, s)
	bin := t.TempDir()
	for _, dir := range []string{bin, filepath.Dir(bin)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mariadbd", "mariadb-install-db", "nginx", "mariadb", "sh", "sleep"} {
		path, ok := find(systemDirs, name)
		if !ok {
			t.Fatal(name + " is not here")
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	s = bring(t, tiny(), Options{Dir: s.dir.root, Path: bin})
	page(t, s.Places().URL())
	var m *MissingError
	if err := s.Rebuild(t.Context(), app); !errors.As(err, &m) || !strings.Contains(m.Error(), "Go toolchain") {
		t.Errorf("error: %v", err)
	}
	page(t, s.Places().URL())
}

func TestForeignFolder(t *testing.T) {
	dir := openDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "photos"), 0o755); err != nil {
		t.Fatal(err)
	}
	var foreign *ForeignDirError
	if _, err := Up(t.Context(), tiny(), Options{Dir: dir}); !errors.As(err, &foreign) || foreign.Entry != "photos" {
		t.Errorf("error: %v", err)
	}
	mustExist(t, filepath.Join(dir, lockFile), false)
	if err := os.Remove(filepath.Join(dir, "photos")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, stateFile), []byte(`{"version": 1, "arena": "other"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Up(t.Context(), tiny(), Options{Dir: dir}); !errors.As(err, &foreign) || foreign.Arena != "other" {
		t.Errorf("error: %v", err)
	}
	if _, err := Up(t.Context(), tiny(), Options{Dir: filepath.Join(dir, "with space")}); err == nil || !strings.Contains(err.Error(), "cannot carry") {
		t.Errorf("error: %v", err)
	}
}

// TestInterrupted cancels the context while the app is being built. A script acts
// as a slow compiler.
func TestInterrupted(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\nsleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := tiny()
	a.Files.(fstest.MapFS)["go/main.go"] = &fstest.MapFile{Data: []byte("package main\n")}
	dir := openDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Dir: dir, Path: bin + ":/usr/sbin:/usr/bin:/bin", Progress: func(line string) {
		if strings.Contains(line, "building") {
			cancel()
		}
	}}
	begin := time.Now()
	if _, err := Up(ctx, a, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	if took := time.Since(begin); took > 50*time.Second {
		t.Errorf("giving up took %v", took)
	}
	nothingRuns(t, dir)
}

// TestUnprivileged runs everything as a user without any privileges.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		s := bring(t, tiny(), Options{Dir: shared(t)})
		checkUsers(t, s)
		return
	}
	s := bring(t, tiny(), Options{Dir: shared(t)})
	down(t, s)
	// Copy the binary too: that user has no module cache to build it from.
	dir := openDir(t)
	const nobody = 12345 // a user ID without a name
	for _, name := range []string{"bin/app", stateFile} {
		b, err := os.ReadFile(s.dir.path(name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		}
		if err == nil && name == stateFile {
			b = []byte(strings.ReplaceAll(string(b), `"generated"`, `"not"`))
			b = []byte(strings.ReplaceAll(string(b), `"loaded"`, `"neither"`))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "bin", "bin/app", stateFile} {
		if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	cmd, r := another(t, dir, &syscall.Credential{Uid: nobody, Gid: nobody})
	if r.UID != nobody {
		t.Fatalf("it ran as %d", r.UID)
	}
	if got := page(t, r.Places.URL()); got != "hello 3" {
		t.Errorf("page: %q", got)
	}
	for name, pids := range r.Groups {
		var st unix.Stat_t
		if err := unix.Stat(fmt.Sprintf("/proc/%d", pids[0]), &st); err != nil || st.Uid != nobody {
			t.Errorf("the %s runs as user %d (%v)", name, st.Uid, err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("going down: %v", err)
	}
	nothingRuns(t, dir)
	var foreign *ForeignDirError
	if _, err := Up(t.Context(), tiny(), Options{Dir: dir}); !errors.As(err, &foreign) || foreign.Owner != "12345" {
		t.Errorf("root could use another user's folder: %v", err)
	}
}

// TestReach asserts that the error names a folder that the services' user cannot enter.
func TestReach(t *testing.T) {
	if os.Geteuid() != 0 {
		if err := serviceAccount().reach(t.Context(), "/nowhere"); err != nil {
			t.Errorf("without root there is no other user, but: %v", err)
		}
		return
	}
	closed := filepath.Join(openDir(t), "closed")
	if err := os.MkdirAll(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Up(t.Context(), tiny(), Options{Dir: filepath.Join(closed, "stack")})
	var reach *ReachError
	if !errors.As(err, &reach) || len(reach.Hints()) == 0 {
		t.Errorf("error: %v", err)
	}
}

// TestStateFolder: iikanji's own state folder that was made for its owner only, by the
// history of a site, is opened for entering; what is private in it stays closed, and a
// folder that is not iikanji's is left alone.
func TestStateFolder(t *testing.T) {
	top := openDir(t)
	t.Setenv("XDG_STATE_HOME", top)
	if err := os.MkdirAll(top, 0o755); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(top, "iikanji")
	site := filepath.Join(state, "site")
	if err := os.MkdirAll(site, 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(top, "other")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(openState(filepath.Join(state, "tiny")), openState(filepath.Join(other, "tiny"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{state: 0o711, site: 0o700, other: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
		}
	}
	if os.Geteuid() == 0 {
		work := filepath.Join(state, "tiny")
		if err := os.Mkdir(work, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := serviceAccount().reach(t.Context(), work); err != nil {
			t.Error(err)
		}
	}
}
