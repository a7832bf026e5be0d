package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
)

// A benchmarker is one kind of problem: how its child is started, and what it tells.
type benchmarker interface {
	// command is the child's program, arguments and environment. dir is a scratch folder.
	command(a *api.Assignment, dir string) (spec, error)
	// progress is the state of the run, or nil. reported is the end of what it has written to
	// its report descriptor.
	progress(reported []byte) *api.Progress
	// report is the result after the child's end.
	report(e ending) api.Report
}

// attempt makes one attempt: it confirms the job, runs its benchmarker, and delivers the
// result.
func (w *Worker) attempt(ctx context.Context, a *api.Assignment) {
	log := w.o.Log.With("job", a.Job, "attempt", a.Attempt)
	claimed := api.Claimed{Worker: w.id, Job: a.Job, Epoch: a.Epoch, Handle: a.Handle}
	var answer api.BeatAnswer
	if _, err := w.client.call(ctx, "beat", beatLimit, api.Beat{Claimed: claimed}, &answer); err != nil || answer.Do == api.Gone {
		log.Info("the job was given to another worker", "error", err)
		return
	}
	began := time.Now()
	report := api.Report{Outcome: iikanji.Interrupted, Reasons: []string{"stopped before its begin"}}
	if refused := w.refuse(ctx, a); answer.Do == api.Continue && refused != "" {
		report = api.Report{Outcome: iikanji.Interrupted, Refused: refused}
	} else if answer.Do == api.Continue {
		var err error
		if report, err = w.run(ctx, a, claimed); err != nil {
			log.Warn("the job could not be run", "error", err)
			report = api.Report{Outcome: iikanji.OutcomeUnknown, Error: err.Error()}
		}
		report.Differs = w.shadow(ctx, a, report.Outcome)
	}
	report.Seed, report.Took = a.Seed, time.Since(began)
	log.Info("run", "outcome", report.Outcome.String(), "score", report.Score)
	w.deliver(ctx, api.Finish{Claimed: claimed, Report: report})
}

// kindOf is the benchmarker of a problem. callback is where it takes connections of the hosts.
func (w *Worker) kindOf(a *api.Assignment, callback string) benchmarker {
	switch {
	case a.Problem.Arena != "":
		arena := arenaBench{program: w.o.Program, work: filepath.Join(w.o.Dir, "arenas", a.Problem.Arena), callback: callback}
		if w.confines(a) {
			return &confinedArena{arena} // which reaches the site alone: all generators are on this machine
		}
		arena.generators = w.o.Generators
		return &arena
	case a.Problem.Report == "isuxbench":
		return &framesBench{}
	}
	return &commandBench{callback: callback}
}

// run runs the benchmarker under its guard.
func (w *Worker) run(ctx context.Context, a *api.Assignment, claimed api.Claimed) (api.Report, error) {
	dir, err := os.MkdirTemp(w.o.Dir, "run-")
	if err != nil {
		return api.Report{}, fmt.Errorf("making a scratch folder: %w", err)
	}
	defer os.RemoveAll(dir)
	callback, release, err := w.callback(a)
	if err != nil {
		return api.Report{}, err
	}
	defer release()
	kind := w.kindOf(a, callback)
	s, err := kind.command(a, dir)
	if err != nil {
		return api.Report{}, err
	}
	s.Dir, s.Silent, s.Soft, s.Hard = dir, w.interval(silentStop), a.Problem.Timeout, a.Problem.Timeout+10*time.Second
	if err := w.confine(a, &s, callback); err != nil {
		return api.Report{}, err
	}
	held, err := hold(w.o.Program, w.lock, s, a.Log)
	if err != nil {
		return api.Report{}, err
	}
	e := w.watch(ctx, held, kind, claimed)
	report := kind.report(e)
	report.Log, report.Stderr = e.log, e.stderr
	switch {
	case e.why == whyTimeout:
		report.Outcome, report.Score = iikanji.Failed, 0
		report.Reasons = append(report.Reasons, fmt.Sprintf("the run took longer than %s", a.Problem.Timeout))
	case e.why != "":
		report = api.Report{Outcome: iikanji.Interrupted, Reasons: []string{e.why}}
	}
	return report, nil
}

// watch sends heartbeats while the child runs. Each answer of the portal lets the guard go
// on; without one for silentStop the guard ends the child by itself.
func (w *Worker) watch(ctx context.Context, h *held, kind benchmarker, claimed api.Claimed) ending {
	beats := time.NewTicker(w.interval(beatEvery))
	defer beats.Stop()
	answered := make(chan api.BeatAnswer, 1)
	asking, failed := false, make(chan struct{}, 1)
	ask := func() {
		asking = true
		beat := api.Beat{Claimed: claimed, Progress: kind.progress(h.reported())}
		sent := time.Now()
		go func() {
			var answer api.BeatAnswer
			if _, err := w.client.call(ctx, "beat", w.interval(beatLimit), beat, &answer); err != nil {
				pause(ctx, w.interval(retryEvery))
				failed <- struct{}{}
				return
			}
			h.alive(sent)
			answered <- answer
		}()
	}
	for {
		select {
		case e := <-h.ended:
			return e
		case <-beats.C:
			if !asking {
				ask()
			}
		case <-failed:
			ask()
		case answer := <-answered:
			asking = false
			switch answer.Do {
			case api.Stop:
				h.stop("stopped")
			case api.Gone:
				h.stop("the job was given to another worker")
			}
		case <-ctx.Done():
			h.stop("the worker was stopped")
			return <-h.ended
		}
	}
}
