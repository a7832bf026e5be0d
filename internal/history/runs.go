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

// A RunEntry is one line of the list of runs, known from the journal without
// opening run.json.
type RunEntry struct {
	ID      iikanji.RunID
	Began   time.Time // when its number was reserved
	Saved   bool      // false: interrupted before there was a run.json
	Outcome iikanji.Outcome
	Score   float64
}

// RunList lists every number that was ever reserved, ascending, with the
// journal's last word on each. What the journal never heard of (killed between
// the file and the event) is known from its folder.
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
			continue // killed before there was a run.json, or even before the journal knew the number
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

// SaveFile writes one more file into a run's folder, as a whole. name is a
// plain file name.
func (h *History) SaveFile(id iikanji.RunID, name string, data []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.j == nil:
		return errors.New("saving a file: the history is closed or open for reading only")
	case id < 1 || id > h.lastRun:
		return fmt.Errorf("saving %s of run %d: no such number was reserved", name, id)
	case name != filepath.Base(name) || name == "." || name == ".." || name == runFile:
		return fmt.Errorf("saving %q of run %d: not a name for a further file", name, id)
	}
	return writeFile(filepath.Join(h.runDir(id), name), data)
}

// ReadFile reads a file that SaveFile wrote; a missing one is fs.ErrNotExist.
func (h *History) ReadFile(id iikanji.RunID, name string) ([]byte, error) {
	if name != filepath.Base(name) {
		return nil, fmt.Errorf("reading %q of run %d: %w", name, id, fs.ErrNotExist)
	}
	return os.ReadFile(filepath.Join(h.runDir(id), name))
}
