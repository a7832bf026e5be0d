package accesslog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// maxWorkers is the default limit of workers: eight parse as fast as memory
// delivers, and each holds its own tables.
const maxWorkers = 8

// Read counts access logs: a row for each route (or for each key of
// Options.By), heaviest first, with an Intake that accounts for every line. The
// inputs' order is that of the log. Errors: UnknownFormatError, UnprovenError,
// EmptyError, and those of package lines.
func Read(ctx context.Context, inputs []*lines.Input, opt Options) (*iikanji.Profile, error) {
	r, err := newReading(inputs, opt)
	if err != nil {
		return nil, err
	}
	r.reader = newReader(inputs, r.opt)
	return r.read(ctx)
}

// newReading recognises the formats of the inputs.
func newReading(inputs []*lines.Input, opt Options) (*reading, error) {
	r := &reading{inputs: inputs, opt: opt.filled(), seed: rand.Uint64(), files: newIntakes(len(inputs))}
	r.slowest.limit = r.opt.Slowest
	r.byTable = !slices.Contains(r.opt.keys(), ByRoute)
	return r, r.recognise()
}

func newReader(inputs []*lines.Input, opt Options) *lines.Reader {
	workers := opt.Workers
	if workers == 0 {
		workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	return lines.NewReader(inputs, lines.Options{Workers: workers, BlockSize: opt.BlockSize, Whole: opt.Whole, Partial: opt.Partial})
}

// read counts the log from its start.
func (r *reading) read(ctx context.Context) (*iikanji.Profile, error) {
	if err := r.countAll(ctx); err != nil {
		return nil, err
	}
	if r.usesRoutesAndMore() {
		return r.byRouteAndMore(ctx)
	}
	return r.profile()
}

// usesRoutesAndMore reports whether routes are one of several keys.
func (r *reading) usesRoutesAndMore() bool {
	keys := r.opt.keys()
	return len(keys) > 1 && slices.Contains(keys, ByRoute)
}

// byRouteAndMore reads the inputs again, with the learned routes as a part of
// the keys.
func (r *reading) byRouteAndMore(ctx context.Context) (p *iikanji.Profile, err error) {
	if len(r.opt.Routes) > 0 {
		return nil, fmt.Errorf("--by %s does not work with routes that are given", joined(r.opt.keys()))
	}
	if r.learned, err = r.profile(); err != nil {
		return nil, err
	}
	if !r.reader.Rewind() {
		return nil, fmt.Errorf("--by %s reads the log twice: give the name of a file", joined(r.opt.keys()))
	}
	r.files, r.tree, r.overflow, r.nothing, r.byTable = newIntakes(len(r.inputs)), nil, nil, nil, true
	r.slowest.all = nil
	if err := r.count(ctx); err != nil {
		return nil, err
	}
	return r.profile()
}

// routes returns the learned routes for a worker, nil if they are not needed.
func (r *reading) routes() *Routes {
	if r.learned == nil {
		return nil
	}
	routes, err := RoutesOf(r.learned)
	if err != nil {
		panic("BUG: a profile without sketches: " + err.Error())
	}
	return routes
}

// countAll counts the log. If too many lines of a file are bad and another
// format fits them, the format of the file changes: the log is read again.
func (r *reading) countAll(ctx context.Context) error {
	for {
		if err := r.count(ctx); err != nil {
			return err
		}
		err := r.prove()
		var unproven *UnprovenError
		if !errors.As(err, &unproven) {
			return err
		}
		changed, err2 := r.anotherFormat(unproven.file, r.overrides)
		switch {
		case err2 != nil:
			return err2
		case !changed:
			return err
		case !r.reader.Rewind():
			unproven.Changed = r.formats[unproven.file].name()
			return err
		}
		r.reset()
	}
}

// reset forgets what was counted.
func (r *reading) reset() {
	r.files, r.tree, r.overflow, r.nothing, r.table = newIntakes(len(r.inputs)), nil, nil, nil, nil
	r.slowest.all = nil
}

// A reading is one call of Read.
type reading struct {
	inputs    []*lines.Input
	opt       Options
	seed      uint64
	formats   []format
	overrides []override
	reader    *lines.Reader

	since, until time.Time
	// byTable: rows are counted in table, not by route.
	byTable bool
	slowest slowest
	learned *iikanji.Profile // by route, if routes are a part of the keys

	files    []intake
	tree     *tree // rows of ByRoute
	marks    int   // names that the beginning of the log taught, of ReadAll
	overflow *row
	nothing  *row
	table    *tally.Table[row] // rows of every other grouping
}

// recognise detects the format of each input.
func (r *reading) recognise() error {
	for _, s := range r.opt.Fields {
		o, err := parseOverride(s)
		if err != nil {
			return err
		}
		r.overrides = append(r.overrides, o)
	}
	some := false
	for _, in := range r.inputs {
		f, err := r.formatOf(in, r.overrides)
		if err != nil {
			return err
		}
		some = some || f != nil
		if f == nil {
			f = blank{}
		}
		r.formats = append(r.formats, f)
	}
	if !some {
		return r.empty()
	}
	if err := r.checkFields(); err != nil {
		return err
	}
	return r.resolveRange()
}

// notes lists what was inferred about the formats, each note once.
func (r *reading) notes() (all []string) {
	add := func(s string) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for i, in := range r.inputs {
		f := r.formats[i]
		for _, n := range f.notes() {
			if len(r.inputs) > 1 {
				n = in.Name + ": " + n
			}
			add(n)
		}
		if !f.has(took) {
			add(fmt.Sprintf("%s has no times ($request_time in nginx, %%D in Apache), so rows are sorted by count", in.Name))
		}
	}
	return all
}

// checkFields returns an error for conditions and groupings whose field a log
// lacks.
func (r *reading) checkFields() error {
	need := func(f field, what string) error {
		for i, form := range r.formats {
			if f != skipped && !form.has(f) {
				return fmt.Errorf("%s needs the %v, which %s (%s) does not have", what, f, r.inputs[i].Name, form.name())
			}
		}
		return nil
	}
	for _, by := range r.opt.keys() {
		if err := need(by.needs(), fmt.Sprintf("--by %v", by)); err != nil {
			return err
		}
	}
	if !r.opt.Since.IsZero() || !r.opt.Until.IsZero() {
		if err := need(stamp, "a time range"); err != nil {
			return err
		}
	}
	for _, w := range r.opt.Where {
		for _, f := range w.needs {
			if err := need(f, "the condition "+w.condition.Source); err != nil {
				return err
			}
		}
		if w.ofRoute() && (r.opt.By != ByRoute || len(r.opt.ThenBy) > 0) {
			return fmt.Errorf("the condition %s is on routes, and the rows are grouped by %v: use path", w.condition.Source, joined(r.opt.keys()))
		}
	}
	return nil
}

// newCounter makes a worker.
func (r *reading) newCounter() *counter {
	c := &counter{formats: r.formats, parsers: make([]parser, len(r.formats)), file: -1,
		files: newIntakes(len(r.formats)), done: r.opt.Done, perSecond: r.opt.PerSecond, ticks: r.opt.Ticks, since: noTime, until: math.MaxInt64}
	if !r.since.IsZero() {
		c.since, c.ranged = r.since.UnixNano(), true
	}
	if !r.until.IsZero() {
		c.until, c.ranged = r.until.UnixNano(), true
	}
	c.slowest.limit = r.opt.Slowest
	for _, w := range r.opt.Where {
		if !w.ofRoute() {
			c.where = append(c.where, w.condition)
		}
	}
	for _, f := range needsOf(r.opt.Where) {
		c.needs[f] = true
	}
	for _, by := range r.opt.keys() {
		c.needs[by.needs()] = true
	}
	if r.byTable {
		c.table = newTable()
		c.keys = keyer{by: r.opt.keys(), zone: r.opt.Zone, routes: r.routes()}
		return c
	}
	c.learning = r.tree == nil
	c.needs[user], c.needs[referer] = c.needs[user] || c.learning, c.needs[referer] || c.learning
	c.router = newRouter(r.seed, r.opt.QueryKeys, newPatterns(r.opt.Routes))
	if r.tree != nil { // before that, the size of the prefix bounds the routes
		r.tree.teach(c.router)
		c.router.limit = maxRoutes
	}
	return c
}

func newTable() *tally.Table[row] {
	return tally.NewTable(maxRoutes, func(into, from *row) {
		if into.count == 0 {
			into.example.took = noTime
		}
		into.merge(from)
	})
}

// count reads the beginning, learns routes from it, and reads the rest.
func (r *reading) count(ctx context.Context) error {
	if r.byTable {
		r.table = newTable()
		return r.run(ctx, -1)
	}
	if err := r.run(ctx, r.opt.Prefix); err != nil {
		return err
	}
	r.tree.keep(r.spill)
	known := r.tree.root.countMarks()
	if err := r.run(ctx, -1); err != nil {
		return err
	}
	if r.overflow == nil || r.tree.root.countMarks() == known || !r.reader.Rewind() {
		return nil
	}
	return r.again(ctx)
}

// again counts everything a second time with the routes learned from the whole
// log, because the beginning did not show which names belong together and
// routes overflowed.
func (r *reading) again(ctx context.Context) error {
	r.overflow, r.nothing, r.files = nil, newRow(), newIntakes(len(r.inputs))
	r.slowest.all = nil
	r.tree.keep(func(*row) {})
	r.tree.forget()
	return r.run(ctx, -1)
}

// run lets workers count up to byte upTo of the log (-1: all) and joins their
// results. With ByRoute, r.tree then holds the learned routes.
func (r *reading) run(ctx context.Context, upTo int64) error {
	var mu sync.Mutex
	var counters []*counter
	err := r.reader.RunPrefix(ctx, upTo, func(int) lines.Work {
		c := r.newCounter()
		mu.Lock()
		counters = append(counters, c)
		mu.Unlock()
		return c.block
	})
	if err != nil {
		return err
	}
	r.collect(counters)
	return nil
}

// collect joins the results of workers.
func (r *reading) collect(counters []*counter) {
	for _, c := range counters {
		for i := range c.files {
			r.files[i].add(&c.files[i])
		}
		if r.table != nil {
			r.table.Merge(c.table)
		}
		r.slowest.merge(&c.slowest)
	}
	if !r.byTable {
		r.join(counters)
	}
}

// join adds the routes of all workers to the tree and learns.
func (r *reading) join(counters []*counter) {
	first := r.tree == nil
	if first {
		r.tree, r.nothing = newTree(1), newRow()
	}
	ceiling := uint64(math.MaxUint64)
	for _, c := range counters {
		r.tree.addRouter(c.router, 0)
		r.nothing.merge(c.router.nothing)
		if c.router.overflow.count > 0 {
			r.spill(c.router.overflow)
		}
		if c.router.ceiling != 0 {
			ceiling = min(ceiling, c.router.ceiling)
		}
		c.router = nil // its nodes are free before the tree grows by learning
	}
	if !first {
		r.tree.settle(ceiling, r.spill)
	}
	r.tree.learn()
}

// spill adds a row to the overflow row.
func (r *reading) spill(w *row) {
	if r.overflow == nil {
		r.overflow = newRow()
	}
	r.overflow.merge(w)
}
