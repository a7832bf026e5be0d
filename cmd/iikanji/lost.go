package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/day/notice"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
)

// lostFile has the machines of a site that the team was told are lost, with since when, in
// the work folder.
const lostFile = "machines-lost.json"

// A lostWatch tells a team once that a machine of its site is lost, and once that it is back.
type lostWatch struct {
	e      *env
	target *namedTarget
	path   string // of lostFile
	ctx    context.Context

	mu      sync.Mutex
	sending sync.WaitGroup
}

// watchLost makes the watch that sends notices of the lost machines of a site. Without receivers
// in its file it sends none.
func watchLost(ctx context.Context, e *env, t *namedTarget) *lostWatch {
	w := &lostWatch{e: e, target: t, ctx: ctx}
	if dir, err := t.defaultDir(); err == nil && len(t.file.Team.Notify) > 0 {
		w.path = filepath.Join(dir, lostFile)
	}
	return w
}

// changed notes that a machine is connected (nil), or lost, and why.
func (w *lostWatch) changed(name string, lost error) {
	if w.path == "" || w.target.expects(name) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	since := map[string]time.Time{}
	if text, err := os.ReadFile(w.path); err == nil {
		_ = json.Unmarshal(text, &since) // a damaged file says nothing of machines
	}
	n := notice.Notice{Kind: "host"}
	at, was := since[name]
	switch {
	case lost != nil && !was:
		since[name] = w.e.Now()
		n.Title, n.Lines = fmt.Sprintf("machine %s is lost", name), []string{lost.Error()}
	case lost == nil && was:
		delete(since, name)
		n.Title = fmt.Sprintf("machine %s is back after %s", name, report.Duration(w.e.Now().Sub(at).Round(time.Second)))
	default:
		return
	}
	text, err := json.Marshal(since)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(w.path), 0o700)
	}
	if err == nil {
		err = host.Local{}.Write(w.path, append(text, '\n'), 0o600)
	}
	if err != nil { // without it, the next command would tell the same again
		fmt.Fprintf(w.e.Stderr, "noting that %s: %s\n", n.Title, report.Clean(err.Error()))
	}
	w.sending.Go(func() { w.e.tell(w.ctx, w.target, n) })
}

// expect notes that machines go down because iikanji reboots them, or that they are back.
func (t *namedTarget) expect(names []string, down bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.expected == nil {
		t.expected = map[string]bool{}
	}
	for _, name := range names {
		t.expected[name] = down
	}
}

// expects reports whether a machine is down because iikanji reboots it.
func (t *namedTarget) expects(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.expected[name]
}
