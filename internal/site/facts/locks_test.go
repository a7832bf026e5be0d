package facts_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// duel is two transactions on one table of two rows, each holding one.
type duel struct {
	ctx  context.Context
	t    *testing.T
	db   *sql.DB
	srv  *facts.Server
	a, b *sql.Tx
}

func newDuel(t *testing.T) *duel {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	db, err := server.Open(ctx, "duel")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	d := &duel{ctx: ctx, t: t, db: db}
	if _, err := db.ExecContext(ctx, "CREATE TABLE pair (id INT PRIMARY KEY, v INT); INSERT INTO pair VALUES (1, 0), (2, 0)"); err != nil {
		t.Fatal(err)
	}
	// The zone of the session is not that of the machine, in which InnoDB prints its times.
	zone := func(name string) {
		if _, err := db.ExecContext(ctx, "SET GLOBAL time_zone = '"+name+"'"); err != nil {
			t.Fatal(err)
		}
	}
	zone("-11:00")
	db.SetMaxIdleConns(0) // a new connection has the new zone
	if d.srv, err = facts.Connect(ctx, db, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.srv.Close() })
	zone("SYSTEM")
	for i, tx := range []**sql.Tx{&d.a, &d.b} {
		if *tx, err = db.BeginTx(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := (*tx).ExecContext(ctx, "UPDATE pair SET v = v + 1 WHERE id = ?", i+1); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = d.a.Rollback(), d.b.Rollback() })
	return d
}

// waiting blocks until a transaction waits for a lock.
func (d *duel) waiting() []fact.LockWait {
	for {
		w, err := d.srv.LockWaits(d.ctx)
		if err != nil {
			d.t.Fatal(err)
		}
		if len(w) > 0 {
			return w
		}
		select {
		case <-d.ctx.Done():
			d.t.Fatal("no transaction waits")
		case <-time.After(150 * time.Millisecond): // the cache of the server; see LockWaits
		}
	}
}

// TestLocksForReal makes one transaction wait for another that is between two
// statements, then lets the other wait for the first: a deadlock.
func TestLocksForReal(t *testing.T) {
	d := newDuel(t)
	if w, err := d.srv.LockWaits(d.ctx); err != nil || len(w) > 0 {
		t.Fatalf("no transaction waits yet: %v, %v", w, err)
	}
	before, err := d.srv.Deadlock(d.ctx)
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	go func() {
		_, err := d.a.ExecContext(d.ctx, "UPDATE pair\n SET v = 7 WHERE id = 2")
		first <- err
	}()
	w := d.waiting()
	if len(w) != 1 || w[0].Waiting != "UPDATE pair\n SET v = 7 WHERE id = 2" || w[0].Blocking != "" || w[0].Table != "duel.pair" || w[0].Index != "PRIMARY" || w[0].Mode != "X" || w[0].Seen != 1 {
		t.Errorf("%+v", w)
	}
	if w[0].Longest < 0 || w[0].Longest > time.Minute {
		t.Errorf("the wait took %v", w[0].Longest)
	}
	again := w[0]
	again.Longest += time.Second
	fs := facts.LockWaitFacts("database", []fact.LockWait{w[0], again, {Waiting: "x"}})
	if len(fs) != 2 || fs[0].Topic != string(fact.TopicLockWait) || !strings.Contains(fact.Text(fs[0]), `"seen":2`) || !fs[0].Moves {
		t.Errorf("%+v", fs)
	}
	_, second := d.b.ExecContext(d.ctx, "UPDATE pair SET v = 8 WHERE id = 1")
	if err := <-first; (err == nil) == (second == nil) {
		t.Fatalf("one of two has to be rolled back: %v, %v", err, second)
	}
	after, err := d.srv.Deadlock(d.ctx)
	if err != nil || after == nil || len(after.Parts) != 2 || after.Victim < 1 || after.Victim > 2 || len(after.At) != len("2026-11-21 12:17:40") {
		t.Fatalf("%+v, %v", after, err)
	}
	for _, p := range after.Parts {
		if p.Thread == 0 || !strings.HasPrefix(p.SQL, "UPDATE pair") || len(p.Waits) != 1 || p.Waits[0] != (fact.RowLock{Table: "duel.pair", Index: "PRIMARY", Mode: "X locks rec but not gap"}) {
			t.Errorf("%+v", p)
		}
	}
	if n := len(facts.DeadlockFacts("database", before, after)); n != 1 {
		t.Errorf("%d facts of a new deadlock", n)
	}
	if n := len(facts.DeadlockFacts("database", after, after)); n != 0 {
		t.Errorf("%d facts of an old deadlock", n)
	}
}

// mysqlDeadlock has the format of MySQL 8, which also prints the locks held.
const mysqlDeadlock = `
------------------------
LATEST DETECTED DEADLOCK
------------------------
2026-11-21 12:17:40 140239
*** (1) TRANSACTION:
TRANSACTION 1811, ACTIVE 9 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s)
MySQL thread id 8, OS thread handle 140, query id 52 localhost root updating
DELETE FROM birds WHERE v = 'a
*** b'

*** (1) HOLDS THE LOCK(S):
RECORD LOCKS space id 3 page no 4 n bits 72 index PRIMARY of table ` + "`s`.`animals`" + ` trx id 1811 lock mode S locks rec but not gap
Record lock, heap no 4 PHYSICAL RECORD: n_fields 4; compact format; info bits 0


*** (1) WAITING FOR THIS LOCK TO BE GRANTED:
TABLE LOCK table ` + "`s`.`birds`" + ` trx id 1811 lock mode IX waiting

*** (2) TRANSACTION:
TRANSACTION 1812, ACTIVE 5 sec starting index read
MySQL thread id 9, OS thread handle 141, query id 53 localhost root updating
DELETE FROM animals
*** WE ROLL BACK TRANSACTION (2)
------------
TRANSACTIONS
------------
*** (3) TRANSACTION:
`

func TestParseDeadlockOfMySQL(t *testing.T) {
	d := facts.ParseDeadlock(mysqlDeadlock)
	if d == nil || len(d.Parts) != 2 || d.Victim != 2 || d.Parts[1].Thread != 9 || d.Parts[1].SQL != "DELETE FROM animals" {
		t.Fatalf("%+v", d)
	}
	p := d.Parts[0]
	if len(p.Holds) != 1 || p.Holds[0] != (fact.RowLock{Table: "s.animals", Index: "PRIMARY", Mode: "S locks rec but not gap"}) ||
		len(p.Waits) != 1 || p.Waits[0] != (fact.RowLock{Table: "s.birds", Mode: "IX"}) {
		t.Errorf("%+v", p)
	}
	for _, none := range []string{"", "LATEST DETECTED DEADLOCK\n", "LATEST DETECTED DEADLOCK\n---------\n2026\n-------\n", "TRANSACTIONS\n"} {
		if d := facts.ParseDeadlock(none); d != nil {
			t.Errorf("%q: %+v", none, d)
		}
	}
}

// FuzzParseDeadlock checks that any text is parsed without a panic, into a bounded
// number of parts that together are no longer than the text.
func FuzzParseDeadlock(f *testing.F) {
	f.Add(mysqlDeadlock)
	f.Add(strings.Repeat("LATEST DETECTED DEADLOCK\n*** (1) TRANSACTION:\n", 3))
	f.Fuzz(func(t *testing.T, text string) {
		d := facts.ParseDeadlock(text)
		if d == nil {
			return
		}
		if len(d.Parts) == 0 || len(d.Parts) > 16 {
			t.Fatalf("%d parts", len(d.Parts))
		}
		said := 0
		for _, p := range d.Parts {
			said += len(p.SQL)
			for _, l := range append(p.Holds, p.Waits...) {
				said += len(l.Table) + len(l.Index) + len(l.Mode)
			}
		}
		if said > len(text) {
			t.Fatalf("%d bytes said of %d", said, len(text))
		}
	})
}
