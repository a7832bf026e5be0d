package tune

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// scarceRuns is the number of runs in the whole time below which a search is scarce: it
// has no time for a trial of each candidate. The calibration, the observations and the
// last comparison take about a dozen.
const scarceRuns = 25

// fewestCalibration is the least number of runs that measure the noise.
const fewestCalibration = 3

// rehearsalShare is the part of a run's time, as 1/n, that a scarce search without time
// for a repeated run reserves for the rehearsal.
const rehearsalShare = 4

// scarce reports whether the time of the search holds only few runs, as with the fixed
// load of a minute of an outside benchmarker. Such a search tries all promising
// candidates together (sweep) and accepts a gain that one run shows beyond doubt.
func (b *budget) scarce() bool {
	return b.options.Time > 0 && b.options.Time < scarceRuns*b.runCost()
}

// spare is the time that the end phase reserves beyond the runs of the last comparison:
// for the rehearsal and a repeated run. A scarce search repeats no run where that run's
// time is needed for the second run of its first trial.
func (b *budget) spare() time.Duration {
	switch cost := b.runCost(); {
	case !b.scarce():
		return 3 * cost
	case b.options.Time < b.options.scarceTime(calibrationPairs, cost)+2*cost && (b.nothing == nil || b.nothing()):
		return cost / rehearsalShare
	default:
		return cost
	}
}

// leastTrial is the least number of runs in whose time a trial can decide.
func (b *budget) leastTrial() float64 {
	if b.scarce() {
		return 2
	}
	return 4
}

const (
	// mostSwept bounds the candidates of one sweep.
	mostSwept = 16
	// leastSwept is the least product of chance and expected gain on ln(score) of a
	// candidate of a sweep. One that promises less is not worth the risk that it fails
	// the trial of the others.
	leastSwept = 0.01
)

// sweep is the candidates to try as one change, in a scarce search or where other work uses
// what one cure saves: the first with all others that promise something, one of each finding. Before rewrites of source comes a
// sweep without them if it promises much: a slow site answers few of the requests whose
// answers are compared. nil means no sweep.
func (q *queue) sweep(first Candidate) []Candidate {
	if !q.sweeps() || first.blinds() || first.Proposed || first.apart() || first.knob() {
		return nil
	}
	if q.suspects[first.Key()] && len(q.suspects) == 1 {
		return nil
	}
	all := append([]Candidate{first}, q.sweepable()...)
	source := first.rewrites() || first.Gain < large
	if q.ledger.Absorbed {
		source = promises(all) < large
	}
	room := (len(q.suspects) + 2) / 3 // for suspects
	if len(q.suspects) == 1 {
		room = 0
	}
	var parts []Candidate
	for _, c := range all {
		covered := func(o Candidate) bool { return o.cause() == c.cause() || o.covers(c) }
		if q.suspects[c.Key()] {
			if room--; room < 0 {
				continue
			}
		}
		switch {
		case len(parts) == mostSwept || slices.ContainsFunc(parts, covered):
		case c.Proposed || c.apart() || c.knob() || c.Chance*c.Gain < leastSwept:
		case c.rewrites() && !source:
		default:
			parts = append(parts, c)
		}
	}
	return parts
}

// swept tries the candidates of a sweep as one change. If a run fails its checks, one of
// them is the cause: they become suspects, and the next sweeps have a third of these, until
// one is left, which is tried alone.
func (t *Tuner) swept(ctx context.Context, parts []Candidate) (tried bool, err error) {
	why := "there is no time for a trial of each"
	if t.ledger.Absorbed {
		why = "one alone shows nothing where other work uses what it saves"
	}
	tried, err = t.together(ctx, parts, why)
	if err != nil || !tried || len(t.ledger.Attempts) == 0 {
		return tried, err
	}
	a := &t.ledger.Attempts[len(t.ledger.Attempts)-1]
	var keys []string
	for _, p := range parts {
		if _, in := a.Remedy.Args[p.Key()]; in {
			keys = append(keys, p.Key())
		}
	}
	switch {
	case a.Kind() != bundleKind:
	case a.Verdict.Reason == iikanji.Gate:
		t.suspects = map[string]bool{}
		for _, k := range keys {
			t.suspects[k] = true
		}
	case a.Skipped == "":
		for _, k := range keys {
			delete(t.suspects, k)
		}
	}
	return true, nil
}

// broke is the verdict on a sweep whose run failed its checks: smaller groups find the
// cause in as many runs as it would take to repeat the failure.
func (tr *trial) broke(p judge.Pair) (v iikanji.Verdict, ok bool) {
	if !tr.sweeps() || len(tr.changes) < 2 || p.Void != "" || p.B == nil || !judge.Failed(p.B) {
		return v, false
	}
	why := fmt.Sprintf("run %d failed its checks (%s): smaller groups are tried", p.B.ID, whyFailed(p.B))
	return iikanji.Verdict{Change: tr.changes[0].ID, Call: iikanji.Revert, Reason: iikanji.Gate, Why: why}, true
}

// clearly is the verdict on a candidate of a scarce search that the fast lane accepted, if
// its one run shows the gain beyond doubt. ok is false if later runs must confirm it.
func (tr *trial) clearly(p judge.Pair) (v iikanji.Verdict, ok bool) {
	if !tr.scarce() || p.B == nil {
		return v, false
	}
	return tr.rule().Clear(tr.c, tr.incumbent, p.B)
}
