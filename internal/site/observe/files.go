package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// A filesWatch observes the SQLite files of a service during the load: the statements,
// from the trace that the app writes.
//
// SQLite is a library within the app. It logs and counts nothing by itself, and nothing
// can be turned on from outside: without a trace of the app there are no statements.
type filesWatch struct {
	service iikanji.Service
	host    host.Host
	several bool // the target has other databases
	passive bool // read no rows of the files

	path    string // of the trace, "" for none
	growing *growingLog
	from    int64        // where the load begins in the trace
	log     *lines.Input // as long as it was when the load ended
	err     error        // the first of the sensor
}

// filesWatches are the services of a target that are SQLite files.
func filesWatches(w Watched) []*filesWatch {
	var out []*filesWatch
	for _, s := range w.Target.WithEngine(iikanji.EngineSQLite) {
		if len(s.Files) > 0 {
			out = append(out, &filesWatch{service: s, host: w.host(s.Host), path: s.LogPath("slow"), passive: w.Passive})
		}
	}
	return out
}

func (f *filesWatch) note(err error) {
	if f.err == nil {
		f.err = err
	}
}

// begin notes where the trace stands.
func (f *filesWatch) begin() {
	if f.path == "" {
		return
	}
	from, err := size(f.host, f.path)
	if errors.Is(err, fs.ErrNotExist) { // the app makes it with its first statement
		err = nil
	}
	f.from = from
	f.note(err)
}

// end opens the trace, which fixes where it ends.
func (f *filesWatch) end() {
	if f.path == "" {
		return
	}
	var err error
	f.log, err = openTail(f.host, f.path, f.from)
	f.note(err)
}

// errNoTrace is the error of SQLite files whose app writes no trace.
var errNoTrace = errors.New("the target names no trace (a log of kind slow) of the app's SQLite statements")

// statements are the statements in the trace, with the sensor.
func (f *filesWatch) statements(ctx context.Context, began, ended time.Time, ticks *tally.Window) (*iikanji.Profile, Sensor) {
	p, err := f.read(ctx, ticks)
	f.note(err)
	return p, proveTrace(p, began, ended, f.err).ofService(f.service.Name, f.several)
}

func (f *filesWatch) read(ctx context.Context, ticks *tally.Window) (*iikanji.Profile, error) {
	if f.path == "" {
		return nil, errNoTrace
	}
	if f.log == nil {
		return nil, f.err
	}
	p, err := slowlog.Read(ctx, []*lines.Input{f.log}, slowlog.Options{PerSecond: true, Ticks: shifted(ticks, f.from)})
	if err != nil {
		return nil, err
	}
	p.Target = f.service.Name
	return p, nil
}

// shifted is the window for a log whose offsets count from the begin of the load.
func shifted(ticks *tally.Window, from int64) *tally.Window {
	if from == 0 || ticks == nil || ticks.Written == nil {
		return ticks
	}
	out, written := *ticks, ticks.Written
	out.Written = func(offset int64) (int64, int64) { return written(from + offset) }
	return &out
}

// traceSlack is how far the times in a trace may be outside of the load: many traces
// have whole seconds.
const traceSlack = time.Second

// proveTrace proves that a trace is of the load. No independent count of statements
// exists that it could be compared with.
func proveTrace(p *iikanji.Profile, began, ended time.Time, err error) Sensor {
	s := Sensor{Source: iikanji.Slow, Name: "SQLite trace"}
	if p == nil {
		return s.settle(err)
	}
	s.Proofs = []Proof{parsed(&p.Intake)}
	if !p.First.IsZero() {
		early, late := began.Sub(p.First), p.Last.Sub(ended)
		s.Proofs = append(s.Proofs, Proof{fmt.Sprintf("the first statement was %.1f s before the load, the last one %.1f s after it", max(0, early.Seconds()), max(0, late.Seconds())),
			fmt.Sprintf("%.0f s or less", traceSlack.Seconds()), early <= traceSlack && late <= traceSlack})
	}
	return s.settle(err)
}

// close closes what is open.
func (f *filesWatch) close() error {
	if f.log != nil {
		return f.log.Close()
	}
	return nil
}

// askFiles collects the definitions of the tables in the files, samples of their rows,
// and the plans of the heaviest statements.
func askFiles(ctx context.Context, f *filesWatch, ob *Observation) ([]iikanji.Fact, error) {
	target := f.service.Name
	db, err := facts.ReadSQLite(ctx, f.host, f.service.Files)
	if err != nil {
		return nil, err
	}
	if n := len(db.Unread); n > 0 {
		ob.Run.Warnings = append(ob.Run.Warnings, fmt.Sprintf("%d SQLite files of %s could not be read: %v", n, target, db.Unread[0]))
	}
	known := db.Facts(target)
	s, err := index.ReadSchema(known)
	if err != nil {
		return nil, err
	}
	statements := ofTarget(ob.Profiles, target)
	inGroups(statements, db)
	load := index.WorkloadOf(statements)
	tellUnread(ob, s.Unread(load))
	for _, q := range s.Questions(load) {
		if f.passive {
			break
		}
		t, shares, err := db.Count(ctx, q.Schema, q.Table, q.Columns, q.Predicates)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			ob.Run.Warnings = append(ob.Run.Warnings, fmt.Sprintf("advice on %s is based on estimates: %v", q.Table, err))
		}
		if t != nil {
			known = append(known, facts.TableFacts(target, *t)...) // the last fact about a table counts
			known = append(known, facts.SelectivityFacts(target, *t, shares)...)
		}
	}
	return append(known, fileQueryPlans(ctx, db, target, statements)...), ctx.Err()
}

// inGroups gives statements the name of the group of files that they were sent to, as
// their schema.
func inGroups(profiles []iikanji.Profile, db *facts.SQLite) {
	for _, p := range profiles {
		for _, r := range p.Rows {
			if p.Source == iikanji.Slow && r.Query != nil {
				r.Query.DB = db.GroupOf(r.Query.DB)
			}
		}
	}
}

// fileQueryPlans reads the query plans of the heaviest statements. Nothing is executed.
func fileQueryPlans(ctx context.Context, db *facts.SQLite, target string, profiles []iikanji.Profile) []iikanji.Fact {
	var out []iikanji.Fact
	for _, p := range profiles {
		for _, r := range p.Rows {
			if p.Source != iikanji.Slow || r.Query == nil || len(out) == mostExplained {
				continue
			}
			text := cmp.Or(r.Example.Text, r.Query.Fingerprint)
			if plan, err := db.Explain(ctx, r.Query.DB, text); err == nil {
				out = append(out, facts.QueryPlanFact(target, r.Query.Digest, plan))
			}
		}
	}
	return out
}
