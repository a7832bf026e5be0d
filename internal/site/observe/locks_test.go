package observe

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestLockWatchCountsItself: the server counts the statements of a lock watch and does not
// log them. The watch knows their number: in a minute of a load with few statements, they
// are more than a proven slow log may lack.
func TestLockWatchCountsItself(t *testing.T) {
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	db, err := srv.Open(t.Context(), "locks")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	asker, err := facts.Connect(t.Context(), db, askLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	questions := func(wait time.Duration) (counted, asked float64) {
		t.Helper()
		l := newLockWatch(t.Context(), db, "database")
		if l == nil {
			t.Fatal("no lock watch")
		}
		defer l.close()
		before, err := asker.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		l.begin(t.Context())
		time.Sleep(wait)
		l.end(t.Context())
		after, err := asker.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return countersOf(before, after).questions, l.asked
	}
	ends, none := questions(0)
	counted, asked := questions(5 * sampleEvery / 2)
	if asked < 1 || counted-asked != ends-none { // on a busy machine it may ask without a load, too
		t.Errorf("the server counted %v statements, of them %v before and after the load; the watch made %v, and %v without a load", counted, ends, asked, none)
	}
}
