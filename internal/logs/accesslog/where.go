package accesslog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/filter"
)

// A subject is what a condition tests: a line, or a row for conditions on
// routes.
type subject struct {
	rec *record
	row *iikanji.Row
}

// A Where is a condition on lines or rows: "status>=500", "method=GET|HEAD",
// "path~^/api", "time>200ms", "route!=/healthz".
type Where struct {
	condition filter.Condition[subject]
	needs     []field // fields that the log must have
}

// routeField is the name of the field that is known only at the end.
const routeField = "route"

// ofRoute reports whether the condition is on routes.
func (w *Where) ofRoute() bool { return w.condition.Uses(routeField) }

// whereNeeds are the fields of the log that conditions need.
var whereNeeds = map[string]field{"status": status, "time": took, "upstream": upstream, "bytes": size, "at": stamp,
	"host": host, "user-agent": agent, "user": user, "ip": address}

// whereFields are the fields of conditions; alp's names are among them.
func whereFields(zone *time.Location) *filter.Fields[subject] {
	number := func(kind filter.Kind, of func(r *record) int64, names ...string) filter.Field[subject] {
		return filter.Field[subject]{Names: names, Kind: kind, Number: func(s *subject) int64 { return of(s.rec) }}
	}
	text := func(of func(r *record) []byte, names ...string) filter.Field[subject] {
		return filter.Field[subject]{Names: names, Text: func(s *subject) []byte { return of(s.rec) }}
	}
	return &filter.Fields[subject]{Zone: zone, Stamp: parseUserStamp, All: []filter.Field[subject]{
		number(filter.Status, func(r *record) int64 { return int64(r.status) }, "status"),
		text(func(r *record) []byte { return r.methodText() }, "method"),
		{Names: []string{routeField, "uri"}, Text: func(s *subject) []byte { return []byte(s.row.Key) }},
		text(func(r *record) []byte { return pathOf(r.uri) }, "path"),
		text(func(r *record) []byte { return r.host }, "host"),
		text(func(r *record) []byte { return r.agent }, "user-agent", "ua"),
		text(func(r *record) []byte { return r.user }, "user"),
		text(func(r *record) []byte { return r.addr }, "ip", "address"),
		number(filter.Duration, func(r *record) int64 { return r.took }, "time", "duration", "response-time", "restime"),
		number(filter.Duration, func(r *record) int64 { return r.upstream }, "upstream"),
		number(filter.Size, func(r *record) int64 { return r.size }, "bytes", "size", "body-bytes"),
		number(filter.Time, func(r *record) int64 { return r.at }, "at", "timestamp"),
	}}
}

// ParseWhere reads conditions in the language of package filter. A condition
// on routes is tested with the route alone and with the method before it; it
// cannot be an alternative to one on lines.
func ParseWhere(s string, zone *time.Location) (all []Where, err error) {
	fields := whereFields(zone)
	conditions, err := fields.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("reading the filter %q: %w", s, err)
	}
	for _, c := range conditions {
		w := Where{condition: c}
		if w.ofRoute() && len(c.Fields) > 1 {
			return nil, fmt.Errorf("reading the filter %q: %q mixes conditions on routes and on lines: use path instead of route", s, c.Source)
		}
		for _, name := range c.Fields {
			if f, ok := whereNeeds[name]; ok {
				w.needs = append(w.needs, f)
			}
		}
		all = append(all, w)
	}
	return all, nil
}

// holdsRow reports whether a row meets a condition on routes.
func (w *Where) holdsRow(row *iikanji.Row) bool {
	key := *row
	if w.condition.Holds(&subject{row: &key}) != w.negative() {
		return !w.negative()
	}
	if _, route, ok := strings.Cut(row.Key, " "); ok {
		key.Key = route
		return w.condition.Holds(&subject{row: &key})
	}
	return w.negative()
}

// negative reports whether the condition holds for a route without text, as
// those with != and !~ do: both forms of the key must then meet it.
func (w *Where) negative() bool { return w.condition.Holds(&subject{row: &iikanji.Row{}}) }

var methodBytes = func() (all [][]byte) {
	for _, m := range methods {
		all = append(all, []byte(m))
	}
	return all
}()

func pathOf(uri []byte) []byte {
	if i := bytes.IndexByte(uri, '?'); i >= 0 {
		return uri[:i]
	}
	return uri
}

// parseUserStamp reads a timestamp in a form of logs.
func parseUserStamp(s string) (time.Time, bool) {
	var c clock
	at, ok := c.any([]byte(s))
	return time.Unix(0, at), ok
}

// ParseWhen reads a time of --since or --until: absolute, a time of day, a
// duration before the log's end, or a timestamp of the log. A time without a
// zone is in zone.
func ParseWhen(s string, zone *time.Location) (filter.When, error) {
	return filter.ParseWhen(s, zone, parseUserStamp)
}

// needsOf lists the fields that conditions need, each once.
func needsOf(all []Where) (fields []field) {
	for _, w := range all {
		for _, f := range w.needs {
			if !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
	}
	return fields
}
