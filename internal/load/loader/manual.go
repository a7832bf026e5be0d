package loader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/field"
)

// A Manual is a benchmarker that a person starts, somewhere else, and whose score
// is typed.
type Manual struct {
	Command // its command is not run
	In      io.Reader
	Ask     io.Writer
	// Quiet is how long the access log must not grow for the load to be over.
	Quiet time.Duration
}

var _ field.Loader = (*Manual)(nil)

// quietTime is the default of Manual.Quiet.
const quietTime = 5 * time.Second

// Load implements field.Loader.
func (m *Manual) Load(ctx context.Context, l field.Load) (*iikanji.Run, error) {
	run := newRun(m.Site)
	if l.CheckOnly {
		return m.check(ctx, run)
	}
	scores, err := m.allowed()
	if err != nil {
		return nil, err
	}
	if err := m.prepare(ctx, run); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprint(m.Ask, "run the benchmark now, then type its score (or: fail REASON): "); err != nil {
		return nil, err
	}
	p := &phases{onPhase: l.OnPhase, now: m.Now}
	run.Began = m.Now()
	line, err := m.wait(ctx, p)
	if err != nil {
		return nil, err
	}
	e := &ending{took: m.Now().Sub(run.Began)}
	m.typed(run, line)
	m.took(run, p, e)
	m.initialized(run)
	if run.Outcome == iikanji.Passed {
		run.Warnings = append(run.Warnings, doubts(append(scores, run.Score))...)
	}
	return run, nil
}

// typed fills in what was typed.
func (m *Manual) typed(run *iikanji.Run, line string) {
	run.Notes = append(run.Notes, "the score was typed")
	if reason, failed := strings.CutPrefix(line, "fail"); failed {
		run.Outcome, run.Reasons = iikanji.Failed, append(run.Reasons, oneLine("the benchmarker failed: "+strings.TrimSpace(reason)))
		return
	}
	score, _ := parseNumber(line) // wait accepts numbers only
	run.Outcome, run.Score, run.Raw = iikanji.Passed, score, score
}

// wait follows the access log until a score is typed.
func (m *Manual) wait(ctx context.Context, p *phases) (string, error) {
	lines := make(chan string)
	go func() { // ends with the input, or with the process
		defer close(lines)
		for in := bufio.NewScanner(m.In); in.Scan(); {
			select {
			case lines <- strings.TrimSpace(in.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	w := m.watch(p)
	defer w.close()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-tick.C:
			w.follow(m.Now())
		case line, ok := <-lines:
			if !ok {
				return "", errors.New("no score was typed")
			}
			if _, number := parseNumber(line); number || strings.HasPrefix(line, "fail") {
				w.follow(m.Now())
				p.end()
				return line, nil
			}
			if _, err := fmt.Fprint(m.Ask, "want a number, or fail REASON: "); err != nil {
				return "", err
			}
		}
	}
}

// A follower begins and ends the load by the growth of the access log.
type follower struct {
	p     *phases
	w     *logWatch // nil without a log
	quiet time.Duration
	grown time.Time
}

func (m *Manual) watch(p *phases) *follower {
	f := &follower{p: p, quiet: m.Quiet}
	if f.quiet == 0 {
		f.quiet = quietTime
	}
	if m.AccessLog != nil {
		f.w, _ = watchLog(m.machine(), m.AccessLog(), m.Now) // without a log the load lasts until the score is typed
	}
	if f.w == nil {
		p.begin()
	}
	return f
}

func (f *follower) follow(now time.Time) {
	if f.w == nil {
		return
	}
	if f.w.load() {
		f.p.begin()
		f.grown = now
	}
	if !f.grown.IsZero() && now.Sub(f.grown) > f.quiet {
		f.p.end()
	}
}

func (f *follower) close() {
	if f.w != nil {
		_ = f.w.file.Close()
	}
}
