package livesite

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// overridden is a subject with an app that was found with this specification.
func overridden(t *testing.T, dir string, spec process.Spec) (*Subject, *running) {
	t.Helper()
	s := placedAs(&Subject{options: Options{Dir: dir}, hosts: map[string]host.Host{"": host.Local{}}})
	if err := os.MkdirAll(s.envFolder(), 0o700); err != nil {
		t.Fatal(err)
	}
	return s, &running{host: host.Local{}, Service: &target.Service{Name: "app", Role: iikanji.RoleApp}, origin: &process.Origin{Spec: spec}}
}

// TestOriginals: a later process of iikanji finds the app with the variables and the
// command line of changes, and starts it as it was before them once they are undone.
func TestOriginals(t *testing.T) {
	dir := t.TempDir()
	found := process.Spec{Path: "/bin/serve", Args: []string{"serve", "-w", "1"}, Env: []string{"A=1", "N=2"}}
	s, r := overridden(t, dir, found)
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	started := func(s *Subject, r *running, args []string, env ...string) process.Spec {
		t.Helper()
		spec, err := s.specOf(r)
		if err == nil {
			err = s.forgetOriginals(r)
		}
		slices.Sort(spec.Env)
		if err != nil || !slices.Equal(spec.Args, args) || !slices.Equal(spec.Env, env) {
			t.Errorf("started as %q with %q, %v; want %q with %q", spec.Args, spec.Env, err, args, env)
		}
		return spec
	}
	started(s, r, found.Args, "A=1", "N=2")
	write(s.envFile(r), "# set\nN=5\nM=7\n")
	write(s.argsFile(r), `["serve","-w","4"]`+"\n")
	changed := started(s, r, []string{"serve", "-w", "4"}, "A=1", "M=7", "N=5")

	s, r = overridden(t, dir, changed)
	write(s.envFile(r), "# set\nN=6\nM=7\n")
	changed = started(s, r, []string{"serve", "-w", "4"}, "A=1", "M=7", "N=6")

	s, r = overridden(t, dir, changed)
	for _, path := range []string{s.envFile(r), s.argsFile(r)} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	started(s, r, found.Args, "A=1", "N=2")
	started(s, r, found.Args, "A=1", "N=2") // once more, by the same process
	if _, err := os.Stat(s.originalFile(r)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was kept is still there: %v", err)
	}
}

// TestOriginalsOfOthers: what a user has restarted the app with since counts.
func TestOriginalsOfOthers(t *testing.T) {
	dir := t.TempDir()
	s, r := overridden(t, dir, process.Spec{Args: []string{"serve", "-w", "1"}, Env: []string{"N=2"}})
	if err := os.WriteFile(s.envFile(r), []byte("N=5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.specOf(r); err != nil {
		t.Fatal(err)
	}
	s, r = overridden(t, dir, process.Spec{Args: []string{"serve", "-w", "9"}, Env: []string{"N=3"}})
	if err := os.Remove(s.envFile(r)); err != nil {
		t.Fatal(err)
	}
	if spec, err := s.specOf(r); err != nil || !slices.Equal(spec.Env, []string{"N=3"}) || spec.Args[2] != "9" {
		t.Errorf("started as %q with %q, %v", spec.Args, spec.Env, err)
	}
}

// TestRedisAgain: a real Redis that has written a title over its command line is started
// again at the same address, with the same settings, and not at its default port.
func TestRedisAgain(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "redis.sock")
	start := func(path string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	setting := func(name string) string {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			out, err := exec.CommandContext(t.Context(), "redis-cli", "-s", socket, "CONFIG", "GET", name).Output()
			if err == nil && strings.HasPrefix(string(out), name) {
				return strings.TrimSpace(strings.TrimPrefix(string(out), name))
			}
			if time.Now().After(end) {
				t.Fatalf("redis does not answer: %v %s", err, out)
			}
		}
	}
	names := []string{"port", "bind", "save", "maxmemory", "databases", "unixsocket", "dir", "appendonly"}
	first := start("redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--maxmemory", "7mb", "--databases", "3", "--bind", "127.0.0.1")
	before := map[string]string{}
	for _, name := range names {
		before[name] = setting(name)
	}
	m, err := process.ReadMachine(host.Local{})
	if err != nil {
		t.Fatal(err)
	}
	p := m.Processes[first.Process.Pid]
	o, err := process.Found(p)
	if err != nil || o.Way.Err == nil {
		t.Fatalf("no title: %+v, %v", p, err)
	}
	defer o.Close()
	r := &running{host: host.Local{}, Service: &target.Service{Name: "sessions", Engine: iikanji.EngineRedis, Socket: socket}, origin: o}
	r.askRedis(t.Context())
	if len(o.Notes) > 0 || o.Way.Err != nil || filepath.Base(o.Spec.Path) != "redis-server" {
		t.Fatalf("%+v", o)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	start(o.Spec.Path, o.Spec.Args[1:]...)
	for _, name := range names {
		if got := setting(name); got != before[name] {
			t.Errorf("%s is %q, was %q", name, got, before[name])
		}
	}
}
