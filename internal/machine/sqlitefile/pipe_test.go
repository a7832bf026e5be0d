package sqlitefile

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestPipe: a named pipe, such as the one that systemd has open, is not waited for.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "initctl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if is, err := IsDatabase(host.Local{}, path); is || err != nil {
		t.Errorf("%v %v", is, err)
	}
}
