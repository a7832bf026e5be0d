package iikanji

import "time"

// Topics of facts about statements that wait for each other.
const (
	TopicLockWait = "lock_wait" // Key the waiting statement, Value a LockWait; Moves
	TopicDeadlock = "deadlock"  // Key when it was, Value a Deadlock; Moves
)

// A LockWait is one pair of statements of which one waited for a row that the
// other's transaction had locked, as samples of a run showed it.
type LockWait struct {
	Waiting string `json:"waiting"` // with its values
	// Blocking is what the holder executed at that moment; "" where it was
	// between two statements: the application kept the lock.
	Blocking string `json:"blocking,omitempty"`
	Table    string `json:"table"` // schema.table
	Index    string `json:"index"`
	Mode     string `json:"mode"` // X, S, IX …
	Seen     int64  `json:"seen"` // sightings, all samples together
	// Longest is how long one of them had waited when it was seen.
	Longest time.Duration `json:"longest_ns"`
}

// A Deadlock is the latest one that InnoDB tells of.
type Deadlock struct {
	At     string         `json:"at"` // as the server prints it
	Parts  []DeadlockPart `json:"parts"`
	Victim int            `json:"victim"` // number of the part that was rolled back, from 1; 0 where it is not told
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
