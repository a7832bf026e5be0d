package progress

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A clock moves only when it is told to.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestWriter(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a folder without a file: %v", err)
	}
	c := &clock{time.Unix(1000, 0).UTC()}
	w := NewWriter(dir, "tune", "toy", c.now)
	read := func() *State {
		t.Helper()
		s, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := read(); s.Command != "tune" || s.Target != "toy" || s.PID != os.Getpid() || !s.Running() {
		t.Errorf("first state %+v", s)
	}
	w.Update(func(s *State) { s.Pairs = 1 })
	if s := read(); s.Pairs != 0 {
		t.Error("two writes in one moment")
	}
	c.at = c.at.Add(300 * time.Millisecond)
	w.Update(func(s *State) { s.Runs = 2; s.Run.Growth = make([]float64, 5000) })
	if s := read(); s.Pairs != 1 || s.Runs != 2 || len(s.Run.Growth) != maxGrowth {
		t.Errorf("pairs %d, runs %d, %d seconds", s.Pairs, s.Runs, len(s.Run.Growth))
	}
	for i := range 100 {
		w.Say(fmt.Sprintf("line %d", i))
	}
	if s := read(); len(s.Lines) != maxLines || s.Lines[maxLines-1].Text != "line 99" {
		t.Errorf("%d lines", len(s.Lines))
	}
	if err := w.End("done"); err != nil {
		t.Fatal(err)
	}
	if s := read(); !s.Ended || s.Result != "done" || s.Running() || len(s.Run.Growth) != 0 {
		t.Errorf("last state %+v", s)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files %v, %v", left, err)
	}
}

// TestNotWritable: a folder that cannot be written ends in one error, and a nil
// Writer does nothing.
func TestNotWritable(t *testing.T) {
	w := NewWriter(filepath.Join(t.TempDir(), "missing"), "bench", "toy", time.Now)
	w.Say("x")
	if err := w.End(""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	var none *Writer
	none.Update(nil)
	none.Say("x")
	if err := none.End("x"); err != nil {
		t.Error(err)
	}
}

// TestDeadProcess: a state of a process that is gone does not run.
func TestDeadProcess(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if (&State{PID: cmd.Process.Pid}).Running() {
		t.Errorf("process %d has ended", cmd.Process.Pid)
	}
}

func TestNewerVersion(t *testing.T) {
	if _, err := parse([]byte(`{"version":2}`)); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("error %v", err)
	}
}

// FuzzParse: no file panics, and what is read is of this version.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"command":"tune","lines":[{"at":"2026-11-22T01:02:03Z","text":"x"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := parse(b); err == nil && s.Version != Version {
			t.Errorf("version %d was read", s.Version)
		}
	})
}
