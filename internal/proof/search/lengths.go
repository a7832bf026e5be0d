package search

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/proof/stats"
)

// The length of a run is worth what it teaches per second: the noise falls with the length, and
// the time beyond the load is paid once. Where the runs of a search differ so much that only large
// gains could be proven, some longer ones are made, and the better length is the search's. Where
// they do not, a longer run could teach more by the time beyond the load only.

// A Longer is the second length of runs, with what its runs have shown.
type Longer struct {
	Load time.Duration `json:"load_ns"`
	Y    []float64     `json:"y,omitempty"`       // ln(score) of the runs that count
	Runs int           `json:"runs,omitempty"`    // void and failed ones included
	Cost time.Duration `json:"cost_ns,omitempty"` // of a run, with its reset
	Over bool          `json:"over,omitempty"`    // the length is settled
}

// longer is the next step of the comparison of two lengths, once the noise of the short runs is
// known to be large.
func (s *State) longer() (Step, bool) {
	if !s.Eager || !s.Known || !s.bounded() || s.Scarce() || s.Ledger.Open != nil {
		return Step{}, false
	}
	if s.Longer == nil {
		o := s.Options
		load := min(o.Full, s.times(LongerLoad, o.Short))
		if s.sd() < s.constant(MuchNoise) || load < 2*o.Short || s.TimeFor() < s.times(ScarceRuns, load+s.Overhead()) {
			return Step{}, false
		}
		return Step{Do: RunLonger, Why: fmt.Sprintf("runs of %s differ much: do longer ones differ less?", Brief(o.Short)), Load: load, Plan: s.Plan}, true
	}
	l := s.Longer
	switch {
	case l.Over:
		return Step{}, false
	case len(l.Y) >= s.count(LongerRuns) || l.Runs >= 2*s.count(LongerRuns):
		return Step{Do: SettleLength, Why: s.bought(), Load: s.settled(), Plan: s.Plan}, true
	}
	return Step{Do: RunLonger, Load: l.Load, Plan: s.Plan}, true
}

// noiseOf is the variance of a pair of the longer runs. Four runs tell it poorly: as two more counts
// what it would be if the noise of each second were its own.
func (s *State) noiseOf(l *Longer) float64 {
	df, as := float64(len(l.Y)-1), s.constant(UsualFreedom)
	short := s.Judge.Prior.Var * s.Options.Short.Seconds() / l.Load.Seconds()
	return (2*stats.SumSquares(l.Y) + as*short) / (df + as)
}

// settled is the length of the runs. The longer one must teach twice as much per second: the variance
// of a pair times its time is less than half, which so few runs can tell.
func (s *State) settled() time.Duration {
	l := s.Longer
	if len(l.Y) < s.count(LongerRuns) || 2*s.noiseOf(l)*l.Cost.Seconds() >= s.Judge.Prior.Var*s.Cost.Seconds() {
		return s.Options.Short
	}
	return l.Load
}

// bought says what the longer runs brought.
func (s *State) bought() string {
	l := s.Longer
	if len(l.Y) < s.count(LongerRuns) {
		return "too few of the longer runs count"
	}
	long := stats.Prior{Var: s.noiseOf(l)}
	times := s.Judge.Prior.Var * s.Cost.Seconds() / (long.Var * l.Cost.Seconds())
	return fmt.Sprintf("noise of a pair %.1f %% in runs of %s and %.1f %% in runs of %s: a second of the longer ones teaches %.1f times as much",
		stats.Percent(s.sd()), Brief(s.Options.Short), stats.Percent(long.SD()), Brief(l.Load), times)
}
