package iikanji

import "time"

// ProfileVersion is the version of the JSON form of a [Profile].
const ProfileVersion = 1

// A Source is the kind of data that a Profile was made from.
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

// A Profile breaks down the time spent, as measured by one Source. Profiles of
// the same Source can be merged: counts and sums are added exactly, percentiles
// are computed from the merged sketches.
type Profile struct {
	Version int       `json:"version"`
	Source  Source    `json:"source"`
	Target  string    `json:"target,omitempty"` // service, host or files read
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Rows    []Row     `json:"rows"` // heaviest first
	Intake  Intake    `json:"intake"`
	Notes   []string  `json:"notes,omitempty"` // assumptions that the reader inferred from the input

	Slowest []Sighting `json:"slowest,omitempty"` // the slowest single requests; only in Access profiles, and only on request

	// Only in Slow profiles whose log names threads; most expensive first:
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
	// Percentiles are those that the user selected, by name ("p99.9").
	Percentiles map[string]time.Duration `json:"percentiles_ns,omitempty"`
	// Time is the serialised sketch of the durations (package tally). With it,
	// saved profiles can be merged.
	Time []byte `json:"time,omitempty"`

	Web   *WebRow `json:"web,omitempty"`   // of Access rows
	Query *SQLRow `json:"query,omitempty"` // of Slow rows
	Log   *LogRow `json:"log,omitempty"`   // of Errors rows

	Host *HostRow `json:"host,omitempty"` // of Host rows

	Example Sighting `json:"example,omitzero"` // the slowest request, statement or line

	PerSecond *PerSecond `json:"per_second,omitempty"` // by second, only on request
	Ticks     *Ticks     `json:"ticks,omitempty"`      // only on request
}

// A PerSecond holds counts by second: Counts[i] is for the second From+i of Unix time.
type PerSecond struct {
	From   int64   `json:"from"`
	Counts []int32 `json:"counts"`
}

// Ticks are when the events of a row happened, in equal intervals (ticks) of a
// load. An event is spread evenly over the time in which it ran: a statement over
// its execution, a request over its time if the log has it, otherwise over the
// time in which it may have ended.
type Ticks struct {
	From   time.Time     `json:"from"` // of the first tick
	Step   time.Duration `json:"step_ns"`
	Counts []int64       `json:"counts"` // in thousandths of an event; ticks after the last one are 0
}

// A Sighting is one line or statement of a log, with its position.
type Sighting struct {
	Text string        `json:"text"`
	File string        `json:"file,omitempty"`
	Line int64         `json:"line,omitempty"` // from 1
	Took time.Duration `json:"took_ns,omitempty"`
}

// A WebRow is the data of an access log beyond counts and times.
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

// A SQLRow is the data of a statement log beyond counts and times.
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
	NoSent      bool          `json:"rows_sent_unknown,omitempty"`     // the source does not count rows sent
	NoExamined  bool          `json:"rows_examined_unknown,omitempty"` // … rows examined
	BytesSent   Bytes         `json:"bytes_sent,omitempty"`
	FullScan    int64         `json:"full_scan,omitempty"`
	FullJoin    int64         `json:"full_join,omitempty"`
	Filesort    int64         `json:"filesort,omitempty"`
	TmpTable    int64         `json:"tmp_table,omitempty"`
	TmpDisk     int64         `json:"tmp_table_on_disk,omitempty"`
	VM          float64       `json:"variance_to_mean"` // in seconds, as in pt-query-digest
	Typical     Sighting      `json:"typical,omitzero"` // a statement near the median

	// Cached counts the executions that the server's query cache answered: they
	// examined no row.
	Cached int64 `json:"cached,omitempty"`

	// Prepares counts the Prepare commands that a thread sent right before this
	// statement; PrepareTime is the time of these commands and of their Close.
	Prepares    int64         `json:"prepares,omitempty"`
	PrepareTime time.Duration `json:"prepare_ns,omitempty"`

	// Decades counts executions by time: [0] under 10 µs, then under 100 µs,
	// 1 ms, 10 ms, 100 ms, 1 s, 10 s, and [7] from 10 s on. All are 0 if the
	// source keeps only sums.
	Decades [8]int64 `json:"decades"`

	DBs     []Named  `json:"dbs,omitempty"` // most frequent first, as Users and Hosts
	Users   []Named  `json:"users,omitempty"`
	Hosts   []Named  `json:"hosts,omitempty"`
	Spreads []Spread `json:"spreads,omitempty"`
}

// A Named is a name with its count.
type Named struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// A Spread is the distribution of a quantity of a row other than its time: "lock"
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

// A Transaction is a group of transactions of the same shape. The shape is the
// digests of the statements that one thread sent between BEGIN and COMMIT;
// a repeated digest appears once. The time of the COMMIT (its fsync, its binlog)
// belongs to the shape.
type Transaction struct {
	Shape      string        `json:"shape"`   // as in "begin; update t; commit", for human readers
	Digest     string        `json:"digest"`  // 16 hex digits, computed from Digests
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

// A Repeat is a digest that threads sent repeatedly: with different values
// (a loop in the application: N+1) or with the same values (fetched again).
type Repeat struct {
	Digest  string        `json:"digest"`
	Key     string        `json:"key"`     // the fingerprint
	Runs    int64         `json:"runs"`    // series of at least 5 on one thread
	Longest int64         `json:"longest"` // executions in the longest series
	Count   int64         `json:"count"`   // executions in series without the first of each: a single statement could save them
	Time    time.Duration `json:"time_ns"` // of the executions in Count
	Same    int64         `json:"same"`    // executions with values that the thread had just used
	// SameTime is the time of the executions in Same.
	SameTime time.Duration `json:"same_ns"`
}

// An Intake counts how much of a log a reader read and parsed.
type Intake struct {
	Format string    `json:"format"`
	Files  []string  `json:"files,omitempty"`
	Lines  int64     `json:"lines"` // or events, if an event spans several lines
	Bytes  Bytes     `json:"bytes"`
	Bad    int64     `json:"bad"`      // lines that did not parse
	Left   int64     `json:"left_out"` // parsed lines that a filter excluded
	First  time.Time `json:"first,omitzero"`
	Last   time.Time `json:"last,omitzero"`
	// BadLines quotes the first few bad lines, with position and reason.
	BadLines []BadLine `json:"bad_lines,omitempty"`
}

// A BadLine is a line that did not parse.
type BadLine struct {
	File string `json:"file"`
	Line int64  `json:"line"`
	Text string `json:"text"` // its first bytes, valid UTF-8
	Why  string `json:"why"`
}
