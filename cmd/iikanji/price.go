package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

// The cost of a sensor is measured like the gain of a change: by pairs of runs,
// one observed and one bare, in a seeded random order.
//
//  1. The stack comes up once. Each run turns its sensors on and all others
//     off with drop-in configs, and restarts every service, so that both runs
//     of a pair start from the same state.
//  2. After each run there must be proof that its sensors saw it and that the
//     others were off.
//  3. Each round measures every sensor once, so that a drift of the machine
//     affects all sensors alike.
//
// The drop-ins are removed when the stack goes down (stack.Pass).

// A sensors is the set of sensors that are on.
type sensors struct{ access, slow, host, perf bool }

// A pricing is a set of sensors that are measured together, against a run without
// sensors.
type pricing struct {
	key  string // on the command line
	name string
	on   sensors
}

// priced lists all sets. The set "default" is on in iikanji bench; docs/price.md
// gives the reason.
var priced = []pricing{
	{"access", "access log", sensors{access: true}},
	{"host", "host sampler", sensors{host: true}},
	{"slow", "slow log, all statements", sensors{slow: true}},
	{"perf", "performance_schema", sensors{perf: true}},
	{"default", "default: access log, host sampler", sensors{access: true, host: true}},
}

// choosePriced returns the sets with these keys; no keys mean all sets.
func choosePriced(keys []string) ([]pricing, error) {
	if len(keys) == 0 {
		return priced, nil
	}
	var chosen []pricing
	for _, x := range priced {
		if slices.Contains(keys, x.key) {
			chosen = append(chosen, x)
		}
	}
	for _, key := range keys {
		if !slices.ContainsFunc(priced, func(x pricing) bool { return x.key == key }) {
			return nil, usageError("--sensors %q: want access, host, slow, perf or default", key)
		}
	}
	return chosen, nil
}

// priceLoad is the default length of the load phase.
const priceLoad = 20 * time.Second

// maxFailed is how many runs in a row may fail before their load; then the
// measurement ends.
const maxFailed = 3

// A pricer makes the runs of one invocation.
type pricer struct {
	*benchRun
	field  *field.Field
	s      *stack.Stack
	priced []pricing
	rng    *rand.Rand
	began  time.Time
	done   int // runs made
	total  int
	spent  time.Duration // on the runs made
	failed int           // in a row, before their load
}

// priceAll runs the command with --price.
func (r *benchRun) priceAll(ctx context.Context, h *history.History) error {
	switch {
	case r.arena == nil:
		return usageError("--price is for arenas")
	case r.URL != "" || r.NoLoad:
		return usageError("--price starts a stack of its own and loads it: it cannot be combined with --url or --no-load")
	case r.Pairs < 2 || r.Pairs > 100:
		return usageError("--pairs %d: want 2 to 100", r.Pairs)
	}
	chosen, err := choosePriced(r.Sensors)
	if err != nil {
		return err
	}
	if r.Load == 0 {
		r.Load = priceLoad
	}
	doc := &priceList{Version: 1, Arena: r.arena.Name, Seed: r.Seed, Load: r.Load, Pairs: r.Pairs, Began: r.e.Now()}
	err = arenasite.Use(ctx, r.arena, r.stackOptions(), func(ctx context.Context, s *arenasite.Subject) error {
		r.ready(doc.Began, s)
		p := &pricer{benchRun: r, field: r.field(h, s, r.scenarioOf(s)), s: s.Stack, priced: chosen, rng: rand.New(rand.NewPCG(r.Seed, 0)), began: r.e.Now(), total: 2 * r.Pairs * len(chosen)}
		return errors.Join(p.rounds(ctx, doc), p.clear())
	})
	r.progress.Done()
	doc.Took = r.e.Now().Sub(doc.Began)
	doc.computeIntervals()
	if err != nil && doc.Runs < 4 { // too few runs for a table
		return err
	}
	err = errors.Join(err, doc.keep(h))
	if r.JSON {
		return errors.Join(writeJSON(r.e.Stdout, doc), err)
	}
	return errors.Join(doc.write(r.e.Stdout, r.e.Cols), err)
}

// priceFile is the file of the list, in the folder of the last run.
const priceFile = "price.json"

func (l *priceList) keep(h *history.History) error {
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping the prices: %w", err)
	}
	return h.SaveFile(l.last, priceFile, append(b, '\n'))
}

// rounds makes one pair of runs per sensor in each round.
func (p *pricer) rounds(ctx context.Context, doc *priceList) error {
	for _, x := range p.priced {
		doc.Sensors = append(doc.Sensors, &sensorPrice{Sensor: x.name})
	}
	for round := range p.Pairs {
		for i, x := range p.priced {
			pair, err := p.pair(ctx, x.name, x.on, p.Seed+uint64(round))
			if err != nil {
				return err
			}
			doc.Sensors[i].add(pair)
			doc.Runs += 2
			doc.last = max(pair.observed.id, pair.bare.id)
		}
	}
	return nil
}

// pair makes an observed and a bare run with the same offered work.
func (p *pricer) pair(ctx context.Context, name string, on sensors, seed uint64) (pricePair, error) {
	var pair pricePair
	var err error
	observed := func() error { pair.observed, err = p.run(ctx, name+" on", on, seed); return err }
	bare := func() error { pair.bare, err = p.run(ctx, "bare, for "+name, sensors{}, seed); return err }
	first, second := observed, bare
	if p.rng.IntN(2) == 0 {
		first, second = bare, observed
	}
	for _, run := range []func() error{first, second} {
		if err := run(); err != nil {
			return pair, err
		}
	}
	var both judge.Pair
	both.Put(false, pair.bare.run, "")
	both.Put(true, pair.observed.run, "")
	pair.void = both.Void
	return pair, nil
}

// run makes one run with the given sensors on.
func (p *pricer) run(ctx context.Context, name string, on sensors, seed uint64) (priceRun, error) {
	if err := p.set(ctx, on); err != nil {
		return priceRun{}, err
	}
	var grown [2]int64 // the access log's size around the load
	spec := field.Spec{Load: field.Load{Time: p.Load, Seed: seed, Progress: p.progressOf(name)}, Around: func(phase scenario.Phase, begins bool) {
		if phase == scenario.Load {
			grown[map[bool]int{true: 0, false: 1}[begins]] = p.accessSize()
		}
	}}
	if on.host {
		spec.HostEvery = hostEvery
	}
	m, err := p.field.Run(ctx, spec)
	if err != nil {
		return priceRun{}, err
	}
	run, id := m.Run, m.Run.ID
	p.done, p.spent = p.done+1, p.e.Now().Sub(p.began)
	m.Complete()
	run.Warnings = append(run.Warnings, "made to measure the cost of sensors ("+name+"): compare its score only with that of its pair")
	if err := p.field.History.SaveRun(run); err != nil {
		return priceRun{}, err
	}
	switch {
	case context.Cause(ctx) != nil:
		return priceRun{}, fmt.Errorf("after %d of %d runs: %w", p.done-1, p.total, context.Cause(ctx))
	case run.Took == 0: // a check failed before the load, for example on a busy machine
		why := fmt.Sprintf("run %d had no load: %s", id, strings.Join(run.Reasons, "; "))
		if p.failed++; p.failed == maxFailed {
			return priceRun{}, fmt.Errorf("%d runs in a row had no load; the last, %s: %s", p.failed, name, why)
		}
		return priceRun{id: id, why: why}, nil
	}
	p.failed = 0
	if err := p.prove(ctx, on, grown[1]-grown[0], len(m.Samples())); err != nil {
		return priceRun{}, fmt.Errorf("run %d (%s): %w", id, name, err)
	}
	priced := priceOf(run)
	priced.run = run
	return priced, nil
}

// set turns the given sensors on and all others off, and restarts every service.
func (p *pricer) set(ctx context.Context, on sensors) error {
	for _, svc := range p.s.Services() {
		var err error
		switch svc.Engine {
		case iikanji.EngineMariaDB:
			err = errors.Join(p.s.Pass(svc.Name, databaseSensors(on, p.slowLog(svc.Name))), p.removeSlowLog(svc.Name))
		case iikanji.EngineNginx:
			text := ""
			if !on.access {
				text = "access_log off;\n"
			}
			err = p.s.Pass(svc.Name, text)
		}
		if err != nil {
			return err
		}
	}
	for _, svc := range p.s.Services() {
		if err := p.s.Restart(ctx, svc.Name); err != nil {
			return err
		}
	}
	return nil
}

// databaseSensors is the configuration of a MariaDB with the given sensors on. It
// overrides the configs of the folder.
func databaseSensors(on sensors, slowLog string) string {
	text := ""
	if on.slow {
		text += "slow_query_log = 1\nslow_query_log_file = " + slowLog + "\nlog_output = FILE\nlong_query_time = 0\n" +
			"min_examined_row_limit = 0\nlog_slow_rate_limit = 1\nlog_slow_verbosity = query_plan\n"
	}
	if on.perf {
		text += "performance_schema = ON\nperformance_schema_consumer_statements_digest = ON\nperformance_schema_instrument = 'statement/%=ON'\n"
	}
	if text == "" {
		text = "slow_query_log = 0\nperformance_schema = OFF\n"
	}
	return "[mariadbd]\n" + text
}

// clear removes the drop-ins and the logs of this measurement.
func (p *pricer) clear() error {
	var errs []error
	for _, svc := range p.s.Services() {
		switch svc.Engine {
		case iikanji.EngineMariaDB:
			errs = append(errs, p.s.Pass(svc.Name, ""), p.removeSlowLog(svc.Name))
		case iikanji.EngineNginx:
			errs = append(errs, p.s.Pass(svc.Name, ""))
		}
	}
	return errors.Join(errs...)
}

// slowLog is the path of a database's slow log in this measurement. The stack's own
// slow log is not touched.
func (p *pricer) slowLog(service string) string {
	return filepath.Join(p.s.Logs(), "price-slow-"+service+".log")
}

func (p *pricer) removeSlowLog(service string) error {
	if err := os.Remove(p.slowLog(service)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the slow log: %w", err)
	}
	return nil
}

// ofEngine returns the stack's services of an engine.
func (p *pricer) ofEngine(engine iikanji.Engine) []iikanji.Service {
	return p.s.Target().WithEngine(engine)
}

// slowSize returns the bytes of all slow logs of this measurement.
func (p *pricer) slowSize() (n int64) {
	for _, svc := range p.ofEngine(iikanji.EngineMariaDB) {
		n += sizeOf(p.slowLog(svc.Name))
	}
	return n
}

// accessSize returns the bytes of all access logs.
func (p *pricer) accessSize() (n int64) {
	for _, svc := range p.ofEngine(iikanji.EngineNginx) {
		n += sizeOf(svc.LogPath("access"))
	}
	return n
}

// sizeOf returns the size of a file, 0 if it is missing.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// prove returns an error unless exactly the given sensors saw the run. Otherwise
// the pair would compare other sensors than those of its row.
func (p *pricer) prove(ctx context.Context, on sensors, access int64, samples int) error {
	digests, err := p.digests(ctx)
	if err != nil {
		return err
	}
	for _, sensor := range []struct {
		name string
		on   bool
		saw  bool
		hint string
	}{
		{"the access log", on.access, access > 0, "nginx's main config must include its folder of drop-ins in the http block, and servers must have no access_log of their own"},
		{"the slow log", on.slow, p.slowSize() > 0, "the database's main config must include its folder of drop-ins"},
		{"the host sampler", on.host, samples > 0, "--load must be some seconds"},
		{"performance_schema", on.perf, digests > 0, "the database's main config must include its folder of drop-ins"},
	} {
		if sensor.on != sensor.saw {
			return hinted(fmt.Errorf("%s should have been %s and was not", sensor.name, map[bool]string{true: "on", false: "off"}[sensor.on]), sensor.hint)
		}
	}
	return nil
}

// digests returns the number of statement digests in performance_schema of all
// databases.
func (p *pricer) digests(ctx context.Context) (sum int64, err error) {
	for _, svc := range p.ofEngine(iikanji.EngineMariaDB) {
		n, err := digestsOf(ctx, svc.Socket)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func digestsOf(ctx context.Context, socket string) (n int64, err error) {
	db, err := host.Local{}.SQL(host.Login{Socket: socket})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest").Scan(&n); err != nil {
		return 0, fmt.Errorf("reading the digests of performance_schema: %w", err)
	}
	return n, nil
}

// progressOf returns a function that draws the progress of one run among all.
func (p *pricer) progressOf(name string) func(bench.Progress) {
	return func(b bench.Progress) {
		left := "time left not known yet"
		if p.done > 0 {
			all := p.spent / time.Duration(p.done) * time.Duration(p.total)
			left = fmt.Sprintf("about %s left", report.Duration(max(all-p.e.Now().Sub(p.began), 0).Round(time.Second)))
		}
		p.progress.Status("run %d of %d, %s: %s: %s, score %s", p.done+1, p.total, left, name, b.Phase, report.Count(int64(b.Score)))
	}
}

// A priceRun is the score and the CPU time of one run.
type priceRun struct {
	id    iikanji.RunID
	run   *iikanji.Run // nil if it had no load
	score float64      // 0 if the run is not valid
	cpu   float64      // seconds of the stack and the generator per request; 0 if not known
	why   string       // reason for a score of 0
}

// priceOf adds up the CPU time of all services and of the generator, because a
// sensor can cost time in each of them. Other programs do not count.
func priceOf(run *iikanji.Run) priceRun {
	r := priceRun{id: run.ID}
	if run.Clean() && run.Score > 0 {
		r.score = run.Score
	} else {
		r.why = fmt.Sprintf("run %d is %v", run.ID, run.Outcome)
	}
	var cpu time.Duration
	for _, u := range run.Usage {
		if u.Who != "other" {
			cpu += u.User + u.System
		}
	}
	var requests int64
	for _, s := range run.Steps {
		requests += s.Count
	}
	if requests > 0 && (run.Outcome == iikanji.Passed || run.Outcome == iikanji.Void) {
		r.cpu = cpu.Seconds() / float64(requests)
	}
	return r
}
