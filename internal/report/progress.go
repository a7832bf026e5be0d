package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A Progress redraws one line on a terminal, and writes plain lines less often
// elsewhere. Its methods may be called from any goroutine.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	tty   bool
	cols  int
	now   func() time.Time
	last  time.Time
	drawn bool
	plain string // the latest line without a terminal
}

// NewProgress returns a Progress that writes to w, usually standard error.
func NewProgress(w io.Writer, tty bool, cols int, now func() time.Time) *Progress {
	return &Progress{w: w, tty: tty, cols: cols, now: now}
}

// Status replaces the progress line. Where there is no terminal, at most one line
// in plainEvery is written, and none that is the same as before.
func (p *Progress) Status(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if !p.tty && now.Sub(p.last) < plainEvery || p.tty && now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	line := Shorten(Clean(fmt.Sprintf(format, args...)), p.cols-1)
	if !p.tty && line == p.plain {
		return
	}
	p.last, p.plain = now, line
	if !p.tty {
		fmt.Fprintln(p.w, line)
		return
	}
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", max(p.cols-1-Width(line), 0)))
	p.drawn = true
}

// Say writes a line that stays.
func (p *Progress) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintln(p.w, Clean(fmt.Sprintf(format, args...)))
}

// Done removes the progress line.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *Progress) clear() {
	if p.drawn {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.cols-1))
		p.drawn = false
	}
}
