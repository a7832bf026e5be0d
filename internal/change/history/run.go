package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji"
)

// runFile is the run itself; sensors put their files beside it.
const runFile = "run.json"

// NewRun reserves the next number and creates its folder, where raw files may be
// written before the run is saved. An existing folder (a copy, a merge) is never
// used.
func (h *History) NewRun() (iikanji.RunID, string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.j == nil {
		return 0, "", fmt.Errorf("reserving a run: %w", errNotWritable)
	}
	for {
		h.lastRun++
		dir := h.runDir(h.lastRun)
		switch err := os.Mkdir(dir, ownFolder); {
		case err == nil:
			return h.lastRun, dir, h.append(Event{What: RunBegun, Run: h.lastRun})
		case !errors.Is(err, fs.ErrExist):
			return 0, "", spaceHint(fmt.Errorf("reserving a run: %w", err))
		}
	}
}

func (h *History) runDir(id iikanji.RunID) string {
	return filepath.Join(h.dir, runsDir, numbered(int(id)))
}

// SaveRun writes the run.json of a number that NewRun reserved, then an event.
// Saving again replaces the file.
func (h *History) SaveRun(run *iikanji.Run) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.j == nil {
		return fmt.Errorf("saving a run: %w", errNotWritable)
	}
	if run.ID < 1 || run.ID > h.lastRun {
		return fmt.Errorf("saving run %d: no such number was reserved", run.ID)
	}
	run.Version = iikanji.RunVersion
	if err := h.writeJSON(filepath.Join(h.runDir(run.ID), runFile), run); err != nil {
		return err
	}
	return h.append(Event{What: RunSaved, Run: run.ID, Outcome: run.Outcome, Score: run.Score})
}

// Runs lists the numbers of the saved runs, ascending.
func (h *History) Runs() ([]iikanji.RunID, error) {
	all, err := numbers(filepath.Join(h.dir, runsDir))
	if err != nil {
		return nil, err
	}
	var ids []iikanji.RunID
	for _, n := range all {
		id := iikanji.RunID(n)
		if _, err := os.Stat(filepath.Join(h.runDir(id), runFile)); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// LoadRun reads one saved run.
func (h *History) LoadRun(id iikanji.RunID) (*iikanji.Run, error) {
	run := new(iikanji.Run)
	if err := h.readJSON(filepath.Join(h.runDir(id), runFile), 0, iikanji.RunVersion, run); err != nil {
		return nil, err
	}
	return run, nil
}
