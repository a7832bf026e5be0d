package slowlog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// commitLog is a log of transactions whose shapes are known.
type commitLog struct {
	r       *rand.Rand
	entries []string
	micros  []int
	truth   map[string]time.Duration // time of COMMITs by the writes before them
	begins  bool                     // BEGIN is in the log
	alone   int                      // one transaction in so many follows a write that commits itself; 0 for none
}

// writes are the transactions: their writes, and the time of their COMMIT in µs.
var commitShapes = []struct {
	writes []string
	commit int
}{
	{[]string{"insert into orders values (1,'x')", "update stock set n=n-1 where id=%d"}, 9000},
	{[]string{"update users set seen=%d where id=1"}, 2500},
	{[]string{"insert into log values (%d)", "insert into log values (%d)", "insert into log values (%d)"}, 1200},
	{[]string{"delete from cart where id=%d", "insert into payments values (%d)"}, 15000},
	{nil, 8}, // reads only
}

func (l *commitLog) add(thread, micros int, sql string) {
	l.entries, l.micros = append(l.entries, entry(thread, micros, sql)), append(l.micros, micros)
}

// fill runs n transactions on threads that take turns statement by statement.
func (l *commitLog) fill(n int) {
	type open struct {
		shape int
		left  []string
	}
	threads := make([]open, 8)
	for done := 0; done < n; {
		th := l.r.IntN(len(threads))
		o := &threads[th]
		if o.left == nil {
			o.shape = l.r.IntN(len(commitShapes))
			for l.alone > 0 && l.r.IntN(l.alone) == 0 {
				l.add(th+1, 1500, []string{"update visits set n=n+1 where id=7", "insert into views values (1)"}[l.r.IntN(2)])
			}
			if l.begins {
				o.left = append(o.left, "begin")
			}
			o.left = append(o.left, "select a from t where id=%d")
			o.left = append(o.left, commitShapes[o.shape].writes...)
			o.left = append(o.left, "select b from t where id=%d")
		}
		if len(o.left) > 0 {
			sql := o.left[0]
			if strings.Contains(sql, "%d") {
				sql = fmt.Sprintf(sql, l.r.IntN(100))
			}
			l.add(th+1, 5+l.r.IntN(400), sql)
			o.left = o.left[1:]
			continue
		}
		s := commitShapes[o.shape]
		took := s.commit/2 + l.r.IntN(s.commit)
		l.add(th+1, took, "commit")
		l.truth[shapeOfWrites(s.writes)] += us(took)
		*o = open{}
		done++
	}
}

// shapeOfWrites names writes as a transaction's shape does.
func shapeOfWrites(writes []string) string {
	var labels []string
	for _, w := range writes {
		var fp Fingerprinter
		text := string(fp.Fingerprint([]byte(strings.ReplaceAll(w, "%d", "1"))))
		labels = append(labels, labelOf(text, tablesOf(text, []byte(w))))
	}
	return strings.Join(slices.Compact(labels), "; ")
}

// attributed is the part of the time of all COMMITs in a log that is attributed to
// the right writes.
func (l *commitLog) attributed(t *testing.T, keep func(i int) bool) (share float64, notes []string) {
	t.Helper()
	var b strings.Builder
	for i, e := range l.entries {
		if keep == nil || keep(i) {
			b.WriteString(e)
		}
	}
	p := mustRead(t, b.String())
	var right, all time.Duration
	for _, d := range l.truth {
		all += d
	}
	for _, x := range p.Transactions {
		var writes []string
		for _, label := range strings.Split(x.Shape, "; ") {
			if label != "begin" && label != "commit" && !strings.HasPrefix(label, "select") {
				writes = append(writes, label)
			}
		}
		right += min(x.Commit, l.truth[strings.Join(writes, "; ")])
	}
	return float64(right) / float64(all), p.Notes
}

func hasNote(notes []string, part string) bool {
	return slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, part) })
}

// TestCommitsWithoutBegin: in a complete log COMMITs are attributed to the right
// writes, with and without BEGIN; a note marks a log that lacks statements.
func TestCommitsWithoutBegin(t *testing.T) {
	for _, begins := range []bool{true, false} {
		l := &commitLog{r: rand.New(rand.NewPCG(3, 4)), truth: map[string]time.Duration{}, begins: begins}
		l.fill(2000)
		share, notes := l.attributed(t, nil)
		if share < 0.95 {
			t.Errorf("with BEGIN %v: %.1f %% of the time of COMMITs are attributed rightly", begins, 100*share)
		}
		if hasNote(notes, "have no BEGIN") == begins || hasNote(notes, "unreliable") {
			t.Errorf("with BEGIN %v: notes %q", begins, notes)
		}
		slow, notes := l.attributed(t, func(i int) bool { return l.micros[i] >= 1000 })
		if !hasNote(notes, "unreliable") || !hasNote(notes, "long_query_time)") {
			t.Errorf("only slow statements, %.1f %% right: notes %q", 100*slow, notes)
		}
		r := rand.New(rand.NewPCG(8, 9))
		sampled, notes := l.attributed(t, func(int) bool { return r.IntN(10) == 0 })
		if !hasNote(notes, "unreliable") || !hasNote(notes, "a sample") {
			t.Errorf("a sample, %.1f %% right: notes %q", 100*sampled, notes)
		}
	}
}

// TestAutocommittedWrites: writes that commit themselves between transactions
// without BEGIN are not part of them.
func TestAutocommittedWrites(t *testing.T) {
	for _, alone := range []int{20, 10, 5} {
		l := &commitLog{r: rand.New(rand.NewPCG(3, 4)), truth: map[string]time.Duration{}, alone: alone}
		l.fill(6000)
		if share, notes := l.attributed(t, nil); share < 0.95 || !hasNote(notes, "commit themselves") {
			t.Errorf("a write before one in %d: %.1f %% of the time of COMMITs are attributed rightly, notes %q", alone, 100*share, notes)
		}
	}
	// COMMITs without any statement before them are short in a complete log.
	l := &commitLog{r: rand.New(rand.NewPCG(3, 4)), truth: map[string]time.Duration{}}
	l.fill(500)
	for i := range 200 {
		l.add(20, 5+i%4, "commit")
	}
	if share, notes := l.attributed(t, nil); share < 0.95 || hasNote(notes, "unreliable") {
		t.Errorf("COMMITs without statements: %.1f %%, notes %q", 100*share, notes)
	}
	// A write that belongs to all its transactions stays in them.
	var b strings.Builder
	for i := range 300 {
		b.WriteString(entry(1, 10, "insert into audit values (1)"))
		b.WriteString(entry(1, 10, []string{"update a set x=1", "update b set x=1", "update c set x=1"}[i%3]))
		b.WriteString(entry(1, 900, "commit"))
	}
	for _, x := range mustRead(t, b.String()).Transactions {
		if !strings.HasPrefix(x.Shape, "insert audit; update ") || x.Count != 100 || x.Statements != 300 || x.Total != us(92000) {
			t.Errorf("%+v", x)
		}
	}
}
