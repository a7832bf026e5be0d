package sysctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// hostNetwork is the environment variable with the network namespace of the
// machine. It is set for a process that has left that namespace: its test may
// write net.* below /proc/sys.
const hostNetwork = "SYSCTL_TEST_HOST_NETWORK"

// network returns the name of this process's network namespace.
func network(t *testing.T) string {
	t.Helper()
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// apart runs the calling test again in a network namespace of its own, and
// reports whether this is that run.
func apart(t *testing.T) bool {
	t.Helper()
	if was := os.Getenv(hostNetwork); was != "" {
		if was == network(t) {
			t.Fatal("still in the network of the machine")
		}
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.timeout", "9m", "-test.v")
	cmd.Env = append(os.Environ(), hostNetwork+"="+network(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC):
		t.Skipf("this machine gives us no network of our own: %v", err)
	case err == nil && bytes.Contains(out, []byte("--- SKIP")):
		t.Skipf("in a network of its own:\n%s", out)
	case err != nil || !bytes.Contains(out, []byte("kills ended")): // the test did not run
		t.Errorf("in a network of its own: %v\n%s", err, out)
	}
	return false
}

var netVariables = []string{"/proc/sys/net/core/somaxconn", "/proc/sys/net/ipv4/ip_local_port_range", "/proc/sys/net/ipv4/tcp_fin_timeout"}

// TestConformance writes real variables of a real kernel, in a network namespace
// that no other process uses.
func TestConformance(t *testing.T) {
	tier.Slow(t)
	if !apart(t) {
		return
	}
	dir := changetest.ChildDir()
	if dir == "" {
		dir = t.TempDir()
		f, err := os.OpenFile(netVariables[0], os.O_WRONLY, 0)
		if err != nil {
			t.Skipf("the variables of a new network are not ours to write here: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	dropIn := filepath.Join(dir, "60-iikanji.conf")
	changetest.Run(t, changetest.Case{
		Dir: dir,
		Open: func(dir string) *change.Site {
			return &change.Site{Roots: []string{dir, procSys}, Services: map[string]change.Service{"host": {DropIn: dropIn}}}
		},
		Remedies: map[string]iikanji.Remedy{"three": {Kind: "sysctl", Target: "host", Args: map[string]string{"act": "sysctl",
			"net.core.somaxconn": "9876", "net.ipv4.ip_local_port_range": "20000 64000", "net.ipv4.tcp_fin_timeout": "17"}}},
		State: func() (string, error) {
			b, err := os.ReadFile(dropIn)
			if errors.Is(err, os.ErrNotExist) {
				b, err = []byte("no file"), nil
			}
			state := string(b)
			for _, path := range netVariables {
				b, e := os.ReadFile(path)
				err = errors.Join(err, e)
				state += path + " " + string(b)
			}
			return state, err
		},
		Effects: map[string]string{"three": netVariables[2] + " 17\n"},
		Serves:  func() error { return nil },
		Disturb: disturb,
	})
}

// disturb edits the place of an op by hand. A kernel variable gets a value that
// no remedy sets.
func disturb(op iikanji.Op) (func() error, error) {
	value, ok := map[string]string{netVariables[0]: "8765\n", netVariables[1]: "15000\t55000\n", netVariables[2]: "23\n"}[op.Place]
	if !ok {
		return changetest.ByHand(op)
	}
	was, err := os.ReadFile(op.Place)
	if err != nil {
		return nil, err
	}
	return func() error { return os.WriteFile(op.Place, was, 0o644) }, os.WriteFile(op.Place, []byte(value), 0o644)
}

// TestConformanceLimits uses a process that starts with the limits in its file.
func TestConformanceLimits(t *testing.T) {
	tier.Slow(t)
	dir := changetest.ChildDir()
	if dir == "" {
		dir = t.TempDir()
		keepRunning(t, dir)
	}
	file := filepath.Join(dir, "limits.conf")
	changetest.Run(t, changetest.Case{
		Dir: dir,
		Open: func(dir string) *change.Site {
			return &change.Site{Roots: []string{dir}, Services: map[string]change.Service{"app": {LimitsFile: file,
				Running: changetest.Running{OnRestart: func(ctx context.Context) error { return restart(ctx, dir) }}}}}
		},
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Availability}}, // the test's process may have more
		Remedies: map[string]iikanji.Remedy{"nofile": {Kind: "sysctl", Target: "app", Args: map[string]string{"act": "limits", "nofile": "1234"}}},
		Effects:  map[string]string{"nofile": "1234                 1234                 files"},
		State: func() (string, error) {
			b, err := os.ReadFile(file)
			if errors.Is(err, os.ErrNotExist) {
				b, err = []byte("no file\n"), nil
			}
			if err != nil {
				return "", err
			}
			pid, err := running(t.Context(), dir, 0)
			if err != nil {
				return "", err
			}
			limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
			return string(b) + string(limits), err
		},
		Serves: func() error {
			_, err := running(t.Context(), dir, 0)
			return err
		},
	})
}

// service sleeps, as a process with the limits in its file.
const service = `cd "$0" || exit
n=$(sed -n 's/^nofile = //p' limits.conf 2>/dev/null)
[ -z "$n" ] || ulimit -n "$n"
echo $$ >pid.new && mv pid.new pid
exec sleep 100000`

// keepRunning starts the service again and again until the test ends.
func keepRunning(t *testing.T, dir string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, "/bin/sh", "-c", service, dir)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			_ = cmd.Run()
		}
	}()
	t.Cleanup(func() { stop(); <-gone })
}

// running waits until the service sleeps in a process other than old.
func running(ctx context.Context, dir string, old int) (int, error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if pid != old && string(name) == "sleep\n" {
			return pid, nil
		}
	}
	return 0, errors.Join(errors.New("the service does not run"), ctx.Err())
}

func restart(ctx context.Context, dir string) error {
	pid, err := running(ctx, dir, 0)
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err == nil {
		_, err = running(ctx, dir, pid)
	}
	return err
}

// TestHostile: names outside of the lists and values outside of their bounds are
// refused.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	s := &change.Site{Roots: []string{dir, procSys}, Services: map[string]change.Service{
		"host": {DropIn: filepath.Join(dir, "60.conf")},
		"app":  {LimitsFile: filepath.Join(dir, "app.conf"), Running: changetest.Running{}},
	}}
	for _, c := range []struct {
		target string
		args   map[string]string
	}{
		{"host", nil},
		{"host", map[string]string{"act": "sysctl"}},
		{"host", map[string]string{"act": "reboot", "vm.swappiness": "1"}},
		{"nobody", map[string]string{"act": "sysctl", "vm.swappiness": "1"}},
		{"app", map[string]string{"act": "sysctl", "vm.swappiness": "1"}},
		{"host", map[string]string{"act": "limits", "nofile": "4096"}},
		{"host", map[string]string{"act": "sysctl", "kernel.core_pattern": "|/tmp/x"}},
		{"host", map[string]string{"act": "sysctl", "kernel.modprobe": "/tmp/x"}},
		{"host", map[string]string{"act": "sysctl", "net.ipv4.ip_forward": "1"}},
		{"host", map[string]string{"act": "sysctl", "net/core/somaxconn": "4097"}},
		{"host", map[string]string{"act": "sysctl", "net.core.somaxconn": "1"}},
		{"host", map[string]string{"act": "sysctl", "net.core.somaxconn": "04097"}},
		{"host", map[string]string{"act": "sysctl", "net.core.somaxconn": "4097\nkernel.core_pattern = |/tmp/x"}},
		{"host", map[string]string{"act": "sysctl", "vm.swappiness": "-1"}},
		{"host", map[string]string{"act": "sysctl", "fs.file-max": "1"}},
		{"host", map[string]string{"act": "sysctl", "net.ipv4.ip_local_port_range": "1024"}},
		{"host", map[string]string{"act": "sysctl", "net.ipv4.ip_local_port_range": "30000 31000"}},
		{"host", map[string]string{"act": "sysctl", "net.ipv4.ip_local_port_range": "60000 1024"}},
		{"host", map[string]string{"act": "sysctl", "net.ipv4.ip_local_port_range": "1 65535"}},
		{"app", map[string]string{"act": "limits", "nofile": "3"}},
		{"app", map[string]string{"act": "limits", "nofile": "unlimited"}},
		{"app", map[string]string{"act": "limits", "nofile": "4096\ncore = 1"}},
		{"app", map[string]string{"act": "limits", "stack": "1"}},
	} {
		ch, err := change.Plan(t.Context(), s, iikanji.Remedy{Kind: "sysctl", Target: c.target, Args: c.args})
		if err == nil || errors.Is(err, change.ErrNothing) {
			t.Errorf("%s %q: %v %v", c.target, c.args, err, ch)
		}
	}
}

// TestNotTheMachine: a variable is planned only where its folder below /proc/sys is among those of
// the target, or below one.
func TestNotTheMachine(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		roots []string
		may   string // the first parts of the variables that are planned
	}{
		{[]string{dir}, ""}, {nil, ""}, {[]string{dir, "/proc/sys/network"}, ""},
		{[]string{dir, "/proc"}, "net vm"}, {[]string{dir, procSys}, "net vm"}, {[]string{dir, "/proc/sys/net"}, "net"},
	} {
		s := &change.Site{Roots: c.roots, Services: map[string]change.Service{"host": {DropIn: filepath.Join(dir, "60.conf")}}}
		for first, name := range map[string]string{"net": "net.core.somaxconn", "vm": "vm.swappiness"} {
			r := iikanji.Remedy{Kind: "sysctl", Target: "host", Args: map[string]string{"act": "sysctl", name: "1234"}}
			if first == "vm" {
				r.Args[name] = "7"
			}
			_, err := change.Plan(t.Context(), s, r)
			if refused := err != nil && strings.Contains(err.Error(), "not allowed to change the machine"); refused == strings.Contains(c.may, first) {
				t.Errorf("%s with the folders %q: %v", name, c.roots, err)
			}
		}
	}
}

func TestPortsStay(t *testing.T) {
	target := iikanji.Target{Services: []iikanji.Service{{Name: "socket only"}, {Name: "app", Address: "127.0.0.1:3000"}}}
	for ports, fine := range map[string]bool{"": true, "10000 60000": true, "1024 60000": false, "3000 60000": false, "3001 60000": true} {
		if err := portsStay(target, ports); (err == nil) != fine {
			t.Errorf("%q: %v", ports, err)
		}
	}
}

func TestWeakens(t *testing.T) {
	for value, want := range map[string]int{"6000": 1, "3000": 0, "100": 0} {
		now, wanted := map[string]string{"vm.dirty_expire_centisecs": "3000", "vm.swappiness": "60"}, map[string]string{"vm.dirty_expire_centisecs": value, "vm.swappiness": "90"}
		if got := weakened(promise.Kernel, now, wanted); len(got) != want {
			t.Errorf("%s: weakens %v", value, got)
		}
	}
}

func TestEdit(t *testing.T) {
	for _, c := range []struct{ old, want string }{
		{"", "a = 1\nb = 2 3\n"},
		{"# mine\na=1\nc = 4", "# mine\na=1\nc = 4\nb = 2 3\n"},
		{"a = 5\nb = 2\t3\na = 6\n", "a = 1\nb = 2\t3\n"},
	} {
		if got := string(edit([]byte(c.old), "#\n", map[string]string{"a": "1", "b": "2 3"})); got != c.want {
			t.Errorf("%q became %q, want %q", c.old, got, c.want)
		}
	}
	if got := string(edit(nil, "#\n", map[string]string{"a": "1"})); got != "#\na = 1\n" {
		t.Errorf("a new file: %q", got)
	}
}
