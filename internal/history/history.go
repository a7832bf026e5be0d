package history

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
)

// A History is an open history folder. Its methods may be called from several
// goroutines.
type History struct {
	dir  string
	now  func() time.Time
	lock *os.File // nil for readers
	j    *journal // nil for readers and after Close

	mu      sync.Mutex
	events  []Event
	bad     []BadLine
	torn    string // what a writer cut off
	lastSeq int64
	lastRun iikanji.RunID
	lastChg iikanji.ChangeID
}

// Open opens the history in dir for writing, creating it where there is none.
// It refuses a folder that another process is writing.
func Open(dir string) (*History, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the history: %w", err)
	}
	for _, d := range []string{dir, filepath.Join(dir, runsDir), filepath.Join(dir, changesDir)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, spaceHint(fmt.Errorf("creating the history: %w", err))
		}
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	j, rd, err := openJournal(filepath.Join(dir, journalName))
	if err != nil {
		return nil, errors.Join(err, unlockDir(lock))
	}
	h := &History{dir: dir, now: time.Now, lock: lock, j: j, torn: quote(rd.torn)}
	if err := h.take(rd); err != nil {
		h.Close()
		return nil, err
	}
	if err := h.sweep(); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// View opens the history in dir for reading, while another process may be
// writing it. Methods that write fail.
func View(dir string) (*History, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the history: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &hintError{fmt.Errorf("there is no history in %s", dir), []string{"iikanji bench begins one"}}
	} else if err != nil {
		return nil, fmt.Errorf("opening the history: %w", err)
	}
	rd, err := readJournal(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	h := &History{dir: dir, now: time.Now}
	return h, h.take(rd)
}

const (
	journalName = "journal.jsonl"
	runsDir     = "runs"
	changesDir  = "changes"
)

// take makes a journal's reading the state of h. Numbers count on from the
// largest that either the journal or a folder's name has ever used.
func (h *History) take(rd *reading) error {
	h.events, h.bad = rd.events, rd.bad
	for _, e := range rd.events {
		h.lastSeq = max(h.lastSeq, e.Seq)
		h.lastRun, h.lastChg = max(h.lastRun, e.Run), max(h.lastChg, e.Change)
	}
	runs, err := numbers(filepath.Join(h.dir, runsDir))
	if err != nil {
		return err
	}
	changes, err := numbers(filepath.Join(h.dir, changesDir))
	if err != nil {
		return err
	}
	for _, n := range runs {
		h.lastRun = max(h.lastRun, iikanji.RunID(n))
	}
	for _, n := range changes {
		h.lastChg = max(h.lastChg, iikanji.ChangeID(n))
	}
	return nil
}

// sweep removes what a killed writer was about to rename.
func (h *History) sweep() error {
	left, err := filepath.Glob(filepath.Join(h.dir, "*", "*", ".*.tmp"))
	if err != nil {
		return nil // the folder's own name is no pattern: leave the litter
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("clearing up after a killed writer: %w", err)
		}
	}
	return nil
}

// numbers lists the numbered folders in dir, in order of their names' width and value.
func numbers(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	var ns []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && e.IsDir() && numbered(n) == e.Name() {
			ns = append(ns, n)
		}
	}
	return ns, nil
}

// numbered is the folder name of a run or change.
func numbered(n int) string { return fmt.Sprintf("%04d", n) }

// Dir is the absolute path of the history folder.
func (h *History) Dir() string { return h.dir }

// Close gives the folder back. Closing twice is allowed.
func (h *History) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return nil
	}
	err := h.j.f.Close()
	err = errors.Join(err, unlockDir(h.lock))
	h.lock, h.j = nil, nil
	if err != nil {
		return fmt.Errorf("closing the history: %w", err)
	}
	return nil
}

// Append writes one event and returns once it would survive a power cut.
// Version, Seq and, where it is zero, At are filled in.
func (h *History) Append(e Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.append(e)
}

func (h *History) append(e Event) error {
	if h.j == nil {
		return fmt.Errorf("writing the journal: the history is closed or open for reading only")
	}
	e.Version, e.Seq = EventVersion, h.lastSeq+1
	if e.At.IsZero() {
		e.At = h.now()
	}
	line, err := e.line()
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	if len(line) > maxLine {
		return fmt.Errorf("writing the journal: an event of %d bytes is %w", len(line), errTooLong)
	}
	if err := h.j.append(line); err != nil {
		return err
	}
	// What replay would read is what is remembered, not what was handed in.
	if e, err = parseEvent(line[:len(line)-1]); err != nil {
		panic("BUG: an event was written that cannot be read: " + err.Error())
	}
	h.events, h.lastSeq = append(h.events, e), e.Seq
	return nil
}

// Events lists what happened, oldest first.
func (h *History) Events() []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Event(nil), h.events...)
}

// Bad lists lines of the journal that are no events. A writer that finds some
// about a change must not trust what it believes of that change's stage.
func (h *History) Bad() []BadLine { return append([]BadLine(nil), h.bad...) }

// Warnings says in plain words what was wrong with the files.
func (h *History) Warnings() []string {
	var ws []string
	if h.torn != "" {
		ws = append(ws, fmt.Sprintf("the journal ended in the middle of a line, which was cut off: %q", h.torn))
	}
	for _, b := range h.bad {
		ws = append(ws, fmt.Sprintf("%s:%d: no event (%s): %q", journalName, b.Line, b.Why, b.Text))
	}
	return ws
}
