package database

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// leastCommitShare is the least share of all statement seconds that commits take in a
// finding about them.
const leastCommitShare = 0.05

// syncsWaited is the largest number of syncs that a commit waits for: the one
// in progress when it arrives, and the next one, which it shares with other
// commits.
const syncsWaited = 2.0

// commitCost is the number of commits and their waiting time.
type commitCost struct {
	commits, seconds      float64 // of COMMIT statements
	writes, writeSeconds  float64 // of statements that write; see unexplained
	rows                  []iikanji.Evidence
	redo, binlog, durable bool // what is synced at commit
	files                 bool // SQLite files: writes take as long as syncs do
	syncs                 float64
	single                bool // writes commit one by one, without a transaction

	sync float64 // upper bound of the seconds for one sync; 0 when unknown
}

// weight is the seconds that commits waited, of COMMIT statements or of writes
// that commit themselves. It is bounded by the time that the disk needs for the
// syncs.
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

// evidence states how long the disk can have delayed a commit, if that is
// known.
func (c commitCost) evidence() []iikanji.Evidence {
	if c.sync == 0 {
		return nil
	}
	return []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("a sync takes at most %.2f ms, and a commit waits for at most %.0f syncs", 1000*c.sync, syncsWaited)}}
}

// rowRead is the approximate time to read one row in memory, in seconds.
const rowRead = 1e-6

// leastCommits is the least number of writes that commit themselves in a
// finding about them.
const leastCommits = 500.0

// commitCostOf counts commits and what they wait for.
func commitCostOf(v *cause.View) commitCost {
	c := commitCost{}
	series := 0.0
	for _, d := range v.Digests {
		switch first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(d.Totals.SQL)), " "); strings.TrimSuffix(first, ";") {
		case "commit":
			c.commits, c.seconds = c.commits+d.Totals.Count, c.seconds+d.Totals.Seconds
			c.rows = append(c.rows, d.Evidence())
		case "insert", "update", "delete", "replace":
			c.writes, c.writeSeconds = c.writes+d.Totals.Count, c.writeSeconds+unexplained(d)
			series += float64(v.Repeat(d).Count)
		}
	}
	c.redo = v.Variables["innodb_flush_log_at_trx_commit"] == "1"
	c.binlog = v.Variables["sync_binlog"] == "1" && v.Variables["log_bin"] == "ON"
	if files(v) {
		// A trace of statements has neither BEGIN nor COMMIT where the driver sends them:
		// a write within a transaction is told by its time.
		c.files = c.writes+c.commits > leastCommits && c.writeSeconds+c.seconds > fileSyncs*(c.writes+c.commits)
		c.single = c.files && c.commits < c.writes/20
		c.durable = c.files
		return c
	}
	c.durable = c.redo || c.binlog
	c.syncs = v.Status["innodb_os_log_fsyncs"] // MariaDB 10.8 and later count all files in innodb_data_fsyncs
	if c.syncs == 0 {
		c.syncs = v.Status["innodb_data_fsyncs"]
	}
	// A sync is at most three writes and two flushes: the data, the journal of
	// the file system and its commit record. If the disk counted far fewer
	// flushes than the server made syncs, they went to another disk, or to none.
	if m := v.MachineOf(v.Self.Name); m != nil && m.FlushTook > 0 && float64(m.DiskFlushes) >= c.syncs/2 {
		c.sync = (3*m.WriteTook + 2*m.FlushTook).Seconds()
	}
	// Hardly any COMMITs means that each write commits itself. That matters if
	// the number of syncs shows it, or if one request sends many writes in series.
	c.single = c.commits < c.writes/20 && c.writes > leastCommits && (c.syncs > c.writes/4 || series > c.writes/2)
	return c
}

// fileSyncs is the least time of a write to a SQLite file, in seconds, that is taken to
// be the wait for the disk: without syncs a write of one row takes less.
const fileSyncs = 300e-6

// files reports whether the view is of SQLite files.
func files(v *cause.View) bool {
	return v.Schema != nil && v.Schema.Server.Product == string(iikanji.EngineSQLite)
}

// unexplained is the seconds of a write that are explained neither by a missing
// index nor by locks nor by the rows that it examined: the commit may be the
// rest.
func unexplained(d cause.Digest) float64 {
	return max(0, d.Left()-d.Query.Lock.Seconds()-d.Totals.Examined*rowRead)
}

// payers are the transactions with the most expensive commits.
func payers(v *cause.View) []iikanji.Evidence {
	var all []iikanji.Transaction
	for _, p := range v.Input.Profiles {
		all = append(all, p.Transactions...)
	}
	slices.SortStableFunc(all, func(a, b iikanji.Transaction) int { return cmp.Compare(b.Commit, a.Commit) })
	var out []iikanji.Evidence
	for _, t := range all[:min(3, len(all))] {
		if t.Count > 0 && t.Commit > 0 {
			out = append(out, iikanji.Evidence{Source: "transaction " + t.Digest, Text: fmt.Sprintf("%s× %s: %.1f ms of %.1f ms in the commit",
				cause.Number(float64(t.Count)), cause.Cut(t.Shape, 100), 1000*t.Commit.Seconds()/float64(t.Count), 1000*t.Total.Seconds()/float64(t.Count))})
		}
	}
	return out
}
