package workers

import (
	"os/exec"
	"syscall"
	"testing"
)

// node starts a program of Node.js and returns its process id.
func node(t *testing.T, dir, entry string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", entry)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}
