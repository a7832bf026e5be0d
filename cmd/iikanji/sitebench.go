package main

import (
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/field"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/site"
	"github.com/iikanji/iikanji/internal/target/live"
	"github.com/iikanji/iikanji/internal/target/loader"
)

// settings are the settings of an arena's benchmarker; a site has none.
func (t *namedTarget) settings() []arena.Setting {
	if t.arena == nil {
		return nil
	}
	return t.arena.Settings
}

// forSite refuses the flags that only an arena has.
func (r *benchRun) forSite() error {
	b := &r.target.file.Bench
	switch {
	case r.URL != "":
		return usageError("--url is for arenas; a site has url in its iikanji.toml")
	case r.Clock != 0 || len(r.Env) > 0 || len(r.Set) > 0 || len(r.Address) > 0:
		return usageError("--clock, --env, --set and --address are for arenas")
	case b.Command == "" && !r.Manual && !r.NoLoad:
		return hinted(usageError("%s has no benchmarker", r.target.file.Path), "fill in command below [bench], or use iikanji bench --manual")
	}
	if r.Pin == "auto" {
		r.Pin = "off" // iikanji starts neither the site nor the load generator on CPUs of its own
	}
	return nil
}

// loaderOf returns the loader of a target: the scenario of an arena, or a site's
// benchmarker.
func (r *benchRun) loaderOf(s field.Subject, h *history.History) field.Loader {
	switch s := s.(type) {
	case *site.Subject:
		return r.scenarioOf(s)
	case *live.Subject:
		return r.benchmarkerOf(s, h)
	}
	panic("BUG: a subject that is neither an arena nor a site")
}

// quietTime is how long a typed benchmark must send no request to be over.
const quietTime = 5 * time.Second

func (r *benchRun) benchmarkerOf(s *live.Subject, h *history.History) field.Loader {
	c := loader.Command{Site: s.File().Site, URL: s.URL(), Bench: s.File().Bench, AccessLog: s.AccessLog, Now: r.e.Now,
		Past: func() ([]float64, int, error) { return pastScores(h) }, Prepare: s.Prepare()}
	if r.Manual {
		return &loader.Manual{Command: c, In: r.e.Stdin, Ask: r.e.Stderr, Quiet: quietTime}
	}
	return &c
}

// pastScores are the scores of the runs of a history that passed, and the number
// of all runs that were loaded.
func pastScores(h *history.History) (scores []float64, runs int, err error) {
	ids, err := h.Runs()
	if err != nil {
		return nil, 0, err
	}
	for _, id := range ids {
		run, err := h.LoadRun(id)
		if err != nil {
			continue // the folder of a run that was not saved, such as the present one
		}
		runs++
		if run.Outcome == iikanji.Passed {
			scores = append(scores, run.Score)
		}
	}
	return scores, runs, nil
}
