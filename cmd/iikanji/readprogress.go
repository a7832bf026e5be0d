package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/show/report"
)

// readingProgress shows the progress of log reading on a terminal after the
// first second. The reader adds the bytes read to done, which is nil without a
// terminal; stop ends the display.
func readingProgress(e *env, inputs []*lines.Input) (done *atomic.Int64, stop func()) {
	if !e.TTY {
		return nil, func() {}
	}
	var total int64
	for _, in := range inputs {
		total += max(in.Size()-in.Start(), 0)
	}
	done = new(atomic.Int64)
	p := report.NewProgress(e.Stderr, true, e.width, e.Now)
	began, quit, gone := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if took, n := time.Since(began), done.Load(); took > time.Second && n > 0 {
				p.Status("%s", readSoFar(took, n, total))
			}
		}
	}()
	return done, func() {
		close(quit)
		<-gone
		p.Done()
	}
}

// readSoFar returns a progress line; total is 0 if it is unknown.
func readSoFar(took time.Duration, done, total int64) string {
	s := fmt.Sprintf("read %v", iikanji.Bytes(done))
	if total > 0 {
		left := time.Duration(float64(took) * float64(max(total-done, 0)) / float64(done))
		s += fmt.Sprintf(" of %v, %v left", iikanji.Bytes(total), left.Round(time.Second))
	}
	return s
}
