package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// Failed reports whether a run proves that the site is broken. A score without a
// logarithm is a failure; a void or interrupted run proves nothing.
func Failed(r *iikanji.Run) bool {
	return r.Outcome == iikanji.Failed || r.Clean() && !(r.Score > 0)
}

// Unusable is why a pair's scores cannot be compared; "" if they can.
func Unusable(p Pair) string {
	for _, r := range []struct {
		who string
		run *iikanji.Run
	}{{"the incumbent's", p.A}, {"the candidate's", p.B}} {
		switch {
		case Failed(r.run):
			return fmt.Sprintf("%s run %d failed", r.who, r.run.ID)
		case r.run.Load.Void || r.run.Outcome == iikanji.Void:
			return fmt.Sprintf("%s run %d is void: %s", r.who, r.run.ID, cmp.Or(r.run.Load.Why, "not a valid measurement"))
		case !r.run.Clean():
			return fmt.Sprintf("%s run %d was interrupted", r.who, r.run.ID)
		}
	}
	return ""
}

func (s *sifted) warn(i int, why string) {
	s.warnings = append(s.warnings, fmt.Sprintf("pair %d does not count: %s", i+1, why))
}

// gate is why the change must be reverted whatever its score; "" if it need not.
func (j Judge) gate(c Case, s sifted, v *iikanji.Verdict) string {
	if p, ok := Forbidden(&c.Change, c.Allow); ok {
		return Refused(&c.Change, p)
	}
	if s.sick != "" {
		return "the health check failed with it: " + s.sick
	}
	if v.NewFaults = newFaults(c); len(v.NewFaults) > 0 {
		if s.failedB > s.failedA {
			return sayFailed(s, v.NewFaults)
		}
		f := v.NewFaults[0]
		return fmt.Sprintf("a new fault that the incumbent never showed: %s (%d times)", sayFault(f), f.Count)
	}
	if s.fails(c.Earlier) {
		return sayFailed(s, nil)
	}
	if a, b := c.voids(); b > a && voidChance(c) <= voidGate {
		return fmt.Sprintf("its own runs do not count more often: %d of them and %d without it", b, a)
	}
	if a, b, rose := errorsRose(c, s, j.ErrorStep); rose {
		return fmt.Sprintf("errors rose from %.2f %% to %.2f %% of the answers; %.2f points more are allowed",
			100*a, 100*b, 100*j.ErrorStep)
	}
	return ""
}

// failLevel is the level of the test that a candidate's runs fail more often.
const failLevel = 0.05

// fails reports whether the candidate's runs fail more often than the incumbent's,
// those before the trial included (Fisher's exact test). One failure alone is
// repeated: some sites fail a run in a hundred in any state.
func (s sifted) fails(earlier Record) bool {
	if s.failedB < 2 || s.failedB <= s.failedA {
		return false
	}
	failed, runs := s.failedA+earlier.Failed, s.ranA+earlier.Runs
	return failed == 0 || stats.Fisher(s.failedB, s.ranB, failed, runs) <= failLevel
}

// Levels of the test that the candidate's runs are void more often.
const (
	voidGate  = 0.05 // the change is undone
	voidDoubt = 0.20 // it is not kept yet
	// A kept change is tried again: the machine may have changed since.
	voidSince = 0.01
)

// voids are the void runs of each arm, with those of the candidate before the trial.
func (c *Case) voids() (incumbent, candidate int) {
	incumbent, candidate = Voids(c.Pairs)
	return incumbent, candidate + c.With.Void
}

// voidChance is the p-value of the hypothesis that the candidate's runs are void
// as often as the incumbent's, those before the trial included.
func voidChance(c Case) float64 {
	a, b := c.voids()
	ranA, ranB := c.Earlier.Runs, c.With.Runs
	for _, p := range c.Pairs {
		if p.A != nil {
			ranA++
		}
		if p.B != nil {
			ranB++
		}
	}
	return stats.Fisher(b, max(b, ranB), a+c.Earlier.Void, max(a+c.Earlier.Void, ranA))
}

// VoidsMore is why a change is not kept whose runs are void more often than those without it;
// "" if they are not.
func VoidsMore(with, without Record) string {
	if with.Void < leastVoids || stats.Fisher(with.Void, with.Runs, without.Void, without.Runs) > voidDoubt {
		return ""
	}
	return fmt.Sprintf("runs with it do not count more often: %d of %d, and %d of %d before", with.Void, with.Runs, without.Void, without.Runs)
}

// usualVoids is what is known of machines where few runs were made before a change.
var usualVoids = Record{Runs: 12, Void: 1}

// VoidsSince is why a change is doubted that was kept: the site's runs since then are void more
// often than those before; "" if they are not. At the end of a search less is needed.
func VoidsSince(since, before Record, end bool) string {
	level := voidSince
	if end {
		level = voidGate
	}
	if since.Void <= leastVoids || stats.Fisher(since.Void, since.Runs, before.Void+usualVoids.Void, before.Runs+usualVoids.Runs) > level {
		return ""
	}
	return fmt.Sprintf("%d of %d runs since it was kept do not count, and %d of %d before", since.Void, since.Runs, before.Void, before.Runs)
}

// leastVoids is the least number of void runs that are evidence: one is an accident.
const leastVoids = 2

// Forbidden finds a promise that a change weakens and the policy keeps.
func Forbidden(c *iikanji.Change, allow []iikanji.Promise) (iikanji.Promise, bool) {
	for _, p := range c.Weakens {
		if !slices.Contains(allow, p) {
			return p, true
		}
	}
	return iikanji.PromiseUnknown, false
}

// Refused is the reason to refuse a change that weakens a promise that the policy keeps.
func Refused(c *iikanji.Change, p iikanji.Promise) string {
	why := fmt.Sprintf("it weakens the promise of %s, which the target's policy does not allow", p)
	if p == iikanji.RowOrder && c.Remedy != nil && len(c.Remedy.Unsorted) > 0 {
		why += ": rows may come in another order at " + c.Remedy.Unsorted[0]
		if n := len(c.Remedy.Unsorted) - 1; n > 0 {
			why += fmt.Sprintf(", and at %d more", n)
		}
	}
	return why
}

// grave faults are wrong answers. Answers that did not arrive in time (dial,
// timeout, closed) depend on the load and are judged by their share; requests
// that the end of a phase interrupted are not faults.
func grave(f iikanji.Fault) bool {
	if f.Fatal {
		return true
	}
	switch f.Kind {
	case iikanji.FaultProtocol, iikanji.FaultStatus, iikanji.FaultContentType, iikanji.FaultBody, iikanji.FaultCheck:
		return true
	}
	return false
}

// wrong faults are answers with wrong content, which no disturbance of the machine
// explains.
func wrong(f iikanji.Fault) bool {
	return f.Kind == iikanji.FaultContentType || f.Kind == iikanji.FaultBody || f.Kind == iikanji.FaultCheck
}

// A FaultKey identifies a fault: two faults with the same key are the same.
type FaultKey struct {
	kind        iikanji.FaultKind
	step, check string
}

func KeyOf(f iikanji.Fault) FaultKey { return FaultKey{f.Kind, f.Step, f.Check} }

// newFaults lists grave faults of the candidate that no run of the incumbent
// shows, with their counts over all pairs. In void pairs only wrong content counts.
func newFaults(c Case) []iikanji.Fault {
	var known map[FaultKey]bool // built on demand: most runs have no fault
	var found []iikanji.Fault
	for _, p := range c.Pairs {
		if p.B == nil {
			continue
		}
		for _, f := range p.B.Faults {
			if known == nil {
				known = knownFaults(c)
			}
			if !grave(f) || p.Void != "" && !wrong(f) || known[KeyOf(f)] {
				continue
			}
			i := slices.IndexFunc(found, func(o iikanji.Fault) bool { return KeyOf(o) == KeyOf(f) })
			if i < 0 {
				found = append(found, f)
			} else {
				found[i].Count += f.Count
			}
		}
	}
	return found
}

func knownFaults(c Case) map[FaultKey]bool {
	known := map[FaultKey]bool{}
	for _, f := range c.Known {
		known[KeyOf(f)] = true
	}
	for _, r := range c.Before {
		for _, f := range r.Faults {
			known[KeyOf(f)] = true
		}
	}
	for _, p := range c.Pairs {
		if p.A != nil {
			for _, f := range p.A.Faults {
				known[KeyOf(f)] = true
			}
		}
	}
	return known
}

const (
	errorLevel  = 0.01 // of the test after each pair
	grossErrors = 10   // × the allowed rise: a single pair suffices
)

// NewFault reports whether a candidate's run shows a grave fault that is not known.
func (j Judge) NewFault(c Case) bool {
	for i := range c.Pairs {
		c.Pairs[i].A = nil
	}
	return len(newFaults(c)) > 0
}

// errorsRose compares the shares of errors among the answers of each arm: the rise
// beyond step must be proven by a t test over runs, those of the incumbent before
// the trial included. Within a run, errors come together, so that their number
// alone proves little.
func errorsRose(c Case, s sifted, step float64) (a, b float64, rose bool) {
	var as, bs []float64
	for _, p := range s.pairs {
		as, bs = append(as, errorShare(p.A)), append(bs, errorShare(p.B))
	}
	if len(as) == 0 {
		return 0, 0, false
	}
	a, b = stats.Mean(as), stats.Mean(bs)
	if b <= a+step {
		return a, b, false
	}
	for _, r := range c.Before {
		if r.Clean() && !slices.ContainsFunc(s.pairs, func(p Pair) bool { return p.A == r }) {
			as = append(as, errorShare(r))
		}
	}
	a = stats.Mean(as)
	na, nb := float64(len(as)), float64(len(bs))
	df := na + nb - 2
	if df < 2 {
		return a, b, b > a+grossErrors*step
	}
	se := math.Sqrt((stats.SumSquares(as) + stats.SumSquares(bs)) / df * (1/na + 1/nb))
	return a, b, b-a-step > stats.StudentQuantile(1-errorLevel, df)*se
}

// errorShare is the share of errors among the answers of a run.
func errorShare(r *iikanji.Run) float64 {
	count, errors := answered(r)
	return float64(errors) / float64(max(count, 1))
}

func answered(r *iikanji.Run) (count, errors int64) {
	for _, s := range r.Steps {
		count, errors = count+s.Count, errors+s.Errors
	}
	return count, errors
}
