package slowlog

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/logs/filter"
)

// An Entry is one entry of a log in a filter. It is valid during the call.
type Entry struct {
	collector *collector
	ev        *event
	user      []byte
	host      []byte
	db        []byte
}

// A Where is a filter: conditions that must all hold. The empty one selects all
// entries.
type Where []filter.Condition[Entry]

// holds reports whether an entry meets the filter.
func (w Where) holds(e *Entry) bool {
	for i := range w {
		if !w[i].Holds(e) {
			return false
		}
	}
	return true
}

// ParseWhere reads a filter in the language of package filter, as in
//
//	time > 100ms and db = isu and statement ~ ^select
//
// Regular expressions ignore case. A time without a zone is in zone.
func ParseWhere(text string, zone *time.Location) (Where, error) {
	all, err := whereFields(zone).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading the filter %q: %w", text, err)
	}
	return all, nil
}

// whereFields are the fields of filters. Names that access logs have too are the
// same there.
func whereFields(zone *time.Location) *filter.Fields[Entry] {
	number := func(kind filter.Kind, of func(*event) int64, names ...string) filter.Field[Entry] {
		return filter.Field[Entry]{Names: names, Kind: kind, Number: func(e *Entry) int64 { return of(e.ev) }}
	}
	text := func(of func(*Entry) []byte, names ...string) filter.Field[Entry] {
		return filter.Field[Entry]{Names: names, Text: of}
	}
	flag := func(name string, bit flags) filter.Field[Entry] {
		return filter.Field[Entry]{Names: []string{name}, Kind: filter.Flag, Flag: func(e *Entry) bool { return e.ev.flags&bit != 0 }}
	}
	return &filter.Fields[Entry]{FoldCase: true, Zone: zone, All: []filter.Field[Entry]{
		number(filter.Duration, func(e *event) int64 { return e.query }, "time", "query_time", "duration"),
		number(filter.Duration, func(e *event) int64 { return e.lock }, "lock", "lock_time"),
		number(filter.Integer, func(e *event) int64 { return e.sent }, "rows_sent"),
		number(filter.Integer, func(e *event) int64 { return e.examined }, "rows_examined"),
		number(filter.Integer, func(e *event) int64 { return e.affected }, "rows_affected"),
		number(filter.Size, func(e *event) int64 { return e.bytes }, "bytes_sent", "bytes"),
		text(func(e *Entry) []byte { return e.db }, "db", "schema", "database"),
		text(func(e *Entry) []byte { return e.user }, "user"),
		text(func(e *Entry) []byte { return e.host }, "host"),
		number(filter.Integer, func(e *event) int64 { return int64(e.thread) }, "thread", "thread_id"),
		text(func(e *Entry) []byte { return fmt.Appendf(nil, "%016x", e.ev.digest) }, "digest"),
		text(func(e *Entry) []byte { return e.ev.sql.of(e.collector.batch.data) }, "statement", "sql", "query"),
		number(filter.Time, func(e *event) int64 { return e.at }, "at", "timestamp"),
		flag("full_scan", flagFullScan), flag("full_join", flagFullJoin), flag("filesort", flagFilesort),
		flag("tmp_table", flagTmpTable), flag("tmp_disk", flagTmpDisk), flag("error", flagError),
	}}
}
