package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// fileSyncs is the least time of a write to a SQLite file, in seconds, that is taken to
// be the wait for the disk: without syncs a write of one row takes less.
const fileSyncs = 300e-6

var sqliteSyncs = cause.Declare(cause.PerDatabase, findSqliteSyncs,
	cause.Cause{Code: "DB131", Title: "syncs of SQLite files", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "commits in SQLite files wait for the disk",
		Remedies: []cause.Way{cause.Plan("appenv", "", iikanji.RoleApp)}})

// findSqliteSyncs reports as an option what a weaker durability promise of SQLite files saves:
// each commit syncs the journal and the file. The saving of a change of the app (DB116)
// is subtracted.
func findSqliteSyncs(v *cause.View) []iikanji.Finding {
	c := commitCostOf(v)
	if !c.files || c.weight() < leastCommitShare*v.Seconds {
		return nil
	}
	n, took := c.writes, c.writeSeconds
	if !c.single {
		n, took = c.commits, c.seconds
	}
	gain := cause.Between(c.weight()*(1-(commitLeast+commitMost)/2), 0.5, 1)
	return []iikanji.Finding{{Code: "DB131", Where: "synchronous",
		Claim:    fmt.Sprintf("commits in SQLite files wait %.1f s for the disk, %.1f ms each: an option if a power cut may lose the last commits", took, 1000*took/max(1, n)),
		Evidence: append(c.evidence(), iikanji.Evidence{Source: "digests", Text: fmt.Sprintf("%s commits, %s writes, %.2f s", cause.Number(c.commits), cause.Number(c.writes), took)}),
		Gain:     gain,
		Remedies: v.OnApps("appenv", "open the files with synchronous = OFF: syncs are left to the operating system (promise: durability)", map[string]string{"sqlite": "synchronous=OFF"}),
	}}
}

// files reports whether the view is of SQLite files.
func files(v *cause.View) bool {
	return v.Schema != nil && v.Schema.Server.Product == string(iikanji.EngineSQLite)
}
