package stack

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTellSteps: each step of a loader's log is told once, and nothing else of it is.
func TestTellSteps(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, logDir), 0o755))
	var told []string
	s := &Stack{dir: folder{root: dir}, options: Options{Progress: func(line string) { told = append(told, line) }}}
	write := func(text string) { must(t, os.WriteFile(filepath.Join(dir, logDir, loadLog), []byte(text), 0o644)) }

	if n := s.tellNew(loadLog, 0); n != 0 || told != nil {
		t.Errorf("without a log %q was told", told)
	}
	write("warning: loading\nloading users\nloading \x1b[2J\nloading entr")
	n := s.tellNew(loadLog, 0)
	write("warning: loading\nloading users\nloading \x1b[2J\nloading entries\n")
	n = s.tellNew(loadLog, n)
	if want := []string{"loading users", "loading entries"}; n != 2 || !slices.Equal(told, want) {
		t.Errorf("%d steps: %q, want %q", n, told, want)
	}
	told = nil
	s.tellSteps(loadLog)()
	if !slices.Equal(told, []string{"loading users", "loading entries"}) {
		t.Errorf("at the end %q", told)
	}
}
