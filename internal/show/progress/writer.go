package progress

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// writesPerSecond limits the writes: the machine may be the measured one.
	writesPerSecond = 4
	maxLines        = 40
	maxGrowth       = 3600
)

// A Writer replaces the file of a State. Its methods may be called from any
// goroutine, and do nothing on a nil Writer.
type Writer struct {
	mu    sync.Mutex
	path  string
	now   func() time.Time
	state State
	last  time.Time // of the latest write
	err   error     // of the first write that failed; later ones are left out
}

// NewWriter returns a Writer for a history's folder and writes the first state.
func NewWriter(dir, command, target string, now func() time.Time) *Writer {
	at := now()
	w := &Writer{path: filepath.Join(dir, File), now: now, state: State{Version: Version, Command: command, Target: target, PID: os.Getpid(), Began: at}}
	w.write(at)
	return w
}

// Update changes the state. It writes the file unless it was written just before.
func (w *Writer) Update(change func(*State)) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.state)
	if n := len(w.state.Run.Growth); n > maxGrowth {
		w.state.Run.Growth = w.state.Run.Growth[n-maxGrowth:]
	}
	if at := w.now(); at.Sub(w.last) >= time.Second/writesPerSecond {
		w.write(at)
	}
}

// Say adds a message.
func (w *Writer) Say(text string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.now()
	w.state.Lines = append(w.state.Lines, Line{at, text})
	if n := len(w.state.Lines); n > maxLines {
		w.state.Lines = w.state.Lines[n-maxLines:]
	}
	w.write(at)
}

// End writes the last state. It returns the first error of all writes: the command
// itself does not depend on them.
func (w *Writer) End(result string) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.Ended, w.state.Result, w.state.Run = true, result, Run{}
	w.write(w.now())
	return w.err
}

// write replaces the file.
func (w *Writer) write(at time.Time) {
	if w.err != nil {
		return
	}
	w.last, w.state.At = at, at
	b, err := json.Marshal(&w.state)
	if err == nil {
		temporary := w.path + ".tmp"
		if err = os.WriteFile(temporary, append(b, '\n'), 0o600); err == nil {
			err = os.Rename(temporary, w.path)
		}
	}
	w.err = err
}
