package main

import (
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/site/arenasite"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
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
	case r.target.byPortal() && r.Manual:
		return usageError("--manual is for sites whose benchmarker is a command; how = \"portal\" waits for a score anyway")
	case b.Command == "" && !r.target.byPortal() && !r.Manual && !r.NoLoad:
		return &exitError{Status: exitUsage, Err: fmt.Errorf("%s has no benchmarker", r.target.file.Path),
			Hints: []string{"fill in command below [bench], or use iikanji bench --manual"}}
	}
	if r.Pin == "auto" {
		r.Pin = "off" // iikanji starts neither the site nor the load generator on CPUs of its own
	}
	return nil
}

// defaultTuneTime is the default of tune's --time.
const defaultTuneTime = 15 * time.Minute

// fitSite adapts the length and the number of runs of a search to a site's
// benchmarker: its runs may be of one length only, and limited in number. The time
// limit is the flag's, or that of the file. The default is raised to the least time
// of a search; a given limit stays, and options refuses it if it is too short.
func (c *tuneCmd) fitSite(t *namedTarget) {
	if t.arena != nil {
		return
	}
	budget := time.Duration(t.file.Policy.Budget)
	if !c.timeGiven && c.Time == defaultTuneTime && budget > 0 {
		c.Time, c.timeGiven = budget, true
	}
	b := &t.file.Bench
	if (&loader.Command{Bench: *b}).Shortens() {
		return
	}
	c.Short, c.Full, c.Watch = b.RunLength(), b.RunLength(), b.RunLength()
	c.Pairs = min(c.Pairs, 2)
	for _, most := range []int{b.MaxRuns, b.RunsLeft} {
		if most > 0 && (c.Runs == 0 || c.Runs > most) {
			c.Runs = most
		}
	}
	if !c.timeGiven && c.Time == defaultTuneTime {
		least := search.Options{Short: c.Short, Full: c.Full, Watch: c.Watch, Pairs: c.Pairs}.LeastTime()
		if c.Time < least {
			c.Time = least.Truncate(time.Minute) + time.Minute
		}
	}
}

// AfterApply notes whether --time was given: a given limit is never raised.
func (c *tuneCmd) AfterApply(k *kong.Context) error {
	for _, p := range k.Path {
		if p.Flag != nil && p.Flag.Name == "time" {
			c.timeGiven = true
		}
	}
	return nil
}

// loaderOf returns the loader of a target: the scenario of an arena, or a site's
// benchmarker.
func (r *benchRun) loaderOf(s field.Subject, h *history.History) field.Loader {
	switch s := s.(type) {
	case *arenasite.Subject:
		return r.scenarioOf(s)
	case *livesite.Subject:
		return r.benchmarkerOf(s, h)
	}
	panic("BUG: a subject that is neither an arena nor a site")
}

// resets reports whether a run changes the site's data before its load.
func (r *benchRun) resets() bool {
	if r.target.file == nil {
		return false
	}
	how := r.target.file.Bench.Reset.How
	return how == target.ResetCommand || how == target.ResetSnapshot
}

// quietTime is how long a typed benchmark must send no request to be over.
const quietTime = 5 * time.Second

func (r *benchRun) benchmarkerOf(s *livesite.Subject, h *history.History) field.Loader {
	s.Journal(h)
	if r.target.byPortal() {
		return r.portalOf(s, h)
	}
	c := loader.Command{Site: s.File().Site, URL: s.URL(), Bench: s.File().Bench, AccessLog: s.AccessLog, Machine: s.Front(), Now: r.e.Now,
		Past: func() ([]float64, int, error) { return pastScores(h) }, Inits: func() ([]loader.Initialized, error) { return pastInits(h) }, Prepare: s.Prepare(), Parameters: s.File().Parameters}
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
		if run.Watched { // no run of the benchmarker
			continue
		}
		runs++
		if run.Outcome == iikanji.Passed {
			scores = append(scores, run.Score)
		}
	}
	return scores, runs, nil
}

// pastInits are the times of initialize of the runs of a history, the oldest first.
func pastInits(h *history.History) (out []loader.Initialized, err error) {
	ids, err := h.Runs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		run, err := h.LoadRun(id)
		if err != nil {
			continue // as in pastScores
		}
		for _, p := range run.Phases {
			if p.Phase == string(scenario.Initialize) && p.Took > 0 {
				out = append(out, loader.Initialized{Run: id, Took: p.Took})
			}
		}
	}
	return out, nil
}
