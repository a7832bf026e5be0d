package observe

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// TestCounter counts the work of a real database between the two readings, and
// checks the error if the database cannot be read.
func TestCounter(t *testing.T) {
	_, db := openDatabase(t, "counted")
	run := func(statements ...string) { runAll(t, db, statements...) }
	run("CREATE TABLE seat (n int PRIMARY KEY, who varchar(9))", "INSERT INTO seat SELECT seq, 'x' FROM seq_1_to_500")
	c := &Counter{DB: db}
	c.Phase(scenario.Prepare, true) // not the load phase: no reading
	if c.before != nil {
		t.Error("a reading outside of the load")
	}
	c.Phase(scenario.Load, true)
	for range 10 {
		run("SELECT count(*) FROM seat WHERE who = 'y'")
	}
	run("UPDATE seat SET who = 'z' WHERE n <= 20")
	c.Phase(scenario.Load, false)
	got := c.Counts()
	if c.Err != nil {
		t.Fatal(c.Err)
	}
	if q := got["queries"]; q < 11 || q > 13 {
		t.Errorf("%v queries, want the 11 and the reading itself", q)
	}
	if r := got["rows examined"]; r < 5000 || r > 6500 {
		t.Errorf("%v rows examined, want ten scans of 500", r)
	}
	if w := got["rows written"]; w < 20 || w > 60 {
		t.Errorf("%v rows written, want 20 and what the reading itself makes", w)
	}

	a, b := &iikanji.Run{Outcome: iikanji.Passed, Score: 1, Steps: []iikanji.StepStat{{Count: 100}}, Counts: got}, &iikanji.Run{Outcome: iikanji.Passed, Score: 1, Steps: []iikanji.StepStat{{Count: 100}}, Counts: map[string]float64{"queries": got["queries"] / 2}}
	works := judge.Compare([]judge.Pair{{A: a, B: b}, {A: a, B: b}}).Work
	if len(works) != 1 || works[0].Name != "queries" || works[0].Effect.Mid > -0.69 || works[0].Effect.Mid < -0.70 {
		t.Errorf("half the queries compare as %+v", works)
	}

	dead := &Counter{DB: db}
	dead.Phase(scenario.Load, true)
	db.Close()
	dead.Phase(scenario.Load, false)
	if dead.Counts() != nil || dead.Err == nil || !strings.Contains(dead.Err.Error(), "the work of the database is unknown") {
		t.Errorf("a database that is gone: %v, %v", dead.Counts(), dead.Err)
	}
}
