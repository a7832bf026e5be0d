package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Judge decides what interleaved pairs prove about a change. NewJudge fills
// in what the method prescribes.
type Judge struct {
	// Prior is the noise of a paired difference of ln(score) on this site, from A/A
	// pairs and from the residuals of past pairs.
	Prior stats.Prior
	Looks stats.Looks
	// ErrorStep is the largest rise of the share of errors that is accepted, as 0.005.
	ErrorStep float64
	// Effects is what is known of the true effects of such changes, to correct the
	// winner's curse.
	Effects Effects
	// Slope is the effect of the CPU capacity that disturbances leave to a run.
	Slope Slope
	// Work is the noise of the work of a request.
	Work WorkNoise `json:",omitempty"`
}

// NewJudge is the judge of the method, with the known noise.
func NewJudge(prior stats.Prior) Judge {
	return Judge{Prior: prior, Looks: stats.PairLooks(), ErrorStep: 0.005, Effects: UsualEffects()}
}

// level is the confidence of the reported interval. Pocock's bounds hold at
// all looks together: one-sided 5 % on each side.
const level = 0.90

// A Case is the change on trial, with its runs.
type Case struct {
	Change iikanji.Change
	Allow  []iikanji.Promise // promises that the target's policy allows to weaken
	Pairs  []Pair            // in the order in which they were run
	Known  []iikanji.Fault   // of the incumbent in earlier runs
	// Earlier counts the incumbent's runs before the trial.
	Earlier Record
	// With counts the candidate's runs before the trial, of which many were void.
	With Record
	// Worth is the least effect worth keeping if it differs from the change's own:
	// for a bundle it is the sum of its changes' least effects.
	Worth float64
	// Before are the incumbent's latest runs before the trial (A/A), which reveal a
	// shift of the environment; fewer than four are not used.
	Before []*iikanji.Run
	// Cheaper: the change may be kept for the work that it saves, without a proven gain.
	Cheaper bool
	// Simplifies: the change removes work or state, or adds none, so that it may be
	// kept without a proven gain.
	Simplifies bool
}

// A Pair is one run of the incumbent A and one of the candidate B, one after
// the other from the same reset.
type Pair struct {
	A, B *iikanji.Run
	// Void is why the environment guard voided the pair, whose scores then never
	// count.
	Void string
	// VoidArm is the arm of the void run; unknown if the pair is void for another
	// reason.
	VoidArm Arm
	// Sick is why the candidate's health check failed; the verdict is to revert.
	Sick string
}

// Worth is the least effect δ on ln(score) that is worth keeping: the change's,
// or LeastWorth if its history has none.
func Worth(c *iikanji.Change) float64 { return cmp.Or(c.Worth, LeastWorth) }

// LeastWorth is the least effect of a reversible line of configuration that is
// worth keeping.
const LeastWorth = 0.01

// Decide is the verdict that the pairs prove: gates first, then the numbers, and
// only at the looks. A verdict whose Call is unknown needs Needed further pairs.
func (j Judge) Decide(c Case) iikanji.Verdict {
	s := j.adjust(sift(c))
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

// Call is the call of Decide alone, without the effect to expect and the words, which
// take most of its time: a forecast simulates thousands of trials.
func (j Judge) Call(c Case) iikanji.Call {
	s := j.adjust(sift(c))
	v := iikanji.Verdict{Worth: cmp.Or(c.Worth, Worth(&c.Change))}
	switch {
	case j.gate(c, s, &v) != "":
		return iikanji.Revert
	case j.shifted(c, s) != "" || !j.Looks.Is(s.n()):
		return iikanji.CallUnknown
	}
	call, _ := j.look(c, s, s.estimate(), &v)
	return call
}

// measure fills in the effect and its interval.
func (j Judge) measure(s sifted, v *iikanji.Verdict) estimate {
	m := s.estimate()
	for _, p := range s.pairs {
		v.Base, v.Tried = append(v.Base, p.A.ID), append(v.Tried, p.B.ID)
	}
	v.P, v.Work = m.P(), compareWork(s.pairs)
	if m.DF > 0 { // otherwise the interval is infinite, for which JSON has no number
		half := m.Upper(j.Looks.Level(s.n())) - m.Mean
		v.Effect = iikanji.Interval{Mid: m.Mean, Lo: m.Mean - half, Hi: m.Mean + half, Level: level}
		j.Effects.fill(v, m.Mean, m.SE, m.DF)
	}
	return m
}

// further is how many pairs are missing until the next look; 0 after the last.
func (j Judge) further(n int) int { return max(0, j.Looks.Next(n)-n) }

// look decides by the numbers of n pairs.
func (j Judge) look(c Case, s sifted, m estimate, v *iikanji.Verdict) (iikanji.Call, iikanji.Reason) {
	n := s.n()
	if !j.Looks.Is(n) || m.DF <= 0 {
		return iikanji.CallUnknown, iikanji.TooFew
	}
	unstable := j.unstable(s)
	beyond := unstable && n >= beyondPairs && math.Abs(m.Mean-v.Worth) >= beyondSpread*s.spread()
	if unstable {
		v.Warnings = append(v.Warnings, sayUnstable(s, j.Prior))
	}
	unstable = unstable && !beyond
	last := n >= j.Looks.Last()
	switch {
	case unstable && n < stablePairs && !last:
		return iikanji.CallUnknown, iikanji.TooFew
	case m.proves(j.Looks.Level(n)) && voidChance(c) <= voidDoubt:
		v.Warnings = append(v.Warnings, "its own runs do not count more often than those without it: not kept yet")
		if last {
			return iikanji.Inconclusive, iikanji.Undecided
		}
		return iikanji.CallUnknown, iikanji.TooFew
	case m.proves(j.Looks.Level(n)) && m.Mean >= v.Worth && (!unstable || stats.SignFlip(s.diffs) <= signFlipLevel):
		return iikanji.Keep, iikanji.Proven
	case c.Cheaper && m.cheapens(j, v):
		return iikanji.Keep, iikanji.Cheaper
	case m.Upper(j.Looks.GiveUp(n)) < v.Worth:
		return iikanji.Revert, iikanji.NoGain
	case !last:
		return iikanji.CallUnknown, iikanji.TooFew
	case c.Simplifies && m.Lower(j.Looks.Level(n)) > -v.Worth && lessWork(compareWork(s.pairs)) >= 0:
		return iikanji.Keep, iikanji.Neutral
	}
	return iikanji.Inconclusive, iikanji.Undecided
}

// Limits on trusting numbers whose runs fall into two modes.
const (
	spreadLimit   = 3    // × s0 of a well known noise, of the runs of one arm
	stablePairs   = 5    // least number of pairs before the numbers decide
	signFlipLevel = 0.05 // of the exact test that must agree
	// Two modes do not explain an effect of beyondSpread times the spread of the runs of one
	// arm in beyondPairs pairs: the modes would have to be that far apart, with all runs of
	// one arm in one mode and all runs of the other arm in the other mode.
	beyondSpread = 3
	beyondPairs  = 3
)

// unstable reports whether the runs of one arm differ by more than the known
// noise explains, as they do if there are two modes.
func (j Judge) unstable(s sifted) bool {
	if j.Prior.DF <= 0 {
		return false
	}
	return s.spread() > stats.StudentQuantile(stats.NormalCDF(spreadLimit), j.Prior.DF)*j.Prior.SD()
}

// sifted is the usable pairs of a case, with the remarks from selecting them.
type sifted struct {
	pairs  []Pair
	a, b   []float64      // ln(score), adjusted, of each usable pair
	diffs  []float64      // b − a
	prior  stats.Prior    // of the noise of diffs
	near   []float64      // ln(score), adjusted, of nearby
	nearby []*iikanji.Run // the incumbent's runs right before the pairs
	// slopeError is the standard error that the adjustment adds to the effect.
	slopeError float64
	old        int // how many of the pairs were run before the latest calibration
	ranA       int // runs of finished pairs
	ranB       int
	failedA    int
	failedB    int
	broke      *iikanji.Run // the first B that failed
	sick       string
	warnings   []string
}

func (s sifted) n() int { return len(s.diffs) }

func (s sifted) withoutLast() sifted {
	n := s.n() - 1
	s.pairs, s.a, s.b, s.diffs, s.old = s.pairs[:n], s.a[:n], s.b[:n], s.diffs[:n], min(s.old, n)
	return s
}

// spread is the widest range of the runs of one arm. Runs before and after a new
// calibration are separate: the environment is known to have shifted there.
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

// sift selects the pairs that are finished and not void, and counts failures.
func sift(c Case) sifted {
	s := sifted{
		pairs: make([]Pair, 0, len(c.Pairs)), diffs: make([]float64, 0, len(c.Pairs)),
		a: make([]float64, 0, len(c.Pairs)), b: make([]float64, 0, len(c.Pairs)),
	}
	since := c.calibrated()
	s.nearby = nearby(c)
	s.near = LogScores(s.nearby)
	for i, p := range c.Pairs {
		if p.Sick != "" && s.sick == "" {
			s.sick = p.Sick
		}
		if p.Void != "" {
			s.warn(i, "void: "+p.Void)
			continue
		}
		if p.A == nil || p.B == nil {
			continue // still running
		}
		s.ranA, s.ranB = s.ranA+1, s.ranB+1
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
		ya, yb := math.Log(p.A.Score), math.Log(p.B.Score)
		if s.pairs = append(s.pairs, p); p.A.ID <= since {
			s.old = len(s.pairs)
		}
		s.a, s.b, s.diffs = append(s.a, ya), append(s.b, yb), append(s.diffs, yb-ya)
	}
	if why := sayVoids(c.Pairs); why != "" {
		s.warnings = append(s.warnings, why)
	}
	return s
}

// nearby are the incumbent's latest runs before the trial. A run that
// failed, or that is also the first of a pair, is left out.
func nearby(c Case) []*iikanji.Run {
	runs := slices.DeleteFunc(slices.Clone(c.Before), func(r *iikanji.Run) bool {
		return !r.Clean() || r.Score <= 0 || slices.ContainsFunc(c.Pairs, func(p Pair) bool { return p.A == r })
	})
	return runs[max(0, len(runs)-nearRuns):]
}
