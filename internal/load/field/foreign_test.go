package field

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// TestForeignSubject runs one whole cycle with a site that is not an arena and whose
// services have other names: observe, plan, apply, judge, revert.
func TestForeignSubject(t *testing.T) {
	tier.Slow(t)
	l := openLibrary(t)
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	f := &Field{Subject: l, Loader: l, History: h, Now: time.Now, Noisy: true, Rest: time.Millisecond}

	remedy := indexRemedy(t, f)
	if remedy.Target != shelves {
		t.Fatalf("the remedy is for service %q, want %q", remedy.Target, shelves)
	}
	before := definitionOf(t, l)
	c, err := change.Plan(t.Context(), l.Site(), remedy)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	acts := &change.Executor{Hands: l.Site(), Journal: h, Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.RowOrder}}}

	v := onTrial(t, f, acts, c, 700*time.Millisecond)
	if v.Call != iikanji.Keep { // on a busy machine short runs may differ too much
		t.Logf("%s: %s; again, with longer runs", v.Call, v.Why)
		if err := acts.Revert(t.Context(), c.ID, "it is judged again"); err != nil {
			t.Fatal(err)
		}
		v = onTrial(t, f, acts, c, 4*time.Second)
	}
	if v.Call != iikanji.Keep || v.Effect.Mid < 0.3 {
		t.Errorf("an index in place of a scan of 40,000 rows is judged %s, effect %.2f: %s", v.Call, v.Effect.Mid, v.Why)
	}
	if definitionOf(t, l) == before {
		t.Error("the index is not there after the last apply")
	}
	if err := acts.Revert(t.Context(), c.ID, "the end of the test"); err != nil {
		t.Fatal(err)
	}
	if now := definitionOf(t, l); now != before {
		t.Errorf("after the revert:\n%s\nbefore:\n%s", now, before)
	}
}

// indexRemedy observes a run and returns the remedy for the scan of the books. A busy machine
// has few statements in two seconds: the load is longer then.
func indexRemedy(t *testing.T, f *Field) iikanji.Remedy {
	t.Helper()
	for length := 2 * time.Second; ; length *= 3 {
		d, known, err := f.Observe(t.Context(), load.Spec{Load: length})
		if err != nil {
			t.Fatal(err)
		}
		if len(known) == 0 {
			t.Error("an observation without facts")
		}
		i := slices.IndexFunc(d.Findings, func(f iikanji.Finding) bool {
			return len(f.Remedies) > 0 && f.Remedies[0].Kind == "ddl" && strings.Contains(f.Where, "book")
		})
		switch {
		case i >= 0:
			return d.Findings[i].Remedies[0]
		case length > 30*time.Second:
			t.Fatalf("no finding with an index for book among %+v; sensors %+v", d.Findings, d.Sensors)
		}
	}
}

// onTrial runs interleaved pairs of a length until the judge decides, and leaves the change applied.
func onTrial(t *testing.T, f *Field, acts *change.Executor, c *iikanji.Change, length time.Duration) iikanji.Verdict {
	t.Helper()
	run := func(trial bool) *iikanji.Run {
		r, _, err := f.Bench(t.Context(), load.Spec{Load: length, Trial: trial})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	j, trial := judge.NewJudge(stats.Prior{}), judge.Case{Change: *c}
	for {
		var p judge.Pair
		p.Put(false, run(false), "")
		if err := acts.Apply(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
		p.Put(true, run(true), "")
		trial.Pairs = append(trial.Pairs, p)
		if v := j.Decide(trial); v.Call != iikanji.CallUnknown || len(trial.Pairs) == 8 {
			return v
		}
		if err := acts.Revert(t.Context(), c.ID, "the arm without it"); err != nil {
			t.Fatal(err)
		}
	}
}

// definitionOf is the table's definition.
func definitionOf(t *testing.T, l *library) string {
	t.Helper()
	var name, text string
	if err := l.Site().Services[shelves].DB().QueryRowContext(t.Context(), "SHOW CREATE TABLE book").Scan(&name, &text); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestForeignDeath checks that the death of one of two apps fails only the run of a
// candidate, and that the app is running again for the next run.
func TestForeignDeath(t *testing.T) {
	l := openLibrary(t)
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	f := &Field{Subject: l, Loader: l, History: h, Now: time.Now, Noisy: true, Rest: time.Millisecond}
	if l.deaths.Note(deskWest, errDied) {
		t.Error("without a candidate a death does not end the search")
	}
	l.deaths.setTrial(true)
	l.stop(deskWest)
	if !l.deaths.Note(deskWest, errDied) {
		t.Error("with a candidate a death ends the search")
	}
	l.deaths.setTrial(false)
	r, _, err := f.Bench(t.Context(), load.Spec{Load: 200 * time.Millisecond, Trial: true})
	if err != nil || r.Outcome != iikanji.Passed {
		t.Errorf("after the restart: %v %v, faults %+v", r, err, r.Faults)
	}
	if left := l.deaths.Waiting(); len(left) > 0 {
		t.Errorf("deaths left: %v", left)
	}
}

var errDied = errors.New("signal: killed")
