package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A Progress shows one line that is drawn over on a terminal, and plain lines
// at a calmer pace elsewhere. Its methods may be called from any goroutine.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	tty   bool
	cols  int
	now   func() time.Time
	last  time.Time
	drawn bool
}

// plainEvery is the pace of progress lines where they cannot be drawn over.
const plainEvery = 10 * time.Second

// NewProgress returns a Progress that writes to w, usually standard error.
func NewProgress(w io.Writer, tty bool, cols int, now func() time.Time) *Progress {
	return &Progress{w: w, tty: tty, cols: cols, now: now}
}

// Status replaces the progress line. Off a terminal only one line in 10 s is kept.
func (p *Progress) Status(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if !p.tty && now.Sub(p.last) < plainEvery || p.tty && now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last = now
	line := Shorten(Clean(fmt.Sprintf(format, args...)), p.cols-1)
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

// Done takes the progress line away.
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
