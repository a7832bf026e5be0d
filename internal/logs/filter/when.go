package filter

import (
	"fmt"
	"strings"
	"time"
)

// A When is a time as a user writes it. Only [When.Resolve] gets the log that
// it is relative to.
type When struct {
	at    time.Time
	ago   time.Duration // before the end of the log
	clock time.Duration // time of day
	kind  whenKind
	zone  *time.Location
}

type whenKind uint8

const (
	unset whenKind = iota
	absolute
	relative
	timeOfDay
)

// layouts are forms of absolute times; the parts that are missing are zero.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	"2006/01/02 15:04:05", "2006/01/02", "060102 15:04:05", "060102"}

// ParseWhen reads an absolute time (RFC 3339, date and time, a date, or a form
// of the log that stamp reads), a time of day (13:00, 13:00:10), or a duration
// before the end of the log (1h, 90m, 2d). A time without a zone is in zone; nil
// means UTC. stamp may be nil.
func ParseWhen(s string, zone *time.Location, stamp func(string) (time.Time, bool)) (When, error) {
	if zone == nil {
		zone = time.UTC
	}
	s = strings.TrimSpace(s)
	for _, l := range layouts {
		if t, err := time.ParseInLocation(l, s, zone); err == nil {
			return When{kind: absolute, at: t}, nil
		}
	}
	for _, l := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(l, s); err == nil {
			return When{kind: timeOfDay, zone: zone, clock: time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
				time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())}, nil
		}
	}
	if d, ok := parseAgo(s); ok {
		return When{kind: relative, ago: d}, nil
	}
	if stamp != nil {
		if t, ok := stamp(strings.Trim(s, "[]")); ok {
			return When{kind: absolute, at: t}, nil
		}
	}
	return When{}, fmt.Errorf("%q is not a time such as 2026-11-19 04:04:05, 2026-11-19T04:04:05+09:00, 13:00:10 or 1h", s)
}

// maxDays is the longest duration before the end of the log.
const maxDays = 100_000

// parseAgo reads a positive duration, also in days.
func parseAgo(s string) (time.Duration, bool) {
	s = strings.TrimPrefix(strings.TrimSuffix(s, " ago"), "-")
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n := 0
		if _, err := fmt.Sscanf(days+"\n", "%d\n", &n); err == nil && n > 0 && n < maxDays && fmt.Sprint(n) == days {
			return time.Duration(n) * 24 * time.Hour, true
		}
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d > 0
}

// IsZero reports whether the time is not set.
func (w When) IsZero() bool { return w.kind == unset }

// Absolute reports whether the time does not depend on a log.
func (w When) Absolute() bool { return w.kind == absolute }

// At returns a When of an absolute time.
func At(t time.Time) When { return When{kind: absolute, at: t} }

// Resolve returns the time for a log between two times: a time of day is on
// the day on which the log begins, or on the next day if it is before the log's
// beginning and still within it; a duration ends at the end of the log.
func (w When) Resolve(first, last time.Time) time.Time {
	switch w.kind {
	case absolute:
		return w.at
	case relative:
		return last.Add(-w.ago)
	case timeOfDay:
		day := first.In(w.zone)
		t := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, w.zone).Add(w.clock)
		if next := t.AddDate(0, 0, 1); t.Before(first) && !next.After(last) {
			return next
		}
		return t
	}
	return time.Time{}
}
