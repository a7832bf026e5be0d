package lab

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// link makes a link for a test.
func link(t *testing.T) *Link {
	t.Helper()
	tier.Needs(t, "a machine in namespaces", Missing())
	l, err := NewLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// server makes machine n of a link with sshd for an account that may become root; it is not
// booted.
func server(t *testing.T, l *Link, name string, n int, key Key) *Machine {
	t.Helper()
	m, err := New(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	m.Join(l, n)
	if err := m.SSHD(t.Context(), Account{Name: "root", Keys: key.Public}, Account{Name: "isucon", UID: 61000, Keys: key.Public, Sudo: true}); err != nil {
		tier.Needs(t, "Debian's openssh-server and sudo", err.Error())
	}
	return m
}

// TestLink: machines reach each other and this one at their addresses, keep them over a
// reboot with a new boot id, take logins by key with sudo, and have no route elsewhere.
func TestLink(t *testing.T) {
	tier.Slow(t)
	l := link(t)
	key, err := NewKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	web, db := server(t, l, "web", 11, key), server(t, l, "db", 12, key)
	if err := errors.Join(web.Boot(t.Context()), db.Boot(t.Context())); err != nil {
		t.Fatal(err)
	}
	login := func(account string, m *Machine, words ...string) string {
		args := []string{"-F", "none", "-i", key.Path, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", account + "@" + m.Address().String()}
		out, err := exec.CommandContext(t.Context(), "ssh", append(args, words...)...).CombinedOutput()
		if err != nil {
			t.Errorf("logging in to %s as %s: %v: %s", m.Name, account, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if got := login("isucon", web, "hostname; id -un; sudo -n id -un"); got != "web\nisucon\nroot" {
		t.Errorf("%q", got)
	}
	boot := func() string { return output(t, db, "cat", "/proc/sys/kernel/random/boot_id") }
	first := boot()
	if err := db.Reboot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if boot() == first {
		t.Error("the boot id is the same after a reboot")
	}
	if got := login("root", db, "hostname"); got != "db" {
		t.Errorf("%q", got)
	}
	if got := output(t, web, "bash", "-c", "exec 3<>/dev/tcp/"+db.Address().String()+"/22 && head -c 4 <&3"); got != "SSH-" {
		t.Errorf("%q", got)
	}
	if r, err := web.Run(t.Context(), "ip", "route", "get", "192.0.2.1"); err != nil || r.Status == 0 {
		t.Errorf("there is a route elsewhere: %s %v", r.Output, err)
	}
}

// TestLimits: a machine keeps its share of CPU and of memory.
func TestLimits(t *testing.T) {
	tier.Slow(t)
	m := machine(t)
	m.Limits = Limits{CPU: 0.3, Memory: 256 << 20, Cores: "0"}
	if err := m.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := output(t, m, "sh", "-c", "taskset -pc 1"); !strings.HasSuffix(got, ": 0") {
		t.Errorf("%q", got)
	}
	// What a loop of 3 s used of the CPU is never more than the quota, also on a busy machine.
	words := strings.Fields(inGroup(t, m, `timeout 3 sh -c 'while :; do :; done'; times`))
	if len(words) != 4 {
		t.Fatalf("%q", words)
	}
	used, err := time.ParseDuration(words[2])
	if err != nil {
		t.Fatal(err)
	}
	if share := used.Seconds() / 3; share > 0.35 {
		t.Errorf("with a quota of 0.3 it used %.2f cores", share)
	}
	if got := inGroup(t, m, `head -c 400000000 /dev/zero | tail -c 399999999 | wc -c || echo ended`); strings.Contains(got, "399999999") {
		t.Errorf("with 256 MiB a process kept 400 MB: %q", got)
	}
}

// inGroup runs a script in the control groups of the machine's processes: a command that
// enters its namespaces stays in those of this process.
func inGroup(t *testing.T, m *Machine, script string) string {
	t.Helper()
	output(t, m, "systemd-run", "--quiet", "--wait", "--property=StandardOutput=file:/run/out", "--property=StandardError=file:/run/err", "-p", "SuccessExitStatus=0 1 137 SIGKILL", "sh", "-c", script)
	return output(t, m, "cat", "/run/out")
}

// TestKilledParent: after kill -9 of the process that started a machine on a link nothing
// of it is left.
func TestKilledParent(t *testing.T) {
	tier.Slow(t)
	tier.Needs(t, "a machine in namespaces", Missing())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), parentOf+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 200)
	n, err := out.Read(b)
	words := strings.Fields(string(b[:n]))
	if err != nil || len(words) != 3 {
		t.Fatalf("%q %v", b[:n], err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // by the signal
	left := func() (out []string) {
		for _, pid := range words[:2] {
			if _, err := os.Stat("/proc/" + pid); err == nil {
				out = append(out, "process "+pid)
			}
		}
		if _, err := os.Stat("/sys/class/net/" + words[2]); err == nil {
			out = append(out, words[2])
		}
		return out
	}
	for end := time.Now().Add(2 * time.Minute); len(left()) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left: %v", left())
		}
	}
}
