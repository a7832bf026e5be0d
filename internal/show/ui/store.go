package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/summary"
)

// A store reads the history, and reads it again when its files changed.
type store struct {
	dir, target string
	mu          sync.Mutex
	mark        string
	history     *history.History
	summary     *summary.Summary
	byRun       map[int]*summary.Detail
}

// stamp differs between states of the history.
func (s *store) stamp() string {
	text := ""
	for _, name := range []string{"journal.jsonl", "tune.json", "searches"} {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			text += fmt.Sprintf("%s %d %d;", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return text
}

// refresh opens the history again if it changed. The caller holds the lock.
func (s *store) refresh() error {
	mark := s.stamp()
	if s.history != nil && mark == s.mark {
		return nil
	}
	h, err := history.View(s.dir)
	if err != nil {
		return err
	}
	s.mark, s.history, s.summary, s.byRun = mark, h, nil, map[int]*summary.Detail{}
	return nil
}

// open returns the history as it is now.
func (s *store) open() (*history.History, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.refresh()
	return s.history, err
}

// load returns the history with its summary. Neither may be changed.
func (s *store) load() (*history.History, *summary.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, nil, err
	}
	if s.summary == nil {
		sum, err := summary.Load(s.history, s.target)
		if err != nil {
			return nil, nil, err
		}
		redact.Document(sum)
		s.summary = sum
	}
	return s.history, s.summary, nil
}

// maxDetails bounds the runs that are kept in memory with their profiles.
const maxDetails = 16

// detail reads one run with its profiles. The error for a run that was not saved is
// fs.ErrNotExist.
func (s *store) detail(run int) (*summary.Detail, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	if d := s.byRun[run]; d != nil {
		return d, nil
	}
	d, err := summary.Of(s.history, runID(run))
	if err != nil {
		return nil, err
	}
	redact.Document(d)
	if len(s.byRun) >= maxDetails {
		clear(s.byRun)
	}
	s.byRun[run] = d
	return d, nil
}
