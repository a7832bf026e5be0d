package slowlog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func us(n int) time.Duration { return time.Duration(n) * time.Microsecond }

// TestTransactions: a COMMIT belongs to the statements of its own thread.
func TestTransactions(t *testing.T) {
	p := mustRead(t, strings.Join([]string{
		entry(1, 1, "BEGIN"), entry(2, 1, "START TRANSACTION"),
		entry(1, 10, "update a set x=1 where id=1"), entry(2, 20, "insert into b values (1)"),
		entry(2, 20, "insert into b values (2)"), entry(2, 20, "insert into b values (3)"), // a loop is one step
		entry(1, 1000, "COMMIT"), entry(2, 5000, "COMMIT /* tag 7 */"),
		entry(1, 1, "BEGIN"), entry(1, 10, "update a set x=2 where id=2"), entry(1, 3000, "COMMIT"),
		entry(3, 1, "set autocommit=0"), entry(3, 7, "update a set x=3 where id=3"), entry(3, 2, "rollback"), entry(3, 9, "update a set x=3"), entry(3, 4, "SET autocommit = 1"),
		entry(4, 5, "update a set x=1 where id=1"), entry(4, 6, "commit"), // no BEGIN in the log
		entry(5, 1, "begin"), entry(5, 1, "select a from t"), entry(5, 1, "# administrator command: Quit"),
		entry(6, 1, "begin"), entry(6, 1, "select a from t"), entry(6, 2, "rollback to savepoint x"), entry(6, 3, "create table z(a int)"),
	}, ""))
	var got []string
	for _, x := range p.Transactions {
		got = append(got, fmt.Sprintf("%s|%d %d %d|%v %v %v", x.Shape, x.Count, x.Rollbacks, x.Statements, x.Total, x.Commit, x.MaxCommit))
	}
	want := []string{
		"start transaction; insert b; commit /* tag ? */|1 0 5|5.061ms 5ms 5ms",
		"begin; update a; commit|2 0 6|4.022ms 4ms 3ms",
		"update a; set autocommit = ?|1 0 2|13µs 4µs 4µs",
		"update a; commit|1 0 2|11µs 6µs 6µs",
		"update a; rollback|1 1 2|9µs 2µs 2µs",
		"begin; select t; rollback to savepoint x; create z|1 0 4|7µs 3µs 3µs",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(p.Notes) != 3 || !strings.HasPrefix(p.Notes[0], "1 transactions have no COMMIT") || !strings.HasPrefix(p.Notes[1], "1 of 5 COMMIT and ROLLBACK statements have no BEGIN") || p.Notes[2] != queryPlanNotes[formatMariaDB] {
		t.Errorf("notes %q", p.Notes)
	}
	if x := p.Transactions[1]; x.Example.Text != "COMMIT" || x.Example.Took != us(3011) || x.Lock != 6*time.Microsecond || len(x.Digests) != 3 {
		t.Errorf("%+v", x)
	}
}

func repeatOf(t *testing.T, p *iikanji.Profile, key string) iikanji.Repeat {
	t.Helper()
	for _, r := range p.Repeats {
		if r.Key == key {
			return r
		}
	}
	t.Fatalf("no repeat of %q in %+v", key, p.Repeats)
	return iikanji.Repeat{}
}

// TestRepeats: N+1 and repeated values, per thread, also in a loop of two
// statements.
func TestRepeats(t *testing.T) {
	var b strings.Builder
	for i := range 6 { // thread 1: a loop of two statements; thread 2 between them
		b.WriteString(entry(1, 10, fmt.Sprintf("select name from users where id=%d", i)))
		b.WriteString(entry(2, 1, "# administrator command: Ping"))
		b.WriteString(entry(2, 50, "select v from conf where k='a'")) // the same again
		b.WriteString(entry(1, 20, fmt.Sprintf("select img from icons where id=%d", i)))
	}
	for i := range 4 { // too short for a loop
		b.WriteString(entry(3, 10, fmt.Sprintf("select x from y where id=%d", i)))
	}
	p := mustRead(t, b.String())
	for _, c := range []iikanji.Repeat{
		{Key: "select name from users where id = ?", Runs: 1, Longest: 6, Count: 5, Time: us(50)},
		{Key: "select img from icons where id = ?", Runs: 1, Longest: 6, Count: 5, Time: us(100)},
		{Key: "select v from conf where k = ?", Runs: 1, Longest: 6, Count: 5, Time: us(250), Same: 5, SameTime: us(250)},
	} {
		got := repeatOf(t, p, c.Key)
		got.Digest = ""
		if got != c {
			t.Errorf("got %+v, want %+v", got, c)
		}
	}
	if len(p.Repeats) != 3 {
		t.Errorf("%d repeats: %+v", len(p.Repeats), p.Repeats)
	}
}

// TestChurn: a Prepare belongs to the statement that the thread executes next.
func TestChurn(t *testing.T) {
	var b strings.Builder
	for i := range 3 {
		b.WriteString(entry(1, 7, "# administrator command: Prepare"))
		b.WriteString(entry(2, 1, "select 1"))
		b.WriteString(entry(1, 20, fmt.Sprintf("select a from t where id=%d", i)))
		b.WriteString(entry(1, 2, "# administrator command: Close stmt"))
	}
	b.WriteString(entry(1, 20, "select a from t where id=9"))
	p := mustRead(t, b.String())
	r := row(t, p, "select a from t where id = ?")
	if r.Count != 4 || r.Query.Prepares != 3 || r.Query.PrepareTime != us(27) {
		t.Errorf("%d executions, %d prepares, %v", r.Count, r.Query.Prepares, r.Query.PrepareTime)
	}
	if q := row(t, p, "select ?").Query; q.Prepares != 0 {
		t.Errorf("another thread's statement got %d prepares", q.Prepares)
	}
	if r := row(t, p, "administrator command: Prepare"); r.Count != 3 {
		t.Errorf("%d prepares", r.Count)
	}
}

// TestExamples: the typical statement is near the median, the worst is the slowest.
func TestExamples(t *testing.T) {
	var b strings.Builder
	for i := range 501 {
		b.WriteString(entry(1, 1000+(i*7919)%501, fmt.Sprintf("select a from T_x join `Users` u where id=%d", i)))
	}
	r := row(t, mustRead(t, b.String()), "select a from t_x join users u where id = ?")
	if r.Example.Took != us(1500) {
		t.Errorf("worst %v", r.Example)
	}
	if d := r.Query.Typical.Took - us(1250); d < -us(15) || d > us(15) {
		t.Errorf("typical %v, median %v", r.Query.Typical.Took, r.P50)
	}
	if got := strings.Join(r.Query.Tables, " "); got != "T_x Users" {
		t.Errorf("tables %s", got)
	}
}

func TestTables(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		var fp Fingerprinter
		if got := strings.Join(tablesOf(string(fp.Fingerprint([]byte(sql))), []byte(sql)), " "); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	f("select 1", "")
	f("select a from T1 x, `T2` as y join db.t3 on x.a=y.b where c in (select d from t4)", "T1 T2 db.t3 t4")
	f("insert ignore into `Isu` (a,b) values (1,2) on duplicate key update a=1", "Isu")
	f("update t1, t2 set a=1 where b=2 order by c", "t1 t2")
	f("delete from t where a=extract(year from b)", "t")
	f("select a from (select b from u where c=1, d=2) x", "u")
	f("select * from t where id = 1 for update", "t")
	f("create table if not exists Z (a int)", "Z")
	f("truncate table q", "q")
	f("insert into x select * from y", "x y")
	f("select trim(both 'x' from c) from dual", "")
}

// TestManyDigests: the totals of a log stay exact if it has more digests than rows.
func TestManyDigests(t *testing.T) {
	tier.Slow(t)
	var b strings.Builder
	n := maxDigests + 500
	for i := range n {
		b.WriteString(entry(1, 10, fmt.Sprintf("select c%d from t", i)))
	}
	p := mustRead(t, b.String())
	if len(p.Rows) != maxDigests+1 {
		t.Fatalf("%d rows", len(p.Rows))
	}
	var count int64
	var total time.Duration
	for _, r := range p.Rows {
		count += r.Count
		total += r.Total
	}
	if count != int64(n) || total != us(10*n) {
		t.Errorf("%d statements, %v", count, total)
	}
	if r := row(t, p, overflowKey); r.Count != 500 {
		t.Errorf("overflow %d", r.Count)
	}
}

// TestSteadyStateAllocatesNothing: after its digests are known, a log needs memory
// for its blocks only.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	log := []byte(strings.Repeat(entry(1, 10, "select a from t where id=1")+entry(1, 1, "begin")+entry(1, 10, "update t set a='x' where id in (1,2)")+entry(1, 5, "commit"), 200))
	f := newCollector(Options{})
	f.begin("x", formatMariaDB)
	p, b := new(parser), new(batch)
	work := func() {
		blk := blockOf(log)
		b.parse(&blk, p, false)
		f.add(b)
	}
	work()
	if n := testing.AllocsPerRun(20, work); n > 0 {
		t.Errorf("%v allocations for 800 entries", n)
	}
}
