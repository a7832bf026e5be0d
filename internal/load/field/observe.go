package field

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A NoLoadError is an observed run that had no load to diagnose: a check failed
// before it.
type NoLoadError struct {
	Scenario string
	Reasons  []string
}

func (e *NoLoadError) Error() string {
	return "there was no load to diagnose: " + strings.Join(e.Reasons, "; ")
}

// Observe implements the Field of a search. The apps are restarted before and after the run,
// because the limit of slow statements is a setting of each connection.
func (f *Field) Observe(ctx context.Context, spec load.Spec) (d *diagnose.Diagnosis, known []iikanji.Fact, err error) {
	f.before()
	f.Subject.Deaths().setTrial(false)
	if err := f.revive(ctx); err != nil {
		return nil, nil, err
	}
	defer f.over()
	d, known, err = f.diagnose(ctx, Load{Time: spec.Load}, func() error { return f.pause(ctx, 0) }, observe.Watched{}, f.learn)
	if err != nil {
		return nil, nil, err
	}
	return d, known, f.restartApps(ctx)
}

// A sensing subject can turn on logs that the site lacks, for an observation.
type sensing interface {
	SensorsOn(ctx context.Context) (off func() error, err error)
}

// Diagnose makes one run with every sensor on and returns its diagnosis with the
// facts behind it. ready is called before the run, when the site is prepared; it may
// be nil. The settings of the databases are restored. Where the site keeps a slow log of
// its own, the apps that were restarted for the run are restarted once more, also after an
// interrupted run: their connections would log each of their statements there.
func (f *Field) Diagnose(ctx context.Context, l Load, ready func() error) (d *diagnose.Diagnosis, known []iikanji.Fact, err error) {
	f.reopened = false
	d, known, err = f.diagnose(ctx, l, ready, observe.Watched{}, f.learn)
	late := context.WithoutCancel(ctx)
	if !f.reopened || !f.logsSlowly(late) {
		return d, known, err
	}
	f.sayRestart("the connections of the run would fill the site's own slow log")
	return d, known, errors.Join(err, f.restartLate(late))
}

// logsSlowly reports whether a database of a site that runs already has a slow log of its own
// that is on, for slow statements only.
func (f *Field) logsSlowly(ctx context.Context) bool {
	if _, runs := f.Subject.(sensing); !runs {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askLogLimit)
	defer cancel()
	for _, s := range f.Subject.Target().WithEngine(iikanji.EngineMariaDB, iikanji.EngineMySQL) {
		db := f.Subject.Site().Services[s.Name].DB()
		if db == nil {
			continue
		}
		var on bool
		var output string
		var limit float64
		err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.slow_query_log, @@GLOBAL.log_output, @@GLOBAL.long_query_time").Scan(&on, &output, &limit)
		if err == nil && on && output != "NONE" && limit > 0 { // a server that does not answer logs nothing
			return true
		}
	}
	return false
}

// lateRestart limits the restart of one app after a run, which an interrupt does not end. It
// is long: an app whose restart is cut off may stay down.
const lateRestart = 5 * time.Minute

// askLogLimit limits the question whether a database logs.
const askLogLimit = 5 * time.Second

// Watch observes the traffic that the site has, and changes nothing but the logs
// that the Subject turns on. It restarts no service. The Loader must send no
// request. learn reads the data of the sensors; nil diagnoses and saves them.
func (f *Field) Watch(ctx context.Context, l Load, learn Learn) (d *diagnose.Diagnosis, known []iikanji.Fact, err error) {
	if learn == nil {
		learn = f.learn
	}
	return f.diagnose(ctx, l, nil, observe.Watched{Passive: true}, learn)
}

// A Learn reads what the sensors of a run saw.
type Learn func(ctx context.Context, o *observe.Observer, run *iikanji.Run) (*diagnose.Diagnosis, []iikanji.Fact, error)

func (f *Field) diagnose(ctx context.Context, l Load, ready func() error, w observe.Watched, learn Learn) (d *diagnose.Diagnosis, known []iikanji.Fact, err error) {
	if s, ok := f.Subject.(sensing); ok {
		off, refused := s.SensorsOn(ctx)
		if refused != nil {
			return nil, nil, fmt.Errorf("turning on logs: %w", refused)
		}
		defer func() { err = errors.Join(err, off()) }()
		w.Logged = true
	}
	w.Target, w.Groups, w.Now = f.Subject.Target(), f.Subject.Groups, f.Now
	if s, ok := f.Subject.(spread); ok {
		w.GroupsOn = s.GroupsOn
	}
	if w.Hosts, err = hostsOf(f.Subject.Site(), w.Target); err != nil {
		return nil, nil, err
	}
	w.Routes = f.routes(ctx)
	o, err := observe.Observe(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if !w.Passive {
		off, refused := f.profilersOn(ctx)
		if refused != nil {
			return nil, nil, refused
		}
		defer func() { err = errors.Join(err, off()) }()
		if !f.NoRestart {
			f.sayRestart("only later connections log every statement")
			f.reopened = true
			if err := f.restartApps(ctx); err != nil {
				return nil, nil, err
			}
		}
	}
	if ready != nil {
		if err := ready(); err != nil {
			return nil, nil, err
		}
	}
	l.Heads = true
	m, err := f.Run(ctx, Spec{Load: l, KeepSamples: !w.Passive, Around: profiled(ctx, f.profiles, o.Phase)})
	if err != nil {
		return nil, nil, err
	}
	m.Complete()
	if !w.Passive {
		o.Samples(m.Dir)
		m.Run.Warnings = append(m.Run.Warnings, "observed with every statement logged: do not compare the score with others")
	}
	if ctx.Err() != nil || m.Run.Took == 0 {
		return nil, nil, f.unobserved(ctx, m.Run)
	}
	if d, known, err = learn(ctx, o, m.Run); errors.Is(err, observe.ErrNoLoad) && len(m.Run.Reasons)+len(m.Run.Warnings) > 0 {
		return nil, nil, f.unobserved(ctx, m.Run) // an outside benchmarker that reached nothing has ended
	}
	return d, known, err
}

// hostsOf finds the hosts of a target's services. It is nil for a site that is on
// this machine and has no way of its own to reach it.
func hostsOf(site *change.Site, t iikanji.Target) (func(name string) host.Host, error) {
	hosts, far := map[string]host.Host{}, len(site.Hosts) > 0
	for _, s := range t.Services {
		h, err := site.On(s.Host)
		if err != nil {
			return nil, fmt.Errorf("finding the host of %s: %w", s.Name, err)
		}
		hosts[s.Host], far = h, far || s.Host != ""
	}
	for _, other := range t.Hosts {
		if h, err := site.On(other.Name); err == nil {
			hosts[other.Name], far = h, true
		}
	}
	if !far {
		return nil, nil
	}
	return func(name string) host.Host { return hosts[name] }, nil
}

// Complete adds the measurements of the surroundings to a single run.
func (m *Measured) Complete() {
	if m.boot > 0 {
		m.Run.Phases = append([]iikanji.PhaseStat{{Phase: "boot", Took: m.boot}}, m.Run.Phases...)
	}
	m.Guard.Results(m.Run)
	m.Run.Warnings = append(m.Run.Warnings, m.Guard.Doubts()...)
	fullDisk(m.Run)
}

// learn reads the data of the sensors and the facts, and saves both.
func (f *Field) learn(ctx context.Context, o *observe.Observer, run *iikanji.Run) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	f.say("reading the logs")
	ob, err := o.Finish(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	f.say("reading schema and plans from the database, and the configuration of nginx")
	known, err := o.Ask(ctx, ob)
	if err != nil {
		return nil, nil, err
	}
	f.say("reading the source of the apps")
	known = append(known, f.source(ctx, run, known)...)
	known = append(known, f.constants(ctx, run)...)
	known = append(known, f.ties(run)...)
	for _, p := range f.profiles {
		known = append(known, p.facts(run)...)
	}
	if err := observe.Keep(f.History, ob, known); err != nil {
		return nil, nil, err
	}
	d, err := diagnose.New(ob, known)
	return d, known, err
}

func (f *Field) say(line string) {
	if f.Say != nil {
		f.Say(line)
	}
}

// unobserved saves a run without a load to diagnose and returns the reason.
func (f *Field) unobserved(ctx context.Context, run *iikanji.Run) error {
	err := f.History.SaveRun(run)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, err)
	}
	if ctx.Err() != nil {
		return errors.Join(errors.New("interrupted: without a complete load phase there is nothing to diagnose"), err)
	}
	reasons := run.Reasons
	if len(reasons) == 0 {
		reasons = run.Warnings
	}
	return errors.Join(&NoLoadError{Scenario: run.Scenario, Reasons: reasons}, err)
}

// sayRestart says which apps of a site that runs already are restarted, before they are, and
// why. An arena was started for the run.
func (f *Field) sayRestart(why string) {
	if _, runs := f.Subject.(sensing); !runs {
		return
	}
	var names []string
	for _, s := range f.Subject.Target().WithRole(iikanji.RoleApp) {
		names = append(names, s.Name)
	}
	if len(names) > 0 {
		f.say(fmt.Sprintf("restarting %s: %s", strings.Join(names, ", "), why))
	}
}

// restartApps restarts the apps, so that they open new connections.
func (f *Field) restartApps(ctx context.Context) error {
	for _, s := range f.Subject.Target().WithRole(iikanji.RoleApp) {
		if err := f.restartApp(ctx, s.Name); err != nil {
			return err
		}
	}
	return nil
}

// restartLate is restartApps after a run: each app has its own time, and a failure of one
// leaves none out.
func (f *Field) restartLate(ctx context.Context) error {
	var errs []error
	for _, s := range f.Subject.Target().WithRole(iikanji.RoleApp) {
		limited, cancel := context.WithTimeout(ctx, lateRestart)
		errs = append(errs, f.restartApp(limited, s.Name))
		cancel()
	}
	return errors.Join(errs...)
}

// restartApp restarts an app. One that cannot be is left alone: its new connections are
// observed.
func (f *Field) restartApp(ctx context.Context, name string) error {
	err := f.Subject.Restart(ctx, name)
	if errors.Is(err, ErrNoRestart) {
		f.say(err.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("restarting %s: %w", name, err)
	}
	return nil
}
