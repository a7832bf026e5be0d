package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A Progress redraws a few lines at the bottom of a terminal, below lines that stay.
// Where there is no terminal, it writes the lines that stay and, at most once in
// plainEvery, the first of the others, unless it is the same as before. Its methods
// may be called from any goroutine.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	tty   bool
	cols  func() int
	now   func() time.Time
	lines []string // as drawn
	last  time.Time
	plain string // the latest line without a terminal
}

// plainEvery is the interval of progress lines where there is no terminal.
const plainEvery = 10 * time.Second

// NewProgress returns a Progress that writes to w, usually standard error. cols
// returns the terminal's width; it is called before each drawing, because terminals
// are resized.
func NewProgress(w io.Writer, tty bool, cols func() int, now func() time.Time) *Progress {
	return &Progress{w: w, tty: tty, cols: cols, now: now}
}

// Status replaces the lines at the bottom by one.
func (p *Progress) Status(format string, args ...any) { p.Draw(fmt.Sprintf(format, args...)) }

// Draw replaces the lines at the bottom.
func (p *Progress) Draw(lines ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if !p.tty {
		if len(lines) > 0 && lines[0] != p.plain && now.Sub(p.last) >= plainEvery {
			p.last, p.plain = now, lines[0]
			fmt.Fprintln(p.w, Shorten(Clean(lines[0]), p.cols()))
		}
		return
	}
	if now.Sub(p.last) < 100*time.Millisecond && len(lines) == len(p.lines) {
		return
	}
	p.last = now
	p.write(p.clear() + p.put(lines))
}

// write writes a drawing in one call, so that it does not flicker. Errors are
// ignored: the terminal may be closed.
func (p *Progress) write(text string) { _, _ = io.WriteString(p.w, text) }

// put draws lines and leaves the cursor below them.
func (p *Progress) put(lines []string) string {
	var b strings.Builder
	cols := p.cols()
	p.lines = p.lines[:0]
	for _, line := range lines {
		line = Shorten(Clean(line), cols-1)
		p.lines = append(p.lines, line)
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Say writes a line that stays, above the others.
func (p *Progress) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	drawn := append([]string(nil), p.lines...)
	p.write(p.clear() + Clean(fmt.Sprintf(format, args...)) + "\n" + p.put(drawn))
}

// Done removes the lines at the bottom.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write(p.clear())
}

// clear moves up over the drawn lines and erases to the end of the screen. A line
// takes more than one row when the terminal has become narrower since.
func (p *Progress) clear() string {
	rows, cols := 0, max(p.cols(), 1)
	for _, line := range p.lines {
		rows += max(1, (Width(line)+cols-1)/cols)
	}
	p.lines = p.lines[:0]
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", rows)
}
