package goldrush

import (
	"context"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A match is one game of a run: a world, and a client that plays in it.
type match struct {
	*contest
	session scenario.Session
	seed    int64
	length  time.Duration
	share   float64   // of the run's score
	until   time.Time // when the part of the load ends

	report mine.Report
	scored int64 // points so far
}

// Limits of a client that floods the server: requests per second that are refused because of
// their rate (429), over the whole game and its first seconds. Refusals cost no ticks, but the
// server's real CPU; a client that asks for licences at their limit has a few dozen.
const (
	floodMost   = 500
	floodSpared = 2 * time.Second
)

// play begins a game, starts the client, and watches both until the bell.
func (m *match) play(ctx context.Context) error {
	limit := min(startTimeout, m.length/2)
	if err := m.control.begin(ctx, mine.Config{Seed: m.seed, Size: mine.Normal, Duration: m.length}); err != nil {
		return err
	}
	program, err := m.program()
	if err != nil {
		return err
	}
	env, err := gameEnv(m.session.URL(), m.length)
	if err != nil {
		return err
	}
	log, err := m.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	p, err := startPlayer(program, env, log)
	if err != nil {
		return wrong("client-command", "%v", err)
	}
	defer p.stop()
	if err := m.watch(ctx, p, limit); err != nil {
		return err
	}
	p.await(ctx, min(endGrace, time.Until(m.until)))
	return nil
}

// watch follows the game until its bell, the end of its client or the end of its time.
func (m *match) watch(ctx context.Context, p *player, limit time.Duration) error {
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		case <-p.done:
		}
		if err := m.read(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if m.report.Ended {
			return nil
		}
		if done, err := m.judge(p, limit); done || err != nil {
			return err
		}
		if time.Now().After(m.until) {
			m.session.Say("the game of seed %d was cut after %v: its first request came late", m.seed, m.report.Elapsed.Round(time.Millisecond))
			return nil
		}
	}
}

// read reads the report and adds what the client has earned to the score.
func (m *match) read(ctx context.Context) error {
	r, err := m.control.report(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	m.report = r
	points := int64(scorePerBound * m.share * float64(r.Balance) / bound(mine.BestDepth(m.seed), m.find, m.length))
	m.session.Add(eventShare, points-m.scored)
	m.scored = points
	return nil
}

// judge tests whether the client plays as it must. done is true if no more can come of it.
func (m *match) judge(p *player, limit time.Duration) (done bool, err error) {
	how, ended := p.ended()
	since := time.Since(p.began).Round(time.Millisecond)
	r := &m.report
	switch {
	case ended && how != "":
		return true, wrong("client-crash", "the client ended with %s after %v, before the bell; %s", how, since, p.output.lines())
	case ended && !r.Started:
		return true, wrong("client-start", "the client ended after %v and sent no request; %s", since, p.output.lines())
	case ended:
		m.session.Say("the client ended %v before the bell of seed %d", (m.length - r.Elapsed).Round(time.Millisecond), m.seed)
		return true, nil
	case !r.Started && since > limit:
		return true, wrong("client-start", "the client sent no request within %v: it must send its requests to ADDRESS and PORT of its environment; %s", limit, p.output.lines())
	}
	if refused := refusedOf(r); r.Elapsed > floodSpared && float64(refused) > floodMost*r.Elapsed.Seconds() {
		return true, wrong("client-flood", "the server refused %d requests in %v because there were too many (429): at most %d per second may be", refused, r.Elapsed.Round(time.Millisecond), floodMost)
	}
	return false, nil
}

// refusedOf counts the answers with status 429.
func refusedOf(r *mine.Report) (n int64) {
	for _, by := range r.Answers {
		n += by[429]
	}
	return n
}

// totals are what the games of a run show.
type totals struct {
	ticks                  mine.Ticks
	requests, refused      int64
	digs, treasures, count int
	played                 time.Duration
}

// add adds a game, and shows its result.
func (t *totals) add(m *match) {
	r := &m.report
	t.ticks.Used += r.Ticks.Used
	t.ticks.Wasted += r.Ticks.Wasted
	t.ticks.Idle += r.Ticks.Idle
	t.ticks.Late += r.Ticks.Late
	t.refused += refusedOf(r)
	t.treasures += r.Dug
	t.played += r.Elapsed
	t.count++
	for op, by := range r.Answers {
		for _, n := range by {
			t.requests += n
			if op == "dig" {
				t.digs += int(n)
			}
		}
	}
	best := mine.BestDepth(m.seed)
	limit := bound(best, m.find, m.length)
	name := fmt.Sprintf("seed %d (best level %d): ", m.seed, best)
	m.session.Gauge(name+"coins", "", float64(r.Balance))
	m.session.Gauge(name+"share of the bound", "%", 100*float64(r.Balance)/limit)
	if late := float64(r.Ticks.Late) / float64(max(r.Ticks.Offered(), 1)); late > lateMost {
		m.session.Gauge(name+"share of the bound of the ticks that the machine left", "%", 100*float64(r.Balance)/limit/(1-late))
	}
	m.session.Say("seed %d, best level %d: %d coins in %v, the bound is %.0f; licences: %d free, %d for %d coins", m.seed, best, r.Balance,
		r.Elapsed.Round(time.Millisecond), limit, r.Free, r.Paid, r.Spent)
}

// gauges shows the sums.
func (t *totals) gauges(s scenario.Session) {
	all := float64(max(t.ticks.Offered(), 1))
	s.Gauge("ticks used", "%", 100*float64(t.ticks.Used)/all)
	s.Gauge("ticks without a request", "%", 100*float64(t.ticks.Idle)/all)
	s.Gauge("ticks of requests that took too long", "%", 100*float64(t.ticks.Wasted)/all)
	s.Gauge("ticks lost by the machine", "%", 100*float64(t.ticks.Late)/all)
	s.Gauge("requests", "", float64(t.requests))
	s.Gauge("requests refused (429)", "", float64(t.refused))
	s.Gauge("treasures", "", float64(t.treasures))
	if late := float64(t.ticks.Late) / all; late > lateMost {
		s.Say("the machine was busy: the server could not offer %.1f %% of its ticks, so that the score is too low", 100*late)
	}
}

// lateMost is the share of ticks that a busy machine may lose without a note.
const lateMost = 0.01
