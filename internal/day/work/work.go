// Package work is the companion of people who change a site by hand: it keeps the state of
// the site at the begin of each run, says by meaning what changed since the last state
// that was kept, compares scores without saying more than the runs show, and brings a
// state back as one change that can be undone.
//
//  1. work.go: the states of a history, and which of them is the kept one;
//  2. made.go: which changes of iikanji explain an edit;
//  3. compare.go: what a run shows against the kept state, score and costs;
//  4. back.go: the plan that leads to a former state;
//  5. prove.go: both states in turn, by the rule of the judge;
//  6. traffic.go: the requests of a run, from the access logs, after its load;
//  7. touched.go: files that several people have edited;
//  8. unread.go: what could not be read for the first time.
package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/snapshot"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
)

// A Day is the work on one site.
type Day struct {
	Site    *change.Site
	Store   *store.Store
	History *history.History
	Now     func() time.Time
	Who     string
	// Turn is who had the turn at a time, "" for nobody; nil if the log of turns cannot be read.
	Turn func(at time.Time) string
	// Folders are taken whole on each host; nil takes snapshot.Usual.
	Folders []string
}

// Folder is where the states of a history are: beside it, in a folder that is never
// committed.
func Folder(dir, hist string) string {
	if hist == filepath.Join(dir, "history") {
		return filepath.Join(dir, "work")
	}
	return hist + ".work"
}

// Look takes the state of all hosts as it is now.
func (d *Day) Look(ctx context.Context) (*state.State, error) {
	began := d.Now()
	s := &state.State{Version: state.Version, At: began, Who: d.Who}
	used, idle := d.hosts()
	for _, name := range append(used, idle...) {
		h, err := d.Site.On(name)
		if err != nil {
			return nil, fmt.Errorf("taking the state of the site: %w", err)
		}
		if _, err := h.Stat("/etc"); err != nil && slices.Contains(idle, name) {
			continue // a machine that the site does not use may be down
		}
		o := snapshot.Options{Host: h, Name: name, Folders: d.Folders, Services: d.services(name), Now: d.Now}
		taken, err := snapshot.Take(ctx, o, d.Store)
		if err != nil {
			return nil, err
		}
		s.Hosts = append(s.Hosts, taken)
	}
	s.Took = d.Now().Sub(began)
	return s, s.Fingerprinted()
}

// hosts are the hosts with services or with SQL files that initialize loads, this machine first,
// and the other ones: what is prepared on those counts from the first run that uses it.
func (d *Day) hosts() (used, idle []string) {
	for _, s := range d.Site.Target.Services {
		names := append([]string{s.Host}, s.Instances...)
		if svc := d.Site.Services[s.Name]; len(svc.Loads) > 0 {
			names = append(names, svc.LoadsOn)
		}
		for _, name := range names {
			if !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
	}
	if len(used) == 0 {
		used = []string{""}
	}
	slices.Sort(used)
	for name := range d.Site.Hosts {
		if name != "" && !slices.Contains(used, name) {
			idle = append(idle, name)
		}
	}
	slices.Sort(idle)
	return used, idle
}

// services are what a snapshot of a host asks for.
func (d *Day) services(on string) (all []snapshot.Service) {
	for _, s := range d.Site.Target.Services {
		svc := d.Site.Services[s.Name]
		var loads []string
		if svc.LoadsOn == on {
			loads = svc.Loads
		}
		switch {
		case s.Host == on:
		case slices.Contains(slices.Concat(s.Instances, s.Spare), on): // its source and its unit are known, its processes are not
			all = append(all, snapshot.Service{Name: s.Name, Role: s.Role, Engine: s.Engine, Source: svc.Source, Loads: loads, Unit: s.Unit})
			continue
		case len(loads) > 0: // it was here before it moved
			all = append(all, snapshot.Service{Name: s.Name, Role: s.Role, Engine: s.Engine, Loads: loads})
			continue
		default:
			continue
		}
		in := snapshot.Service{Name: s.Name, Role: s.Role, Engine: s.Engine, Config: svc.Config, DropIn: svc.DropIn, EnvFile: svc.EnvFile, ArgsFile: svc.ArgsFile,
			Source: svc.Source, Loads: loads, Files: svc.Files, Originals: svc.Originals, Schema: s.Schema, Unit: s.Unit, PIDs: s.PIDs, DB: svc.DB()}
		if pids, known := svc.Processes(); known && len(pids) > 0 {
			in.PIDs = pids
		}
		all = append(all, in)
	}
	return all
}

// Save keeps the state at the begin of a run.
func (d *Day) Save(s *state.State, run iikanji.RunID) error {
	s.Run = run
	return d.Store.SaveState(s)
}

// ErrNoState is the error of a history in which no run has a state yet.
var ErrNoState = errors.New("no run has a state yet")

// A Base is the state that edits are counted from.
type Base struct {
	*state.State
	Kept bool // somebody kept it; otherwise it is the first state that passed
	Runs []*iikanji.Run
}

// Base is the last state that was kept, else the first one whose run passed, else the
// first one.
func (d *Day) Base() (*Base, error) {
	runs, err := d.Store.Runs()
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, ErrNoState
	}
	for _, e := range slices.Backward(d.History.Events()) {
		if e.What == history.RunKept && slices.Contains(runs, e.Run) {
			return d.base(e.Run, true)
		}
	}
	for _, id := range runs {
		if r, err := d.History.LoadRun(id); err == nil && r.Clean() {
			if b, err := d.base(id, false); err != nil || len(b.Runs) > 0 { // else an observed run, or one of a search
				return b, err
			}
		}
	}
	return d.base(runs[0], false)
}

func (d *Day) base(run iikanji.RunID, kept bool) (*Base, error) {
	s, err := d.Store.LoadState(run)
	if err != nil {
		return nil, err
	}
	b := &Base{State: s, Kept: kept}
	b.Runs, err = d.runsOf(s.Fingerprint)
	return b, err
}

// StateOf is the state of a run, as if it were the kept one.
func (d *Day) StateOf(run iikanji.RunID) (*Base, error) { return d.base(run, false) }

// Benched reports whether a run is one of bench: its score is of the state that was kept at
// its begin. Of an observed run, or one of a search, the state is kept, too.
func (d *Day) Benched(r *iikanji.Run) bool {
	s, err := d.Store.LoadState(r.ID)
	return err == nil && s.Fingerprint == r.State
}

// loaded reports whether a run is one of the benchmarker.
func loaded(r *iikanji.Run) bool { return !r.Watched && r.Outcome != iikanji.OutcomeUnknown }

// mostRuns is how many of the latest runs are read: a search makes hundreds.
const mostRuns = 400

// Runs are the saved runs of the benchmarker whose state is known, in order: those of bench
// and of searches.
func (d *Day) Runs() ([]*iikanji.Run, error) {
	ids, err := d.History.Runs()
	if err != nil {
		return nil, err
	}
	var all []*iikanji.Run
	for _, id := range ids[max(0, len(ids)-mostRuns):] {
		r, err := d.History.LoadRun(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the run was not saved
		} else if err != nil {
			return nil, err
		}
		if loaded(r) && r.State != "" {
			all = append(all, r)
		}
	}
	return all, nil
}

// runsOf are the runs of one state.
func (d *Day) runsOf(state iikanji.Fingerprint) (all []*iikanji.Run, err error) {
	runs, err := d.Runs()
	for _, r := range runs {
		if r.State == state {
			all = append(all, r)
		}
	}
	return all, err
}

// Keep records that people go on from the state of a run; 0 is the latest run with one.
func (d *Day) Keep(run iikanji.RunID, why string) (iikanji.RunID, error) {
	runs, err := d.Store.Runs()
	if err != nil {
		return 0, err
	}
	if len(runs) == 0 {
		return 0, ErrNoState
	}
	if run == 0 {
		run = runs[len(runs)-1]
	}
	if !slices.Contains(runs, run) {
		return run, fmt.Errorf("run %d has no state: it was made before states were kept, or was interrupted", run)
	}
	return run, d.History.Append(history.Event{What: history.RunKept, Run: run, Text: signed(d.Who, why)})
}

// Note adds a note to a run; 0 is the whole history.
func (d *Day) Note(run iikanji.RunID, text string) error {
	return d.History.Append(history.Event{What: history.Noted, Run: run, Text: signed(d.Who, text)})
}

// signed is a text with the name of its author.
func signed(who, text string) string {
	switch {
	case who == "":
		return text
	case text == "":
		return "by " + who
	}
	return who + ": " + text
}

// Edits lists what differs between two states, with the changes of iikanji that explain it.
func (d *Day) Edits(base, now *state.State) ([]difference.Edit, error) {
	made, err := d.made(base)
	if err != nil {
		return nil, err
	}
	last, err := d.lastBefore(base, now)
	if err != nil {
		return nil, err
	}
	edits := difference.Between(difference.Input{Base: base, Now: now, Last: last, Text: d.Store.Get, Keyed: d.Store.Keyed, Made: made})
	if err := d.builds(base, edits); err != nil {
		return nil, err
	}
	return edits, d.touched(base, now, edits, made)
}

// lastBefore is the state at the begin of the latest run after base and before now that
// was loaded, and so has run initialize; nil for none.
func (d *Day) lastBefore(base, now *state.State) (*state.State, error) {
	runs, err := d.Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		if now.Run > 0 && r.ID >= now.Run || r.ID < base.Run {
			continue
		}
		if r.Took == 0 {
			continue // it ended before its load
		}
		s, err := d.Store.LoadState(r.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a run of a search
		}
		return s, err
	}
	return nil, nil
}

// ByHand are the edits that no change of iikanji explains.
func ByHand(edits []difference.Edit) []difference.Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e difference.Edit) bool { return !e.ByHand })
}
