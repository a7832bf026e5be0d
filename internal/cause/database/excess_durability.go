package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var excessDurability = cause.Declare(cause.PerDatabase, findExcessDurability,
	cause.Cause{Code: "DB206", Title: "durability that the promise does not need", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "an option only: the page names what may be lost",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findExcessDurability reports as an option what a weaker durability promise saves: commits
// wait for the log on disk because of innodb_flush_log_at_trx_commit. The
// saving of a change of the app (DB116) is subtracted.
func findExcessDurability(v *cause.View) []iikanji.Finding {
	c := commitCostOf(v)
	if !c.redo || c.weight() < leastCommitShare*v.Seconds || c.commits+c.writes < cause.ManyRuns {
		return nil
	}
	left := c.weight() * (1 - (commitLeast+commitMost)/2)
	return []iikanji.Finding{{Code: "DB206", Where: "innodb_flush_log_at_trx_commit",
		Claim: fmt.Sprintf("commits wait %.1f s for the log on disk: an option if a power cut may lose the last second of commits", c.weight()),
		Evidence: append(c.evidence(), iikanji.Evidence{Source: "variable", Text: "innodb_flush_log_at_trx_commit = 1"},
			iikanji.Evidence{Source: "digests", Text: fmt.Sprintf("%s commits, %s writes, %.2f s", cause.Number(c.commits), cause.Number(c.writes), c.weight())}),
		Gain:     cause.Between(left, 0.3, 1),
		Remedies: []iikanji.Remedy{v.OnSelf("mysqlconf", "write the log at each commit and sync it once a second (promise: durability)", map[string]string{"innodb_flush_log_at_trx_commit": "2"})},
	}}
}
