package accesslog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
)

// A Result is one count of a log by [ReadAll], or why there is none.
type Result struct {
	Profile *iikanji.Profile
	Err     error // as of [Read]
}

// ReadAll counts the same access logs in several ways, with one pass over their
// bytes; readings of the same formats parse each line once. Each result is what [Read] would return. The log is read again only
// for those ways for which Read would read it twice. Workers, BlockSize, Whole,
// Partial and Prefix are those of the first Options. The error is that of ctx
// or of reading the bytes.
func ReadAll(ctx context.Context, inputs []*lines.Input, opts []Options) ([]Result, error) {
	if len(opts) == 0 {
		return nil, nil
	}
	first := opts[0].filled()
	shared := newReader(inputs, first)
	results := make([]Result, len(opts))
	var together []*reading
	var places []int // of together in results
	for i, opt := range opts {
		opt.Prefix, opt.Whole, opt.Partial = first.Prefix, first.Whole, first.Partial
		r, err := newReading(inputs, opt)
		if results[i].Err = err; err == nil {
			r.reader = shared
			together, places = append(together, r), append(places, i)
		}
	}
	if err := countTogether(ctx, shared, together); err != nil {
		return nil, err
	}
	var again []int
	for k, r := range together {
		if r.needsAnotherPass() {
			again = append(again, k)
			continue
		}
		results[places[k]] = r.result()
	}
	for _, k := range again { // after the others: line numbers are those of the last pass
		r := together[k]
		if !shared.Rewind() {
			results[places[k]].Err = fmt.Errorf("reading the log in several ways: %w", errStream)
			continue
		}
		r.reset()
		p, err := r.read(ctx)
		if ctx.Err() != nil {
			return nil, err
		}
		results[places[k]] = Result{p, err}
	}
	return results, nil
}

// errStream is the error of a stream that would have to be read twice.
var errStream = errors.New("the log is a stream and cannot be read twice")

// countTogether counts the log for several readings at once: its beginning, of
// which routes are learned, and the rest.
func countTogether(ctx context.Context, shared *lines.Reader, all []*reading) error {
	if len(all) == 0 {
		return nil
	}
	for _, r := range all {
		if r.byTable {
			r.table = newTable()
		}
	}
	if err := runTogether(ctx, shared, all, all[0].opt.Prefix); err != nil {
		return err
	}
	for _, r := range all {
		if !r.byTable {
			r.tree.keep(r.spill)
			r.marks = r.tree.root.countMarks()
		}
	}
	return runTogether(ctx, shared, all, -1)
}

// runTogether is run for several readings: each worker gives each block to a
// counter of each reading.
func runTogether(ctx context.Context, shared *lines.Reader, all []*reading, upTo int64) error {
	var mu sync.Mutex
	counters := make([][]*counter, len(all))
	err := shared.RunPrefix(ctx, upTo, func(int) lines.Work {
		mine := make([]*counter, len(all))
		for i, r := range all {
			mine[i] = r.newCounter()
		}
		mu.Lock()
		defer mu.Unlock()
		for i, c := range mine {
			counters[i] = append(counters[i], c)
		}
		groups := shareParsers(all, mine)
		return func(b *lines.Block) error {
			for _, group := range groups {
				if err := countBlock(b, group); err != nil {
					return err
				}
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	for i, r := range all {
		r.collect(counters[i])
	}
	return nil
}

// shareParsers groups the counters of one worker whose readings have the same
// formats. The first of a group parses the fields that any of them needs.
func shareParsers(all []*reading, counters []*counter) (groups [][]*counter) {
	var of []*reading // the first of each group
	for i, r := range all {
		at := slices.IndexFunc(of, r.sameFormats)
		if at < 0 {
			of, groups = append(of, r), append(groups, []*counter{counters[i]})
			continue
		}
		first := groups[at][0]
		for f, needed := range counters[i].needs {
			first.needs[f] = first.needs[f] || needed
		}
		groups[at] = append(groups[at], counters[i])
	}
	return groups
}

// sameFormats reports whether two readings of the same inputs recognised their
// formats from the same options.
func (r *reading) sameFormats(o *reading) bool {
	a, b := r.opt, o.opt
	return a.Format == b.Format && a.Nginx == b.Nginx && slices.Equal(a.Fields, b.Fields)
}

// needsAnotherPass reports whether one pass is not enough: a part of the log
// has another format, routes overflowed that the beginning did not show, or
// routes are one of several keys.
func (r *reading) needsAnotherPass() bool {
	var unproven *UnprovenError
	return r.usesRoutesAndMore() || errors.As(r.prove(), &unproven) ||
		!r.byTable && r.overflow != nil && r.tree.root.countMarks() != r.marks
}

func (r *reading) result() Result {
	if err := r.prove(); err != nil {
		return Result{Err: err}
	}
	p, err := r.profile()
	return Result{p, err}
}
