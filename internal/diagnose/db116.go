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

// db116 reports the cost of commits: seconds in COMMIT, or writes outside of
// transactions, each of which waits for the log on disk.
func db116(v *view) []iikanji.Finding {
	commits, commitSeconds, writes, writeSeconds := 0.0, 0.0, 0.0, 0.0
	var rows []iikanji.Evidence
	for _, d := range v.digests {
		switch first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(d.q.SQL)), " "); strings.TrimSuffix(first, ";") {
		case "commit":
			commits, commitSeconds = commits+d.q.Count, commitSeconds+d.q.Seconds
			rows = append(rows, d.evidence())
		case "insert", "update", "delete", "replace":
			writes, writeSeconds = writes+d.q.Count, writeSeconds+d.q.Seconds
		}
	}
	durable := v.vars["innodb_flush_log_at_trx_commit"] == "1" || v.vars["sync_binlog"] == "1" && v.vars["log_bin"] == "ON"
	syncs := v.status["innodb_os_log_fsyncs"]
	single := commits < writes/20 && writes > 500 && syncs > writes/4 // autocommit: each write commits itself
	if !durable || commitSeconds < 0.05*v.seconds && !single {
		return nil
	}
	f := iikanji.Finding{Code: "DB116", Where: "database", Evidence: rows,
		Claim: fmt.Sprintf("%s commits wait for the log on disk, %.1f ms each", people(commits), 1000*commitSeconds/max(1, commits)),
		Gain:  between(commitSeconds, 0.3, 0.95)}
	if single {
		f.Claim = fmt.Sprintf("%s writes commit themselves one by one, %.1f ms each", people(writes), 1000*writeSeconds/max(1, writes))
		f.Gain = between(writeSeconds, 0.2, 0.8)
	}
	f.Evidence = append(f.Evidence, v.payers()...)
	if syncs > 0 {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "status", Text: fmt.Sprintf("Innodb_os_log_fsyncs +%.0f", syncs)})
	}
	f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "variable", Text: "innodb_flush_log_at_trx_commit = " + v.vars["innodb_flush_log_at_trx_commit"]})
	f.Remedies = []iikanji.Remedy{
		{Kind: "patch", Target: "app", Says: "write what belongs together in one transaction, and many rows in one INSERT"},
		{Kind: "mysqlconf", Target: "database", Says: "sync the log once a second: up to a second of commits is lost in a power cut (promise: durability)",
			Args: map[string]string{"innodb_flush_log_at_trx_commit": "2"}},
	}
	if !v.worth(f.Gain) {
		return nil
	}
	return []iikanji.Finding{f}
}
