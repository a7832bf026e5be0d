package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A statement is an entry of a slow log.
type statement struct {
	thread int
	took   time.Duration
	sql    string
}

// entry is the text of an entry as MariaDB writes it.
func (s statement) entry() string {
	return fmt.Sprintf("# User@Host: shop[shop] @ localhost []\n# Thread_id: %d  Schema: shop  QC_hit: No\n# Query_time: %.6f  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 1\n"+
		"# Rows_affected: 0  Bytes_sent: 10\nSET timestamp=1795238650;\n%s;\n", s.thread, s.took.Seconds(), s.sql)
}

// A commitLog is a log of transactions whose writes are known.
type commitLog struct {
	r     *rand.Rand
	all   []statement
	truth map[string]time.Duration // time of COMMITs by the labels of their writes
}

// transactionKinds are transactions: their writes, the labels of these in a shape, and the
// typical time of the COMMIT.
var transactionKinds = []struct {
	writes []string
	labels string
	commit time.Duration
}{
	{[]string{"INSERT INTO orders VALUES (%d, 'x')", "UPDATE stock SET n = n - 1 WHERE id = %d"}, "insert orders; update stock", 9 * time.Millisecond},
	{[]string{"UPDATE users SET seen = %d WHERE id = 1"}, "update users", 2500 * time.Microsecond},
	{[]string{"INSERT INTO log VALUES (%d)", "INSERT INTO log VALUES (%d)", "INSERT INTO log VALUES (%d)"}, "insert log", 1200 * time.Microsecond},
	{[]string{"DELETE FROM cart WHERE id = %d", "INSERT INTO payments VALUES (%d)"}, "delete cart; insert payments", 15 * time.Millisecond},
	{[]string{"UPDATE seats SET taken = 1 WHERE id = %d", "INSERT INTO tickets VALUES (%d)", "UPDATE shows SET left_over = %d"}, "update seats; insert tickets; update shows", 4 * time.Millisecond},
	{nil, "", 8 * time.Microsecond}, // reads only
}

// commits makes 20,000 transactions on 16 threads that take turns by statement. alone is
// how many transactions there are for each write that commits itself; 0 for none.
func commits(begins bool, alone int) *commitLog {
	l := &commitLog{r: rand.New(rand.NewPCG(11, 13)), truth: map[string]time.Duration{}}
	type open struct {
		kind int
		left []string
	}
	threads := make([]open, 16)
	for done := 0; done < 20_000; {
		thread := l.r.IntN(len(threads))
		o := &threads[thread]
		if o.left == nil {
			o.kind = l.r.IntN(len(transactionKinds))
			if alone > 0 && l.r.IntN(alone) == 0 {
				l.add(thread, 1500*time.Microsecond, "UPDATE visits SET n = n + 1 WHERE id = 7")
			}
			if begins {
				o.left = append(o.left, "BEGIN")
			}
			o.left = append(append(append(o.left, "SELECT a FROM t WHERE id = %d"), transactionKinds[o.kind].writes...), "SELECT b FROM t WHERE id = %d")
		}
		if len(o.left) > 0 {
			l.add(thread, time.Duration(5+l.r.IntN(400))*time.Microsecond, strings.ReplaceAll(o.left[0], "%d", fmt.Sprint(l.r.IntN(1000))))
			o.left = o.left[1:]
			continue
		}
		k := transactionKinds[o.kind]
		took := k.commit/2 + time.Duration(l.r.Int64N(int64(k.commit))).Truncate(time.Microsecond)
		l.add(thread, took, "COMMIT /* controller='shop',traceparent='"+traceparent(l.r)+"' */")
		l.truth[k.labels] += took
		*o = open{}
		done++
	}
	return l
}

func (l *commitLog) add(thread int, took time.Duration, sql string) {
	l.all = append(l.all, statement{thread + 1, took, sql})
}

// slower drops the statements below a time, as long_query_time does.
func (l *commitLog) slower(least time.Duration) *commitLog {
	l.all = slices.DeleteFunc(l.all, func(s statement) bool { return s.took < least })
	return l
}

// sample keeps one statement in n, as log_slow_rate_limit does.
func (l *commitLog) sample(n int) *commitLog {
	l.all = slices.DeleteFunc(l.all, func(statement) bool { return l.r.IntN(n) != 0 })
	return l
}

func (l *commitLog) text() string {
	var b strings.Builder
	b.WriteString("# Time: 261121  5:24:10\n")
	for _, s := range l.all {
		b.WriteString(s.entry())
	}
	return b.String()
}

// right is the share of the time of all COMMITs that a profile attributes to the right
// writes.
func (l *commitLog) right(p *iikanji.Profile) float64 {
	attributed := map[string]time.Duration{}
	for _, x := range p.Transactions {
		var writes []string
		for label := range strings.SplitSeq(x.Shape, "; ") {
			if verb, _, _ := strings.Cut(label, " "); verb != "begin" && verb != "commit" && verb != "select" {
				writes = append(writes, label)
			}
		}
		attributed[strings.Join(slices.Compact(writes), "; ")] += x.Commit
	}
	var right, all time.Duration
	for labels, took := range l.truth {
		all += took
		right += min(took, attributed[labels])
	}
	return right.Seconds() / all.Seconds()
}
