package slowlog

import (
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// Sizes of the parts of a log in which its first and its last time are searched.
const (
	headSize = 256 << 10
	tailSize = 256 << 10
)

// resolveRange finds the times of Options.Since and Options.Until. Times relative
// to the log need its first and its last time.
func (c *collector) resolveRange(inputs []*lines.Input, formats []string) error {
	c.since, c.until = -1<<63, 1<<63-1
	since, until := c.opt.Since, c.opt.Until
	if since.IsZero() && until.IsZero() {
		return nil
	}
	var first, last time.Time
	if !since.IsZero() && !since.Absolute() || !until.IsZero() && !until.Absolute() {
		var err error
		if first, last, err = c.bounds(inputs, formats); err != nil {
			return err
		}
	}
	if !since.IsZero() {
		c.since = since.Resolve(first, last).UnixNano()
	}
	if !until.IsZero() {
		c.until = until.Resolve(first, last).UnixNano()
	}
	if c.since >= c.until {
		return &Error{Text: "the time range is empty: it begins at " + formatTime(c.since) + " and ends at " + formatTime(c.until)}
	}
	return nil
}

func formatTime(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339) }

// bounds returns the earliest first and the latest last time of the inputs. The
// last time of a stream is not known: it is the present time.
func (c *collector) bounds(inputs []*lines.Input, formats []string) (first, last time.Time, err error) {
	for i, in := range inputs {
		head, err := in.Head(headSize)
		if err != nil {
			return first, last, err
		}
		from, to := c.timesIn(head, formats[i])
		if tail, ok := in.Tail(tailSize); ok {
			if _, end := c.timesIn(tail, formats[i]); end != 0 {
				to = end
			}
		} else {
			to = time.Now().UnixNano()
		}
		if at := time.Unix(0, from); from != 0 && (first.IsZero() || at.Before(first)) {
			first = at
		}
		if at := time.Unix(0, to); to != 0 && at.After(last) {
			last = at
		}
	}
	if first.IsZero() {
		return first, last, &Error{Text: "the log has no times, so --since and --until cannot be relative to it"}
	}
	return first, last, nil
}

// timesIn returns the first and the last time in a part of a log, 0 for none.
func (c *collector) timesIn(text []byte, format string) (first, last int64) {
	if isDigests(format) {
		return 0, 0
	}
	b := new(batch)
	c.readerOf(format).newParse()(b, &lines.Block{Data: text})
	for i := range b.events {
		at := b.events[i].at
		if at == 0 {
			continue
		}
		if first == 0 || at < first {
			first = at
		}
		last = max(last, at)
	}
	return first, last
}

// window returns the times of the log as advice.
func window(c *collector) []string {
	if c.allLast == 0 {
		return nil
	}
	return []string{"the log covers " + unixTime(c.allFirst).Format(time.RFC3339) + " to " + unixTime(c.allLast).Format(time.RFC3339)}
}

// addTime extends the times of all entries, or of those that count.
func addTime(first, last *int64, at int64) {
	if at == 0 {
		return
	}
	if *first == 0 || at < *first {
		*first = at
	}
	*last = max(*last, at)
}
