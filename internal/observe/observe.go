package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/hoststat"
	"github.com/iikanji/iikanji/internal/scenario"
)

// askLimit bounds the time of one question to a service.
const askLimit = 5 * time.Second

// Watched is what an [Observer] observes.
type Watched struct {
	Target iikanji.Target
	Schema string // of databases whose Service has no Schema
	User   string // of the databases, without a password; empty: the account of this process
	// Groups are the root processes of each service of this moment; nil for none.
	Groups func() map[string][]int
	Now    func() time.Time
}

// An Observation is one run as its sensors saw it.
type Observation struct {
	Run      *iikanji.Run
	Target   iikanji.Target    // without services for a run that was kept without them
	Profiles []iikanji.Profile // of the load phase only
	Status   []iikanji.Fact    // growth of the database's counters over the load phase
	// Seen are further facts of the load: limits and queues of processes, bytes
	// written to logs, statuses, how answers were in size.
	Seen    []iikanji.Fact
	Sensors []Sensor
	Host    []hoststat.Sample // one a second

	slowLogs []slowLog // that the Slow profiles were read from
}

// A slowLog is the observed slow log of a database.
type slowLog struct{ service, path string }

// An Observer turns sensors on for the load phase of one run and cuts what
// they saw to it:
//
//  1. [Observe] prepares the slow logs; nothing is written yet. Connections
//     that an app opens from now on will be logged, older ones will not be: what
//     is slow is a limit of each connection. So restart the apps then.
//  2. [Observer.Phase], called as bench's OnPhase, notes where the logs and
//     counters stand when the load begins and when it ends.
//  3. [Observer.Finish] reads the logs between the two and proves each sensor.
//  4. [Observer.Ask] collects the facts that go with them.
//  5. [Observer.Close] puts the databases' settings back.
//
// There is one sensor for each web server's access log, one for each
// database's statements, one for the host, and one for all error logs.
type Observer struct {
	w         Watched
	databases []*databaseWatch
	webs      []*webWatch
	logs      []*logWatch
	host      *hoststat.Recorder // nil before the load

	samples      string // folder of the load generator's samples, "" for none
	hosted       []hoststat.Sample
	hostErr      error          // the first
	seen         []iikanji.Fact // of the end of the load
	began, ended time.Time
}

// Observe connects to the target's databases and prepares their slow logs. A
// database that does not answer, or keeps no log, makes its sensor red; the
// other sensors work without it. The error is only that of ctx.
func Observe(ctx context.Context, w Watched) (_ *Observer, err error) {
	o := &Observer{w: w, databases: databaseWatches(w), webs: webWatches(w.Target), logs: logWatches(w.Target)}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
		}
	}()
	for _, d := range o.databases {
		d.note(d.connect(ctx, w.User))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, web := range o.webs {
		web.configure(ctx, o.processIDs)
	}
	return o, nil
}

// processIDs are the root processes of a service at this moment.
func (o *Observer) processIDs(s iikanji.Service) []int {
	if o.w.Groups != nil {
		return o.w.Groups()[s.Name]
	}
	return s.PIDs
}

// services are the processes to charge what the host does to; the rest of the
// stack descends from this process, and the nearest root wins.
func (o *Observer) services() []hoststat.Service {
	groups := map[string][]int{}
	if o.w.Groups != nil {
		maps.Copy(groups, o.w.Groups())
	}
	groups[Generator] = []int{os.Getpid()}
	var out []hoststat.Service
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, hoststat.Service{Name: name, PIDs: groups[name]})
	}
	return out
}

// Phase is to be called by the engine at the begin and end of each phase.
func (o *Observer) Phase(p scenario.Phase, begins bool) {
	if p != scenario.Load {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	if begins {
		o.begin(ctx)
	} else {
		o.end(ctx)
	}
}

// begin notes where everything stands. What it cannot do makes a sensor red.
func (o *Observer) begin(ctx context.Context) {
	for _, w := range o.webs {
		w.begin(ctx)
	}
	o.host, o.hostErr = hoststat.Record(o.w.Now, sampleEvery, o.services)
	for _, l := range o.logs {
		l.begin()
	}
	for _, w := range o.webs {
		w.mark()
	}
	for _, d := range o.databases {
		d.begin(ctx)
	}
	for _, d := range o.databases {
		d.note(d.slow.on(ctx))
	}
	o.began = o.w.Now()
}

// end is called before the requests in flight are cut. The logs are opened at
// once: an input is as long as its file was then.
func (o *Observer) end(ctx context.Context) {
	o.ended = o.w.Now()
	for _, d := range o.databases {
		d.note(d.slow.off(ctx))
	}
	for _, d := range o.databases {
		d.end(ctx)
	}
	for _, w := range o.webs {
		w.end(ctx)
	}
	for _, d := range o.databases {
		d.openLog()
	}
	for _, l := range o.logs {
		l.end()
	}
	o.seen = o.processes(ctx)
	for _, d := range o.databases {
		o.seen = append(o.seen, d.locks.end(ctx)...)
	}
	if o.host != nil {
		var err error
		if o.hosted, err = o.host.Stop(); o.hostErr == nil {
			o.hostErr = err
		}
	}
}

// Samples tells the folder in which the load generator keeps its samples of
// the run; without it less is known of how answers differed between clients.
func (o *Observer) Samples(dir string) { o.samples = dir }

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("looking at the log: %w", err)
	}
	return info.Size(), nil
}

// Finish reads what the sensors saw of the load phase of a run and proves
// them. A sensor that cannot be read is red, not an error; the error is only
// that of ctx, or of a run without load.
func (o *Observer) Finish(ctx context.Context, run *iikanji.Run) (*Observation, error) {
	if o.ended.IsZero() {
		return nil, errors.New("the run had no load phase: there is nothing to diagnose")
	}
	ob := &Observation{Run: run, Target: servicesOf(o.w.Target), Host: o.hosted, Seen: o.seen}
	wall := o.ended.Sub(o.began)
	access, sensors := o.readAccess(ctx, run)
	slow, more := o.readStatements(ctx, ob, wall)
	host := hostProfile(o.hosted)
	var profiles []*iikanji.Profile
	for _, a := range access {
		profiles = append(profiles, a.routes)
	}
	for _, p := range append(append(profiles, slow...), host) {
		if p != nil && len(p.Rows) > 0 {
			ob.Profiles = append(ob.Profiles, *p)
		}
	}
	ob.Sensors = append(append(sensors, more...), proveHost(host, wall, o.hostErr))
	o.readErrors(ctx, ob)
	for i, w := range o.webs {
		o.readAnswers(ob, w, access[i])
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, s := range ob.Sensors {
		if !s.Green {
			run.Warnings = append(run.Warnings, fmt.Sprintf("%s: %s", s.Name, s.Why()))
		}
	}
	return ob, nil
}

// servicesOf is the part of a target that a diagnosis needs. How it is loaded is
// left out: the command's arguments may hold secrets.
func servicesOf(t iikanji.Target) iikanji.Target {
	return iikanji.Target{Name: t.Name, Hosts: t.Hosts, Services: t.Services}
}

// readStatements reads the statements of all databases.
func (o *Observer) readStatements(ctx context.Context, ob *Observation, wall time.Duration) (profiles []*iikanji.Profile, sensors []Sensor) {
	if len(o.databases) == 0 {
		return nil, []Sensor{proveSlow(nil, counters{}, wall, errNoDatabase)}
	}
	for _, d := range o.databases {
		p, s := d.statements(ctx, wall)
		profiles, sensors = append(profiles, p), append(sensors, s)
		ob.Status = append(ob.Status, d.status()...)
		if d.slow != nil {
			ob.slowLogs = append(ob.slowLogs, slowLog{d.service.Name, d.slow.path})
		}
	}
	return profiles, sensors
}

// errNoDatabase is the error of a target whose statements cannot be observed.
var errNoDatabase = errors.New("observing the database: the target has none")

// Close puts the databases' settings back and closes what is open. The slow
// logs stay until the next observation, and Keep has a copy of them.
func (o *Observer) Close() error {
	var errs []error
	if o.host != nil {
		_, _ = o.host.Stop() // end has kept its error
	}
	for _, w := range o.webs {
		errs = append(errs, w.close())
	}
	for _, l := range o.logs {
		if l.in != nil {
			errs = append(errs, l.in.Close())
		}
	}
	for _, d := range o.databases {
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}
