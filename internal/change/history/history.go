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
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
)

// errNotWritable is returned by methods that write.
var errNotWritable = errors.New("the history is closed or open for reading only")

// A History is an open history folder. Its methods may be called from several
// goroutines.
type History struct {
	dir  string
	now  func() time.Time
	lock *os.File // nil for readers
	j    *journal // nil for readers and after Close

	known atomic.Pointer[roots] // nil for none

	closers []func() error // see OnClose

	mu      sync.Mutex
	events  []Event
	bad     []badLine // lines that are not events; while there are any, the stages of changes are uncertain
	torn    string    // first bytes of a torn last line that Open cut off
	lastSeq int64
	lastRun iikanji.RunID
	lastChg iikanji.ChangeID
}

// Open opens the history in dir for writing, and creates it if it is missing. It
// refuses a folder that is open for writing already.
func Open(dir string) (*History, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the history: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Dir(dir)), 0o755); err != nil { // shared with work folders of other sites
		return nil, spaceHint(fmt.Errorf("creating the history: %w", err))
	}
	for _, d := range []string{dir, filepath.Join(dir, runsDir), filepath.Join(dir, changesDir)} {
		if err := os.MkdirAll(d, ownFolder); err != nil {
			return nil, spaceHint(fmt.Errorf("creating the history: %w", err))
		}
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	rs, err := readRoots(dir)
	if err != nil {
		return nil, errors.Join(err, unlockDir(lock))
	}
	j, rd, err := openJournal(filepath.Join(dir, journalName), rs)
	if err != nil {
		return nil, errors.Join(err, unlockDir(lock))
	}
	h := &History{dir: dir, now: time.Now, lock: lock, j: j, torn: quote(rd.torn)}
	h.known.Store(&rs)
	if err := h.replay(rd); err != nil {
		h.Close()
		return nil, err
	}
	if err := h.sweep(); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// View opens the history in dir for reading. Another process may be writing it.
// Methods that write return an error.
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
	rs, err := readRoots(dir) // after the journal: a root is named before an event of it is written
	if err != nil {
		return nil, err
	}
	rd, err := readJournal(bytes.NewReader(data), rs)
	if err != nil {
		return nil, err
	}
	h := &History{dir: dir, now: time.Now}
	h.known.Store(&rs)
	return h, h.replay(rd)
}

const (
	journalName = "journal.jsonl"
	runsDir     = "runs"
	changesDir  = "changes"
)

// replay sets the state of h from a journal. New numbers continue from the largest
// one in the journal and in the names of folders.
func (h *History) replay(rd *journalData) error {
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

// sweep removes the temporary files of a killed writer.
func (h *History) sweep() error {
	left, err := filepath.Glob(filepath.Join(h.dir, "*", "*", ".*.tmp"))
	if err != nil {
		return nil // the folder's name is not a valid pattern: keep the files
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("removing temporary files of a killed writer: %w", err)
		}
	}
	return nil
}

// numbers lists the numbers of the numbered folders in dir, sorted by name.
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

// numbered returns the folder name of a run or change.
func numbered(n int) string { return fmt.Sprintf("%04d", n) }

// Dir returns the absolute path of the history folder.
func (h *History) Dir() string { return h.dir }

// Close releases the folder. Closing twice is allowed.
func (h *History) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return nil
	}
	err := h.j.f.Close()
	err = errors.Join(err, unlockDir(h.lock))
	h.lock, h.j = nil, nil
	for _, end := range h.closers {
		err = errors.Join(err, end())
	}
	if err != nil {
		return fmt.Errorf("closing the history: %w", err)
	}
	return nil
}

// OnClose has a function called once when a writer releases the folder, with what its
// command held besides.
func (h *History) OnClose(end func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closers = append(h.closers, end)
}

// Append writes one event and returns when it is on disk. It fills in Version,
// Seq and, if it is zero, At.
func (h *History) Append(e Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.append(e)
}

func (h *History) append(e Event) error {
	if h.j == nil {
		return fmt.Errorf("writing the journal: %w", errNotWritable)
	}
	e.Version, e.Seq = EventVersion, h.lastSeq+1
	if e.At.IsZero() {
		e.At = h.now()
	}
	line, err := e.line()
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	line = h.roots().encode(line, jsonForm, true)
	if len(line) > maxLine {
		return fmt.Errorf("writing the journal: an event of %d bytes is %w", len(line), errTooLong)
	}
	if err := h.j.append(line); err != nil {
		return err
	}
	// The event is kept as replaying the journal would read it.
	if e, err = parseEvent(h.roots().decode(line[:len(line)-1], jsonForm)); err != nil {
		panic("BUG: an event was written that cannot be read: " + err.Error())
	}
	h.events, h.lastSeq = append(h.events, e), e.Seq
	return nil
}

// Events lists all events, oldest first.
func (h *History) Events() []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Event(nil), h.events...)
}

// Warnings describes damage that was found in the journal.
func (h *History) Warnings() []string {
	var ws []string
	if h.torn != "" {
		ws = append(ws, fmt.Sprintf("the journal ended in the middle of a line, which was cut off: %q", h.torn))
	}
	for _, b := range h.bad {
		ws = append(ws, fmt.Sprintf("%s:%d: not an event (%s): %q", journalName, b.Line, b.Why, b.Text))
	}
	return ws
}
