package promise

import "github.com/iikanji/iikanji"

// SQLite has the settings of a connection to a SQLite file. The value before a change
// is not known: a library may be compiled with another default than FULL.
var SQLite = Table{
	// OFF leaves syncs to the operating system, and a power cut may damage the file.
	// NORMAL loses the last commits with a write-ahead log, and may damage the file
	// without one on a disk that reorders writes. A killed process loses nothing.
	"synchronous": on(iikanji.Durability, ranked(map[string]int{"OFF": 0, "NORMAL": 1, "FULL": 2, "EXTRA": 3, "0": 0, "1": 1, "2": 2, "3": 3})),
	// A write-ahead log is synced at each commit under FULL. A journal in memory, or
	// none, leaves a damaged file when the process is killed within a transaction.
	"journal_mode": on(iikanji.Durability, ranked(map[string]int{"DELETE": 1, "TRUNCATE": 1, "PERSIST": 1, "WAL": 1, "MEMORY": 0, "OFF": 0})),
}
