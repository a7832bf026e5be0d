package accesslog

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Options say what to read and how to count it. The zero value finds the
// format and learns the routes.
type Options struct {
	// Format is a name (combined, ltsv, json, envoy, …), a format string of
	// nginx, Apache, H2O, varnishncsa or Envoy, or empty to find out.
	Format string
	// Nginx says which formats there are; nil where it is not known.
	Nginx *NginxLog
	// Fields are words on where labelled logs have their fields: NAME=KEY[:UNIT].
	Fields []string
	// Routes win over learning: router patterns, or expressions from Matches.
	Routes    []Pattern
	QueryKeys bool // routes include the keys of the query
	By        By
	Where     []Where
	// Since and Until cut to a time range, half open; zero for none. Lines
	// without a time are left out then.
	Since, Until time.Time
	Zone         *time.Location // of times shown; nil: UTC
	// MaxBad is the share of lines that may not parse; 0 means 0.01.
	MaxBad float64
	// Whole leaves an unfinished last line unread, for logs that grow.
	Whole bool
	// Partial takes what a cut-off gzip or zstd log holds.
	Partial bool

	// PerSecond asks for the counts of each row by second, of logs with times.
	PerSecond bool

	// Done counts the bytes read so far, for whoever shows progress; nil for none.
	Done *atomic.Int64

	Workers   int   // 0: one per core, at most eight
	BlockSize int   // 0: that of package lines
	Prefix    int64 // bytes to learn from at first; 0: 4 MiB
}

const defaultPrefix = 4 << 20

func (o Options) filled() Options {
	if o.MaxBad == 0 {
		o.MaxBad = 0.01
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

// An UnprovenError says that too many lines did not parse: the log is not what
// it was taken for, or it is broken, and a table of the rest would be a lie.
type UnprovenError struct {
	Name, Format string
	Lines, Bad   int64
	MaxBad       float64
	Examples     []string // the first bad lines: place, why, text
}

func (e *UnprovenError) Error() string {
	s := fmt.Sprintf("reading %s as %s: %d of %d lines do not parse, %.3g %% are too many", e.Name, e.Format, e.Bad, e.Lines,
		100*float64(e.Bad)/float64(max(e.Lines, 1)))
	for _, x := range e.Examples {
		s += "\n  " + x
	}
	return s
}

// Hints says what to do.
func (e *UnprovenError) Hints() []string {
	return []string{
		"--log-format '…' or --nginx-conf FILE says what the format is",
		fmt.Sprintf("--max-bad 5 accepts up to 5 %% of such lines (now %.3g)", max(100*e.MaxBad, 0)),
	}
}

// A StrangerError says that a log is of no format that is known.
type StrangerError struct {
	Name, Why string
	First     string // its first line
	hints     []string
}

func (e *StrangerError) Error() string {
	s := fmt.Sprintf("reading %s: it %s", e.Name, e.Why)
	if e.First != "" {
		s += "\n  first line: " + e.First
	}
	return s
}

// Hints says what to do.
func (e *StrangerError) Hints() []string { return e.hints }

// An EmptyError says that there is nothing to count: an empty table is never
// a result.
type EmptyError struct {
	Why   string
	hints []string
}

func (e *EmptyError) Error() string { return e.Why }

// Hints says what to do.
func (e *EmptyError) Hints() []string { return e.hints }
