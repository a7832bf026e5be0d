package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// rehearsingSteps prints each step of a restart rehearsal before it begins.
type rehearsingSteps struct{ field.Subject }

func (s rehearsingSteps) Kill(ctx context.Context) error {
	fmt.Println("kill")
	return s.Subject.Kill(ctx)
}

func (s rehearsingSteps) Restart(ctx context.Context, service string) error {
	fmt.Println("start " + service)
	return s.Subject.Restart(ctx, service)
}

// rehearseOfTests is a program that rehearses the restart of the shop in a folder, as a
// search does at its end.
func rehearseOfTests() {
	stack.MaybeSupervise()
	process.MaybeSupervise()
	e := systemEnv()
	a, err := findTarget("shop")
	if err == nil {
		err = withLiveTarget(context.Background(), e, a, stack.Options{Dir: os.Args[1]}, func(ctx context.Context, w *liveTarget) error {
			_, err := (&field.Field{Subject: rehearsingSteps{w.Subject}, Settle: time.Millisecond}).Rehearse(ctx)
			return err
		})
	}
	fmt.Println("ended:", err)
	os.Exit(1)
}

// TestRehearsalKilled kills the process of a restart rehearsal while it kills or starts
// the services of a real stack, and once its supervisor with it. recover then leaves no
// process of the stack, the changes in force are those of before, and reverting them
// restores every byte and every row.
func TestRehearsalKilled(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	each := oneOfEach()
	shell(t, exitDone, "plan", "shop", "--dir", dir, "--file", remedyFile(t, each["mysqlconf"])) // fills the folder
	original := filesBelow(t, dir)
	for _, kind := range []string{"mysqlconf", "nginxconf", "appenv"} {
		shell(t, exitDone, "apply", "shop", "--dir", dir, "--keep", "--file", remedyFile(t, each[kind]))
	}
	tuned := filesBelow(t, dir)
	for _, step := range []struct {
		line  string
		after time.Duration
		all   bool // its children too: the supervisor
	}{{"kill", 0, false}, {"start nginx", 5 * time.Millisecond, false}, {"start app", 20 * time.Millisecond, true}, {"start database", 50 * time.Millisecond, false}, {"start database", 200 * time.Millisecond, true}} {
		killedRehearsal(t, dir, step.line, step.after, step.all)
		out, errs := shell(t, exitDone, "recover", "shop", "--dir", dir)
		if out != "nothing was half done\n" {
			t.Errorf("%+v: %s%s", step, out, errs)
		}
		if left := processesOf(t, dir); len(left) > 0 {
			t.Errorf("%+v: recover left %q", step, left)
		}
		same(t, fmt.Sprintf("recovered from %+v", step), filesBelow(t, dir), tuned)
	}
	shell(t, exitDone, "revert", "shop", "--dir", dir, "--all")
	same(t, "reverted", filesBelow(t, dir), original)
	a, err := findTarget("shop")
	if err != nil {
		t.Fatal(err)
	}
	err = withLiveTarget(t.Context(), &env{Stderr: &lockedBuffer{}, Now: time.Now, Cols: 80}, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
		var n int
		if err := w.Site().Services["database"].DB().QueryRowContext(ctx, "SELECT count(*) FROM shop.orders").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d rows are left: %v", n, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// killedRehearsal starts a rehearsal and kills it at a step. On a fast machine the step
// may be over by then: the kill comes earlier in another rehearsal.
func killedRehearsal(t *testing.T, dir, at string, after time.Duration, all bool) {
	t.Helper()
	for ; !killedInto(t, dir, at, after, all); after /= 2 {
		if after < 100*time.Microsecond {
			t.Fatalf("%s: the rehearsal has no supervisor", at)
		}
	}
}

// killedInto kills a rehearsal some time after the begin of a step. It returns false if
// the rehearsal has ended its supervisor before.
func killedInto(t *testing.T, dir, at string, after time.Duration, all bool) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "rehearse", dir)
	cmd.Env = append(os.Environ(), shopVariable+"=1", "GORACE=atexit_sleep_ms=0")
	var errs lockedBuffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	reached := false
	for lines := bufio.NewScanner(out); !reached && lines.Scan(); {
		said = append(said, lines.Text())
		reached = lines.Text() == at
	}
	if !reached {
		_ = cmd.Wait()
		t.Fatalf("no step %q in %q\n%s", at, said, errs.String())
	}
	time.Sleep(after) // into the step
	pids := []int{cmd.Process.Pid}
	if all {
		pids = append(pids, childrenOf(t, cmd.Process.Pid)...)
	}
	if all && len(pids) == 1 {
		_ = cmd.Wait() // its status is 1 in any case
		return false
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	return true
}

// childrenOf are the children of a process. The kernel's own list of the children is
// not complete while children end.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	stats, err := hostproc.Stats(host.Local{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stats {
		if s.Parent == pid && !s.Ended() {
			all = append(all, s.PID)
		}
	}
	return all
}

// processesOf are the command lines of the running processes that name a folder, but
// for this one.
func processesOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(dir)) && path != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) {
			all = append(all, path+" "+strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return all
}
