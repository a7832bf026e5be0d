package lab

import (
	"os"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// machine makes a machine for a test; it is not booted.
func machine(t *testing.T, units ...string) *Machine {
	t.Helper()
	tier.Needs(t, "a machine in namespaces", Missing())
	m, err := New(t.TempDir(), "web", units...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// output is what a command in the machine prints; it must succeed.
func output(t *testing.T, m *Machine, args ...string) string {
	t.Helper()
	r, err := m.Run(t.Context(), args...)
	if err != nil || r.Status != 0 {
		t.Fatalf("%q: status %d, %v\n%s", args, r.Status, err, r.Output)
	}
	return strings.TrimSpace(r.Output)
}

// TestLab: Debian's own units of the three servers start with their sandboxes, answer, keep
// their data over a reboot, and nothing of the machine is left when it is closed.
func TestLab(t *testing.T) {
	tier.Slow(t)
	m := machine(t, "nginx", "mariadb", "redis-server")
	if err := m.Database(); err != nil {
		t.Fatal(err)
	}
	if err := m.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, unit := range []string{"nginx", "mariadb", "redis-server"} {
		if state := output(t, m, "systemctl", "is-active", unit); state != "active" {
			t.Errorf("%s is %s", unit, state)
		}
	}
	if strict := output(t, m, "systemctl", "show", "redis-server", "-p", "ProtectSystem", "--value"); strict != "strict" {
		t.Errorf("the sandbox of redis-server is %q", strict)
	}
	output(t, m, "mariadb", "-e", "create database kept; create table kept.t (id int); insert into kept.t values (7)")
	first := output(t, m, "cat", "/proc/1/cgroup")
	if err := m.Reboot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if kept := output(t, m, "mariadb", "-Ne", "select id from kept.t"); kept != "7" {
		t.Errorf("after the reboot the row is %q", kept)
	}
	if got := output(t, m, "redis-cli", "ping"); got != "PONG" {
		t.Errorf("redis answers %q", got)
	}
	if now := output(t, m, "cat", "/proc/1/cgroup"); now != first {
		t.Errorf("PID 1 is in %q, was in %q", now, first)
	}
	if host, err := os.Hostname(); err != nil || host == m.Name {
		t.Errorf("this machine's name is %q, %v", host, err)
	}
}
