package iikanji

import "time"

// ProfileVersion is the version of the JSON form of a [Profile].
const ProfileVersion = 1

// A Source names the side from which a Profile looks.
type Source uint8

const (
	SourceUnknown Source = iota
	Access               // access log of a web server
	Slow                 // statements: slow log, performance_schema, SQLite trace
	Host                 // CPU, memory, disk, network of a host
	Errors               // error log or output of a service
)

var sourceWords = []string{"unknown", "access", "slow", "host", "errors"}

func (s Source) String() string               { return wordOf(sourceWords, s) }
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts the words that String prints.
func (s *Source) UnmarshalText(b []byte) error { return parseWord(sourceWords, b, s, "source") }

// A Profile says where time went, seen from one side. Profiles of the same
// Source merge: counts and sums add exactly, percentiles through the sketches.
type Profile struct {
	Version int       `json:"version"`
	Source  Source    `json:"source"`
	Target  string    `json:"target,omitempty"` // service, host or files read
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Rows    []Row     `json:"rows"` // heaviest first
	Intake  Intake    `json:"intake"`
	Notes   []string  `json:"notes,omitempty"` // what was inferred, said aloud

	Slowest []Sighting `json:"slowest,omitempty"` // single requests, of Access profiles whose reader was asked for them

	// Of Slow profiles whose log names threads, most expensive first:
	Transactions []Transaction `json:"transactions,omitempty"`
	Repeats      []Repeat      `json:"repeats,omitempty"`
}

// A Row is one route, query digest or resource.
type Row struct {
	Key    string        `json:"key"`
	Count  int64         `json:"count"`
	Errors int64         `json:"errors,omitempty"`
	Total  time.Duration `json:"total_ns"`
	Share  float64       `json:"share"` // of the profile's Total, 0..1
	Mean   time.Duration `json:"mean_ns"`
	Stddev time.Duration `json:"stddev_ns"`
	Min    time.Duration `json:"min_ns"`
	P50    time.Duration `json:"p50_ns"`
	P90    time.Duration `json:"p90_ns"`
	P95    time.Duration `json:"p95_ns"`
	P99    time.Duration `json:"p99_ns"`
	Max    time.Duration `json:"max_ns"`
	// Percentiles are those that the user chose, by name ("p99.9").
	Percentiles map[string]time.Duration `json:"percentiles_ns,omitempty"`
	// Time is the serialised sketch of the durations (package tally), so that
	// saved profiles merge.
	Time []byte `json:"time,omitempty"`

	Web   *WebRow `json:"web,omitempty"`   // of Access rows
	Query *SQLRow `json:"query,omitempty"` // of Slow rows
	Log   *LogRow `json:"log,omitempty"`   // of Errors rows

	Host *HostRow `json:"host,omitempty"` // of Host rows

	Example Sighting `json:"example,omitzero"` // the slowest one

	PerSecond *PerSecond `json:"per_second,omitempty"` // by second, where the reader was asked for it
}

// A PerSecond counts by second: Counts[i] is of the second From+i of Unix time.
type PerSecond struct {
	From   int64   `json:"from"`
	Counts []int32 `json:"counts"`
}

// A Sighting is one line or statement of a log, with its place.
type Sighting struct {
	Text string        `json:"text"`
	File string        `json:"file,omitempty"`
	Line int64         `json:"line,omitempty"` // from 1
	Took time.Duration `json:"took_ns,omitempty"`
}

// A WebRow is what an access log knows beyond counts and times.
type WebRow struct {
	Method      string        `json:"method,omitempty"`
	Status      [6]int64      `json:"status"` // by class: [1]=1xx … [5]=5xx, [0]=other
	Bytes       Bytes         `json:"bytes"`
	MaxBytes    Bytes         `json:"max_bytes"`
	Upstream    time.Duration `json:"upstream_ns,omitempty"`
	Upstreams   int64         `json:"upstreams,omitempty"` // lines with an upstream time
	ReqBytes    Bytes         `json:"request_bytes,omitempty"`
	MaxReqBytes Bytes         `json:"max_request_bytes,omitempty"`
}

// A SQLRow is what a statement log knows beyond counts and times.
type SQLRow struct {
	Digest      string        `json:"digest"` // 16 hex digits of the fingerprint
	Fingerprint string        `json:"fingerprint"`
	DB          string        `json:"db,omitempty"`
	Tables      []string      `json:"tables,omitempty"`
	Lock        time.Duration `json:"lock_ns"`
	Sent        int64         `json:"rows_sent"`
	MaxSent     int64         `json:"max_rows_sent"`
	Examined    int64         `json:"rows_examined"`
	MaxExamined int64         `json:"max_rows_examined"`
	Affected    int64         `json:"rows_affected,omitempty"`
	BytesSent   Bytes         `json:"bytes_sent,omitempty"`
	FullScan    int64         `json:"full_scan,omitempty"`
	FullJoin    int64         `json:"full_join,omitempty"`
	Filesort    int64         `json:"filesort,omitempty"`
	TmpTable    int64         `json:"tmp_table,omitempty"`
	TmpDisk     int64         `json:"tmp_table_on_disk,omitempty"`
	VM          float64       `json:"variance_to_mean"` // seconds, as pt-query-digest prints
	Typical     Sighting      `json:"typical,omitzero"` // a statement near the median

	// Prepares counts the Prepare commands that a thread sent right before this
	// statement; PrepareTime is what they and their Close took.
	Prepares    int64         `json:"prepares,omitempty"`
	PrepareTime time.Duration `json:"prepare_ns,omitempty"`

	// Decades counts executions by time: [0] under 10 µs, then under 100 µs,
	// 1 ms, 10 ms, 100 ms, 1 s, 10 s, and [7] from 10 s on. All 0 where the
	// source keeps sums only.
	Decades [8]int64 `json:"decades"`

	DBs     []Named  `json:"dbs,omitempty"` // most frequent first, as Users and Hosts
	Users   []Named  `json:"users,omitempty"`
	Hosts   []Named  `json:"hosts,omitempty"`
	Spreads []Spread `json:"spreads,omitempty"`
}

// A Named counts a name.
type Named struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// A Spread is the distribution of a quantity besides the time of a row: "lock"
// in nanoseconds, "rows_sent", "rows_examined", "rows_affected" in rows,
// "bytes_sent" in bytes.
type Spread struct {
	Name   string `json:"name"`
	Sum    int64  `json:"sum"`
	Min    int64  `json:"min"`
	Max    int64  `json:"max"`
	Mean   int64  `json:"mean"`
	P50    int64  `json:"p50"`
	P95    int64  `json:"p95"`
	Stddev int64  `json:"stddev"`
	Sketch []byte `json:"sketch,omitempty"` // as in Row.Time
}

// A Transaction is a shape of transactions: the statements that one thread
// sent between BEGIN and COMMIT, by digest, repeated ones once. What the
// COMMIT took (its fsync, its binlog) is charged to the shape that paid it.
type Transaction struct {
	Shape      string        `json:"shape"`   // as in "begin; update t; commit", for people
	Digest     string        `json:"digest"`  // 16 hex digits over the digests in it
	Digests    []string      `json:"digests"` // of its statements, in order
	Count      int64         `json:"count"`   // ended by COMMIT or ROLLBACK
	Rollbacks  int64         `json:"rollbacks,omitempty"`
	Statements int64         `json:"statements"` // sum over Count, BEGIN and COMMIT included
	Total      time.Duration `json:"total_ns"`   // of all its statements
	Commit     time.Duration `json:"commit_ns"`  // of COMMIT or ROLLBACK; part of Total
	MaxCommit  time.Duration `json:"max_commit_ns"`
	Lock       time.Duration `json:"lock_ns"`                  // lock time of its statements; part of Total
	Example    Sighting      `json:"example,omitzero"`         // the statement that ended the longest one
	Autocommit bool          `json:"autocommit_off,omitempty"` // begun by autocommit=0, not by BEGIN
}

// A Repeat is a digest that threads sent again and again: with other values
// (a loop in the application: N+1) or with the same (fetched again).
type Repeat struct {
	Digest  string        `json:"digest"`
	Key     string        `json:"key"`     // the fingerprint
	Runs    int64         `json:"runs"`    // series of at least 5 on one thread
	Longest int64         `json:"longest"` // executions in the longest series
	Count   int64         `json:"count"`   // executions in series beyond the first of each: what one statement could save
	Time    time.Duration `json:"time_ns"` // of those
	Same    int64         `json:"same"`    // executions with values that the thread had just used
	// SameTime is the time of those.
	SameTime time.Duration `json:"same_ns"`
}

// An Intake proves how much of a log a reader saw.
type Intake struct {
	Format string    `json:"format"`
	Files  []string  `json:"files,omitempty"`
	Lines  int64     `json:"lines"` // or events, where an event spans lines
	Bytes  Bytes     `json:"bytes"`
	Bad    int64     `json:"bad"`      // lines that did not parse
	Left   int64     `json:"left_out"` // lines that parsed and that a filter left out
	First  time.Time `json:"first,omitzero"`
	Last   time.Time `json:"last,omitzero"`
	// BadLines quotes the first few bad lines, with place and reason.
	BadLines []BadLine `json:"bad_lines,omitempty"`
}

// A BadLine is a line that did not parse.
type BadLine struct {
	File string `json:"file"`
	Line int64  `json:"line"`
	Text string `json:"text"` // its first bytes, valid UTF-8
	Why  string `json:"why"`
}
