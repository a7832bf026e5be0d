package peer

import (
	"context"
	"net"
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/host/hosttest"
)

// pipes makes a connection of two pipes, as the standard input and output of a child are.
func pipes(t testing.TB) (near, far net.Conn) {
	t.Helper()
	aIn, aOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	bIn, bOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return Join(aIn, bOut), Join(bIn, aOut)
}

// connect serves this machine at the far end of two pipes.
func connect(t testing.TB, folders []string, o Options) *Peer {
	t.Helper()
	near, far := pipes(t)
	ended := make(chan error, 1)
	go func() { ended <- Serve(context.Background(), far, host.Local{}, o) }()
	p, err := Connect(t.Context(), near, Setup{Name: "far", Folders: folders})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if err := <-ended; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return p
}

// TestConform: a peer behaves as the host at its far end.
func TestConform(t *testing.T) {
	if n := hosttest.Cases(); n < 80 {
		t.Errorf("%d cases", n)
	}
	hosttest.Run(t, func(t *testing.T, folder string) host.Host { return connect(t, []string{folder}, Options{}) })
}
