package peer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/host/hosttest"
)

// farEnd makes this program the far end of a test.
const farEnd = "IIKANJI_TEST_FAR_END"

func TestMain(m *testing.M) {
	if os.Getenv(farEnd) == "" {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGPIPE)
	if err := Serve(context.Background(), Join(os.Stdin, os.Stdout), host.Local{}, Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a command that serves as the far end.
func child(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), farEnd+"=1")
	return cmd
}

// TestConformChild: a far end in a process of its own behaves as this machine.
func TestConformChild(t *testing.T) {
	stream, err := Command(child(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Connect(t.Context(), stream, Setup{Name: "child", Folders: []string{"/"}})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Run(t, func(*testing.T, string) host.Host { return c })
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if state := stream.cmd.ProcessState; state == nil || state.ExitCode() != 0 {
		t.Errorf("the far end ended with %v; it said %s", state, stream.Said())
	}
}

// TestNoFarEnd: a command that is no far end is an error with what it said, and leaves no
// process.
func TestNoFarEnd(t *testing.T) {
	for script, want := range map[string]string{
		"echo 'no such container: app1' >&2; exit 1": "no such container: app1",
		"echo Welcome": "greeting app1",
		"true":         "greeting app1",
	} {
		stream, err := Command(exec.Command("/bin/sh", "-c", script))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Connect(t.Context(), stream, Setup{Name: "app1"})
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
	if _, err := Command(exec.Command("/no/such/command")); err == nil {
		t.Error("a command that is missing was started")
	}
}

// TestFarEndKilled: a far end that is killed is a lost connection.
func TestFarEndKilled(t *testing.T) {
	stream, err := Command(child(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Connect(t.Context(), stream, Setup{Name: "db"})
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Lost()
	if _, err := c.Read("/etc/hostname"); err == nil || !strings.Contains(err.Error(), "the connection to db") {
		t.Errorf("%v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
