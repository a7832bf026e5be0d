package judge

import (
	"cmp"
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/stats"
)

// A Judge decides what interleaved pairs prove about a change. NewJudge fills
// in what the method prescribes.
type Judge struct {
	// Prior is the noise of a paired difference of ln(score) in this place,
	// from A/A pairs and from what past pairs left unexplained.
	Prior stats.Prior
	Looks stats.Looks
	// ErrorStep is by how much the share of errors may rise, as 0.005.
	ErrorStep float64
	// Tau is the standard deviation of true effects on ln(score), for taking
	// the winner's curse off.
	Tau float64
}

// NewJudge is the judge of the method with what is known of the noise.
func NewJudge(prior stats.Prior) Judge {
	return Judge{Prior: prior, Looks: stats.PairLooks(), ErrorStep: 0.005, Tau: 0.10}
}

// level is the confidence of the reported interval. Pocock's bounds hold at
// all looks together: one-sided 5 % on each side.
const level = 0.90

// A Case is what is on trial.
type Case struct {
	Change iikanji.Change
	Allow  []iikanji.Promise // promises that the target's policy lets go
	Pairs  []Pair            // in the order in which they were run
	Known  []iikanji.Fault   // that the incumbent showed in earlier runs
	// Worth is the least effect worth keeping where that is not the change's
	// own: several changes together have to bring what each of them has to.
	Worth float64
	// Before are the incumbent's latest runs before the trial (A/A), by which
	// a shift of the environment is noticed; fewer than four are not used.
	Before []*iikanji.Run
	// Simplifies says that the change removes complexity or work, so that it
	// may be kept without a proven gain.
	Simplifies bool
	Cuped      stats.Cuped // learned from A/A runs; the zero one adjusts nothing
}

// A Pair is one run of the incumbent A and one of the candidate B, one after
// the other from the same reset.
type Pair struct {
	A, B *iikanji.Run
	// XA and XB are the covariate measured just before each run, for Case.Cuped.
	XA, XB float64
	// Void is why the environment guard voided the pair; it never enters.
	Void string
	// Sick is why the candidate's health check failed; it reverts.
	Sick string
}

// Worth is the least effect δ on ln(score) that is worth keeping: the change's,
// or LeastWorth if its history has none.
func Worth(c *iikanji.Change) float64 { return cmp.Or(c.Worth, LeastWorth) }

// LeastWorth is the least effect of a reversible line of configuration that is
// worth keeping.
const LeastWorth = 0.01

// Decide says what the pairs prove: gates first, then the numbers, and only at
// the looks. A verdict whose Call is unknown wants Needed further pairs.
func (j Judge) Decide(c Case) iikanji.Verdict {
	s := sift(c)
	v := iikanji.Verdict{Change: c.Change.ID, Worth: cmp.Or(c.Worth, Worth(&c.Change)), Warnings: s.warnings}
	if why := j.gate(c, s, &v); why != "" {
		j.measure(s, &v)
		v.Call, v.Reason, v.Why = iikanji.Revert, iikanji.Gate, why
		return v
	}
	if why := j.shifted(c, s); why != "" {
		s = s.withoutLast()
		j.measure(s, &v)
		v.Reason, v.Why, v.Needed = iikanji.Shifted, why, j.further(s.n())
		return v
	}
	m := j.measure(s, &v)
	v.Call, v.Reason = j.look(c, s, m, &v)
	if v.Call == iikanji.CallUnknown {
		v.Needed = j.further(s.n())
	}
	v.Why = j.say(s, m, &v)
	return v
}

// measure fills in what the numbers say.
func (j Judge) measure(s sifted, v *iikanji.Verdict) stats.Moderated {
	m := stats.Moderate(s.diffs, j.Prior)
	for _, p := range s.pairs {
		v.Base, v.Tried = append(v.Base, p.A.ID), append(v.Tried, p.B.ID)
	}
	v.P, v.Work = m.P(), compareWork(s.pairs)
	if m.DF > 0 { // otherwise the interval is infinite, which JSON cannot say
		half := m.Upper(j.Looks.Efficacy) - m.Mean
		v.Effect = iikanji.Interval{Mid: m.Mean, Lo: m.Mean - half, Hi: m.Mean + half, Level: level}
		v.Shrunk = stats.Shrink(m.Mean, j.Tau*j.Tau, m.SE*m.SE)
	}
	return m
}

// further is how many pairs are missing to the next look; none after the last.
func (j Judge) further(n int) int { return max(0, j.Looks.Next(n)-n) }

// look decides by the numbers at n pairs.
func (j Judge) look(c Case, s sifted, m stats.Moderated, v *iikanji.Verdict) (iikanji.Call, iikanji.Reason) {
	n := s.n()
	if !j.Looks.Is(n) || m.DF <= 0 {
		return iikanji.CallUnknown, iikanji.TooFew
	}
	unstable := j.unstable(s)
	if unstable {
		v.Warnings = append(v.Warnings, sayUnstable(s, j.Prior))
	}
	last := n >= j.Looks.Last()
	lower, upper := v.Effect.Lo, m.Upper(j.Looks.Futility)
	switch {
	case unstable && n < stablePairs && !last:
		return iikanji.CallUnknown, iikanji.TooFew
	case lower > 0 && m.Mean >= v.Worth && (!unstable || stats.SignFlip(s.diffs) <= signFlipLevel):
		return iikanji.Keep, iikanji.Proven
	case upper < v.Worth:
		return iikanji.Revert, iikanji.NoGain
	case !last:
		return iikanji.CallUnknown, iikanji.TooFew
	case lower > -v.Worth && c.Simplifies && lessWork(v.Work) >= 0:
		return iikanji.Keep, iikanji.Neutral
	}
	return iikanji.Inconclusive, iikanji.Undecided
}

// Limits on trusting numbers whose runs fall into two modes.
const (
	spreadLimit   = 3    // × s0, of the runs of one arm
	stablePairs   = 5    // before the numbers may speak
	signFlipLevel = 0.05 // of the exact test that must agree
)

// unstable says whether the runs of one arm are spread wider than the noise
// known beforehand explains, as they are when there are two modes.
func (j Judge) unstable(s sifted) bool {
	if j.Prior.DF <= 0 {
		return false
	}
	return s.spread() > spreadLimit*j.Prior.SD()
}

// sifted is what may enter: usable pairs, and what was noticed on the way.
type sifted struct {
	pairs    []Pair
	a, b     []float64 // ln(score), adjusted, of each usable pair
	diffs    []float64 // b − a
	old      int       // how many of the pairs were run before the latest calibration
	failedA  int
	failedB  int
	broke    *iikanji.Run // the first B that failed
	sick     string
	warnings []string
}

func (s sifted) n() int { return len(s.diffs) }

func (s sifted) withoutLast() sifted {
	n := s.n() - 1
	s.pairs, s.a, s.b, s.diffs, s.old = s.pairs[:n], s.a[:n], s.b[:n], s.diffs[:n], min(s.old, n)
	return s
}

// spread is the widest range of the runs of one arm, each side of a new
// calibration by itself: that the environment had shifted there is known.
func (s sifted) spread() float64 {
	return max(stats.Spread(s.a[:s.old]), stats.Spread(s.b[:s.old]), stats.Spread(s.a[s.old:]), stats.Spread(s.b[s.old:]))
}

// calibrated is the number of the incumbent's latest run before the trial, or 0.
func (c *Case) calibrated() iikanji.RunID {
	var since iikanji.RunID
	for _, r := range c.Before {
		since = max(since, r.ID)
	}
	return since
}

// sift leaves out what was voided and what is not finished, and counts failures.
func sift(c Case) sifted {
	s := sifted{
		pairs: make([]Pair, 0, len(c.Pairs)), diffs: make([]float64, 0, len(c.Pairs)),
		a: make([]float64, 0, len(c.Pairs)), b: make([]float64, 0, len(c.Pairs)),
	}
	since := c.calibrated()
	for i, p := range c.Pairs {
		if p.Void != "" {
			s.warn(i, "void: "+p.Void)
			continue
		}
		if p.Sick != "" && s.sick == "" {
			s.sick = p.Sick
		}
		if p.A == nil || p.B == nil {
			continue // still running
		}
		if Failed(p.A) {
			s.failedA++
		}
		if Failed(p.B) {
			if s.failedB++; s.broke == nil {
				s.broke = p.B
			}
		}
		if why := Unusable(p); why != "" {
			s.warn(i, why)
			continue
		}
		ya, yb := c.Cuped.Adjust(math.Log(p.A.Score), p.XA), c.Cuped.Adjust(math.Log(p.B.Score), p.XB)
		if s.pairs = append(s.pairs, p); p.A.ID <= since {
			s.old = len(s.pairs)
		}
		s.a, s.b, s.diffs = append(s.a, ya), append(s.b, yb), append(s.diffs, yb-ya)
	}
	return s
}
