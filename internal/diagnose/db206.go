package diagnose

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// commitFelt is the share of all statement seconds that commits have to take
// before anything is said of what makes them slow.
const commitFelt = 0.05

// syncsWaited is how many syncs a commit waits for at the most: the one that is
// under way when it comes, and its own, which it shares with others.
const syncsWaited = 2.0

// commitCost is what is known of commits.
type commitCost struct {
	commits, seconds      float64 // COMMIT statements
	writes, writeSeconds  float64 // statements that write; seconds that nothing but the commit explains
	rows                  []iikanji.Evidence
	redo, binlog, durable bool // what is synced at commit
	syncs                 float64
	single                bool // writes commit themselves

	sync float64 // what the disk needs for one sync at the most, seconds; 0 when nobody knows
}

// weight are the seconds in which commits waited, of COMMIT or of the writes
// that commit themselves: no more than the disk can have kept them waiting.
func (c commitCost) weight() float64 {
	took, n := c.seconds, c.commits
	if c.single {
		took, n = c.writeSeconds, c.writes
	}
	if c.sync > 0 {
		took = min(took, n*syncsWaited*c.sync)
	}
	return took
}

// evidence is how long the disk can have kept commits waiting, where it is known.
func (c commitCost) evidence() []iikanji.Evidence {
	if c.sync == 0 {
		return nil
	}
	return []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("a sync takes the disk %.2f ms at the most, and a commit waits for %.0f of them", 1000*c.sync, syncsWaited)}}
}

// db206 names what a lesser promise would save, as an option: commits wait for
// the log on disk because the server is told so. What a change of the app
// would save (DB116) is taken off.
func db206(v *view) []iikanji.Finding {
	c := v.commitCost()
	if !c.redo || c.weight() < commitFelt*v.seconds || c.commits+c.writes < manyRuns {
		return nil
	}
	left := c.weight() * (1 - (commitLeast+commitMost)/2)
	return []iikanji.Finding{{Code: "DB206", Where: "innodb_flush_log_at_trx_commit",
		Claim: fmt.Sprintf("commits wait %.1f s for the log on disk: an option, where the last second of commits may be lost in a power cut", c.weight()),
		Evidence: append(c.evidence(), iikanji.Evidence{Source: "variable", Text: "innodb_flush_log_at_trx_commit = 1"},
			iikanji.Evidence{Source: "digests", Text: fmt.Sprintf("%s commits, %s writes, %.2f s", people(c.commits), people(c.writes), c.weight())}),
		Gain: between(left, 0.3, 1),
		Remedies: []iikanji.Remedy{{Kind: "mysqlconf", Target: "database", Says: "write the log at each commit and sync it once a second (promise: durability)",
			Args: map[string]string{"innodb_flush_log_at_trx_commit": "2"}}},
	}}
}

// db207 reports a binary log that is synced at each commit. Whether a replica
// or a backup reads it cannot be seen from the server's counters.
func db207(v *view) []iikanji.Finding {
	c := v.commitCost()
	written := v.status["binlog_bytes_written"]
	if !c.binlog || written == 0 || c.weight() < commitFelt*v.seconds {
		return nil
	}
	return []iikanji.Finding{{Code: "DB207", Where: "sync_binlog",
		Claim: fmt.Sprintf("each commit syncs the binary log too, %s in the run: for nothing, unless a replica or a backup reads it", iikanji.Bytes(written)),
		Evidence: []iikanji.Evidence{{Source: "variable", Text: "log_bin = " + v.vars["log_bin"] + ", sync_binlog = " + v.vars["sync_binlog"]},
			{Source: "status", Text: fmt.Sprintf("Binlog_bytes_written +%.0f", written)}},
		Gain: between(c.weight(), 0, 0.4),
		Remedies: []iikanji.Remedy{{Kind: "mysqlconf", Target: "database", Says: "leave the syncing of the binary log to the system (promise: durability of the log after a power cut)",
			Args: map[string]string{"sync_binlog": "0"}}},
	}}
}
