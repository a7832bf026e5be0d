package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// phases calls OnPhase once at the begin and once at the end of the load. Its
// methods may be called from several goroutines.
type phases struct {
	onPhase func(scenario.Phase, bool)
	now     func() time.Time

	mu       sync.Mutex
	from, to time.Time
}

// begin begins the load, if it has not begun.
func (p *phases) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.from.IsZero() {
		return
	}
	if p.onPhase != nil {
		p.onPhase(scenario.Load, true)
	}
	p.from = p.now()
}

// end ends the load, if it has begun and not ended.
func (p *phases) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.from.IsZero() || !p.to.IsZero() {
		return
	}
	p.to = p.now()
	if p.onPhase != nil {
		p.onPhase(scenario.Load, false)
	}
}

// loading reports whether the load goes on, and since when.
func (p *phases) loading() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.from, !p.from.IsZero() && p.to.IsZero()
}

// window is when the load was; ok is false if it never began.
func (p *phases) window() (from, to time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.from, p.to, !p.from.IsZero() && !p.to.IsZero()
}

// marks arranges what begins and ends the load: lines of the output, the first
// request in the access log, or the start of the command.
func (c *Command) marks(ctx context.Context, beside *sync.WaitGroup, p *phases, proc *process) error {
	if c.Bench.LoadBegins != "" {
		begins, err := regexp.Compile(c.Bench.LoadBegins)
		if err != nil {
			return fmt.Errorf("load_begins: %w", err)
		}
		ends, err := regexp.Compile(c.Bench.LoadEnds)
		if err != nil {
			return fmt.Errorf("load_ends: %w", err)
		}
		proc.onLine = func(line []byte) {
			if _, loading := p.loading(); loading && c.Bench.LoadEnds != "" && ends.Match(line) {
				p.end()
			} else if begins.Match(line) {
				p.begin()
			}
		}
		return nil
	}
	path := ""
	if c.AccessLog != nil {
		path = c.AccessLog()
	}
	if path == "" {
		p.begin()
		return nil
	}
	w, err := watchLog(c.machine(), path, p.now)
	if err != nil {
		p.begin()
		return nil // the sensor of the log reports it
	}
	beside.Go(func() {
		defer w.file.Close()
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			if w.load() {
				p.begin()
				tick.Stop()
				return
			}
			select {
			case <-ctx.Done():
				tick.Stop()
				if w.load() { // a short load, in one flush of the log
					p.begin()
				}
				return
			case <-tick.C:
			}
		}
	})
	return nil
}

// A logWatch reads the lines that are appended to an access log.
type logWatch struct {
	file host.File
	at   int64 // what was read
	rest []byte
	made time.Time // when an initialize was logged last; zero before
	now  func() time.Time
}

// afterInitialize is how long after an initialize the load begins where no other
// request is logged. A web server logs a request when it has answered it, and the
// first answers of a slow site take a great part of the load.
const afterInitialize = 300 * time.Millisecond

// watchLog opens a log at its end. A log that does not exist yet is an error.
func watchLog(h host.Host, path string, now func() time.Time) (*logWatch, error) {
	f, err := h.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fs.ErrNotExist
		}
		return nil, fmt.Errorf("watching the access log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watching the access log: %w", err), f.Close())
	}
	return &logWatch{file: f, at: info.Size(), now: now}, nil
}

// load reports whether the load has begun: a request was logged that is not initialize,
// or initialize was logged some time ago.
func (w *logWatch) load() bool {
	buf := make([]byte, 64<<10)
	for {
		n, err := w.file.ReadAt(buf, w.at)
		w.at += int64(n)
		w.rest = append(w.rest, buf[:n]...)
		for {
			i := bytes.IndexByte(w.rest, '\n')
			if i < 0 {
				break
			}
			line := w.rest[:i]
			w.rest = w.rest[i+1:]
			if len(line) > 0 && !scenario.Resets(line) {
				w.made = time.Time{}
				return true
			}
			if len(line) > 0 { // the newest counts: there may be several
				w.made = w.now()
			}
		}
		if err != nil || n == 0 {
			over := !w.made.IsZero() && w.now().Sub(w.made) >= afterInitialize
			if over {
				w.made = time.Time{}
			}
			return over
		}
	}
}
