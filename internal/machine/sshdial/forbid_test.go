package sshdial

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestForbidden: a host that is never connected to is refused by the address that its name stands
// for, also as one of the jumps to another one.
func TestForbidden(t *testing.T) {
	needsSSH(t)
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte("Host gate\n  HostName 10.9.0.1\nHost db\n  HostName 10.8.0.1\n  ProxyJump gate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := New(Options{Arguments: []string{"-F", path}, Forbids: func(host string) bool { return host == "10.9.0.1" }})
	var forbidden *ForbiddenError
	for _, name := range []string{"gate", "db"} {
		if _, err := d.Shell(t.Context(), Address{Name: name}); !errors.As(err, &forbidden) || forbidden.Host != "gate" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.hop(t.Context(), "gate", "", []*client{nil}, 1); !errors.As(err, &forbidden) {
		t.Errorf("the second of two jumps: %v", err)
	}
}
