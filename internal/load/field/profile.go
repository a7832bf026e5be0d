package field

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/goprofile"
)

// probeKind is the kind of the change that adds a probe for one observed run. It is
// reverted after the run, and by iikanji recover.
const probeKind = "sensor"

// A profiler profiles the CPU of one app during the load of an observed run.
type profiler struct {
	service, source, socket string
	session                 *goprofile.Session
	result                  goprofile.Result
	err                     error // why there is no profile
}

// profilersOn adds a probe to each Go app of this machine that has a source, if
// Profile is set: a change in the journal, which off undoes. An app whose source has no
// place for a probe is left out, with a line of progress. Probes that a killed process
// left are undone first.
func (f *Field) profilersOn(ctx context.Context) (off func() error, err error) {
	if !f.Profile {
		return func() error { return nil }, nil
	}
	x := &change.Executor{Hands: f.Subject.Site(), Journal: f.History, Policy: f.Subject.Site().Target.Policy}
	if err := f.revertProbes(ctx, x); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "iikanji-profile")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the sockets of profiles: %w", err)
	}
	off = func() error {
		f.profiles = nil
		return errors.Join(f.revertProbes(context.WithoutCancel(ctx), x), os.RemoveAll(dir))
	}
	if err := os.Chmod(dir, 0o777); err != nil { // the app may run as another user; the name is not known before
		return nil, errors.Join(fmt.Errorf("making a folder for the sockets of profiles: %w", err), off())
	}
	for i, s := range f.Subject.Target().WithEngine(iikanji.EngineGo) {
		if err := f.profiler(ctx, x, s.Name, filepath.Join(dir, fmt.Sprintf("%d.sock", i))); err != nil {
			return nil, errors.Join(fmt.Errorf("adding a CPU profile to %s: %w", s.Name, err), off())
		}
	}
	return off, nil
}

// profiler adds the probe of one app.
func (f *Field) profiler(ctx context.Context, x *change.Executor, service, socket string) error {
	svc := f.Subject.Site().Services[service]
	if svc.Source == "" || svc.Host != "" || !svc.Builds {
		return nil
	}
	source, err := filepath.EvalSymlinks(svc.Source)
	if err != nil {
		return err
	}
	path, body, err := goprofile.Probe(source, socket)
	if err != nil {
		f.say(err.Error())
		return nil
	}
	c := &iikanji.Change{Kind: probeKind, Target: service, Says: "profile the CPU of " + service + " for the observation", Risk: iikanji.RiskRestart}
	change.FromEdits(c, iikanji.Restart, change.Edit{Path: path, New: body})
	if err := f.History.AddChange(c, change.Diff(c)); err != nil {
		return err
	}
	if err := x.Apply(ctx, c.ID); err != nil {
		return err
	}
	f.profiles = append(f.profiles, &profiler{service: service, source: source, socket: socket})
	return nil
}

// revertProbes undoes the probes that are in the sources.
func (f *Field) revertProbes(ctx context.Context, x *change.Executor) error {
	all, err := f.History.Changes()
	if err != nil {
		return fmt.Errorf("looking for CPU profilers to undo: %w", err)
	}
	for _, c := range all {
		if c.Kind == probeKind && filepath.Base(c.Do[0].Place) == goprofile.FileName && c.Stage.May(iikanji.Reverting) {
			if err := x.Revert(ctx, c.ID, "the observed run is over"); err != nil {
				return err
			}
		}
	}
	return nil
}

// profiled calls next at the begin and end of a phase and profiles the apps during the
// load.
func profiled(ctx context.Context, all []*profiler, next func(scenario.Phase, bool)) func(scenario.Phase, bool) {
	return func(p scenario.Phase, begins bool) {
		if p == scenario.Load && begins {
			for _, pr := range all {
				pr.session, pr.err = goprofile.Begin(ctx, pr.socket)
			}
		}
		next(p, begins)
		if p == scenario.Load && !begins {
			for _, pr := range all {
				if pr.session != nil {
					pr.result, pr.err = pr.session.End()
				}
			}
		}
	}
}

// facts are the functions and packages of the profile, and the counters of the app's
// query cache.
func (p *profiler) facts(run *iikanji.Run) []iikanji.Fact {
	var functions []goprofile.Function
	if p.err == nil {
		functions, p.err = goprofile.Functions(p.result.Profile, p.source)
	}
	if p.err != nil {
		run.Warnings = append(run.Warnings, fmt.Sprintf("there is no CPU profile of %s: %s", p.service, p.err))
		return nil
	}
	var out []iikanji.Fact
	for _, fn := range functions {
		out = append(out, fact.TopicHot.Fact(p.service, fn.Name, fn.HotFunction, true))
	}
	if c := p.result.Cache; c != nil {
		out = append(out, fact.TopicQueryCache.Fact(p.service, "", *c, true))
	}
	return out
}
