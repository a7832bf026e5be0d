package facts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Queries for lock waits. MariaDB and MySQL up to 5.7 have the lock waits in
// information_schema, MySQL from 8.0 in performance_schema, where they are always
// enabled.
const (
	// InnoDB prints times in the zone of the machine, whatever that of the session is.
	now      = `CONVERT_TZ(UTC_TIMESTAMP(6), '+00:00', 'SYSTEM')`
	waitsOld = `SELECT r.trx_query AS waiting, b.trx_query AS blocking, l.lock_table AS tab, l.lock_index AS ix, l.lock_mode AS mode,
 TIMESTAMPDIFF(MICROSECOND, r.trx_wait_started, ` + now + `) AS us
 FROM information_schema.innodb_lock_waits w
 JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id
 JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id
 JOIN information_schema.innodb_locks l ON l.lock_id = w.requested_lock_id`
	waitsNew = `SELECT r.trx_query AS waiting, b.trx_query AS blocking, CONCAT(l.object_schema, '.', l.object_name) AS tab, l.index_name AS ix, l.lock_mode AS mode,
 TIMESTAMPDIFF(MICROSECOND, r.trx_wait_started, ` + now + `) AS us
 FROM performance_schema.data_lock_waits w
 JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_engine_transaction_id
 JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_engine_transaction_id
 JOIN performance_schema.data_locks l ON l.engine_lock_id = w.requesting_engine_lock_id`
)

// mostWaits limits the waits in one sample: if a hundred connections queue for one
// row, each waits for all connections before it.
const mostWaits = 200

// LockWaits reads which statements wait for row locks at this moment, and which
// statements the holders of the locks execute. It costs one short statement. Call
// it once a second during a load and pass all results to [LockWaitFacts]. MariaDB
// answers from a cache, which it renews only if the last read was at least 0.1 s
// ago: more frequent calls return the same data.
func (s *Server) LockWaits(ctx context.Context) ([]fact.LockWait, error) {
	query := waitsOld
	if s.dialect.Product == "mysql" && s.dialect.AtLeast(8, 0, 1) {
		query = waitsNew
	}
	rows, err := s.rows(ctx, query+" LIMIT "+strconv.Itoa(mostWaits))
	if err != nil {
		return nil, fmt.Errorf("asking who waits for locks: %w", err)
	}
	var out []fact.LockWait
	for _, r := range rows {
		us, _ := strconv.ParseInt(r["us"], 10, 64) // NULL: the lock was granted in the meantime
		out = append(out, fact.LockWait{Waiting: r["waiting"], Blocking: r["blocking"], Table: strings.ReplaceAll(r["tab"], "`", ""),
			Index: r["ix"], Mode: r["mode"], Seen: 1, Longest: time.Duration(us) * time.Microsecond})
	}
	return out, nil
}

// mostPairs limits the pairs of statements that are kept of a run.
const mostPairs = 200

// LockWaitFacts sums up the results of [Server.LockWaits] during a run: one fact
// for each pair of statements, the most frequent first. Statements that differ
// only in their values count as different here; diagnose combines them.
func LockWaitFacts(target string, waits []fact.LockWait) []iikanji.Fact {
	sums := map[fact.LockWait]*fact.LockWait{}
	var order []*fact.LockWait
	for _, w := range waits {
		key := w
		key.Seen, key.Longest = 0, 0
		sum := sums[key]
		if sum == nil {
			sum = &key
			sums[key], order = sum, append(order, sum)
		}
		sum.Seen += w.Seen
		sum.Longest = max(sum.Longest, w.Longest)
	}
	slices.SortStableFunc(order, func(a, b *fact.LockWait) int {
		return cmp.Or(cmp.Compare(b.Seen, a.Seen), cmp.Compare(b.Longest, a.Longest))
	})
	var out []iikanji.Fact
	for _, w := range order[:min(len(order), mostPairs)] {
		out = append(out, fact.TopicLockWait.Fact(target, w.Waiting, *w, true))
	}
	return out
}

// Deadlock is the latest deadlock since the server start, nil for none. It remains
// until the next one. To find a deadlock of a run, compare At with the result
// from before the run.
func (s *Server) Deadlock(ctx context.Context) (*fact.Deadlock, error) {
	in, err := s.InnoDB(ctx)
	return in.Deadlock, err
}

// DeadlockFacts is the fact of a deadlock that is new since before the run.
func DeadlockFacts(target string, before, after *fact.Deadlock) []iikanji.Fact {
	if after == nil || before != nil && before.At == after.At {
		return nil
	}
	return []iikanji.Fact{fact.TopicDeadlock.Fact(target, after.At, *after, true)}
}
