package observe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// idleConnections is how many idle connections to a database are kept open.
const idleConnections = 2

// A databaseWatch observes one database of MySQL's family during the load: its
// statements, its counters, and its lock waits.
type databaseWatch struct {
	service  iikanji.Service
	host     host.Host
	several  bool   // the target has other databases
	schema   string // that the site uses
	db       *sql.DB
	asker    *facts.Server      // nil when the server does not answer
	tables   []facts.SizedTable // as they were read for the facts
	slow     *slowSwitch        // nil when the server keeps no slow log
	locks    *lockWatch         // nil when the server does not list lock waits
	digests  *digestWatch       // nil without a connection
	passive  bool               // change nothing
	switched bool               // the slow log may be on already
	list     *listWatch         // nil unless passive

	growing       *growingLog   // nil where it is not watched
	to            int64         // of a log that is read on its machine: its length when the load ended
	ahead         time.Duration // of its machine's clock
	log           *lines.Input  // as long as it was when the load ended
	before, after map[string]string
	// logged are the counters right after the slow log was turned on: statements
	// between before and logged are counted and may not be logged.
	logged map[string]string
	// closed are the counters right after the end of a log was taken that goes on: statements
	// between after and closed may be logged. An app whose clients gave up still works then.
	closed map[string]string
	err    error // the first of the slow log's sensor
}

// databaseWatches are the databases of MySQL's family of a target.
func databaseWatches(w Watched) []*databaseWatch {
	all := w.Target.WithEngine(iikanji.EngineMariaDB, iikanji.EngineMySQL)
	var out []*databaseWatch
	for _, s := range all {
		d := &databaseWatch{service: s, host: w.host(s.Host), several: len(all) > 1, schema: s.Schema, passive: w.Passive, switched: w.Logged}
		if d.schema == "" {
			d.schema = w.Schema
		}
		out = append(out, d)
	}
	return out
}

// note keeps the first error of the sensor.
func (d *databaseWatch) note(err error) {
	if d.err == nil {
		d.err = err
	}
}

// connect opens the database for all readers of it, and prepares its slow log.
func (d *databaseWatch) connect(ctx context.Context, user string) (err error) {
	if d.db, err = d.host.SQL(host.Login{Socket: d.service.Socket, Address: d.service.Address, User: user, Schema: d.schema, Idle: idleConnections}); err != nil {
		return err
	}
	if d.asker, err = facts.Connect(ctx, d.db, askLimit); err != nil {
		return err
	}
	d.locks, d.digests = newLockWatch(ctx, d.db, d.service.Name), &digestWatch{db: d.db, service: d.service.Name}
	if d.passive {
		d.list = &listWatch{db: d.db, service: d.service.Name}
		d.slow, err = ownSlowLog(ctx, d.db)
		return err
	}
	if d.switched {
		if d.slow, err = ownSlowLog(ctx, d.db); err == nil {
			return nil
		}
	}
	file := observedLog
	if d.several { // their own logs may be in one folder
		file = nameFor(observedLog, d.service.Name)
	}
	d.slow, err = newSlowSwitch(ctx, d.db, d.host, d.service.LogPath("slow"), file)
	return err
}

// begin reads the counters and starts the lock watch. The slow log is turned
// on after it, so that it does not contain these statements.
func (d *databaseWatch) begin(ctx context.Context) {
	d.digests.begin(ctx)
	if d.asker != nil {
		var err error
		d.before, err = d.asker.Status(ctx)
		d.note(err)
	}
	d.locks.begin(ctx)
	if d.slow != nil && d.slow.own {
		var err error
		d.slow.from, err = size(d.host, d.slow.path)
		if errors.Is(err, fs.ErrNotExist) { // the server makes it with the first statement
			err = nil
		}
		d.note(err)
	}
	d.list.begin(ctx)
}

// logging reads the counters when the slow log is on. This statement is not
// logged: the limit of slow statements is that of the connection's begin.
func (d *databaseWatch) logging(ctx context.Context) {
	if d.asker == nil {
		return
	}
	var err error
	d.logged, err = d.asker.Status(ctx)
	d.note(err)
}

// end reads the counters after the slow log was turned off.
func (d *databaseWatch) end(ctx context.Context) {
	d.list.end()
	if d.asker != nil {
		var err error
		d.after, err = d.asker.Status(ctx)
		d.note(err)
	}
	d.digests.end(ctx)
}

// openLog opens the slow log, which fixes where it ends.
func (d *databaseWatch) openLog() {
	if d.slow == nil {
		return
	}
	var err error
	if host.WorkerOf(d.host) != nil {
		d.to, err = size(d.host, d.slow.path)
	} else {
		d.log, err = openTail(d.host, d.slow.path, d.slow.from)
	}
	d.note(err)
}

// closing reads the counters when the end of a slow log that goes on has been taken.
func (d *databaseWatch) closing(ctx context.Context) {
	if d.asker == nil || d.slow == nil || !d.slow.own {
		return
	}
	var err error
	d.closed, err = d.asker.Status(ctx)
	d.note(err)
}

// counted are the counters of the load, with the statements at its ends that only one of counters
// and log has.
func (d *databaseWatch) counted() counters {
	c := countersOf(d.before, d.after)
	c.between = countersOf(d.before, d.logged).questions
	if d.closed != nil {
		c.between = max(0, c.between) + max(0, countersOf(d.after, d.closed).questions)
	}
	return c
}

// readThere reads the slow log on its machine.
func (d *databaseWatch) readThere(ctx context.Context, ticks *tally.Window) (*iikanji.Profile, error) {
	if d.slow == nil || d.to == 0 {
		return nil, d.err
	}
	p, err := slowTask().On(ctx, d.host, orderOf(d.slow.path, d.slow.from, d.to, ticks, d.growing, d.ahead))
	if err != nil {
		return nil, err
	}
	unshift(&p, d.ahead)
	return d.entries(&p, d.slow.path)
}

// entries is the profile of a log with entries.
func (d *databaseWatch) entries(p *iikanji.Profile, path string) (*iikanji.Profile, error) {
	if p.Intake.Lines+p.Intake.Bad == 0 { // only the header of a server start
		return nil, fmt.Errorf("reading %s: the log has no entry", path)
	}
	p.Target = d.service.Name
	return p, nil
}

// status are the growths of the server's counters over the load.
func (d *databaseWatch) status() []iikanji.Fact {
	return facts.StatusFacts(d.service.Name, d.before, d.after)
}

// statements are what the database executed, with the sensor: the slow log, or
// where that did not see the run, the sums of performance_schema.
func (d *databaseWatch) statements(ctx context.Context, wall time.Duration, ticks *tally.Window) (*iikanji.Profile, Sensor) {
	slow, err := d.readSlow(ctx, ticks)
	d.note(err)
	c := d.counted()
	all := c // with the statements of the watches, which the sums contain and the slow log does not
	if d.list != nil {
		c.questions -= d.list.asked
	}
	if d.locks != nil {
		c.questions -= d.locks.asked
	}
	s := proveSlow(slow, c, wall, d.err)
	sums := d.digests.profile()
	if s.Green {
		return slow, s.ofService(d.service.Name, d.several)
	}
	if sums == nil {
		return d.estimated(slow, s, c)
	}
	other := proveSlow(sums, all, wall, d.digests.err)
	if !other.Green {
		return d.estimated(slow, s, c)
	}
	other.Name = "performance_schema, as the slow log did not see the run"
	return sums, other.ofService(d.service.Name, d.several)
}

// estimated is the estimate from the process list, where there is one and it is
// proven; otherwise the slow log with its red sensor s.
func (d *databaseWatch) estimated(slow *iikanji.Profile, s Sensor, c counters) (*iikanji.Profile, Sensor) {
	if d.list == nil {
		return slow, s.ofService(d.service.Name, d.several)
	}
	listed := d.list.prove(c.questions)
	if !listed.Green {
		s.Proofs = append(s.Proofs, listed.Proofs...)
		return slow, s.ofService(d.service.Name, d.several)
	}
	listed.Name = "process list, as " + s.Why()
	return d.list.profile(), listed.ofService(d.service.Name, d.several)
}

// readSlow reads the slow log, which contains the load phase only.
func (d *databaseWatch) readSlow(ctx context.Context, ticks *tally.Window) (*iikanji.Profile, error) {
	if host.WorkerOf(d.host) != nil {
		return d.readThere(ctx, ticks)
	}
	if d.log == nil {
		return nil, d.err
	}
	p, err := slowlog.Read(ctx, []*lines.Input{d.log}, slowlog.Options{PerSecond: true, Ticks: shifted(ticks, d.slow.from)})
	if err != nil {
		return nil, err
	}
	return d.entries(p, d.log.Name)
}

// close puts the server's settings back and closes what is open.
func (d *databaseWatch) close() error {
	var errs []error
	if d.log != nil {
		errs = append(errs, d.log.Close())
	}
	if d.slow != nil {
		ctx, cancel := context.WithTimeout(context.Background(), askLimit)
		defer cancel()
		errs = append(errs, d.slow.restore(ctx))
	}
	errs = append(errs, d.locks.close(), d.list.close())
	if d.asker != nil {
		errs = append(errs, d.asker.Close())
	}
	if d.db != nil {
		errs = append(errs, d.db.Close())
	}
	return errors.Join(errs...)
}
