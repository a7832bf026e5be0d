package accesslog

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/logs/filter"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// Options select what to read and how to count it. The zero value detects the
// format and learns the routes.
type Options struct {
	// Format is a format name (combined, ltsv, json, envoy, …), a format string
	// of nginx, Apache, H2O, varnishncsa or Envoy, or empty to detect it.
	Format string
	// Nginx holds the log formats of an nginx configuration; nil if none was
	// given.
	Nginx *NginxLog
	// Fields assign keys of labelled logs to fields: NAME=KEY[:UNIT].
	Fields []string
	// Routes have priority over learned routes: router patterns, or expressions
	// from Matches.
	Routes    []Pattern
	QueryKeys bool // routes include the keys of the query
	By        By
	// ThenBy are further keys: rows are of By and each of these. Together with
	// ByRoute the inputs are read twice.
	ThenBy []By
	// DecodeURI decodes percent-encoded text in routes and examples.
	DecodeURI bool
	// Slowest is how many of the slowest requests are listed.
	Slowest int
	Where   []Where
	// Since and Until limit the log to a half-open time range; zero means no
	// limit. Lines without a time are then left out. Times relative to the log
	// refer to its first and its last line; the end of a stream is Now.
	Since, Until filter.When
	Now          time.Time      // zero: the present time
	Zone         *time.Location // of times shown; nil means UTC
	// MaxBad is the accepted share of lines that do not parse; 0 means 0.01.
	MaxBad float64
	// Whole leaves an unfinished last line unread, for logs that are still
	// being written.
	Whole bool
	// Partial counts the readable part of a cut-off gzip or zstd log.
	Partial bool

	// PerSecond also counts each row by second, for logs with timestamps.
	PerSecond bool
	// Ticks also counts each row by tick, for a single log with timestamps; nil
	// for none.
	Ticks *tally.Window

	// Done receives the number of bytes read so far, for a progress display;
	// nil for none.
	Done *atomic.Int64

	Workers   int   // 0: one per core, at most eight
	BlockSize int   // 0: that of package lines
	Prefix    int64 // bytes of the first learning step; 0: 2 MiB
}

// keys are the groupings of the rows.
func (o *Options) keys() []By { return append([]By{o.By}, o.ThenBy...) }

const defaultPrefix = 2 << 20

func (o Options) filled() Options {
	if o.MaxBad == 0 {
		o.MaxBad = 0.01
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Prefix == 0 {
		o.Prefix = defaultPrefix
	}
	o.Routes = sortRoutes(o.Routes)
	return o
}

// An UnprovenError reports that too many lines did not parse: the detected
// format is wrong or the log is damaged, and a table of the other lines would
// mislead.
type UnprovenError struct {
	Name, Format string
	Lines, Bad   int64
	MaxBad       float64
	Examples     []string // the first bad lines: line number, reason, text
	Changed      string   // the formats before and after a change, if the log cannot be read twice
	file         int
}

func (e *UnprovenError) Error() string {
	s := fmt.Sprintf("reading %s as %s: %d of %d lines do not parse, %.3g %% are too many", e.Name, e.Format, e.Bad, e.Lines,
		100*float64(e.Bad)/float64(max(e.Lines, 1)))
	for _, x := range e.Examples {
		s += "\n  " + x
	}
	return s
}

// Hints lists remedies.
func (e *UnprovenError) Hints() []string {
	if e.Changed != "" {
		return []string{"the format changes (" + e.Changed + "): give the name of a file, which can be read twice"}
	}
	return []string{
		"--log-format '…' or --nginx-conf FILE sets the format",
		fmt.Sprintf("--max-bad 5 accepts up to 5 %% of such lines (now %.3g)", max(100*e.MaxBad, 0)),
	}
}

// An UnknownFormatError reports a log of no known format.
type UnknownFormatError struct {
	Name    string
	Content Content // ContentText: lines of text in no known format
	First   string  // first line of a text
	// Kind and Keys are set for lines of keys and values (LTSV, JSON, logfmt) of
	// which no key holds the path: the kind of the lines and their keys.
	Kind string
	Keys []string
	// proposed is a format that reads lines of the log, nil for none.
	proposed *proposal
}

func (e *UnknownFormatError) Error() string {
	s := fmt.Sprintf("reading %s: it %s", e.Name, e.Content)
	if len(e.Keys) > 0 {
		s += fmt.Sprintf(": no key of its %s holds the path of the request\n  keys: %s", e.Kind, strings.Join(e.Keys, ", "))
	}
	if e.First != "" {
		s += "\n  first line: " + e.First
	}
	return s
}

// Hints lists remedies.
func (e *UnknownFormatError) Hints() []string {
	if len(e.Keys) > 0 {
		return []string{"--field uri=KEY sets the key of the path, --field request=KEY that of a line such as \"GET / HTTP/1.1\""}
	}
	if e.proposed != nil {
		return []string{e.proposed.hint(), "--nginx-conf FILE takes the format from the server's configuration"}
	}
	return e.Content.hints()
}

// An EmptyError reports that there is nothing to count; Read never returns an
// empty table.
type EmptyError struct {
	Why   string
	hints []string
	// NothingNew: reading started behind the beginning of a log, and no line
	// follows.
	NothingNew bool
}

func (e *EmptyError) Error() string { return e.Why }

// Hints lists remedies.
func (e *EmptyError) Hints() []string { return e.hints }
