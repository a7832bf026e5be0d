package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

var deadlocked = cause.Declare(cause.PerDatabase, findDeadlocks,
	cause.Cause{Code: "DB118", Title: "deadlocks", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "two transactions lock the same rows in different orders",
		Remedies: []cause.Way{cause.Patch}})

// findDeadlocks reports deadlocks: each is an error for a client, or work done twice.
func findDeadlocks(v *cause.View) []iikanji.Finding {
	n := v.Status["innodb_deadlocks"]
	var latest *fact.Deadlock
	for _, d := range fact.TopicDeadlock.In(v.Input.Facts) {
		latest = &d
	}
	if n = max(n, 0); n == 0 && latest != nil {
		n = 1
	}
	if n == 0 {
		return nil
	}
	f := iikanji.Finding{Code: "DB118", Where: v.Self.Name,
		Claim:    fmt.Sprintf("%s: transactions lock the same rows in different orders, and the server rolls one of them back", cause.Plural(n, "deadlock")),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Innodb_deadlocks +%.0f", n)}},
		Gain:     cause.Between(n*transactionSeconds(v), 1, 2), // the work that was rolled back, and its repetition
		Remedies: v.Patch("lock rows in the same order everywhere (sort the keys, SELECT … FOR UPDATE first), and retry rolled-back transactions", nil),
	}
	if latest != nil {
		f.Evidence = append(f.Evidence, deadlockEvidence(v, latest)...)
	}
	return []iikanji.Finding{f}
}

// transactionSeconds is the mean time of a transaction; without threads in the
// log, of ten statements.
func transactionSeconds(v *cause.View) float64 {
	n, took := 0.0, 0.0
	for _, p := range v.Input.Profiles {
		for _, t := range p.Transactions {
			n, took = n+float64(t.Count), took+t.Total.Seconds()
		}
	}
	if n > 0 {
		return took / n
	}
	all := 0.0
	for _, d := range v.Digests {
		all += d.Totals.Count
	}
	return 10 * v.Seconds / max(1, all)
}

// deadlockEvidence lists what each transaction of a deadlock waited for and held, with the
// place in the source of its statement.
func deadlockEvidence(v *cause.View, d *fact.Deadlock) []iikanji.Evidence {
	var out []iikanji.Evidence
	for i, p := range d.Parts {
		text := cause.Cut(p.SQL, 120) + sentAt(v, p.SQL)
		for _, l := range p.Waits {
			text += fmt.Sprintf("; waits for %s of %s (%s)", l.Mode, l.Table, l.Index)
		}
		for _, l := range p.Holds {
			text += fmt.Sprintf("; holds %s of %s (%s)", l.Mode, l.Table, l.Index)
		}
		if d.Victim == i+1 {
			text += "; was rolled back"
		}
		out = append(out, iikanji.Evidence{Source: "deadlock of " + d.At, Text: text})
	}
	return out
}
