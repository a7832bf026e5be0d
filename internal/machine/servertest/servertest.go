// Package servertest runs real servers in tests.
package servertest

import (
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/freeport"
)

// patience is how long a server may take: only a dead machine takes longer.
const patience = time.Minute

// FreeAddress returns an address of 127.0.0.1 without a listener.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(FreePort(t)))
}

// FreePort returns a port of 127.0.0.1 without a listener.
func FreePort(t testing.TB) int {
	t.Helper()
	return FreePorts(t, 1)
}

// FreePorts returns the first of n ports of 127.0.0.1 in a row without a listener. They are
// below the ports of outgoing connections ([freeport.Range]).
func FreePorts(t testing.TB, n int) int {
	t.Helper()
	low, high := freeport.Range()
	for range 1000 {
		first := low + rand.IntN(high-n-low)
		free := 0
		for free < n && freeport.Free(first+free) {
			free++
		}
		if free == n {
			return first
		}
	}
	t.Fatalf("no %d free ports in a row", n)
	return 0
}

// Start runs a server until the test ends, and waits until it accepts connections at
// an address. Its messages are in the log of the test. It returns its process id.
func Start(t testing.TB, cmd *exec.Cmd, address string) int {
	t.Helper()
	// SIGTERM: a killed master process of nginx leaves its workers.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if cmd.Stderr == nil {
		cmd.Stderr = t.Output()
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { _ = cmd.Wait(); close(gone) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-gone:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-gone
		}
	})
	for end := time.Now().Add(patience); Accepts(address) != nil; {
		select {
		case <-gone:
			t.Fatalf("%s ended at once", cmd.Path)
		case <-time.After(5 * time.Millisecond):
			if time.Now().After(end) {
				t.Fatalf("%s does not listen at %s", cmd.Path, address)
			}
		}
	}
	return cmd.Process.Pid
}

// Accepts returns an error unless a server accepts connections at a TCP address.
func Accepts(address string) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

// Eventually repeats an attempt until it succeeds, or returns its last error.
func Eventually(try func() error) error {
	err := try()
	for end := time.Now().Add(patience); err != nil && time.Now().Before(end); err = try() {
		time.Sleep(5 * time.Millisecond)
	}
	return err
}
