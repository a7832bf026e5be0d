package portalbench

import (
	"slices"
	"time"
)

// Limits by which a load is told from other requests.
const (
	// afterInitialize is how long after an initialize the load begins where no other
	// request is logged: a server logs a request when it has answered it.
	afterInitialize = 300 * time.Millisecond
	// A load that follows an initialize has leastLines within primedTime; one without
	// has bareLines within bareTime. A person with a browser has fewer.
	leastLines = 20
	primedTime = 10 * time.Second
	bareLines  = 50
	bareTime   = 3 * time.Second
	// restShare is the share of a load's own rate below which it is over: health checks
	// and people go on.
	restShare = 0.02
	// apart is the gap before a load without initialize: requests before it are others'.
	apart = 500 * time.Millisecond
	// anotherAfter is how long after its begin an initialize means another load: one load
	// may call it several times.
	anotherAfter = 5 * time.Second
)

// DefaultQuiet is the time without requests after which a load is over.
const DefaultQuiet = 5 * time.Second

// A Batch is the lines that a log got since the last look.
type Batch struct {
	Before int // lines before the first initialize; all lines if there is none
	Inits  int // lines of initialize
	After  int // lines after the last initialize
}

// A Load is the time of one load. To is zero while it goes on.
type Load struct{ From, To time.Time }

// A Detector finds loads in the lines of a log, as these arrive.
type Detector struct {
	Quiet time.Duration // 0 for DefaultQuiet

	seen   []sample // lines that may be the begin of a load, or are its last seconds
	primed time.Time
	from   time.Time // of the load that goes on; zero for none
	lines  int       // of that load
}

type sample struct {
	at time.Time
	n  int
}

// See takes the lines that arrived until a moment. It returns what has become known: a
// load that began (without an end), or one that is over. Times go up.
func (d *Detector) See(at time.Time, b Batch) (known []Load) {
	if b.Inits > 0 && !d.from.IsZero() && at.Sub(d.from) >= anotherAfter {
		d.add(at, b.Before)
		known, b.Before = append(known, d.end(d.last(at))), 0
	}
	if d.from.IsZero() {
		if b.Inits > 0 {
			d.primed, d.seen = at, nil
			b.Before = 0
		}
		d.add(at, b.Before+b.After)
		d.forget(at)
		if l, ok := d.begins(at); ok {
			known = append(known, l)
		}
		return known
	}
	d.add(at, b.Before+b.Inits+b.After)
	if last := d.last(at); at.Sub(last) >= d.quiet() {
		known = append(known, d.end(last))
	} else { // the end is found by what came since
		d.seen = slices.DeleteFunc(d.seen, func(s sample) bool { return s.at.Before(last) })
	}
	return known
}

// add notes lines.
func (d *Detector) add(at time.Time, n int) {
	if n > 0 {
		d.seen = append(d.seen, sample{at, n})
		d.lines += n
	}
}

// forget drops lines that are too old to be the begin of a load.
func (d *Detector) forget(at time.Time) {
	if !d.primed.IsZero() && at.Sub(d.primed) > primedTime {
		d.primed = time.Time{}
	}
	if d.primed.IsZero() {
		d.seen = slices.DeleteFunc(d.seen, func(s sample) bool { return at.Sub(s.at) > bareTime })
	}
	d.lines = total(d.seen)
}

// begins reports whether what was seen is a load.
func (d *Detector) begins(at time.Time) (Load, bool) {
	least := bareLines
	if !d.primed.IsZero() {
		least = leastLines
	}
	if d.lines < least {
		return Load{}, false
	}
	for i := len(d.seen) - 1; i > 0 && d.primed.IsZero(); i-- {
		if d.seen[i].at.Sub(d.seen[i-1].at) > apart {
			d.seen = d.seen[i:]
			break
		}
	}
	d.from = d.seen[0].at
	if early := d.primed.Add(afterInitialize); !d.primed.IsZero() && early.Before(d.from) {
		d.from = early
	}
	d.primed = time.Time{}
	return Load{From: d.from}, true
}

// rest is how many lines a load of this rate may still have when it is over.
func (d *Detector) rest(at time.Time) int {
	took := max(at.Sub(d.from), time.Second)
	return max(1, int(restShare*float64(d.lines)/took.Seconds()*d.quiet().Seconds()))
}

// last is the time of the last line before the rest.
func (d *Detector) last(at time.Time) time.Time {
	rest := d.rest(at)
	for i := len(d.seen) - 1; i >= 0; i-- {
		if rest -= d.seen[i].n; rest < 0 {
			return d.seen[i].at
		}
	}
	if len(d.seen) > 0 {
		return d.seen[0].at
	}
	return d.from
}

// end ends the load that goes on.
func (d *Detector) end(last time.Time) Load {
	l := Load{d.from, last}
	if last.Before(d.from) {
		l.To = d.from
	}
	d.from, d.seen, d.lines, d.primed = time.Time{}, nil, 0, time.Time{}
	return l
}

// Stop ends the load that goes on now, if any, at the time of its last line.
func (d *Detector) Stop() (Load, bool) {
	if d.from.IsZero() {
		return Load{}, false
	}
	last := d.from
	if n := len(d.seen); n > 0 {
		last = d.seen[n-1].at
	}
	return d.end(last), true
}

func (d *Detector) quiet() time.Duration {
	if d.Quiet > 0 {
		return d.Quiet
	}
	return DefaultQuiet
}

func total(all []sample) (n int) {
	for _, s := range all {
		n += s.n
	}
	return n
}
