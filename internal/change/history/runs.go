package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// A RunEntry is one line of the list of runs, read from the journal without
// opening run.json.
type RunEntry struct {
	ID      iikanji.RunID
	Began   time.Time // when its number was reserved
	Saved   bool      // false: interrupted before run.json was written
	Outcome iikanji.Outcome
	Score   float64
}

// RunList lists every reserved number, ascending, with the state of its last event.
// A run without an event (the process was killed between file and event) is read
// from its folder.
func (h *History) RunList() ([]RunEntry, error) {
	byID := map[iikanji.RunID]*RunEntry{}
	entry := func(id iikanji.RunID) *RunEntry {
		if byID[id] == nil {
			byID[id] = &RunEntry{ID: id}
		}
		return byID[id]
	}
	for _, e := range h.Events() {
		switch e.What {
		case RunBegun:
			entry(e.Run).Began = e.At
		case RunSaved:
			r := entry(e.Run)
			r.Saved, r.Outcome, r.Score = true, e.Outcome, e.Score
		}
	}
	folders, err := numbers(filepath.Join(h.dir, runsDir))
	if err != nil {
		return nil, err
	}
	for _, n := range folders {
		r := entry(iikanji.RunID(n))
		if r.Saved {
			continue
		}
		run, err := h.LoadRun(r.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue // killed before run.json was written, or before the event of the number
		} else if err != nil {
			return nil, err
		}
		r.Began, r.Saved, r.Outcome, r.Score = run.Began, true, run.Outcome, run.Score
	}
	list := make([]RunEntry, 0, len(byID))
	for _, r := range byID {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b RunEntry) int { return int(a.ID - b.ID) })
	return list, nil
}

// SaveFile writes a further file into a run's folder, atomically. name is a file
// name without folders.
func (h *History) SaveFile(id iikanji.RunID, name string, data []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.j == nil:
		return fmt.Errorf("saving a file: %w", errNotWritable)
	case id < 1 || id > h.lastRun:
		return fmt.Errorf("saving %s of run %d: no such number was reserved", name, id)
	case name != filepath.Base(name) || name == "." || name == ".." || name == runFile:
		return fmt.Errorf("saving %q of run %d: not a valid name for a further file", name, id)
	}
	if hasPaths(name) {
		data = h.roots().encode(data, jsonForm, true)
	}
	return writeFile(filepath.Join(h.runDir(id), name), data)
}

// ReadFile reads a file that SaveFile wrote, also if it was packed since. The error for
// a missing file is fs.ErrNotExist.
func (h *History) ReadFile(id iikanji.RunID, name string) ([]byte, error) {
	if name != filepath.Base(name) {
		return nil, fmt.Errorf("reading %q of run %d: %w", name, id, fs.ErrNotExist)
	}
	path := filepath.Join(h.runDir(id), name)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && IsRaw(name) {
		return readPacked(path + packedEnding)
	}
	if err == nil && hasPaths(name) {
		data = h.roots().decode(data, jsonForm)
	}
	return data, err
}

// hasPaths reports whether a file of a run may have paths; raw files have none.
func hasPaths(name string) bool { return isJSON(name) && !IsRaw(name) }
