package accesslog

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// tailSize is how many bytes at the end of a log are read to find its last time.
const tailSize = 64 << 10

// resolveRange finds the times of Options.Since and Options.Until. Times that
// are relative to the log need its first and its last timestamp.
func (r *reading) resolveRange() error {
	var first, last time.Time
	for _, w := range []interface{ Absolute() bool }{r.opt.Since, r.opt.Until} {
		if w.Absolute() || r.opt.Since.IsZero() && r.opt.Until.IsZero() {
			continue
		}
		var err error
		if first, last, err = r.bounds(); err != nil {
			return err
		}
		break
	}
	r.since, r.until = r.opt.Since.Resolve(first, last), r.opt.Until.Resolve(first, last)
	if !r.since.IsZero() && !r.until.IsZero() && !r.since.Before(r.until) {
		return fmt.Errorf("the time range is empty: it begins at %s and ends at %s", r.since.In(r.opt.Zone).Format(time.RFC3339), r.until.In(r.opt.Zone).Format(time.RFC3339))
	}
	return nil
}

// bounds returns the earliest first and the latest last timestamp of the
// inputs. The last timestamp of a stream is not known: it is the present time.
func (r *reading) bounds() (first, last time.Time, err error) {
	for i, in := range r.inputs {
		head, err := in.Head(headSize)
		if err != nil {
			return first, last, err
		}
		if at := r.stampIn(i, head, false); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
		at := r.opt.Now
		if tail, ok := in.Tail(tailSize); ok {
			at = r.stampIn(i, tail, true)
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last, nil
}

// stampIn returns the first or the last timestamp of some lines of an input.
func (r *reading) stampIn(input int, text []byte, wantLast bool) (at time.Time) {
	p := r.formats[input].parser(optional)
	var rec record
	rec.clear()
	for line := range lines.Split(text) {
		if p.parse(line, &rec) != 0 || rec.at == noTime {
			continue
		}
		at = asTime(rec.at)
		if !wantLast {
			return at
		}
	}
	return at
}
