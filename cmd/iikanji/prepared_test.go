package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/stack"
)

// A preparer brings each target up once and hands out copies of its work
// folder. Generating the data, installing the database and building the app
// take most of the time of a first start, above all with the race detector.
type preparer struct {
	mu   sync.Mutex
	root string            // holds the folders that are copied; "" before the first one
	done map[string]string // folder by the target's name
}

// prepared is shared by all tests of this process; TestMain removes its folder.
var prepared preparer

// folder returns a prepared work folder, which must not be used, only copied.
func (p *preparer) folder(t *testing.T, target string) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if dir, ok := p.done[target]; ok {
		return dir
	}
	if p.root == "" {
		root, err := os.MkdirTemp("", "iikanji-prepared-")
		if err != nil {
			t.Fatal(err)
		}
		p.root, p.done = root, map[string]string{}
		if err := os.Chmod(root, 0o755); err != nil { // the database's user must reach it
			t.Fatal(err)
		}
	}
	a, err := findArena(target)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(p.root, target)
	s, err := stack.Up(t.Context(), a, stack.Options{Dir: dir})
	if err != nil {
		t.Fatalf("preparing a work folder of %s: %v", target, err)
	}
	if err := s.Down(t.Context()); err != nil {
		t.Fatalf("preparing a work folder of %s: %v", target, err)
	}
	p.done[target] = dir
	return dir
}

// remove removes the folders that were prepared.
func (p *preparer) remove() {
	if p.root != "" {
		_ = os.RemoveAll(p.root) // a folder that is left in the temporary folder fails no test
	}
}

// preparedFolder returns a work folder of its own in which a target was up
// before. Modes, owners and times are those of the original: the stack compares
// the times with its manifest.
func preparedFolder(t *testing.T, target string) string {
	t.Helper()
	from, dir := prepared.folder(t, target), filepath.Join(workFolder(t), target)
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, dir).CombinedOutput(); err != nil {
		t.Fatalf("copying a prepared work folder: %v\n%s", err, out)
	}
	return dir
}
