package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A Live redraws a few lines at the bottom of a terminal, below lines that stay.
// Where there is no terminal, it writes the lines that stay and, at most once in
// plainEvery, the first of the others, unless it is the same as before. Its methods
// may be called from any goroutine.
type Live struct {
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

// NewLive returns a Live that writes to w, usually standard error. cols returns
// the terminal's width; it is called before each drawing, because terminals are
// resized.
func NewLive(w io.Writer, tty bool, cols func() int, now func() time.Time) *Live {
	return &Live{w: w, tty: tty, cols: cols, now: now}
}

// Draw replaces the lines at the bottom.
func (l *Live) Draw(lines ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !l.tty {
		if len(lines) > 0 && lines[0] != l.plain && now.Sub(l.last) >= plainEvery {
			l.last, l.plain = now, lines[0]
			fmt.Fprintln(l.w, Shorten(Clean(lines[0]), l.cols()))
		}
		return
	}
	if now.Sub(l.last) < 100*time.Millisecond && len(lines) == len(l.lines) {
		return
	}
	l.last = now
	l.write(l.clear() + l.put(lines))
}

// write writes a drawing in one call, so that it does not flicker. Errors are
// ignored: the terminal may be closed.
func (l *Live) write(text string) { _, _ = io.WriteString(l.w, text) }

// put draws lines and leaves the cursor below them.
func (l *Live) put(lines []string) string {
	var b strings.Builder
	cols := l.cols()
	l.lines = l.lines[:0]
	for _, line := range lines {
		line = Shorten(Clean(line), cols-1)
		l.lines = append(l.lines, line)
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Say writes a line that stays, above the others.
func (l *Live) Say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	drawn := append([]string(nil), l.lines...)
	l.write(l.clear() + Clean(fmt.Sprintf(format, args...)) + "\n" + l.put(drawn))
}

// Done removes the lines at the bottom.
func (l *Live) Done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(l.clear())
}

// clear moves up over the drawn lines and erases to the end of the screen. A line
// takes more than one row when the terminal has become narrower since.
func (l *Live) clear() string {
	rows, cols := 0, max(l.cols(), 1)
	for _, line := range l.lines {
		rows += max(1, (Width(line)+cols-1)/cols)
	}
	l.lines = l.lines[:0]
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", rows)
}
