package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

func TestMain(m *testing.M) {
	MaybeSupervise()
	os.Exit(m.Run())
}

// worker starts a shell that writes a line with its environment, and waits.
func worker(t *testing.T) (*Process, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command("/bin/sh", "-c", "echo started as $WHO; trap 'exit 7' TERM; while :; do sleep 0.05; done")
	cmd.Env, cmd.Stdout = []string{"WHO=first", "PATH=/usr/bin:/bin"}, f
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }()
	waitFor(t, out, "started as first")
	p, err := ReadProcess(host.Local{}, cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

func waitFor(t *testing.T, file, text string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		b, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(b), text) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no %q in %q, %v", text, b, err)
		}
	}
}

func TestReplace(t *testing.T) {
	p, out := worker(t)
	o, err := Found(p)
	if err != nil || len(o.Notes) > 0 || o.Way.Err != nil {
		t.Fatalf("%+v, %v", o, err)
	}
	defer o.Close()
	spec, files := o.Spec, o.Files
	end := &End{ID: p.ID(), Steps: []Step{{syscall.SIGTERM, 2 * time.Minute}}}
	child := replace(t, end, spec.WithEnv([]string{"WHO=second"}), files)
	if p.ID().Alive() {
		t.Error("the old process still runs")
	}
	waitFor(t, out, "started as first\nstarted as second")
	now, err := ReadProcess(host.Local{}, child.PID)
	if err != nil || now.Parent == os.Getpid() || now.Command() != p.Command() {
		t.Errorf("%+v, %v", now, err)
	}
	if err := syscall.Kill(child.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-child.Done:
		if child.Status != "exit status 7" {
			t.Errorf("it ended with %q", child.Status)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the end of the process is not reported")
	}
}

// TestHoldSurvives expects a process that was ended to be started when iikanji
// ends before it gives the word.
func TestHoldSurvives(t *testing.T) {
	p, out := worker(t)
	o, err := Found(p)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	spec, files := o.Spec, o.Files
	h, err := Hold(t.Context(), &End{ID: p.ID()}, spec.WithEnv([]string{"WHO=kept"}), files)
	if err != nil {
		t.Fatal(err)
	}
	if p.ID().Alive() {
		t.Error("the old process still runs")
	}
	if b, err := os.ReadFile(out); err != nil || strings.Contains(string(b), "kept") {
		t.Errorf("started before the word: %q, %v", b, err)
	}
	h.supervisor.release() // without a word, as the end of iikanji does
	waitFor(t, out, "started as kept")
	m, err := ReadMachine(host.Local{})
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for _, now := range m.Processes {
		if now.Command() == p.Command() && slices.Contains(m.Children(h.supervisor.cmd.Process.Pid), now) {
			pid = now.PID
		}
	}
	if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("process %d cannot be killed", pid)
	}
}

// TestEndLeavesOthers expects another process with a reused id to be left alone.
func TestEndLeavesOthers(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 60 & echo ready; while :; do sleep 0.05; done")
	ready, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }()
	if _, err := ready.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	p, err := ReadProcess(host.Local{}, cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := (End{ID: ID{p.PID, p.Started + 1}}).Do(t.Context()); err != nil || !p.ID().Alive() {
		t.Errorf("a process that is another one was ended: %v", err)
	}
	if err := (End{ID: p.ID()}).Do(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEndKillsDescendants(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 60 & echo ready; while :; do sleep 0.05; done")
	ready, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }()
	if _, err := ready.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	m, err := ReadMachine(host.Local{})
	if err != nil {
		t.Fatal(err)
	}
	family := m.Family(cmd.Process.Pid)
	if len(family) < 2 {
		t.Fatalf("a family of %d", len(family))
	}
	if err := (End{ID: family[0].ID(), Steps: []Step{{syscall.SIGTERM, 100 * time.Millisecond}}}).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, p := range family {
		if p.ID().Alive() {
			t.Errorf("%d (%s) still runs", p.PID, p.Command())
		}
	}
}

// TestLaunchInterrupted: a command that is interrupted while its supervisor starts ends.
func TestLaunchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files := [3]*os.File{os.Stdin, os.Stdout, os.Stderr}
	for range 5 { // a supervisor may be faster than the interruption is seen
		ended := make(chan error, 1)
		go func() {
			c, err := Launch(ctx, Options{Dir: "/", Outlives: true, Files: files})
			if err == nil {
				c.release()
			}
			ended <- err
		}()
		select {
		case err := <-ended:
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("it waits for a supervisor that has ended")
		}
	}
}
