package slowlog

// An event is one entry of a log. Its spans refer to the block that holds it.
// Durations are in nanoseconds.
type event struct {
	at       int64 // Unix time in ns; 0 if the entry has none
	query    int64
	lock     int64
	sent     int64
	examined int64
	affected int64
	bytes    int64
	thread   uint64
	digest   uint64
	values   uint64 // hash of the values in the statement
	start    int32  // of the entry in its block
	line     int32  // in its block, from 1; 0 where start determines it
	fileLine int64  // in its file; 0 where line or start determine it
	sql      span
	db       span // empty if the entry names no database
	user     span
	host     span
	flags    flags
	kind     kind
}

// A span is data[from:to] of a block.
type span struct{ from, to int32 }

func (s span) of(data []byte) []byte { return data[s.from:s.to] }

type flags uint32

const (
	flagFullScan flags = 1 << iota
	flagFullJoin
	flagFilesort
	flagTmpTable
	flagTmpDisk
	flagError
	flagRoutine // inside a stored routine: the time of its CALL includes it
	flagRestart // the lines of a server start follow the entry
	flagUse     // db comes from a use line, so it applies to the following entries too
	flagRate    // the server logged a sample
	flagOpen    // the statement ends inside a string
	flagReadFirst
	flagUntimed   // the duration comes in an entry of its own
	flagQueryPlan // the entry has fields of the query plan
	flagNone      // not an entry: only its other flags count
	flagBind      // PostgreSQL: the bind of a statement, in which the server plans it
	flagPlan      // PostgreSQL: a plan of auto_explain, with the time of the statement
	flagClock     // the clock was set back in it: its time counts as 0
	flagCached    // answered by the query cache, without reading a table
	flagNoTimes   // the log has no times
)
