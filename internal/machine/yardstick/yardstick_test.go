package yardstick

import (
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestYardstick: this machine has numbers, its file is gone, and bytes go between two ends.
func TestYardstick(t *testing.T) {
	tier.Slow(t)
	dir := t.TempDir()
	r, err := Machine().On(t.Context(), host.Local{}, dir)
	if err != nil || r.Spin <= 0 || r.Memory <= 0 || r.Sync <= 0 {
		t.Errorf("%+v %v", r, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left: %v %v", entries, err)
	}
	rate, err := Between(t.Context(), host.Local{}, host.Local{}, "127.0.0.1")
	if err != nil || rate <= 0 {
		t.Errorf("%g %v", rate, err)
	}
	if rate, err := Between(t.Context(), host.Local{}, host.Local{}, "192.0.2.1"); err == nil {
		t.Errorf("to an address of nobody: %g", rate)
	}
}
