package report

import (
	"fmt"
	"io"
	"time"
)

// A Progress is a [Live] with one line. Its methods may be called from any goroutine.
type Progress struct{ live *Live }

// NewProgress returns a Progress that writes to w, usually standard error.
func NewProgress(w io.Writer, tty bool, cols int, now func() time.Time) *Progress {
	return &Progress{NewLive(w, tty, func() int { return cols }, now)}
}

// Status replaces the progress line. Where there is no terminal, at most one line
// in plainEvery is written.
func (p *Progress) Status(format string, args ...any) { p.live.Draw(fmt.Sprintf(format, args...)) }

// Say writes a line that stays.
func (p *Progress) Say(format string, args ...any) { p.live.Say(format, args...) }

// Done removes the progress line.
func (p *Progress) Done() { p.live.Done() }
