package hoststat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestMachine compares the description with this machine's own files.
func TestMachine(t *testing.T) {
	m := Machine(host.Local{}, "devel")
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	if m.Kernel != "Linux "+strings.TrimSpace(string(release)) || m.Cores < 1 || m.Memory < 1<<20 || m.Program != "devel" {
		t.Errorf("%+v", m)
	}
	path := filepath.Join(t.TempDir(), "os-release")
	if err := os.WriteFile(path, []byte("ID=x\nPRETTY_NAME=\"A System 1 (b)\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := systemName(host.Local{}, path); got != "A System 1 (b)" {
		t.Errorf("system %q", got)
	}
	if got := systemName(host.Local{}, path+"x"); got != "" {
		t.Errorf("a missing file gives %q", got)
	}
}
