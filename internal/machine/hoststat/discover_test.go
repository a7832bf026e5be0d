package hoststat

import (
	"net"
	"os"
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

func TestDiscoverFindsAListener(t *testing.T) {
	holds := func() bool {
		found, err := Discover(host.Local{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(found, func(s Service) bool { return slices.Contains(s.PIDs, os.Getpid()) })
	}
	if holds() {
		t.Error("found before it listened")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !holds() {
		t.Error("a process that listens was not found")
	}
}
