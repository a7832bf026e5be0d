package cause

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser"

	"github.com/iikanji/iikanji"
)

const (
	leastLockWaits = 100.0 // least waits for row locks in a run
	lockEach       = 0.005 // least waits per statement that writes
	lockPairsShown = 3     // pairs of statements in the evidence
	// leastHistory is the growth of the history list that shows a transaction
	// which stays open: under load, purge is always thousands of entries behind.
	leastHistory = 20_000.0
)

// locked are the seconds that statements waited for row locks.
func (v *view) locked() float64 { return v.in.locked() }

var lockWaits = Declare(PerDatabase, findLockWaits,
	Cause{Code: "DB117", Title: "lock waits", Of: iikanji.OfStatements, Relieves: Disk | Locks | Pool,
		Line:     "statements wait for row locks that another statement holds",
		Remedies: []Way{Patch}})

// findLockWaits reports statements that wait for row locks: how often, by InnoDB's
// counters; which ones, by the slow log; and for which statements, by samples
// taken during the run.
func findLockWaits(v *view) []iikanji.Finding {
	waits, writes := v.status["innodb_row_lock_waits"], 0.0
	for _, d := range v.digests {
		if d.st != nil && (d.st.verb != "select" || strings.Contains(strings.ToLower(d.q.SQL), "for update")) {
			writes += d.q.Count
		}
	}
	if waits < leastLockWaits || waits < lockEach*writes {
		return nil
	}
	pairs, args := v.lockPairs(), map[string]string(nil)
	f := iikanji.Finding{Code: "DB117", Where: v.self.Name, Gain: between(v.locked(), 0.2, 0.9),
		Claim: fmt.Sprintf("statements wait %s times for rows that other transactions have locked, %.1f ms each", people(waits), 1000*v.locked()/waits),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Innodb_row_lock_waits +%.0f, Innodb_row_lock_time +%.0f ms; %s statements write or lock",
			waits, v.status["innodb_row_lock_time"], people(writes))}},
	}
	if d, ok := v.waiter(); ok {
		f.Where = d.place()
		f.Evidence = append(f.Evidence, d.withEvidence(iikanji.Evidence{Source: "digest " + d.Query.Digest, Text: fmt.Sprintf("waited for locks for %.2f of its %.2f s", d.Query.Lock.Seconds(), d.q.Seconds)})...)
		args = map[string]string{"digest": d.Query.Digest}
	}
	f.Remedies = v.patch("shorten the transactions that lock the rows: lock last, commit at once, do nothing slow in between; or split the hot row into several", args)
	if h := v.innodb("history_list_length"); h.Grown() >= leastHistory {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "innodb", Text: fmt.Sprintf("the history list grew from %s to %s: a transaction stayed open while others wrote, so every read skips old row versions", people(h.Before), people(h.After))})
	}
	for _, p := range pairs[:min(len(pairs), lockPairsShown)] {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "samples", Text: p.text()})
	}
	return []iikanji.Finding{f}
}

// waiter is the digest with the longest total lock time.
func (v *view) waiter() (best digest, ok bool) {
	for _, d := range v.digests {
		if d.Query.Lock > 0 && (!ok || d.Query.Lock > best.Query.Lock) {
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

func (p lockPair) text() string {
	holder := "a transaction without a running statement (the app held the lock)"
	if p.blocking != "" {
		holder = cut(p.blocking, 100)
	}
	return fmt.Sprintf("%s× seen: %s waits for %s, locked by %s, up to %.0f ms", people(float64(p.seen)), cut(p.waiting, 100), p.row, holder, 1000*p.longest.Seconds())
}

// lockPairs sums the sampled waits, the most frequent first.
func (v *view) lockPairs() []lockPair {
	sums := map[lockPair]*lockPair{}
	for _, f := range v.in.Facts {
		var w iikanji.LockWait
		if f.Topic != iikanji.TopicLockWait || json.Unmarshal([]byte(f.Value), &w) != nil {
			continue
		}
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
