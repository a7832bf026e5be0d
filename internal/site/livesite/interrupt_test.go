package livesite

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// await waits until a file exists.
func await(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Errorf("there is no %s", path)
			return
		}
	}
}

// sleeper starts a script whose child sleeps, and returns both.
func sleeper(t *testing.T) (script, child *process.Process) {
	t.Helper()
	c := exec.Command("sh", "-c", "sleep 1000; sleep 1000")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, id := range process.ChildrenOn(host.Local{}, c.Process.Pid) {
			if p, err := process.ReadProcess(host.Local{}, id.PID); err == nil && strings.HasSuffix(p.Program, "sleep") {
				script, err := process.ReadProcess(host.Local{}, c.Process.Pid)
				if err != nil {
					t.Fatal(err)
				}
				return script, p
			}
		}
	}
	t.Fatal("the script has started nothing")
	return nil, nil
}

// TestInterruptedKeeper: an interrupt while it is not known whether the script starts the app
// again is no reason to start a second one.
func TestInterruptedKeeper(t *testing.T) {
	script, child := sleeper(t)
	spec := process.Spec{Path: child.Program, Args: child.Args, Dir: "/"}
	for _, known := range []bool{false, true} {
		_, r := overridden(t, t.TempDir(), spec)
		r.keeper = &keeper{id: script.ID(), says: script.Command(), known: known, keeps: known}
		held, err := process.Hold(t.Context(), nil, spec, [3]*os.File{})
		if err != nil {
			t.Fatal(err)
		}
		stopped := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopped)
		back, err := r.startedByKeeper(ctx, held, spec)
		if !back || err != nil && !errors.Is(err, stopped) || !known && (r.process() == nil || r.process().ID() != child.ID()) {
			t.Errorf("known %v: left to the script %v, %v; the process is %v", known, back, err, r.process())
		}
	}
}

// TestInterruptedCommands: an interrupt between the commands that stop and start an app does
// not leave it stopped, and one before them leaves it alone.
func TestInterruptedCommands(t *testing.T) {
	for name, commands := range map[string]target.Commands{
		"two": {Stop: "touch began; until [ -e go ]; do sleep 0.01; done", Start: "touch started"},
		"one": {Restart: "touch began; until [ -e go ]; do sleep 0.01; done; touch started"},
	} {
		dir := t.TempDir()
		s, r := overridden(t, t.TempDir(), process.Spec{})
		s.options.File.Path = filepath.Join(dir, target.Name)
		r.Commands = commands
		r.set(&process.Process{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			await(t, filepath.Join(dir, "began"))
			cancel()
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
				t.Error(err)
			}
		}()
		if err := s.byCommand(ctx, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "started")); err != nil {
			t.Errorf("%s: after an interrupt the app is not started: %v", name, err)
		}
		if err := os.Remove(filepath.Join(dir, "began")); err != nil {
			t.Error(err)
		}
		if err := s.byCommand(ctx, r); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "began")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a restart began after the interrupt: %v", name, err)
		}
	}
}

// TestForget: the end of a process is not that of the one that a restart has started meanwhile.
func TestForget(t *testing.T) {
	old, again := &process.Process{}, &process.Process{}
	old.PID, again.PID = 7, 8
	_, r := overridden(t, t.TempDir(), process.Spec{})
	for _, c := range []struct{ now, want *process.Process }{{old, nil}, {again, again}, {nil, nil}} {
		r.set(c.now)
		if r.forget(old); r.process() != c.want {
			t.Errorf("of %v there is %v", c.now, r.process())
		}
	}
}

// TestFailedBuildThere: a source that does not build leaves no folder behind on its machine.
func TestFailedBuildThere(t *testing.T) {
	dir := t.TempDir()
	fake := "#!/bin/sh\necho x > \"$4\"\necho \"$4\" > " + dir + "/out\nexit $FAKE_STATUS\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	for status, want := range map[string]error{"0": nil, "3": os.ErrNotExist} {
		c := exec.Command("sh", "-c", goBuildLine("./cmd/it's"))
		c.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "FAKE_STATUS=" + status}
		said, err := c.Output()
		if (err == nil) != (want == nil) {
			t.Errorf("status %s: %v", status, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		made := strings.TrimSpace(string(b))
		folder := filepath.Dir(made)
		if _, err := os.Stat(folder); !strings.HasPrefix(folder, "/tmp/iikanji-build-") || !errors.Is(err, want) && err != want {
			t.Errorf("status %s: folder %s, %v", status, folder, err)
		}
		if want == nil && (string(said) != made || os.RemoveAll(folder) != nil) {
			t.Errorf("it says %q, the program is %s", said, made)
		}
	}
}
