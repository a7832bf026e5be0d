package sysctl

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// starter starts the service of these tests, with the limits in its file or
// without them, as a supervisor does that does not read the file.
type starter struct {
	t     *testing.T
	dir   string
	deaf  bool
	child *exec.Cmd
}

func (s *starter) restart(ctx context.Context) error {
	s.end()
	script := "exec sleep 1000"
	if !s.deaf {
		script = `n=$(sed -n 's/^nofile = //p' limits.conf 2>/dev/null); [ -z "$n" ] || ulimit -n "$n"; ` + script
	}
	cmd := exec.CommandContext(s.t.Context(), "/bin/sh", "-c", script)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.child = cmd
	for ctx.Err() == nil {
		if name, err := exec.CommandContext(ctx, "cat", "/proc/"+strconv.Itoa(cmd.Process.Pid)+"/comm").Output(); err != nil || string(name) == "sleep\n" {
			return err
		}
	}
	return ctx.Err()
}

func (s *starter) end() {
	if s.child != nil {
		_ = s.child.Process.Kill()
		_ = s.child.Wait()
	}
}

// TestLimitsReadBack: an applied limit is read back from the running process, and
// once more after its restart. A process without it undoes the change.
func TestLimitsReadBack(t *testing.T) {
	s := &starter{t: t, dir: t.TempDir(), deaf: true}
	t.Cleanup(s.end)
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	site := &change.Site{Roots: []string{s.dir}, Services: map[string]change.Service{"app": {LimitsFile: filepath.Join(s.dir, "limits.conf"), Running: changetest.Running{
		OnRestart: s.restart, PIDs: func() []int { return []int{s.child.Process.Pid} }}}}}
	x := &change.Executor{Hands: site, Journal: h, Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Availability}}}
	plan := func() iikanji.ChangeID {
		c, err := change.Plan(t.Context(), site, iikanji.Remedy{Kind: "sysctl", Target: "app", Args: map[string]string{"act": "limits", "nofile": "2345"}})
		if err == nil {
			err = h.AddChange(c, change.Diff(c))
		}
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	if err := s.restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := plan()
	if err := x.Apply(t.Context(), id); err == nil || !strings.Contains(err.Error(), "the limit nofile of process") {
		t.Errorf("a limit that the process does not have was applied: %v", err)
	}
	if c, err := h.LoadChange(id); err != nil || c.Stage != iikanji.Reverted {
		t.Errorf("it is %v, %v", c, err)
	}
	s.deaf = false
	id = plan()
	if err := x.Apply(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := x.ReadBack(t.Context(), id); err != nil {
		t.Errorf("in force: %v", err)
	}
	s.deaf = true
	if err := s.restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.ReadBack(t.Context(), id); err == nil {
		t.Error("a limit that was lost in a restart was not noticed")
	}
	s.end()
	s.child.Process.Pid = 1 << 30
	if err := x.ReadBack(t.Context(), id); err == nil {
		t.Error("a process that ended has the limit")
	}
	s.child = nil
}

// TestVariablesReadBack: a kernel variable that another program sets again is
// noticed.
func TestVariablesReadBack(t *testing.T) {
	fake := fakeProc(t, map[string]string{"net/core/somaxconn": "4096\n", "net/ipv4/ip_local_port_range": "20000\t64000\n"})
	wanted := namesAndValues("# of iikanji\nnet.core.somaxconn = 4096\nnet.ipv4.ip_local_port_range = 20000 64000\n")
	if err := variablesInForce(fake, wanted); err != nil || len(wanted) != 2 {
		t.Errorf("%v: %v", wanted, err)
	}
	other := fakeProc(t, map[string]string{"net/core/somaxconn": "128\n"})
	if err := variablesInForce(other, wanted); err == nil || !strings.Contains(err.Error(), "net.core.somaxconn is 128") || !strings.Contains(err.Error(), "ip_local_port_range") {
		t.Errorf("%v", err)
	}
}

// TestWithUnit: a limit with a unit is compared in bytes.
func TestWithUnit(t *testing.T) {
	for text, want := range map[string]uint64{"64": 64, "64K": 64 << 10, "2M": 2 << 20, "1G": 1 << 30, "unlimited": limitValue("unlimited")} {
		if got := withUnit(text); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}

// fakeProc is a host with kernel variables.
func fakeProc(t *testing.T, values map[string]string) host.Host {
	t.Helper()
	fake := &host.Fake{Root: t.TempDir()}
	for name, value := range values {
		path := filepath.Join(fake.Root, procSys, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(value), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return fake
}
