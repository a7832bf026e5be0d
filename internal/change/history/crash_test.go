package history

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestMain runs the test binary as the writer that tests kill or give a full disk.
func TestMain(m *testing.M) {
	if dir := os.Getenv("HISTORY_TEST_WRITER"); dir != "" {
		limit, _ := strconv.ParseUint(os.Getenv("HISTORY_TEST_LIMIT"), 10, 64)
		if err := writeOn(dir, limit); err != nil {
			fmt.Println("error:", err)
			var h interface{ Hints() []string }
			if errors.As(err, &h) {
				fmt.Println("hint:", h.Hints())
			}
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeOn saves runs and events until it is killed or, with a limit on the size of
// files (like a full disk, but possible without privileges), fails. It prints the
// number of each run when the run was acknowledged.
func writeOn(dir string, limit uint64) error {
	h, err := Open(dir)
	if err != nil {
		return err
	}
	if limit > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		lim := syscall.Rlimit{Cur: limit, Max: limit}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &lim); err != nil {
			return err
		}
	}
	for {
		id, _, err := h.NewRun()
		if err != nil {
			return err
		}
		run := &iikanji.Run{ID: id, Outcome: iikanji.Passed, Score: float64(id), Reasons: []string{strings.Repeat("x", 50*int(id))}}
		if err := h.SaveRun(run); err != nil {
			return err
		}
		fmt.Println(id)
	}
}

func writer(t *testing.T, dir string, limit int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HISTORY_TEST_WRITER="+dir, "HISTORY_TEST_LIMIT="+strconv.Itoa(limit))
	return cmd
}

// sound checks that the folder of a dead writer opens and holds every acknowledged
// run.
func sound(t *testing.T, dir string, acknowledged int) {
	t.Helper()
	h := open(t, dir)
	defer h.Close()
	if bad := h.bad; len(bad) > 0 {
		t.Fatalf("bad lines: %+v", bad)
	}
	list, err := h.RunList()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < acknowledged {
		t.Fatalf("%d runs, %d were acknowledged", len(list), acknowledged)
	}
	for _, r := range list[:acknowledged] {
		run, err := h.LoadRun(r.ID)
		if err != nil || !r.Saved || run.Score != float64(r.ID) || r.Score != run.Score {
			t.Fatalf("run %d came back as %+v, %v", r.ID, run, err)
		}
	}
	for i, e := range h.Events() {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
}

// TestKilledWriter: kill -9 at any instant loses nothing that was acknowledged,
// and the next writer continues in the same folder.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	acknowledged := 0
	for round := range 12 {
		cmd := writer(t, dir, 0)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Every second kill waits for the first run of its writer: on a busy machine
		// a writer may need longer than the time to begin.
		kill := func() { time.AfterFunc(time.Duration(30+7*round)*time.Millisecond, func() { cmd.Process.Kill() }) }
		begun := round%2 == 0
		if begun {
			kill()
		}
		for sc := bufio.NewScanner(out); sc.Scan(); {
			if n, err := strconv.Atoi(sc.Text()); err == nil {
				if acknowledged = n; !begun {
					begun = true
					kill()
				}
			} else {
				t.Fatalf("the writer printed %q", sc.Text())
			}
		}
		cmd.Wait()
		acknowledgedRuns := 0
		if v, err := View(dir); err == nil {
			list, _ := v.RunList()
			for _, r := range list {
				if r.Saved {
					acknowledgedRuns++
				}
			}
			if len(list) < acknowledged {
				t.Fatalf("round %d: %d runs in the list, %d acknowledged", round, len(list), acknowledged)
			}
		}
		h := open(t, dir) // the kernel released the lock
		if len(h.bad) > 0 {
			t.Fatalf("round %d: bad lines %+v", round, h.bad)
		}
		ids, err := h.Runs()
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if _, err := h.LoadRun(id); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if left, err := filepath.Glob(filepath.Join(dir, "runs", "*", ".*.tmp")); err != nil || len(left) > 0 {
			t.Fatalf("round %d: temporary files left: %v %v", round, left, err)
		}
		if len(ids) < acknowledgedRuns {
			t.Fatalf("round %d: %d saved runs, the journal has %d", round, len(ids), acknowledgedRuns)
		}
		h.Close()
	}
	if acknowledged == 0 {
		t.Fatal("no writer wrote a run: the test proves nothing")
	}
}

// TestFullDisk: on a full disk a writer fails with a hint and leaves whole files
// and whole lines, whatever the limit.
func TestFullDisk(t *testing.T) {
	for _, limit := range []int{700, 913, 1200, 1777, 2500} {
		dir := t.TempDir()
		out, err := writer(t, dir, limit).Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Fatalf("limit %d: %v\n%s", limit, err, out)
		}
		if !strings.Contains(string(out), "hint: [the disk is full") {
			t.Errorf("limit %d: no hint in %q", limit, out)
		}
		sound(t, dir, strings.Count(string(out), "\n")-2)
		left, err := filepath.Glob(filepath.Join(dir, "runs", "*", ".*.tmp"))
		if err != nil || len(left) > 0 {
			t.Errorf("limit %d: temporary files left: %v %v", limit, left, err)
		}
	}
}

// TestReplacedJournal: writing fails when another process replaced the journal.
func TestReplacedJournal(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	if err := h.Append(Event{What: Noted, Text: "one"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, journalName)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, old, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.Append(Event{What: Noted, Text: "two"}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
}

// TestBadLinesAreRecords: a damaged line in the middle is reported with its number,
// and all other lines are read.
func TestBadLinesAreRecords(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	for _, text := range []string{"one", "two", "three"} {
		if err := h.Append(Event{What: Noted, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	h.Close()
	path := filepath.Join(dir, journalName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.Replace(string(data), `"text":"two"`, "<<<<<<< \x1b[31m", 1))
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	h = open(t, dir)
	if bad := h.bad; len(bad) != 1 || bad[0].Line != 2 {
		t.Errorf("bad lines %+v", bad)
	}
	if len(h.Events()) != 2 || len(h.Warnings()) != 1 {
		t.Errorf("events %+v, warnings %q", h.Events(), h.Warnings())
	}
	if err := h.Append(Event{What: Noted, Text: "four"}); err != nil {
		t.Fatal(err)
	}
	if es := h.Events(); es[len(es)-1].Seq != 4 {
		t.Errorf("the next number is %d, want 4", es[len(es)-1].Seq)
	}
}

// TestSaveFileConfines: a sensor's file cannot leave its run's folder.
func TestSaveFileConfines(t *testing.T) {
	h := open(t, t.TempDir())
	id, _, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SaveFile(id, "access.tsv", []byte("a\tb\n")); err != nil {
		t.Error(err)
	}
	if got, err := h.ReadFile(id, "access.tsv"); err != nil || string(got) != "a\tb\n" {
		t.Errorf("read %q, %v", got, err)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", runFile} {
		if err := h.SaveFile(id, name, nil); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
	if err := h.SaveFile(id+1, "x", nil); err == nil {
		t.Error("a number that was never reserved was accepted")
	}
}
