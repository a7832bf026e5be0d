package host_test

import (
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/host/hosttest"
)

// TestConform: this machine behaves as its callers rely on.
func TestConform(t *testing.T) {
	hosttest.Run(t, func(*testing.T, string) host.Host { return host.Local{} })
}
