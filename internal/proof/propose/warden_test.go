package propose

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// doomedVariable makes this test the iikanji that is killed; its value is the folder
// of the proposer.
const doomedVariable = "PROPOSE_TEST_DOOMED"

// TestKilledWithDescendants: after kill -9 of iikanji no process of its proposer is
// left: not the proposer, its children, those in a session of their own, and those
// that dropped the environment.
func TestKilledWithDescendants(t *testing.T) {
	if dir := os.Getenv(doomedVariable); dir != "" {
		_, _ = Run(t.Context(), []string{"/bin/sh", filepath.Join(dir, "proposer.sh"), dir}, Input{Kinds: kinds})
		return
	}
	_, dir := script(t, `echo $$ >"$1/pid.self"
sleep 1000 & echo $! >"$1/pid.child"
setsid sh -c 'echo $$ >"$1/pid.session"; sleep 1000 & echo $! >"$1/pid.grandchild"; wait' sh "$1" >/dev/null 2>&1 &
env -i /usr/bin/setsid /bin/sh -c 'echo $$ >"$1/pid.stranger"; exec sleep 1000' sh "$1" >/dev/null 2>&1 &
(setsid sh -c 'trap "" TERM HUP INT; echo $$ >"$1/pid.orphan"; while :; do sleep 1; done' sh "$1" &) >/dev/null 2>&1
wait`)
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestKilledWithDescendants$")
	cmd.Env = append(os.Environ(), doomedVariable+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := map[string]string{}
	for _, name := range []string{"self", "child", "session", "grandchild", "stranger", "orphan"} {
		text, err := appears(filepath.Join(dir, "pid."+name))
		if err != nil {
			t.Fatal(err)
		}
		pids[name] = strings.TrimSpace(text)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	began := time.Now()
	for _, pid := range pids {
		gone(t, pid)
	}
	t.Logf("%d processes ended within %v", len(pids), time.Since(began).Round(time.Millisecond))
}

// TestNotStarted: a program that does not exist, or is not executable, is an error
// that names it.
func TestNotStarted(t *testing.T) {
	_, dir := script(t, nothing)
	for _, name := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "proposer.sh"), "iikanji-no-such-program"} {
		if _, err := Run(t.Context(), []string{name}, Input{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
