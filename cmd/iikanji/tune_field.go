package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/observe"
	"github.com/iikanji/iikanji/internal/scenario"
	"github.com/iikanji/iikanji/internal/stack"
	"github.com/iikanji/iikanji/internal/tune"
)

// An arenaField is an arena's stack as the place where a tuner works.
type arenaField struct {
	*benchRun
	w    *worksite
	h    *history.History
	tick func(p bench.Progress) // told while a run goes on
	// noisy lets runs count that were disturbed from outside; they say so.
	noisy bool
	// ended is when the latest run was over.
	ended time.Time
}

var _ tune.Field = (*arenaField)(nil)

// scenario makes a benchmarker for one run: it holds what it knows of a run.
func (f *arenaField) scenario(noLoad bool) (scenario.Scenario, error) {
	sc, err := f.arena.Scenario(arena.Options{Data: f.w.stack.Data(), Clock: f.Clock, NoLoad: noLoad})
	if err != nil {
		return nil, fmt.Errorf("making the benchmarker of %s: %w", f.arena.Name, err)
	}
	return sc, nil
}

// rest is what lies between two runs, at least. A contest's lie minutes apart:
// an answer that may be a second old must not reach from one into the next,
// where initialize has made the data anew.
const rest = 2500 * time.Millisecond

// pause waits until the latest run is far enough away.
func (f *arenaField) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(rest - f.e.Now().Sub(f.ended)):
		return nil
	}
}

// Bench implements tune.Field.
func (f *arenaField) Bench(ctx context.Context, spec tune.BenchSpec) (*iikanji.Run, string, error) {
	if err := f.w.revive(ctx, f.w.stack); err != nil {
		return nil, "", err
	}
	f.w.spare(spec.Trial)
	if err := f.pause(ctx); err != nil {
		return nil, "", err
	}
	defer func() { f.ended = f.e.Now() }()
	sc, err := f.scenario(false)
	if err != nil {
		return nil, "", err
	}
	id, _, err := f.h.NewRun()
	if err != nil {
		return nil, "", err
	}
	run, void, err := f.measure(ctx, sc, spec)
	if err != nil {
		return nil, "", err
	}
	run.ID, run.State, run.Place = id, spec.State, f.pin.placement()
	if f.noisy {
		void = ""
		if run.Load.Void && run.Outcome == iikanji.Passed {
			run.Warnings = append(run.Warnings, run.Load.Why)
			run.Load.Void = false
		}
	}
	if died := f.w.deaths(); len(died) > 0 {
		run.Outcome, run.Score = iikanji.Failed, 0
		for _, d := range died {
			run.Reasons = append([]string{"while it ran: " + d.Error()}, run.Reasons...)
		}
		_ = f.w.revive(ctx, f.w.stack) // undoing may need it; if it only dies again, the next run tries once more
	}
	if err := f.h.SaveRun(run); err != nil {
		return nil, "", err
	}
	return run, void, nil
}

// measure loads the site once, with the guard around it and the database's
// counters read at both ends.
func (f *arenaField) measure(ctx context.Context, sc scenario.Scenario, spec tune.BenchSpec) (*iikanji.Run, string, error) {
	counts := &observe.Counter{DB: f.w.site.Services[stack.Database].DB}
	g := &observe.Guard{Now: f.e.Now, Groups: f.w.stack.Groups, Dir: f.Dir}
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	run, err := bench.Run(ctx, sc, bench.Options{URL: f.w.stack.Places().URL(), Seed: f.Seed, Load: spec.Load, CPUs: f.pin.generator,
		Progress: f.tick, OnPhase: func(p scenario.Phase, begins bool) {
			if begins && p == scenario.Load && spec.Ready != nil && !spec.Ready(ctx) {
				cut()
				return
			}
			if begins { // outside of what the guard looks at
				counts.Phase(p, begins)
			}
			g.Phase(p, begins)
			if !begins {
				counts.Phase(p, begins)
			}
		}})
	if err != nil {
		return nil, "", err
	}
	g.Mark(run)
	if run.Counts = counts.Counts(); counts.Err != nil {
		run.Warnings = append(run.Warnings, counts.Err.Error())
	}
	return run, g.Void, nil
}

// Observe implements tune.Field. The app is restarted before, since what is
// slow is a limit of each connection, and after, for the same reason.
func (f *arenaField) Observe(ctx context.Context, spec tune.BenchSpec) (d *observe.Diagnosis, known []iikanji.Fact, err error) {
	s := f.w.stack
	f.w.spare(false)
	if err := f.w.revive(ctx, s); err != nil {
		return nil, nil, err
	}
	o, err := observe.Observe(ctx, observe.Watched{Target: s.Target(), Schema: s.Places().DBName, Groups: s.Groups, Now: f.e.Now})
	if err != nil {
		return nil, nil, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, o.Close())
		}
	}()
	if err := s.Restart(ctx, stack.App); err != nil {
		return nil, nil, err
	}
	if err := f.pause(ctx); err != nil {
		return nil, nil, err
	}
	defer func() { f.ended = f.e.Now() }()
	f.Load = spec.Load
	if d, err = f.observed(ctx, f.h, s, o); err != nil {
		return nil, nil, err
	}
	closed = true
	if err := o.Close(); err != nil {
		return nil, nil, err
	}
	if _, known, err = observe.Recall(f.h, d.Run.ID); err != nil {
		return nil, nil, err
	}
	return d, known, s.Restart(ctx, stack.App)
}

// rehearsalWait is how long after its last write a database may take to have
// it on disk, by the setting that syncs once a second.
const rehearsalWait = 2 * time.Second

// early is how long the app may try to start without its database.
const early = 5 * time.Second

// Rehearse implements tune.Field: all services are killed at once, as by a
// power cut that spares the page cache; nginx comes first, the app before its
// database.
func (f *arenaField) Rehearse(ctx context.Context) (tune.Rehearsal, error) {
	r := tune.Rehearsal{Done: true}
	if err := f.w.revive(ctx, f.w.stack); err != nil {
		return r, err
	}
	select {
	case <-ctx.Done():
		return r, context.Cause(ctx)
	case <-time.After(rehearsalWait):
	}
	before, err := f.contents(ctx)
	if err != nil {
		return r, err
	}
	f.w.killing.Store(true)
	defer f.w.killing.Store(false)
	if err := f.killAll(ctx); err != nil {
		return r, err
	}
	var says []string
	if err := f.w.stack.Restart(ctx, stack.Nginx); err != nil {
		return r, fmt.Errorf("starting nginx first: %w", err)
	}
	alone, cancel := context.WithTimeout(ctx, early)
	err = f.w.stack.Restart(alone, stack.App)
	cancel()
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err != nil {
		says = append(says, "the app does not wait for its database and had to be started again: it needs a restart policy")
	}
	if err := f.w.stack.Restart(ctx, stack.Database); err != nil {
		return r, fmt.Errorf("starting the database after the app: %w", err)
	}
	if err != nil {
		if err := f.w.stack.Restart(ctx, stack.App); err != nil {
			return r, fmt.Errorf("starting the app again: %w", err)
		}
	}
	after, err := f.contents(ctx)
	if err != nil {
		return r, err
	}
	for table, sum := range before {
		if after[table] != sum {
			says = append(says, fmt.Sprintf("table %s is not what it was: %s rows before, %s after", table, sum, after[table]))
			r.Says = strings.Join(says, "; ")
			return r, nil
		}
	}
	return f.checksPass(ctx, r, append([]string{"all services were killed and came back in the worst order, with all data"}, says...))
}

// checksPass ends a rehearsal with the scenario's checks.
func (f *arenaField) checksPass(ctx context.Context, r tune.Rehearsal, says []string) (tune.Rehearsal, error) {
	fails, err := f.unloaded(ctx)
	if err != nil {
		return r, err
	}
	if r.OK = fails == ""; r.OK {
		fails = "the checks pass"
	}
	r.Says = strings.Join(append(says, fails), "; ")
	return r, nil
}

// unloaded runs the scenario without load: the site is made anew and its
// checks run. fails says why they do not pass, "" when they do.
func (f *arenaField) unloaded(ctx context.Context) (fails string, err error) {
	sc, err := f.scenario(true)
	if err != nil {
		return "", err
	}
	run, err := bench.Run(ctx, sc, bench.Options{URL: f.w.stack.Places().URL(), Seed: f.Seed, NoLoad: true, CPUs: f.pin.generator})
	if err == nil && run.Outcome != iikanji.Passed {
		fails = "the checks fail: " + strings.Join(run.Reasons, "; ")
	}
	return fails, err
}

// contents are the rows and checksum of every table.
func (f *arenaField) contents(ctx context.Context) (map[string]string, error) {
	db := f.w.site.Services[stack.Database].DB
	rows, err := db.QueryContext(ctx, "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
	if err != nil {
		return nil, fmt.Errorf("listing the tables: %w", err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, fmt.Errorf("listing the tables: %w", err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing the tables: %w", err)
	}
	sums := map[string]string{}
	for _, t := range tables {
		quoted := "`" + strings.ReplaceAll(t, "`", "``") + "`"
		var n int64
		var name string
		var sum *int64
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+quoted).Scan(&n); err != nil {
			return nil, fmt.Errorf("counting the rows of %s: %w", t, err)
		}
		if err := db.QueryRowContext(ctx, "CHECKSUM TABLE "+quoted).Scan(&name, &sum); err != nil {
			return nil, fmt.Errorf("reading the checksum of %s: %w", t, err)
		}
		sums[t] = strconv.FormatInt(n, 10)
		if sum != nil {
			sums[t] += fmt.Sprintf(" (checksum %d)", *sum)
		}
	}
	return sums, nil
}

// killAll ends every process of the stack's services without warning, and
// waits until they are gone.
func (f *arenaField) killAll(ctx context.Context) error {
	groups := f.w.stack.Groups()
	var pids []int
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		for _, pid := range groups[name] {
			pids = append(pids, append(childrenOf(pid), pid)...)
		}
	}
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("killing process %d of the stack: %w", pid, err)
		}
	}
	for len(f.w.stack.Groups()) > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// childrenOf lists the direct children of a process, by all of its threads.
func childrenOf(pid int) []int {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well formed
	var out []int
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(word); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}
