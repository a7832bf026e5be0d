package history

import (
	"errors"
	"path/filepath"
)

// ledgerFile is where a tuner notes where it stands, beside the journal.
const ledgerFile = "tune.json"

// SaveLedger replaces the tuner's notes as a whole: v as JSON.
func (h *History) SaveLedger(v any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.j == nil {
		return errors.New("saving the tuner's notes: the history is closed or open for reading only")
	}
	return writeJSON(filepath.Join(h.dir, ledgerFile), v)
}

// ReadLedger reads them into v. newest is the version that the caller knows;
// notes that are not there are fs.ErrNotExist.
func (h *History) ReadLedger(newest int, v any) error {
	return readJSON(filepath.Join(h.dir, ledgerFile), newest, v)
}
