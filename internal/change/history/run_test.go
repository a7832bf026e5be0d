package history

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

func open(t *testing.T, dir string) *History {
	t.Helper()
	h, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// TestRunComesBack: a run is the same after saving, closing and opening again,
// and its number is never used twice.
func TestRunComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	h := open(t, dir)
	id, folder, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	run := &iikanji.Run{ID: id, Scenario: "test", Outcome: iikanji.Passed, Score: 1234.5, Took: time.Minute,
		Began: time.Date(2026, 11, 21, 1, 2, 3, 4, time.UTC), Faults: []iikanji.Fault{{Kind: iikanji.FaultTimeout, Count: 3, Message: "遅い"}}}
	if err := h.SaveRun(run); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "run.json")); err != nil {
		t.Error(err)
	}
	lost, _, err := h.NewRun() // reserved and never saved
	if err != nil {
		t.Fatal(err)
	}
	h.Close()

	h = open(t, dir)
	got, err := h.LoadRun(id)
	if err != nil || !reflect.DeepEqual(got, run) {
		t.Errorf("came back as %+v, %v; want %+v", got, err, run)
	}
	if ids, err := h.Runs(); err != nil || !reflect.DeepEqual(ids, []iikanji.RunID{id}) {
		t.Errorf("runs %v, %v; want the saved one only", ids, err)
	}
	if next, _, err := h.NewRun(); err != nil || next != lost+1 {
		t.Errorf("next number %d, %v; want %d", next, err, lost+1)
	}
	var kinds []What
	for _, e := range h.Events() {
		kinds = append(kinds, e.What)
	}
	if want := []What{RunBegun, RunSaved, RunBegun, RunBegun}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("events %v, want %v", kinds, want)
	}
}

// TestSecondWriterIsRefused: a second writer is refused; a reader is not.
func TestSecondWriterIsRefused(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "is being written by") {
		t.Errorf("the second writer got %v", err)
	}
	if _, err := View(dir); err != nil {
		t.Errorf("a reader was refused: %v", err)
	}
}

// TestCloseReleasesTheLock, also while another copy of its descriptor is open,
// as in a child process between fork and exec.
func TestCloseReleasesTheLock(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	copied, err := syscall.Dup(int(h.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(copied)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	again.Close()
}

// TestTornLastLine: a line that was being written at a power cut is cut off with a
// warning; the lines before it are kept, and writing continues.
func TestTornLastLine(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	if _, _, err := h.NewRun(); err != nil {
		t.Fatal(err)
	}
	h.Close()
	path := filepath.Join(dir, journalName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < len(whole); cut += 7 {
		if err := os.WriteFile(path, append(append([]byte{}, whole...), whole[:cut]...), 0o644); err != nil {
			t.Fatal(err)
		}
		h := open(t, dir)
		if len(h.Events()) != 1 || len(h.Warnings()) != 1 {
			t.Errorf("cut at %d: %d events, warnings %v", cut, len(h.Events()), h.Warnings())
		}
		if err := h.Append(Event{What: Noted, Text: "after"}); err != nil {
			t.Error(err)
		}
		h.Close()
		v, err := View(dir)
		if err != nil || len(v.Events()) != 2 || v.Events()[1].Text != "after" {
			t.Errorf("cut at %d: after writing on: %v %v", cut, v.Events(), err)
		}
	}
}

// TestNewerVersionIsRefused: files of a newer version are errors.
func TestNewerVersionIsRefused(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	id, folder, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, runFile), []byte(`{"version": 99, "id": 1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := h.LoadRun(id); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("a newer run was read: %v", err)
	}
	h.Close()
	if err := os.WriteFile(filepath.Join(dir, journalName), []byte(`{"v":99,"seq":1,"what":"x"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("a newer journal was opened: %v", err)
	}
}

// FuzzJournal: reading never panics and accounts for every byte, and events that
// are read, written and read again are the same.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"v":1,"seq":1,"at":"2026-11-21T00:00:00Z","what":"note","text":"a"}` + "\n"))
	f.Add([]byte("\n\r\n{}\nnot json\n{\"v\":1"))
	f.Add([]byte(`{"v":1,"seq":2,"at":"2026-11-21T00:00:00Z","what":"stage","change":3,"stage":"applied"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rd, err := readJournal(strings.NewReader(string(data)), nil)
		if err != nil {
			return
		}
		if rd.whole+int64(len(rd.torn)) != int64(len(data)) {
			t.Fatalf("%d whole and %d torn bytes of %d", rd.whole, len(rd.torn), len(data))
		}
		var again strings.Builder
		for _, e := range rd.events {
			line, err := e.line()
			if err != nil {
				t.Fatalf("an event that was read cannot be written: %v", err)
			}
			again.Write(line)
		}
		back, err := readJournal(strings.NewReader(again.String()), nil)
		if err != nil || len(back.events) != len(rd.events) || len(back.bad) != 0 {
			t.Fatalf("reading again: %v\n%+v\n%+v", err, back, rd.events)
		}
		var third strings.Builder // compared as lines: a nil and an empty list have the same one
		for _, e := range back.events {
			line, err := e.line()
			if err != nil {
				t.Fatal(err)
			}
			third.Write(line)
		}
		if third.String() != again.String() {
			t.Fatalf("wrote\n%s\nthen\n%s", &again, &third)
		}
	})
}
