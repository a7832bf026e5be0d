package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// searchesDir holds the record of each search that has ended, as 0001.json.
const searchesDir = "searches"

// AddSearch saves the record of a search under the next number, v as JSON.
func (h *History) AddSearch(v any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.j == nil {
		return fmt.Errorf("saving the record of the search: %w", errNotWritable)
	}
	dir := filepath.Join(h.dir, searchesDir)
	if err := os.MkdirAll(dir, ownFolder); err != nil {
		return spaceHint(fmt.Errorf("saving the record of the search: %w", err))
	}
	ns, err := h.SearchNumbers()
	if err != nil {
		return err
	}
	next := 1
	if len(ns) > 0 {
		next = ns[len(ns)-1] + 1
	}
	return h.writeJSON(filepath.Join(dir, numbered(next)+".json"), v)
}

// SearchNumbers lists the numbers of the saved searches, ascending.
func (h *History) SearchNumbers() ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(h.dir, searchesDir))
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	var ns []int
	for _, e := range entries {
		stem, is := strings.CutSuffix(e.Name(), ".json")
		if n, err := strconv.Atoi(stem); is && err == nil && n > 0 && numbered(n) == stem {
			ns = append(ns, n)
		}
	}
	return ns, nil
}

// ReadSearch reads the record of a search into v. newest is the newest version
// that the caller supports.
func (h *History) ReadSearch(n, newest int, v any) error {
	return h.readJSON(filepath.Join(h.dir, searchesDir, numbered(n)+".json"), 0, newest, v)
}
