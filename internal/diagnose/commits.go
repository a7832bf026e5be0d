package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
