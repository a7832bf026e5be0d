package stack

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// upVariable makes a copy of the test binary bring the tiny arena up in the
// folder that the variable names.
const upVariable = "IIKANJI_TEST_UP"

// checkVariable makes that copy check a database config in a loop afterwards.
const checkVariable = "IIKANJI_TEST_CHECK"

// A report is the output of such a copy when its arena is up.
type report struct {
	Places arena.Places
	Groups map[string][]int
	UID    int
}

func beSomething() {
	dir := os.Getenv(upVariable)
	if dir == "" {
		return
	}
	if err := upAndWait(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func upAndWait(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := Up(ctx, tiny(), Options{Dir: dir})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(report{s.Places(), s.Groups(), os.Getuid()}); err != nil {
		return err
	}
	for os.Getenv(checkVariable) != "" && ctx.Err() == nil {
		if err := s.CheckConfig(ctx, database, os.DevNull); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return s.Down(context.Background())
}

// another starts a copy of this binary that brings the tiny arena up in dir, and
// waits until it is up.
func another(t *testing.T, dir string, as *syscall.Credential) (*exec.Cmd, report) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), upVariable+"="+dir)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // in case the test ended early
		_ = cmd.Wait()
	})
	var r report
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the other process said nothing: %v", cmd.Wait())
	}
	if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return cmd, r
}

// quiet waits, for a limited time, until no process works in a folder.
func quiet(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		all, err := hostproc.Stats(host.Local{})
		if err != nil {
			t.Fatal(err)
		}
		left := false
		for _, p := range all {
			left = left || within(p.PID, dir)
		}
		if !left {
			break
		}
	}
	nothingRuns(t, dir)
}
