package portalbench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A Portal is a benchmarker that a person starts elsewhere, and whose score a person gives.
type Portal struct {
	Site  string
	URL   string
	Bench target.Bench
	Host  host.Host // of the access log
	// AccessLog is the access log of the site's front; nil or "" for none: then the load
	// lasts from the request to press until the score is given.
	AccessLog func() string
	// Prepare makes the data of the site anew before a run; nil for nothing.
	Prepare func(ctx context.Context) error
	// Budget is what the portal still allows; nil for everything.
	Budget func() (Budget, error)
	Now    func() time.Time
	In     io.Reader // where scores are typed; its end leaves the score for later
	Ask    io.Writer
	Who    string
	// Patient waits for the score, however long: a search cannot go on without it.
	Patient bool
	Quiet   time.Duration // 0 for DefaultQuiet
	// Keep is called with a run as far as it is known: when its load begins and when it is
	// over, so that it is not lost if this process ends. nil keeps nothing.
	Keep func(run *iikanji.Run) error
	// Another is called with a load that began while the score was waited for. nil ignores it.
	Another func(l Load) error
	// Given reads what was given of a run elsewhere; nil for nowhere.
	Given func(id iikanji.RunID) ([]Given, error)
	// Add keeps what was typed; nil keeps nothing.
	Add func(id iikanji.RunID, g Given) error

	once  sync.Once
	lines chan string
}

var _ field.Loader = (*Portal)(nil)

// lookEvery is the time between two looks at the access log.
const lookEvery = 50 * time.Millisecond

// Load implements field.Loader.
func (p *Portal) Load(ctx context.Context, l field.Load) (*iikanji.Run, error) {
	if l.CheckOnly {
		return (&loader.Command{Site: p.Site, URL: p.URL, Bench: p.Bench, Prepare: p.Prepare, Now: p.Now}).Load(ctx, l)
	}
	if err := p.may(ctx); err != nil {
		return nil, err
	}
	run := p.newRun(l.Run)
	if p.Prepare != nil {
		began := p.Now()
		if err := p.Prepare(ctx); err != nil {
			return nil, fmt.Errorf("preparing the data before the run: %w", err)
		}
		run.Phases = append(run.Phases, iikanji.PhaseStat{Phase: "reset", Took: p.Now().Sub(began)})
	}
	s := &session{Portal: p, load: l, run: run, detector: Detector{Quiet: p.Quiet}}
	return s.make(ctx)
}

// may waits until a run may begin.
func (p *Portal) may(ctx context.Context) error {
	if p.Budget == nil {
		return nil
	}
	b, err := p.Budget()
	if err != nil {
		return err
	}
	if b.Limited && b.Left <= 0 {
		return &SpentError{p.Bench.RunsLeft}
	}
	if b.Limited {
		p.say("%d runs are left", b.Left)
	}
	return b.await(ctx, p.Now, func(line string) { p.say("%s", line) })
}

func (p *Portal) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Ask, format+"\n", args...) // a terminal that is gone gets no score either
}

func (p *Portal) newRun(id iikanji.RunID) *iikanji.Run {
	run := NewRun(p.Site, id)
	run.Who = p.Who
	return run
}

// NewRun is a run of a portal whose score is not given yet.
func NewRun(site string, id iikanji.RunID) *iikanji.Run {
	return &iikanji.Run{Version: iikanji.RunVersion, ID: id, Scenario: site, Outcome: iikanji.Pending, Points: []iikanji.PointStat{},
		Reasons: []string{pendingReason}, Steps: []iikanji.StepStat{}, Faults: []iikanji.Fault{}, Phases: []iikanji.PhaseStat{},
		Notes: []string{portalNote}, Place: iikanji.Placement{Cores: runtime.NumCPU(), Generator: "all", Stack: "all"}}
}

// typed are the lines that are typed. One reader lasts for all runs of a search.
func (p *Portal) typed() <-chan string {
	p.once.Do(func() {
		p.lines = make(chan string)
		in := p.In
		go func() { // ends with the input, or with the process
			defer close(p.lines)
			if in == nil {
				return
			}
			for sc := bufio.NewScanner(in); sc.Scan(); {
				p.lines <- strings.TrimSpace(sc.Text())
			}
		}()
	})
	return p.lines
}

// A session is one run of a portal.
type session struct {
	*Portal
	load     field.Load
	run      *iikanji.Run
	detector Detector
	log      *tail // nil without a log
	asked    time.Time
	begun    bool
	over     bool
	ended    bool // the input has ended
	asks     bool // the score was asked for
	early    *Given
	looked   time.Time
}

// make waits for the load and for the score.
func (s *session) make(ctx context.Context) (*iikanji.Run, error) {
	if s.AccessLog != nil && s.AccessLog() != "" {
		log, err := openTail(s.Host, s.AccessLog())
		if err != nil {
			return nil, err
		}
		s.log = log
		defer log.close()
	}
	s.asked = s.Now()
	s.run.Began = s.asked
	if s.log == nil {
		s.say("press now, and type the score when the run is over (or: fail REASON)")
		if err := s.begin(s.asked); err != nil {
			return nil, err
		}
	} else {
		s.say("press now: the load is seen in %s", s.log.path)
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for lines := s.typed(); ; {
		select {
		case <-ctx.Done():
			return s.stop(ctx)
		case line, ok := <-lines:
			if !ok {
				lines, s.ended = nil, true
			} else if done, err := s.line(line); done || err != nil {
				return s.run, err
			}
		case <-tick.C:
			if err := s.look(); err != nil {
				return nil, err
			}
		}
		if done, err := s.finished(); done || err != nil {
			return s.run, err
		}
	}
}

// stop ends a run that is waited for no longer. A load that was seen is kept.
func (s *session) stop(ctx context.Context) (*iikanji.Run, error) {
	if !s.begun {
		return nil, context.Cause(ctx)
	}
	if !s.over {
		s.run.Partial = true
		s.run.Warnings = append(s.run.Warnings, "iikanji was stopped before the load was over")
		if l, ok := s.detector.Stop(); ok {
			s.end(l)
		} else {
			s.end(Load{s.run.Began, s.Now()})
		}
	}
	if s.Patient {
		return nil, context.Cause(ctx)
	}
	return s.run, nil
}

// look reads the log.
func (s *session) look() error {
	now := s.Now()
	s.progress(now)
	if s.log == nil {
		return nil
	}
	b, err := s.log.read()
	if err != nil {
		return err
	}
	for _, l := range s.detector.See(now, b) {
		switch {
		case !s.begun:
			if err := s.begin(l.From); err != nil {
				return err
			}
		case !s.over:
			s.end(l)
			if err := s.keep(); err != nil {
				return err
			}
		case !l.To.IsZero():
			s.say("another load was seen, %s to %s", clockText(l.From), clockText(l.To))
			if s.Another != nil {
				if err := s.Another(l); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func clockText(t time.Time) string { return t.Local().Format("15:04:05") }

// progress reports how far the load is, twice per second.
func (s *session) progress(now time.Time) {
	if s.load.Progress == nil || s.over || now.Sub(s.looked) < 500*time.Millisecond {
		return
	}
	s.looked = now
	if !s.begun {
		return
	}
	gone := now.Sub(s.run.Began)
	s.load.Progress(bench.Progress{Phase: string(scenario.Load), Elapsed: gone, Left: max(0, s.Bench.RunLength()-gone)})
}

// begin notes the begin of the load.
func (s *session) begin(at time.Time) error {
	s.begun = true
	s.run.Phases = append(s.run.Phases, iikanji.PhaseStat{Phase: "wait", Took: max(0, at.Sub(s.asked))})
	s.run.Began = at
	if s.load.OnPhase != nil {
		s.load.OnPhase(scenario.Load, true)
	}
	if err := s.keep(); err != nil {
		return err
	}
	if s.log != nil {
		s.say("the load began at %s", clockText(at))
	}
	return nil
}

func (s *session) keep() error {
	if s.Keep == nil || s.run.ID == 0 {
		return nil
	}
	return s.Keep(s.run)
}

// end notes the end of the load.
func (s *session) end(l Load) {
	s.over = true
	s.run.Began, s.run.Took = l.From, max(0, l.To.Sub(l.From))
	s.run.Phases = append(s.run.Phases, iikanji.PhaseStat{Phase: string(scenario.Load), Took: s.run.Took})
	if s.load.OnPhase != nil {
		s.load.OnPhase(scenario.Load, false)
	}
}

// line takes a line that was typed. done: the run is complete.
func (s *session) line(text string) (done bool, err error) {
	g := Given{At: s.Now(), Who: s.Who, By: "terminal"}
	reason, failed := strings.CutPrefix(text, "fail")
	score, number := ParseScore(text)
	switch {
	case text == "" && s.over && !s.Patient:
		s.later()
		return true, nil
	case failed:
		if g.Fail = strings.TrimSpace(reason); g.Fail == "" {
			g.Fail = "no reason was given"
		}
	case number:
		g.Score = score
	case !s.over && s.log != nil:
		s.say("the load has not ended; then type its score (or: fail REASON)")
		return false, nil
	default:
		s.say("want a number, or fail REASON; Enter leaves it for later")
		return false, nil
	}
	if s.log == nil && !s.over {
		s.end(Load{s.run.Began, s.Now()})
		s.run.Warnings = append(s.run.Warnings, noLogWarning)
	}
	if !s.begun {
		s.say("no load was seen yet: press first; Ctrl-C ends this run")
		return false, nil
	}
	if !s.over {
		s.early = &g
		s.say("kept until the load is over")
		return false, nil
	}
	return s.take(g)
}

// take keeps what was given.
func (s *session) take(g Given) (bool, error) {
	if s.Add != nil && s.run.ID != 0 {
		if err := s.Add(s.run.ID, g); err != nil {
			return false, err
		}
	}
	apply(s.run, []Given{g})
	return true, nil
}

// finished looks whether a score was given elsewhere, and asks for it once.
func (s *session) finished() (bool, error) {
	if !s.over {
		if given, err := s.blindly(); !given || err != nil {
			return false, err
		}
	}
	if s.early != nil {
		return s.take(*s.early)
	}
	if s.Given != nil && s.run.ID != 0 {
		all, err := s.Given(s.run.ID)
		if err != nil {
			return false, err
		}
		if apply(s.run, all) {
			s.say("the score was given by %s", all[len(all)-1].Who)
			return true, nil
		}
	}
	if s.ended && !s.Patient {
		s.later()
		return true, nil
	}
	if !s.asks {
		s.asks = true
		how := "Enter leaves it for later"
		if s.Patient {
			how = "the command waits for it"
		}
		s.say("run %d: load from %s to %s (%s). Its score? (or: fail REASON; %s)", s.run.ID, clockText(s.run.Began),
			clockText(s.run.Began.Add(s.run.Took)), s.run.Took.Round(100*time.Millisecond), how)
	}
	return false, nil
}

// blindly ends the load of a site without an access log when its score was given elsewhere.
func (s *session) blindly() (given bool, err error) {
	if s.log != nil || !s.begun || s.Given == nil || s.run.ID == 0 {
		return false, nil
	}
	all, err := s.Given(s.run.ID)
	if err != nil || len(all) == 0 {
		return false, err
	}
	s.end(Load{s.run.Began, s.Now()})
	s.run.Warnings = append(s.run.Warnings, noLogWarning)
	return true, nil
}

// noLogWarning is the warning of a run whose load nothing has seen.
const noLogWarning = "the site has no access log: begin and end of the load are not known"

func (s *session) later() {
	s.say("run %d waits for its score: iikanji score 44034 --run %d gives it", s.run.ID, s.run.ID)
}
