package fact

import "time"

// Topics of facts about statements that wait for each other.
const (
	TopicLockWait Topic[LockWait] = "lock_wait" // Key the waiting statement, Value a LockWait; Moves
	TopicDeadlock Topic[Deadlock] = "deadlock"  // Key the time of the deadlock, Value a Deadlock; Moves
)

// A LockWait is a pair of statements in the samples of a run: one waited for a row
// that the transaction of the other had locked.
type LockWait struct {
	Waiting string `json:"waiting"` // the waiting statement, with its values
	// Blocking is the statement that the lock's holder was executing at that
	// moment. It is "" if the holder was between two statements, that is, if the
	// application held the lock.
	Blocking string `json:"blocking,omitempty"`
	Table    string `json:"table"` // schema.table
	Index    string `json:"index"`
	Mode     string `json:"mode"` // X, S, IX …
	Seen     int64  `json:"seen"` // number of times seen, in all samples
	// Longest is the longest wait so far that a sample showed.
	Longest time.Duration `json:"longest_ns"`
}

// A Deadlock is the latest deadlock in InnoDB's status.
type Deadlock struct {
	At     string         `json:"at"` // as the server prints it
	Parts  []DeadlockPart `json:"parts"`
	Victim int            `json:"victim"` // number of the part that was rolled back, from 1; 0 if unknown
}

// A DeadlockPart is one of the transactions in a deadlock.
type DeadlockPart struct {
	Thread uint64    `json:"thread"`
	SQL    string    `json:"sql"`
	Holds  []RowLock `json:"holds,omitempty"`
	Waits  []RowLock `json:"waits,omitempty"`
}

// A RowLock is a lock on rows of one index.
type RowLock struct {
	Table string `json:"table"` // schema.table
	Index string `json:"index"`
	Mode  string `json:"mode"` // as in "X locks rec but not gap"
}
