package workers

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
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
	for { // the command line appears a moment after the start
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
		if err == nil && strings.HasPrefix(string(line), "node\x00") {
			return cmd.Process.Pid
		}
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}
