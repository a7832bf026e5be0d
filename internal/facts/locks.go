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
)

// Who waits for whom. MariaDB and MySQL up to 5.7 have it in
// information_schema, MySQL from 8.0 in performance_schema, where it is always
// on.
const (
	waitsOld = `SELECT r.trx_query AS waiting, b.trx_query AS blocking, l.lock_table AS tab, l.lock_index AS ix, l.lock_mode AS mode,
 TIMESTAMPDIFF(MICROSECOND, r.trx_wait_started, NOW(6)) AS us
 FROM information_schema.innodb_lock_waits w
 JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id
 JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id
 JOIN information_schema.innodb_locks l ON l.lock_id = w.requested_lock_id`
	waitsNew = `SELECT r.trx_query AS waiting, b.trx_query AS blocking, CONCAT(l.object_schema, '.', l.object_name) AS tab, l.index_name AS ix, l.lock_mode AS mode,
 TIMESTAMPDIFF(MICROSECOND, r.trx_wait_started, NOW(6)) AS us
 FROM performance_schema.data_lock_waits w
 JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_engine_transaction_id
 JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_engine_transaction_id
 JOIN performance_schema.data_locks l ON l.engine_lock_id = w.requesting_engine_lock_id`
)

// mostWaits is how many waits one sample tells of: of a hundred connections
// that queue for one row each waits for all before it.
const mostWaits = 200

// LockWaits tells which statements wait for row locks at this moment, and what
// the holders of the locks do meanwhile. It costs one short statement; call it
// once a second during a load and hand all that it said to [LockWaitFacts].
// MariaDB answers from a cache that it renews only when nobody has asked for a
// tenth of a second: asking more often shows the same again and again.
func (s *Server) LockWaits(ctx context.Context) ([]iikanji.LockWait, error) {
	query := waitsOld
	if s.dialect.Product == "mysql" && s.dialect.AtLeast(8, 0, 1) {
		query = waitsNew
	}
	rows, err := s.rows(ctx, query+" LIMIT "+strconv.Itoa(mostWaits))
	if err != nil {
		return nil, fmt.Errorf("asking who waits for locks: %w", err)
	}
	var out []iikanji.LockWait
	for _, r := range rows {
		us, _ := strconv.ParseInt(r["us"], 10, 64) // NULL: it has got the lock meanwhile
		out = append(out, iikanji.LockWait{Waiting: r["waiting"], Blocking: r["blocking"], Table: strings.ReplaceAll(r["tab"], "`", ""),
			Index: r["ix"], Mode: r["mode"], Seen: 1, Longest: time.Duration(us) * time.Microsecond})
	}
	return out, nil
}

// mostPairs is how many pairs of statements are kept of a run.
const mostPairs = 200

// LockWaitFacts adds up what [Server.LockWaits] said during a run: a fact for
// each pair of statements, the most frequent first. Statements that differ in
// their values only are different ones here; diagnose knows better.
func LockWaitFacts(target string, waits []iikanji.LockWait) []iikanji.Fact {
	sums := map[iikanji.LockWait]*iikanji.LockWait{}
	var order []*iikanji.LockWait
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
	slices.SortStableFunc(order, func(a, b *iikanji.LockWait) int {
		return cmp.Or(cmp.Compare(b.Seen, a.Seen), cmp.Compare(b.Longest, a.Longest))
	})
	var out []iikanji.Fact
	for _, w := range order[:min(len(order), mostPairs)] {
		out = append(out, pack(target, iikanji.TopicLockWait, w.Waiting, *w, true))
	}
	return out
}

// Deadlock is the latest deadlock since the server started, nil for none. It
// stays until the next one: whoever asks about a run compares At with that of
// an answer from before.
func (s *Server) Deadlock(ctx context.Context) (*iikanji.Deadlock, error) {
	in, err := s.InnoDB(ctx)
	return in.Deadlock, err
}

// DeadlockFacts is the fact of a deadlock that was not there before the run.
func DeadlockFacts(target string, before, after *iikanji.Deadlock) []iikanji.Fact {
	if after == nil || before != nil && before.At == after.At {
		return nil
	}
	return []iikanji.Fact{pack(target, iikanji.TopicDeadlock, after.At, *after, true)}
}
