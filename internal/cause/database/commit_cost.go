package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

// Range of the share of commit time that fewer commits save.
const (
	commitLeast = 0.2
	commitMost  = 0.6
)

var costlyCommits = cause.Declare(cause.PerDatabase, findCommitCost,
	cause.Cause{Code: "DB116", Title: "commit cost", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "the log is synced for each small transaction",
		Remedies: []cause.Way{cause.Patch}})

// findCommitCost reports the cost of commits: time in COMMIT, or writes outside of
// transactions, each of which waits for the log on disk.
func findCommitCost(v *cause.View) []iikanji.Finding {
	c := commitCostOf(v)
	if !c.durable || c.weight() < leastCommitShare*v.Seconds {
		return nil
	}
	f := iikanji.Finding{Code: "DB116", Where: v.Self.Name, Evidence: c.rows,
		Claim: fmt.Sprintf("%s commits wait for the log on disk, %.1f ms each", cause.Number(c.commits), 1000*c.weight()/max(1, c.commits))}
	if c.single {
		f.Claim = fmt.Sprintf("%s writes commit one by one, %.1f ms each", cause.Number(c.writes), 1000*c.weight()/max(1, c.writes))
	}
	f.Gain = cause.Between(c.weight(), commitLeast, commitMost)
	f.Evidence = append(append(f.Evidence, payers(v)...), c.evidence()...)
	if c.syncs > 0 {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "status", Text: fmt.Sprintf("the server synced files %.0f times", c.syncs)})
	}
	if !c.files {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "variable", Text: "innodb_flush_log_at_trx_commit = " + v.Variables["innodb_flush_log_at_trx_commit"]})
	}
	f.Remedies = v.Patch("combine related writes in one transaction, and many rows in one INSERT", nil)
	if c.single || v.Considerable(c.commits*index.CostStatement) {
		return []iikanji.Finding{f}
	}
	return nil
}
