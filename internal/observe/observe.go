package observe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/accesslog"
	"github.com/iikanji/iikanji/internal/facts"
	"github.com/iikanji/iikanji/internal/hoststat"
	"github.com/iikanji/iikanji/internal/lines"
	"github.com/iikanji/iikanji/internal/scenario"
	"github.com/iikanji/iikanji/internal/slowlog"
)

// askLimit ends a question to the database that nobody should wait longer for.
const askLimit = 5 * time.Second

// Watched is what an [Observer] observes.
type Watched struct {
	Target iikanji.Target
	Schema string // of the database
	User   string // of the database, without a password; empty means the one that we run as
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

	slowLog string // the log that the Slow profile was read from
}

// An Observer turns sensors on for the load phase of one run and cuts what
// they saw to it:
//
//  1. [Observe] prepares the slow log; it writes nothing yet. Connections that
//     the app opens from now on will be logged, older ones will not be: what
//     is slow is a limit of each connection. So restart the app then.
//  2. [Observer.Phase], called as bench's OnPhase, notes where the logs and
//     counters stand when the load begins and when it ends.
//  3. [Observer.Finish] reads the logs between the two and proves each sensor.
//  4. [Observer.Ask] collects the facts that go with them.
//  5. [Observer.Close] puts the database's settings back.
type Observer struct {
	w     Watched
	db    *sql.DB            // nil without a database
	asker *facts.Server      // nil when it does not answer
	slow  *slowSwitch        // nil when it keeps no log
	host  *hoststat.Recorder // nil before the load
	logs  []*logWatch
	locks *lockWatch // nil when the server does not tell

	digests *digestWatch // nil without a database

	flush        *logFlush           // nil for an access log without a buffer
	quiet        bool                // nginx's error log has no warnings
	conf         []iikanji.Directive // of nginx, nil when nobody knows
	samples      string              // folder of the load generator's samples, "" for none
	accessPath   string
	accessFrom   int64
	access, log  *lines.Input // as long as they were when the load ended
	hosted       []hoststat.Sample
	seen         []iikanji.Fact // of the end of the load
	before       map[string]string
	after        map[string]string
	began, ended time.Time
	errs         map[iikanji.Source]error
}

// Observe connects to the target's database and prepares its slow log. A
// database that is not there, or keeps no log, makes that sensor red; what else
// can be seen of the run is seen without it. The error is only that of ctx.
func Observe(ctx context.Context, w Watched) (_ *Observer, err error) {
	o := &Observer{w: w, errs: map[iikanji.Source]error{}, accessPath: logOf(w.Target, "access", iikanji.EngineNginx), logs: logWatches(w.Target)}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
		}
	}()
	o.note(iikanji.Slow, o.connect(ctx))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	o.conf = configuration(ctx, w.Target)
	o.flush, o.quiet = newLogFlush(o.conf, w, o.accessPath), hidesWarnings(o.conf)
	return o, nil
}

// connect opens the database for everything that asks it.
func (o *Observer) connect(ctx context.Context) (err error) {
	if o.db, err = openDatabase(o.w); err != nil {
		return err
	}
	if o.asker, err = facts.Connect(ctx, o.db, askLimit); err != nil {
		return err
	}
	o.locks, o.digests = newLockWatch(ctx, o.db), &digestWatch{db: o.db}
	o.slow, err = newSlowSwitch(ctx, o.db, logOf(o.w.Target, "slow", iikanji.EngineMariaDB, iikanji.EngineMySQL))
	return err
}

// openDatabase opens the target's database by its socket, as the user that we are.
func openDatabase(w Watched) (*sql.DB, error) {
	i := slices.IndexFunc(w.Target.Services, func(s iikanji.Service) bool { return s.Engine.MySQLFamily() })
	if i < 0 {
		return nil, errors.New("observing the database: the target has none")
	}
	if w.User == "" {
		me, err := user.Current()
		if err != nil {
			return nil, fmt.Errorf("asking who we are: %w", err)
		}
		w.User = me.Username
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = w.User, "unix", w.Target.Services[i].Socket, w.Schema
	c.InterpolateParams = true
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	return sql.OpenDB(connector), nil
}

// logOf is the path of a log of the first service of the engines, "" for none.
func logOf(t iikanji.Target, log string, engines ...iikanji.Engine) string {
	for _, s := range t.WithEngine(engines...) {
		if path := s.LogPath(log); path != "" {
			return path
		}
	}
	return ""
}

// services are the processes to charge what the host does to; the rest of the
// stack descends from this process, and the nearest root wins.
func (o *Observer) services() []hoststat.Service {
	groups := map[string][]int{}
	if o.w.Groups != nil {
		maps.Copy(groups, o.w.Groups())
	}
	groups["generator"] = []int{os.Getpid()}
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
	o.note(iikanji.Access, o.flush.flush(ctx))
	var err error
	o.host, err = hoststat.Record(o.w.Now, sampleEvery, o.services)
	o.note(iikanji.Host, err)
	for _, l := range o.logs {
		l.begin()
	}
	if o.accessFrom, err = size(o.accessPath); err != nil {
		o.note(iikanji.Access, err)
	}
	o.digests.begin(ctx)
	if o.asker != nil {
		o.before, err = o.asker.Status(ctx)
		o.note(iikanji.Slow, err)
	}
	o.locks.begin(ctx)
	o.note(iikanji.Slow, o.slow.on(ctx))
	o.began = o.w.Now()
}

// end is called before the requests in flight are cut. The logs are opened at
// once: an input is as long as its file was then.
func (o *Observer) end(ctx context.Context) {
	o.ended = o.w.Now()
	o.note(iikanji.Slow, o.slow.off(ctx))
	var err error
	if o.asker != nil {
		o.after, err = o.asker.Status(ctx)
		o.note(iikanji.Slow, err)
	}
	o.digests.end(ctx)
	o.note(iikanji.Access, o.flush.flush(ctx))
	o.access, err = lines.Open(o.accessPath, nil)
	o.note(iikanji.Access, err)
	if o.slow != nil {
		o.log, err = lines.Open(o.slow.path, nil)
		o.note(iikanji.Slow, err)
	}
	for _, l := range o.logs {
		l.end()
	}
	o.seen = append(o.processes(ctx), o.locks.end(ctx)...)
	if o.host != nil {
		o.hosted, err = o.host.Stop()
		o.note(iikanji.Host, err)
	}
}

// Samples tells the folder in which the load generator keeps its samples of
// the run; without it less is known of how answers differed between clients.
func (o *Observer) Samples(dir string) { o.samples = dir }

// note keeps the first error of a sensor.
func (o *Observer) note(s iikanji.Source, err error) {
	if err != nil && o.errs[s] == nil {
		o.errs[s] = err
	}
}

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
	ob := &Observation{Run: run, Target: servicesOf(o.w.Target), Host: o.hosted, Status: facts.StatusFacts("database", o.before, o.after), Seen: o.seen}
	if o.slow != nil {
		ob.slowLog = o.slow.path
	}
	wall := o.ended.Sub(o.began)
	access, err := o.readAccess(ctx)
	o.note(iikanji.Access, err)
	slow, err := o.readSlow(ctx)
	o.note(iikanji.Slow, err)
	slow, statements := o.statements(slow, wall)
	host := hostProfile(o.hosted)
	for _, p := range []*iikanji.Profile{access, slow, host} {
		if p != nil && len(p.Rows) > 0 {
			ob.Profiles = append(ob.Profiles, *p)
		}
	}
	ob.Sensors = []Sensor{
		proveAccess(access, run, o.errs[iikanji.Access]),
		statements,
		proveHost(host, wall, o.errs[iikanji.Host]),
	}
	o.readErrors(ctx, ob)
	o.readAnswers(ctx, ob, access)
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

// statements is the sensor of the database's statements, and what it saw: the
// slow log, or where that did not see the run, the sums of performance_schema.
func (o *Observer) statements(slow *iikanji.Profile, wall time.Duration) (*iikanji.Profile, Sensor) {
	c := countersOf(o.before, o.after)
	s := proveSlow(slow, c, wall, o.errs[iikanji.Slow])
	sums := o.digests.profile()
	if s.Green || sums == nil {
		return slow, s
	}
	other := proveSlow(sums, c, wall, o.digests.err)
	if !other.Green {
		return slow, s
	}
	other.Name = "performance_schema, as the slow log did not see the run"
	return sums, other
}

// readAccess reads the lines that were written during the load phase.
func (o *Observer) readAccess(ctx context.Context) (*iikanji.Profile, error) {
	if o.access == nil {
		return nil, o.errs[iikanji.Access]
	}
	if err := o.access.SeekTo(o.accessFrom); err != nil {
		return nil, err
	}
	return accesslog.Read(ctx, []*lines.Input{o.access}, accesslog.Options{Whole: true, PerSecond: true})
}

// readSlow reads the slow log, which has nothing but the load phase.
func (o *Observer) readSlow(ctx context.Context) (*iikanji.Profile, error) {
	if o.log == nil {
		return nil, o.errs[iikanji.Slow]
	}
	p, err := slowlog.Read(ctx, []*lines.Input{o.log}, slowlog.Options{PerSecond: true})
	if err == nil && p.Intake.Lines+p.Intake.Bad == 0 { // only the header of a server start
		return nil, fmt.Errorf("reading %s: the log has no entry", o.log.Name)
	}
	return p, err
}

// Ask collects the facts that a diagnosis of an observation needs, after the
// load, so that it costs the run nothing.
func (o *Observer) Ask(ctx context.Context, ob *Observation) ([]iikanji.Fact, error) {
	var known []iikanji.Fact
	for _, ask := range []struct {
		of string
		by func(context.Context) ([]iikanji.Fact, error)
	}{
		{"database", func(ctx context.Context) ([]iikanji.Fact, error) { return askDatabase(ctx, o.asker, o.w.Schema, ob) }},
		{"web server", func(ctx context.Context) ([]iikanji.Fact, error) { return askNginx(ctx, o.w.Target) }},
		{"web server", func(ctx context.Context) ([]iikanji.Fact, error) {
			return askAnswers(ctx, o.w.Target, facts.FileFolders(o.apps(), o.conf), ob.Seen)
		}},
	} {
		f, err := ask.by(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			ob.Run.Warnings = append(ob.Run.Warnings, "less is known of the "+ask.of+": "+err.Error())
		}
		known = append(known, f...)
	}
	known = append(known, ob.Seen...)
	return append(known, askUnits(o.w.Target, ob)...), nil
}

// apps are the processes of the target's apps of this moment: they may have
// been started anew since the target was looked at.
func (o *Observer) apps() []int {
	var out []int
	for _, s := range o.w.Target.Services {
		switch {
		case s.Role != iikanji.RoleApp:
		case o.w.Groups != nil:
			out = append(out, o.w.Groups()[s.Name]...)
		default:
			out = append(out, s.PIDs...)
		}
	}
	return out
}

// Close puts the database's settings back and closes what is open. The
// slow log stays until the next observation, and Keep has a copy of it.
func (o *Observer) Close() error {
	var errs []error
	if o.host != nil {
		_, _ = o.host.Stop() // its error was told
	}
	inputs := []*lines.Input{o.access, o.log}
	for _, l := range o.logs {
		inputs = append(inputs, l.in)
	}
	for _, in := range inputs {
		if in != nil {
			errs = append(errs, in.Close())
		}
	}
	if o.slow != nil {
		ctx, cancel := context.WithTimeout(context.Background(), askLimit)
		defer cancel()
		errs = append(errs, o.slow.restore(ctx))
	}
	errs = append(errs, o.locks.close())
	if o.asker != nil {
		errs = append(errs, o.asker.Close())
	}
	if o.db != nil {
		errs = append(errs, o.db.Close())
	}
	return errors.Join(errs...)
}
