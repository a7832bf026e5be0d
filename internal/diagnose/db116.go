package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// payers are the transactions that paid most for their commits.
func (v *view) payers() []iikanji.Evidence {
	var all []iikanji.Transaction
	for _, p := range v.in.Profiles {
		all = append(all, p.Transactions...)
	}
	slices.SortStableFunc(all, func(a, b iikanji.Transaction) int { return cmp.Compare(b.Commit, a.Commit) })
	var out []iikanji.Evidence
	for _, t := range all[:min(3, len(all))] {
		if t.Count > 0 && t.Commit > 0 {
			out = append(out, iikanji.Evidence{Source: "transaction " + t.Digest, Text: fmt.Sprintf("%s× %s: %.1f ms of %.1f ms in the commit",
				people(float64(t.Count)), cut(t.Shape, 100), 1000*t.Commit.Seconds()/float64(t.Count), 1000*t.Total.Seconds()/float64(t.Count))})
		}
	}
	return out
}

// What fewer commits save of the seconds in which commits wait.
const (
	commitLeast = 0.2
	commitMost  = 0.6
)

// rowRead is about what a row costs that is read in memory. Seconds.
const rowRead = 1e-6

// leastCommits is how many writes have to commit themselves before it is told.
const leastCommits = 500.0

// commitCost counts commits and what they wait for.
func (v *view) commitCost() commitCost {
	c := commitCost{}
	series := 0.0
	for _, d := range v.digests {
		switch first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(d.q.SQL)), " "); strings.TrimSuffix(first, ";") {
		case "commit":
			c.commits, c.seconds = c.commits+d.q.Count, c.seconds+d.q.Seconds
			c.rows = append(c.rows, d.evidence())
		case "insert", "update", "delete", "replace":
			c.writes, c.writeSeconds = c.writes+d.q.Count, c.writeSeconds+d.unexplained()
			series += float64(v.repeat(d).Count)
		}
	}
	c.redo = v.vars["innodb_flush_log_at_trx_commit"] == "1"
	c.binlog = v.vars["sync_binlog"] == "1" && v.vars["log_bin"] == "ON"
	c.durable = c.redo || c.binlog
	c.syncs = v.status["innodb_os_log_fsyncs"] // MariaDB from 10.8 counts all files together
	if c.syncs == 0 {
		c.syncs = v.status["innodb_data_fsyncs"]
	}
	// A sync is three writes and two flushes at the most: the data, the file
	// system's journal and its commit record. Syncs that the disk did not hear
	// of went to another one, or nowhere.
	if m := v.machine(); m != nil && m.FlushTook > 0 && float64(m.DiskFlushes) >= c.syncs/2 {
		c.sync = (3*m.WriteTook + 2*m.FlushTook).Seconds()
	}
	// Each commits itself where there are hardly any COMMITs, and that costs
	// where the disk was asked so often, or where one request sends many.
	c.single = c.commits < c.writes/20 && c.writes > leastCommits && (c.syncs > c.writes/4 || series > c.writes/2)
	return c
}

// unexplained are the seconds of a write that neither an index saves nor locks
// or the rows that it read explain: what is left may be its commit.
func (d digest) unexplained() float64 {
	return max(0, d.left()-d.Query.Lock.Seconds()-d.q.Examined*rowRead)
}

// db116 reports the cost of commits: seconds in COMMIT, or writes outside of
// transactions, each of which waits for the log on disk.
func db116(v *view) []iikanji.Finding {
	c := v.commitCost()
	if !c.durable || c.weight() < commitFelt*v.seconds {
		return nil
	}
	f := iikanji.Finding{Code: "DB116", Where: "database", Evidence: c.rows,
		Claim: fmt.Sprintf("%s commits wait for the log on disk, %.1f ms each", people(c.commits), 1000*c.weight()/max(1, c.commits))}
	if c.single {
		f.Claim = fmt.Sprintf("%s writes commit themselves one by one, %.1f ms each", people(c.writes), 1000*c.weight()/max(1, c.writes))
	}
	f.Gain = between(c.weight(), commitLeast, commitMost)
	f.Evidence = append(append(f.Evidence, v.payers()...), c.evidence()...)
	if c.syncs > 0 {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "status", Text: fmt.Sprintf("the server synced files %.0f times", c.syncs)})
	}
	f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "variable", Text: "innodb_flush_log_at_trx_commit = " + v.vars["innodb_flush_log_at_trx_commit"]})
	f.Remedies = []iikanji.Remedy{{Kind: "patch", Target: "app", Says: "write what belongs together in one transaction, and many rows in one INSERT"}}
	if c.single || v.felt(c.commits*costStatement) {
		return []iikanji.Finding{f}
	}
	return nil
}
