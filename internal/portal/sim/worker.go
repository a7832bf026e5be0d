package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

const (
	beatEvery = 8 * time.Second
	// guardStops is how long after the last answer of the portal the guard has ended the load.
	guardStops = 12*time.Second + 3*time.Second
)

// A worker is a simulated worker with one slot.
type worker struct {
	s     *simulation
	id    string
	boots int
	down  bool
	job   *api.Assignment
	began time.Time
	heard time.Time // the last answer of the portal
	fate  fate
	// alive is the number of the attempt: events of an earlier one do nothing.
	alive int
}

// A fate is what becomes of an attempt.
type fate int

const (
	well   fate = iota
	dies        // kill -9: the load ends at once, the worker comes back
	silent      // cut off: the guard ends the load; the result comes late
	void
	failing // the run cannot be made
)

func (s *simulation) addWorker(ctx context.Context, i int) error {
	w := &worker{s: s, id: fmt.Sprintf("w%d", i+1)}
	s.workers = append(s.workers, w)
	return w.boot(ctx)
}

func (w *worker) boot(ctx context.Context) error {
	w.boots++
	w.down = false
	if err := w.s.core.Register(ctx, api.Register{Worker: w.id, Name: w.id, Kinds: []string{"command"}, Slots: 1, Boot: fmt.Sprint(w.boots)}); err != nil {
		return err
	}
	return w.wait(ctx, 1)
}

func (w *worker) wait(ctx context.Context, slots int) error {
	return w.s.core.Waits(ctx, w.id, []string{"command"}, slots)
}

// take takes an offer, if there is one.
func (w *worker) take(ctx context.Context) error {
	s := w.s
	if err := w.wait(ctx, 1); err != nil { // the key expires
		return err
	}
	m, err := s.carry.Take(ctx, carry.Tasks, lead.TaskSubject("command"), 0)
	if err != nil || m == nil {
		return err
	}
	a, err := s.core.Claim(ctx, m.Data, w.id)
	if err != nil {
		return err
	}
	if err := m.Ack(ctx); err != nil || a == nil {
		return err
	}
	w.job, w.began, w.heard = a, s.now, s.now
	w.alive++
	if err := w.wait(ctx, 0); err != nil {
		return err
	}
	answer, err := s.core.Beat(ctx, api.Beat{Claimed: w.claimed()})
	if err != nil || answer.Do != api.Continue {
		return w.end(err)
	}
	return w.start(ctx)
}

func (w *worker) claimed() api.Claimed {
	return api.Claimed{Worker: w.id, Job: w.job.Job, Epoch: w.job.Epoch, Handle: w.job.Handle}
}

// end forgets the job.
func (w *worker) end(err error) error {
	w.job = nil
	w.alive++
	return err
}

// start begins the load and draws what becomes of it.
func (w *worker) start(ctx context.Context) error {
	s, n := w.s, w.alive
	note := s.jobs[w.job.Job]
	if !note.started {
		note.started = true
		wait := s.now.Sub(note.at)
		note.team.waits = append(note.team.waits, wait)
		if note.known && (wait > 5*time.Second || note.starts > 5*time.Second) {
			note.team.told = append(note.team.told, struct{ told, was time.Duration }{note.starts, wait})
		}
	}
	note.team.began(w.id, w.job.Job)
	// Most of a run is its load, whose length is fixed; initialize and checks differ.
	length := time.Duration(float64(s.o.Run) * (0.96 + 0.08*s.rng.Float64()))
	w.fate = well
	if s.o.Faults {
		switch x := s.rng.Float64(); {
		case x < 0.01:
			w.fate = dies
		case x < 0.02:
			w.fate = silent
		case x < 0.04:
			w.fate = void
		case x < 0.045:
			w.fate = failing
		}
	}
	when := length
	if w.fate == dies || w.fate == silent {
		when = time.Duration(s.rng.Float64() * float64(length))
	}
	s.after(when, func(ctx context.Context) error {
		if w.alive != n {
			return nil
		}
		return w.stop(ctx, note.team)
	})
	return w.beats(ctx, n, when)
}

// beats plans the heartbeats until the fate comes true.
func (w *worker) beats(_ context.Context, n int, until time.Duration) error {
	if until <= beatEvery {
		return nil
	}
	w.s.after(beatEvery, func(ctx context.Context) error {
		if w.alive != n {
			return nil
		}
		answer, err := w.s.core.Beat(ctx, api.Beat{Claimed: w.claimed()})
		if err != nil {
			return err
		}
		w.heard = w.s.now
		if answer.Do != api.Continue {
			w.s.problems = append(w.s.problems, fmt.Errorf("a heartbeat of %s was answered %s", w.job.Job, answer.Do))
		}
		return w.beats(ctx, n, until-beatEvery)
	})
	return nil
}

// stop is the end of an attempt by its fate.
func (w *worker) stop(ctx context.Context, t *team) error {
	s := w.s
	s.busy += s.now.Sub(w.began)
	f := api.Finish{Claimed: w.claimed(), Report: api.Report{Outcome: iikanji.Passed, Took: s.now.Sub(w.began)}}
	switch w.fate {
	case dies:
		delete(t.loads, w.id)
		s.report.Lost++
		w.down = true
		s.after(time.Duration(10+s.rng.IntN(120))*time.Second, w.boot)
		return w.end(nil)
	case silent:
		s.report.Lost++
		w.down = true
		s.after(w.heard.Add(guardStops).Sub(s.now), func(context.Context) error { delete(t.loads, w.id); return nil })
		f.Report.Score = 1 // a late result, which must not count
		s.after(2*time.Minute, func(ctx context.Context) error {
			answer, err := s.core.Finish(ctx, f)
			if err == nil && answer.Became != api.Superseded {
				s.problems = append(s.problems, fmt.Errorf("I3: a late result of %s was %s", f.Job, answer.Became))
			}
			s.report.Strays++
			return join(err, w.boot(ctx))
		})
		return w.end(nil)
	case void:
		f.Report.Outcome, f.Report.Reasons = iikanji.Void, []string{"the generator was the limit"}
		s.report.Voids++
	case failing:
		f.Report.Outcome, f.Report.Error = iikanji.OutcomeUnknown, "no such file"
	default:
		w.measure(t, &f.Report)
	}
	delete(t.loads, w.id)
	return w.finish(ctx, t, f)
}

func join(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// measure draws a score.
func (w *worker) measure(t *team, r *api.Report) {
	if w.s.rng.Float64() < 0.1 {
		r.Outcome, r.Reasons = iikanji.Failed, []string{"critical error"}
		return
	}
	t.score *= 1 + t.skill*w.s.rng.Float64()
	r.Score = float64(int(t.score * (0.98 + 0.04*w.s.rng.Float64())))
}

// finish sends the result, sometimes twice, and once in a while another one after it.
func (w *worker) finish(ctx context.Context, t *team, f api.Finish) error {
	s := w.s
	answer, err := s.core.Finish(ctx, f)
	if err != nil {
		return err
	}
	if answer.Became != api.Accepted {
		s.problems = append(s.problems, fmt.Errorf("the result of %s was %s", f.Job, answer.Became))
	}
	clean := f.Report.Outcome == iikanji.Passed || f.Report.Outcome == iikanji.Failed
	if s.o.Faults && clean && s.rng.Float64() < 0.05 {
		s.report.Twice++
		if again, err := s.core.Finish(ctx, f); err != nil || again.Became != api.Same {
			s.problems = append(s.problems, fmt.Errorf("I4: the same result of %s again was %s, %v", f.Job, again.Became, err))
		}
		f.Report.Score++
		f.Report.Reasons = append(f.Report.Reasons, "another one")
		if other, err := s.core.Finish(ctx, f); err != nil || other.Became != api.Conflict {
			s.problems = append(s.problems, fmt.Errorf("I4: another result of %s was %s, %v", f.Job, other.Became, err))
		}
		s.report.Strays++
	}
	w.job = nil
	w.alive++
	if clean {
		if err := t.ended(ctx); err != nil {
			return err
		}
	} else if err := s.goOn(ctx, f.Job, t); err != nil {
		return err
	}
	if err := w.wait(ctx, 1); err != nil {
		return err
	}
	return s.tick(ctx, false)
}
