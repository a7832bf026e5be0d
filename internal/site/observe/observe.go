package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/facts"
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
	// GroupsOn are those of one machine, also of instances and spares; nil: those of Groups.
	GroupsOn func(host string) map[string][]int
	Now      func() time.Time
	// Hosts finds the host of a name; nil where all services are on this machine.
	Hosts func(name string) host.Host
	// Passive observes without changing a setting, a log or data: statements are
	// read from the slow log if the server logs all of them already, otherwise from
	// the sums of performance_schema, otherwise from the process list. No request is
	// sent to the site, no statement is repeated and no rows are counted.
	Passive bool
	// Logged means that another part of the program has turned the slow logs on. Where
	// one is on for every statement, it is read, and no setting is changed.
	Logged bool
	// Routes are known from the source of the apps. They have priority over those that
	// are learned from the access logs.
	Routes []accesslog.Pattern
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
	Host    []hoststat.Sample // of this machine, one a second
	Hosts   []HostSamples     // of the other hosts of the target

	slowLogs []slowLog // that the Slow profiles were read from
	fetched  int       // bytes of them that came from other machines
}

// HostSamples are the samples of one host.
type HostSamples struct {
	Host    string
	Samples []hoststat.Sample
}

// A slowLog is the observed slow log of a database.
type slowLog struct {
	service, path string
	host          host.Host
	growing       *growingLog // nil where it was not watched
}

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
// database's statements, also in SQLite files, one for the host, and one for all error logs.
type Observer struct {
	w         Watched
	databases []*databaseWatch
	files     []*filesWatch
	webs      []*webWatch
	logs      []*logWatch
	hosts     []*hostWatch
	caches    []*cacheWatch
	envoys    []*envoyWatch
	growth    growthWatch
	network   *networkWatch

	samples      string         // folder of the load generator's samples, "" for none
	clients      facts.Clients  // of the run, to ask again as them
	noClients    error          // why they are not known
	seen         []iikanji.Fact // of the end of the load
	began, ended time.Time
}

// Observe connects to the target's databases and prepares their slow logs. A
// database that does not answer, or keeps no log, makes its sensor red; the
// other sensors work without it. The error is only that of ctx.
func Observe(ctx context.Context, w Watched) (_ *Observer, err error) {
	o := &Observer{w: w, databases: databaseWatches(w), files: filesWatches(w), webs: webWatches(w), logs: logWatches(w), caches: cacheWatches(w), envoys: envoyWatches(w)}
	for _, d := range o.databases {
		d.several = len(o.databases)+len(o.files) > 1
	}
	for _, f := range o.files {
		f.several = len(o.databases)+len(o.files) > 1
		f.growing = o.growth.watch(f.host, f.path)
	}
	for _, h := range w.hosts() {
		o.hosts = append(o.hosts, &hostWatch{h: h})
	}
	o.network = newNetworkWatch(o.hosts)
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
		web.before, _ = size(web.host, web.path) // a log that is missing is found by mark
	}
	for _, web := range o.webs {
		if w.Passive { // flushing a buffer reopens the log
			web.flush = nil
		}
		if web.flush == nil { // a buffer delays the lines
			web.growing = o.growth.watch(web.host, web.path)
		}
	}
	for _, d := range o.databases {
		if d.slow != nil {
			d.growing = o.growth.watch(d.host, d.slow.path)
		}
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
	for _, h := range o.hosts {
		h.begin(o.w)
	}
	for _, l := range o.logs {
		l.begin()
	}
	for _, c := range o.caches {
		c.begin(ctx)
	}
	for _, e := range o.envoys {
		e.begin(ctx)
	}
	for _, w := range o.webs {
		w.mark()
	}
	for _, f := range o.files {
		f.begin()
	}
	for _, d := range o.databases {
		d.begin(ctx)
	}
	for _, d := range o.databases {
		d.note(d.slow.on(ctx))
		d.logging(ctx)
	}
	o.network.begin(o.w.Now())
	o.began = o.w.Now()
	o.growth.begin()
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
	o.growth.end()
	for _, d := range o.databases {
		d.openLog()
		d.closing(ctx)
	}
	for _, f := range o.files {
		f.end()
	}
	for _, l := range o.logs {
		l.end()
	}
	for _, c := range o.caches {
		c.end(ctx)
	}
	for _, e := range o.envoys {
		e.end(ctx)
	}
	o.seen = append(o.network.end(o.w.Now(), o.w), o.processes(ctx)...)
	for _, d := range o.databases {
		o.seen = append(o.seen, d.locks.end(ctx)...)
	}
	for _, h := range o.hosts {
		h.end()
	}
}

// Samples sets the folder in which the load generator keeps its samples of the
// run. Without it, less is known about how answers differed between clients.
func (o *Observer) Samples(dir string) {
	o.samples = dir
	o.clients, o.noClients = takeClients(dir)
}

// ErrNoLoad is the error of a run without a load phase.
var ErrNoLoad = errors.New("the run had no load phase: there is nothing to diagnose")

// Finish reads what the sensors saw of the load phase of a run and proves
// them. A sensor that cannot be read is red, not an error; the error is only
// that of ctx, or of a run without load.
func (o *Observer) Finish(ctx context.Context, run *iikanji.Run) (*Observation, error) {
	if o.ended.IsZero() {
		return nil, ErrNoLoad
	}
	ob := &Observation{Run: run, Target: servicesOf(o.w.Target), Seen: o.seen}
	wall := o.ended.Sub(o.began)
	o.setClocks(run)
	access, sensors := o.readAccess(ctx, run)
	slow, more := o.readStatements(ctx, ob, wall)
	var profiles []*iikanji.Profile
	for _, a := range access {
		profiles = append(profiles, a.routes)
	}
	hosts, others := o.readHosts(ob, wall)
	others = append(others, o.clockSensors(run)...)
	for _, p := range slices.Concat(profiles, slow, hosts) {
		if p != nil && len(p.Rows) > 0 {
			ob.Profiles = append(ob.Profiles, *p)
		}
	}
	ob.Sensors = slices.Concat(sensors, more, others)
	o.readErrors(ctx, ob)
	for i, w := range o.webs {
		o.readAnswers(ob, w, access[i])
	}
	ob.Status, ob.Seen = o.w.placed(ob.Status), o.w.placed(ob.Seen)
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

// readHosts sums up the samples of all hosts.
func (o *Observer) readHosts(ob *Observation, wall time.Duration) (profiles []*iikanji.Profile, sensors []Sensor) {
	for _, w := range o.hosts {
		if h, ok := ob.Run.Host(w.h.Name()); ok {
			w.samples = shiftedSamples(w.samples, h.Clock)
		}
		p := hostProfile(w.samples)
		p.Target = w.name()
		profiles = append(profiles, p)
		sensors = append(sensors, proveHost(p, wall, w.err).ofService(w.name(), w.h.Name() != ""))
		if w.h.Name() == "" {
			ob.Host = w.samples
		} else {
			ob.Hosts = append(ob.Hosts, HostSamples{w.h.Name(), w.samples})
		}
	}
	return profiles, sensors
}

// servicesOf is the part of a target that a diagnosis needs. How it is loaded is
// left out: the command's arguments may hold secrets.
func servicesOf(t iikanji.Target) iikanji.Target {
	return iikanji.Target{Name: t.Name, Hosts: t.Hosts, Services: t.Services, OnDemand: t.OnDemand,
		Bench: iikanji.BenchRef{Parameters: t.Bench.Parameters}, Policy: iikanji.Policy{MaxAge: t.Policy.MaxAge, Fixed: t.Policy.Fixed, Robots: t.Policy.Robots}}
}

// readStatements reads the statements of all databases.
func (o *Observer) readStatements(ctx context.Context, ob *Observation, wall time.Duration) (profiles []*iikanji.Profile, sensors []Sensor) {
	if len(o.databases)+len(o.files) == 0 {
		return nil, []Sensor{proveSlow(nil, counters{}, wall, errNoDatabase)}
	}
	for _, d := range o.databases {
		p, s := d.statements(ctx, wall, o.window(d.growing))
		profiles, sensors = append(profiles, p), append(sensors, s)
		ob.Status = append(ob.Status, d.status()...)
		if d.slow != nil && !d.passive {
			ob.slowLogs = append(ob.slowLogs, slowLog{d.service.Name, d.slow.path, d.host, d.growing})
		}
	}
	for _, f := range o.files {
		p, s := f.statements(ctx, o.began, o.ended, o.window(f.growing))
		profiles, sensors = append(profiles, p), append(sensors, s)
	}
	return profiles, sensors
}

// errNoDatabase is the error of a target whose statements cannot be observed.
var errNoDatabase = errors.New("observing the database: the target has none")

// Close puts the databases' settings back and closes what is open. The slow
// logs stay until the next observation, and Keep has a copy of them.
func (o *Observer) Close() error {
	var errs []error
	o.growth.end()
	for _, h := range o.hosts {
		h.end()
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
	for _, f := range o.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
