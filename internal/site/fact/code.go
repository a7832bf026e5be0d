package fact

import (
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// A CodePlace is a place in the source of an app that a code lever found.
type CodePlace struct {
	Code iikanji.Code `json:"code"`
	File string       `json:"file"` // relative to the source folder, with slashes
	Line int          `json:"line"`
	Func string       `json:"func,omitempty"` // enclosing function, as in "(*app).list"; "" at package level
	// Statements are the SQL texts of the place, with the placeholders of the source.
	// Digests are those of their fingerprints, as in SQLRow.Digest.
	Statements []string `json:"statements,omitempty"`
	Digests    []string `json:"digests,omitempty"`
	What       string   `json:"what"` // one line
	How        string   `json:"how,omitempty"`
	// Weakens lists the promises that its fixes weaken.
	Weakens []iikanji.Promise `json:"weakens,omitempty"`
	// Variants are the titles of its fixes; none for a hint.
	Variants []string `json:"variants,omitempty"`
	// Drops is the share of the work that a knob leaves out at random; 0 for others.
	Drops float64 `json:"drops,omitempty"`
	// Capacity: the number of what exists is compared with a constant, and more is refused.
	Capacity bool `json:"capacity,omitempty"`
	// Pool: a constant is the most connections that the app opens to a database.
	Pool bool `json:"pool,omitempty"`
	// Waits is how long a sleep or an interval takes each time; 0 if unknown, and for others.
	Waits time.Duration `json:"waits_ns,omitempty"`
	// Source is the folder that File is relative to. Services with the same one are built from
	// the same source. "" in histories of before.
	Source string `json:"source,omitempty"`
	// Reason is why it has no fix, with the line: "the loop has a label (main.go:12)". ""
	// where there is one, and in histories of before.
	Reason string `json:"reason,omitempty"`
}

// Knob reports whether the place is a constant that decides how the app behaves, with
// other values to try, instead of a rewrite that keeps the answers.
func (p CodePlace) Knob() bool {
	return len(p.Variants) > 1 || p.Fixable() && slices.Contains(p.Weakens, iikanji.Behaviour)
}

// Fixable reports whether a change can be planned for the place.
func (p CodePlace) Fixable() bool { return len(p.Variants) > 0 }

// A SentStatement is a SQL text in the source of an app.
type SentStatement struct {
	Func   string `json:"func,omitempty"` // enclosing function, as of a CodePlace
	Text   string `json:"text"`           // with the placeholders of the source
	Digest string `json:"digest"`         // as in SQLRow.Digest
}

// A Handler is the function that a router calls for a route.
type Handler struct {
	Func string `json:"func"`
	// Reaches are the functions of the app that it calls, directly or through others.
	Reaches []string `json:"reaches,omitempty"`
}

// A HotFunction is the CPU time of one function of an app during the load.
type HotFunction struct {
	Own  time.Duration `json:"own_ns"`  // in the function itself
	Each time.Duration `json:"each_ns"` // in it and in what it called
	// Package is the import path; "" for the app's own packages.
	Package string `json:"package,omitempty"`
	File    string `json:"file,omitempty"` // of the app's own functions, relative to the source folder
	Line    int    `json:"line,omitempty"` // with the most CPU time
	// Within are the app's own functions that it ran for, most first.
	Within []iikanji.Named `json:"within,omitempty"` // Count in nanoseconds
}

// A QueryCache is what the query cache in an app did during the load.
type QueryCache struct {
	Entries int64         `json:"entries"` // kept at the end
	Bytes   iikanji.Bytes `json:"bytes"`
	// All is the sum of all statements whose answers may be kept, Statements those that
	// missed most.
	All        QueryCacheUse   `json:"all"`
	Statements []QueryCacheUse `json:"statements,omitempty"`
	// Batches are the statements of loops whose rows were read ahead.
	Batches []QueryCacheBatch `json:"batches,omitempty"`
}

// A QueryCacheBatch counts the answers of one statement that were read ahead.
type QueryCacheBatch struct {
	Child   string `json:"child"`
	Column  string `json:"column"` // of its table, with the key
	Sent    int64  `json:"sent"`   // statements for many keys
	Keys    int64  `json:"keys"`
	Used    int64  `json:"used"`              // answers that were then asked for
	Stopped bool   `json:"stopped,omitempty"` // they took longer than one by one, or could not be told apart
	// Parents are the statements whose rows have the keys.
	Parents []QueryCacheParent `json:"parents,omitempty"`
}

// A QueryCacheParent is a statement whose rows have the keys of a loop.
type QueryCacheParent struct {
	Text    string `json:"text"`
	Column  string `json:"column"`
	Learned bool   `json:"learned,omitempty"` // the source did not show it
}

// A QueryCacheUse counts the answers of one statement.
type QueryCacheUse struct {
	Text   string `json:"text,omitempty"`
	Kept   bool   `json:"kept,omitempty"` // its answers may be kept
	Hits   int64  `json:"hits"`
	Misses int64  `json:"misses"`
	Doubts int64  `json:"doubts"` // went to the database because of a write under way
	// Drops were not stored because a write came in between, Evicted were removed for lack
	// of memory.
	Drops   int64 `json:"drops"`
	Evicted int64 `json:"evicted"`
}

// Add adds the counts of another statement.
func (u *QueryCacheUse) Add(o QueryCacheUse) {
	u.Hits, u.Misses, u.Doubts, u.Drops, u.Evicted = u.Hits+o.Hits, u.Misses+o.Misses, u.Doubts+o.Doubts, u.Drops+o.Drops, u.Evicted+o.Evicted
}

// Asked is how often the database was asked.
func (u QueryCacheUse) Asked() int64 { return u.Misses + u.Doubts }

// A Constant is a number in the source of an app, in any language, whose name says that it
// limits something.
type Constant struct {
	File  string `json:"file"` // relative to the source folder, with slashes
	Line  int    `json:"line"`
	Name  string `json:"name"`
	Value string `json:"value"`
	Text  string `json:"text"` // the line
}
