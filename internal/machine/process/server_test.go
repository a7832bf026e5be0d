package process

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// begin starts a real server, which ends with the test.
func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/setup.sh check installs it", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// foundAgain reads how a running server was started, and how to end it.
func foundAgain(t *testing.T, cmd *exec.Cmd) (Spec, [3]*os.File, *End) {
	t.Helper()
	p, err := ReadProcess(host.Local{}, cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Found(p)
	if err != nil || o.Way.Err != nil {
		t.Fatal(err, o)
	}
	t.Cleanup(o.Close)
	return o.Spec, o.Files, &End{ID: p.ID(), Steps: []Step{{syscall.SIGTERM, 10 * time.Second}}}
}

// eventually repeats an attempt for two minutes at most until it succeeds.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	err := try()
	for end := time.Now().Add(2 * time.Minute); err != nil && time.Now().Before(end); err = try() {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// listens waits until a server listens at an address.
func listens(t *testing.T, address string) {
	t.Helper()
	eventually(t, func() error {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// answers waits for the body of an answer.
func answers(t *testing.T, address, want string) {
	t.Helper()
	eventually(t, func() error {
		r, err := http.Get("http://" + address)
		if err != nil {
			return err
		}
		defer r.Body.Close()
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != want {
			return fmt.Errorf("it answers %q, %v; want %q", b, err, want)
		}
		return nil
	})
}

// replace ends a process and starts another one.
func replace(t *testing.T, e *End, s Spec, files [3]*os.File) *Child {
	t.Helper()
	h, err := Hold(t.Context(), e, s, files)
	if err != nil {
		t.Fatal(err)
	}
	child, err := h.Go(s)
	if err != nil {
		t.Fatal(err)
	}
	return child
}
