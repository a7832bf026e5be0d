package database

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	leastLockWaits = 100.0 // least waits for row locks in a run
	lockEach       = 0.005 // least waits per statement that writes
	lockPairsShown = 3     // pairs of statements in the evidence
	// Fewer waits count if they are long: a share of the time of all statements, which a busy
	// machine makes longer as well.
	leastLongWaits = 20.0
	lockShare      = 0.05
	loggedShare    = 0.1 // least share of all waits for row locks that the log has of a digest
	// leastHistory is the growth of the history list that shows a transaction
	// which stays open: under load, purge is always thousands of entries behind.
	leastHistory = 20_000.0
)

// locked are the seconds that statements waited for row locks.
func locked(v *cause.View) float64 { return v.Input.Locked() }

var lockWaits = cause.Declare(cause.PerDatabase, findLockWaits,
	cause.Cause{Code: "DB117", Title: "lock waits", Of: iikanji.OfStatements, Relieves: cause.Disk | cause.Locks | cause.Pool,
		Line:     "statements wait for row locks that another statement holds",
		Remedies: []cause.Way{cause.Patch}})

// findLockWaits reports statements that wait for row locks: how often, by InnoDB's
// counters; which ones, by the slow log; and for which statements, by samples
// taken during the run.
func findLockWaits(v *cause.View) []iikanji.Finding {
	waits, writes := v.Status["innodb_row_lock_waits"], 0.0
	for _, d := range v.Digests {
		if d.Parsed != nil && (d.Parsed.Verb != "select" || strings.Contains(strings.ToLower(d.Totals.SQL), "for update")) {
			writes += d.Totals.Count
		}
	}
	often := waits >= leastLockWaits && waits >= lockEach*writes
	long := waits >= leastLongWaits && locked(v) >= lockShare*v.Seconds && locked(v) >= cause.LeastSeconds
	if !often && !long {
		return nil
	}
	pairs, args := lockPairs(v), map[string]string(nil)
	f := iikanji.Finding{Code: "DB117", Where: v.Self.Name, Gain: cause.Between(locked(v), 0.2, 0.9),
		Claim: fmt.Sprintf("statements wait %s times for rows that other transactions have locked, %.1f ms each", cause.Number(waits), 1000*locked(v)/waits),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Innodb_row_lock_waits +%.0f, Innodb_row_lock_time +%.0f ms; %s statements write or lock",
			waits, v.Status["innodb_row_lock_time"], cause.Number(writes))}},
	}
	if d, ok := waiter(v, pairs); ok {
		f.Where = d.Place()
		f.Evidence = append(f.Evidence, d.WithEvidence(iikanji.Evidence{Source: "digest " + d.Query.Digest, Text: fmt.Sprintf("waited for locks for %.2f of its %.2f s", d.Query.Lock.Seconds(), d.Totals.Seconds)})...)
		args = map[string]string{"digest": d.Query.Digest}
	}
	f.Remedies = v.Patch("shorten the transactions that lock the rows: lock last, commit at once, do nothing slow in between; or split the hot row into several", args)
	if h := v.InnoDB("history_list_length"); h.Grown() >= leastHistory {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "innodb", Text: fmt.Sprintf("the history list grew from %s to %s: a transaction stayed open while others wrote, so every read skips old row versions", cause.Number(h.Before), cause.Number(h.After))})
	}
	for _, p := range pairs[:min(len(pairs), lockPairsShown)] {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "samples", Text: p.text(v)})
	}
	return []iikanji.Finding{f}
}

// waiter is the digest that was seen waiting most often; without samples, the one with the longest
// lock time in the log, if that is a considerable part of all waits: MariaDB logs the waits for
// locks of tables only, not of rows.
func waiter(v *cause.View, pairs []lockPair) (best cause.Digest, ok bool) {
	for _, d := range v.Digests {
		if len(pairs) > 0 && parser.Normalize(d.Totals.SQL, "ON") == pairs[0].waiting {
			return d, true
		}
		if d.Query.Lock.Seconds() > loggedShare*locked(v) && (!ok || d.Query.Lock > best.Query.Lock) {
			best, ok = d, true
		}
	}
	return best, ok
}

// A lockPair is a statement that waits and the statement that blocks it, both
// normalized.
type lockPair struct {
	waiting, blocking, row string
	seen                   int64
	longest                time.Duration
}

func (p lockPair) text(v *cause.View) string {
	holder := "a transaction without a running statement (the app held the lock)"
	if p.blocking != "" {
		holder = cause.Cut(p.blocking, 100) + sentAt(v, p.blocking)
	}
	return fmt.Sprintf("%s× seen: %s%s waits for %s, locked by %s, up to %.0f ms", cause.Number(float64(p.seen)), cause.Cut(p.waiting, 100), sentAt(v, p.waiting), p.row, holder,
		1000*p.longest.Seconds())
}

// sentAt is where the source sends a statement, as " (main.go:12 list)"; "" if that is not
// known. Both texts are compared without their values.
func sentAt(v *cause.View, sql string) string {
	normal, places := parser.Normalize(sql, "ON"), []string(nil)
	for _, s := range v.Sends() {
		if parser.Normalize(s.Text, "ON") == normal {
			places = append(places, strings.TrimSpace(s.Place+" "+s.Func))
		}
	}
	if len(places) == 0 {
		return ""
	}
	return " (" + strings.Join(places, ", ") + ")"
}

// lockPairs sums the sampled waits, the most frequent first.
func lockPairs(v *cause.View) []lockPair {
	sums := map[lockPair]*lockPair{}
	for _, w := range fact.TopicLockWait.In(v.Input.Facts) {
		key := lockPair{waiting: parser.Normalize(w.Waiting, "ON"), blocking: parser.Normalize(w.Blocking, "ON"), row: "a row of " + w.Table + " (" + w.Index + ")"}
		sum := sums[key]
		if sum == nil {
			sum = &lockPair{waiting: key.waiting, blocking: key.blocking, row: key.row}
			sums[key] = sum
		}
		sum.seen += w.Seen
		sum.longest = max(sum.longest, w.Longest)
	}
	var out []lockPair
	for _, s := range sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b lockPair) int {
		return cmp.Or(cmp.Compare(b.seen, a.seen), strings.Compare(a.waiting+a.blocking+a.row, b.waiting+b.blocking+b.row))
	})
	return out
}
