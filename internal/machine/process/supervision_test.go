package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

func TestMain(m *testing.M) {
	MaybeKeep()
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
	end := &End{PID: p.PID, Started: p.Started, Signal: syscall.SIGTERM, Wait: 2 * time.Minute}
	pid, status, err := Replace(t.Context(), end, spec.WithEnv([]string{"WHO=second"}), files)
	if err != nil {
		t.Fatal(err)
	}
	if same(host.Local{}, p.PID, p.Started) {
		t.Error("the old process still runs")
	}
	waitFor(t, out, "started as first\nstarted as second")
	now, err := ReadProcess(host.Local{}, pid)
	if err != nil || now.Parent == os.Getpid() || now.Command() != p.Command() {
		t.Errorf("%+v, %v", now, err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case how := <-status:
		if how != "exit status 7" {
			t.Errorf("it ended with %q", how)
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
	h, err := Hold(t.Context(), End{PID: p.PID, Started: p.Started, Signal: syscall.SIGKILL}, spec.WithEnv([]string{"WHO=kept"}), files)
	if err != nil {
		t.Fatal(err)
	}
	if same(host.Local{}, p.PID, p.Started) {
		t.Error("the old process still runs")
	}
	if b, err := os.ReadFile(out); err != nil || strings.Contains(string(b), "kept") {
		t.Errorf("started before the word: %q, %v", b, err)
	}
	pid, _, err := h.started(t.Context()) // closes the pipe without a word, as the end of iikanji does
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, out, "started as kept")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
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
	if err := (End{PID: p.PID, Started: p.Started + 1, Signal: syscall.SIGKILL}).Do(); err != nil || !same(host.Local{}, p.PID, p.Started) {
		t.Errorf("a process that is another one was ended: %v", err)
	}
	if err := (End{PID: p.PID, Started: p.Started, Signal: syscall.SIGKILL}).Do(); err != nil {
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
	if err := (End{PID: family[0].PID, Started: family[0].Started, Signal: syscall.SIGTERM, Wait: 100 * time.Millisecond}).Do(); err != nil {
		t.Fatal(err)
	}
	for _, p := range family {
		if same(host.Local{}, p.PID, p.Started) {
			t.Errorf("%d (%s) still runs", p.PID, p.Command())
		}
	}
}
