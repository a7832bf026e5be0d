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
	Clocks               // the clock of another machine
)

var sourceWords = []string{"unknown", "access", "slow", "host", "errors", "clock"}

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

// ProcessList is the format of a profile that was estimated from readings of a database's
// list of running statements: Intake.Lines are the readings.
const ProcessList = "process list"

// An Intake counts how much of a log a reader read and parsed.
type Intake struct {
	Format string    `json:"format"` // of a log, or ProcessList
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
