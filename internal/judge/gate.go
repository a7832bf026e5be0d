package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
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
		return fmt.Sprintf("it weakens the promise of %s, which the target's policy does not allow", p)
	}
	if s.sick != "" {
		return "the health check failed with it: " + s.sick
	}
	// A baseline that fails as often proves nothing against the candidate.
	if s.failedB > s.failedA {
		v.NewFaults = newFaults(c)
		return sayFailed(s, v.NewFaults)
	}
	if v.NewFaults = newFaults(c); len(v.NewFaults) > 0 {
		f := v.NewFaults[0]
		return fmt.Sprintf("a new fault that the incumbent never showed: %s (%d times)", sayFault(f), f.Count)
	}
	a, b, n := errorShares(s.pairs)
	if n > 0 && b > a+j.ErrorStep {
		return fmt.Sprintf("errors rose from %.2f %% to %.2f %% of the answers; %.2f points more are allowed",
			100*a, 100*b, 100*j.ErrorStep)
	}
	return ""
}

// Forbidden finds a promise that a change weakens and the policy keeps.
func Forbidden(c *iikanji.Change, allow []iikanji.Promise) (iikanji.Promise, bool) {
	for _, p := range c.Weakens {
		if !slices.Contains(allow, p) {
			return p, true
		}
	}
	return iikanji.PromiseUnknown, false
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

// A FaultKey identifies a fault: two faults with the same key are the same.
type FaultKey struct {
	kind        iikanji.FaultKind
	step, check string
}

func KeyOf(f iikanji.Fault) FaultKey { return FaultKey{f.Kind, f.Step, f.Check} }

// newFaults lists grave faults of the candidate that no run of the incumbent
// shows, with their counts over all pairs. Void pairs are left out.
func newFaults(c Case) []iikanji.Fault {
	var known map[FaultKey]bool // built on demand: most runs have no fault
	var found []iikanji.Fault
	for _, p := range c.Pairs {
		if p.Void != "" || p.B == nil {
			continue
		}
		for _, f := range p.B.Faults {
			if known == nil {
				known = knownFaults(c)
			}
			if !grave(f) || known[KeyOf(f)] {
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

// errorShares is the share of errors among the answers of each arm, and the
// number of answers of the candidate.
func errorShares(pairs []Pair) (a, b float64, answers int64) {
	var ca, ea, cb, eb int64
	for _, p := range pairs {
		c, e := answered(p.A)
		ca, ea = ca+c, ea+e
		c, e = answered(p.B)
		cb, eb = cb+c, eb+e
	}
	return float64(ea) / float64(max(ca, 1)), float64(eb) / float64(max(cb, 1)), cb
}

func answered(r *iikanji.Run) (count, errors int64) {
	for _, s := range r.Steps {
		count, errors = count+s.Count, errors+s.Errors
	}
	return count, errors
}
