package history

import (
	"fmt"
	"path/filepath"
)

// ledgerFile holds the state of a tuning session.
const ledgerFile = "tune.json"

// SaveLedger saves the state of a tuning session, v as JSON. It replaces the file
// atomically.
func (h *History) SaveLedger(v any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.j == nil {
		return fmt.Errorf("saving the state of the tuning session: %w", errNotWritable)
	}
	return h.writeJSON(filepath.Join(h.dir, ledgerFile), v)
}

// ReadLedger reads the state of a tuning session into v. newest is the newest
// version that the caller supports. The error is fs.ErrNotExist if there is none.
func (h *History) ReadLedger(newest int, v any) error {
	return h.readJSON(filepath.Join(h.dir, ledgerFile), 0, newest, v)
}
