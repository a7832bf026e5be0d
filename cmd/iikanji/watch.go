package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/hoststat"
	"github.com/iikanji/iikanji/internal/scenario"
)

// generator is the name of the load generator among the services.
const generator = "generator"

// A watch reads the host's counters where the load begins and where it ends,
// and says who used the CPU in between.
type watch struct {
	now      func() time.Time
	groups   map[string][]int
	from     *hoststat.Reading
	usage    []iikanji.Usage
	warnings []string

	every    time.Duration // between samples of the host; 0 for none
	recorder *hoststat.Recorder
	samples  []hoststat.Sample // valid after stop
}

// hostFile is the host's samples beside a run.
const hostFile = "host.tsv"

// newWatch watches the services of groups and this process, the generator.
// The stack's processes descend from this one: the nearest root wins.
func newWatch(now func() time.Time, groups map[string][]int) *watch {
	all := map[string][]int{generator: {os.Getpid()}}
	for name, pids := range groups {
		all[name] = pids
	}
	return &watch{now: now, groups: all}
}

// otherDoubt is the share of the machine from which programs that belong to
// neither side are named: they take what the stack or the generator needed.
const otherDoubt = 0.10

// stealDoubt is the share of stolen CPU time from which a run is doubted: it
// is the size of the effects that runs are compared for.
const stealDoubt = 0.02

// phase is called by the engine at the begin and end of each phase.
func (w *watch) phase(p scenario.Phase, begins bool) {
	if p != scenario.Load {
		return
	}
	if !begins {
		w.stop()
	}
	r, err := hoststat.Take(w.now(), w.groups)
	if err != nil {
		w.warnings = append(w.warnings, "who used the CPU is not known: "+err.Error())
		return
	}
	if begins {
		w.from = r
		w.start()
		return
	}
	if w.from == nil {
		return
	}
	w.judge(r)
}

// start begins to sample the host, where that was asked for.
func (w *watch) start() {
	if w.every == 0 {
		return
	}
	var services []hoststat.Service
	for _, name := range slices.Sorted(maps.Keys(w.groups)) {
		services = append(services, hoststat.Service{Name: name, PIDs: w.groups[name]})
	}
	var err error
	if w.recorder, err = hoststat.Record(w.now, w.every, func() []hoststat.Service { return services }); err != nil {
		w.warnings = append(w.warnings, "the host could not be sampled: "+err.Error())
	}
}

// stop ends the sampling; it may be called twice.
func (w *watch) stop() {
	if w.recorder == nil {
		return
	}
	var err error
	if w.samples, err = w.recorder.Stop(); err != nil {
		w.warnings = append(w.warnings, "the host was not sampled to the end: "+err.Error())
	}
	w.recorder = nil
}

// judge fills in the usage and doubts a run that was disturbed.
func (w *watch) judge(r *hoststat.Reading) {
	var steal float64
	w.usage, steal = hoststat.Between(w.from, r)
	if steal >= stealDoubt {
		w.warnings = append(w.warnings, fmt.Sprintf(
			"the hypervisor took %.1f %% of the CPU during the load (steal): compare only runs that were interleaved", 100*steal))
	}
	for _, u := range w.usage {
		if u.Who == hoststat.Other && u.Share >= otherDoubt {
			w.warnings = append(w.warnings, fmt.Sprintf(
				"programs that are no part of the run used %.0f %% of the machine's CPU during the load: repeat it on a quiet machine", 100*u.Share))
		}
	}
}
