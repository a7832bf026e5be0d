package search

import (
	"math"
	"time"
)

// TimeLeft is the time left of the whole budget.
func (s *State) TimeLeft() time.Duration {
	if !s.bounded() {
		return math.MaxInt64
	}
	return s.Options.Time - s.Spent
}

// TailLeft is the time that is left before the last comparison has to begin.
func (s *State) TailLeft() time.Duration {
	if !s.bounded() {
		return math.MaxInt64
	}
	return s.TimeLeft() - s.endTime()
}

// TimeFor is the time left for searching.
func (s *State) TimeFor() time.Duration { return s.TailLeft() - s.tailTime() }

// runsLeft is the time for the search, in runs.
func (s *State) runsLeft() float64 {
	if !s.bounded() || s.Cost <= 0 {
		return math.Inf(1)
	}
	return float64(s.TimeFor()) / float64(s.Cost)
}

// pairCost is the time of the two runs of a pair.
func (s *State) pairCost() time.Duration { return 2 * s.Cost }

// leastOverhead is the least time that a run takes beyond its load.
func (s *State) leastOverhead() time.Duration { return s.times(LeastOverhead, time.Second) }

// RunCost is the time of a run as it was measured, or an estimate before the first run.
func (s *State) RunCost() time.Duration {
	if s.Cost > 0 {
		return s.Cost
	}
	return s.Options.Short + s.leastOverhead()
}

// Took notes the time of the latest run.
func (s *State) Took(run time.Duration) {
	s.Cost = max(s.Cost*time.Duration(s.count(CostKept))/10, run)
}

// NoiseValid is how long a calibration of the noise is valid.
func (s *State) NoiseValid() time.Duration { return s.times(NoiseValid, time.Hour) }

// Overhead is the time that a run takes beyond its load.
func (s *State) Overhead() time.Duration { return max(s.leastOverhead(), s.Cost-s.Options.Short) }

// runTime is the time that a run with a load of this length takes, with its reset. A command whose
// runs have one length may be shorter than iikanji.toml says: what a run took counts.
func (s *State) runTime(load time.Duration) time.Duration { return s.lasts(load) + s.Overhead() }

// lasts is how long a load of this length takes, by the run that took longest where all have
// one length.
func (s *State) lasts(load time.Duration) time.Duration {
	if s.oneLength() && s.Cost > 0 {
		return min(load, s.Cost)
	}
	return load
}

// oneLength reports whether all runs of the search have the length that the command gives them.
func (s *State) oneLength() bool { return s.Options.Full == s.Options.Short }

// Scarce reports whether the time of the search holds only few runs, as with the fixed
// load of a minute of an outside benchmarker. Such a search tries all promising
// candidates together (sweep) and accepts a gain that one run shows beyond doubt.
func (s *State) Scarce() bool {
	return s.bounded() && s.Options.Time < s.times(ScarceRuns, s.RunCost())
}

// scarceTime is the time of a scarce search with one trial of one run: the calibration,
// an observed run, the trial, the rehearsal and the last comparison. A run takes cost.
func (s *State) scarceTime(calibration int, cost time.Duration) time.Duration {
	observed := cost + max(0, s.Options.Watch-s.Options.Short)
	return time.Duration(calibration+1+2*s.Options.Pairs)*cost + observed + s.times(RehearsalShare, cost)
}

// calibrationRuns is how many runs measure the noise before the first trial: four A/A
// pairs, or three or two where four would take more than a quarter of the time. In a scarce
// search they are one or two runs: its designs and the last comparison measure the noise, too. The
// judge knows a noise less well from fewer runs, so its bounds are wider, and each trial adds
// what it measured.
func (s *State) calibrationRuns() int {
	least := s.count(CalibrationPairs)
	most := 2 * least
	if !s.bounded() {
		return most
	}
	switch {
	case s.Scarce() && s.confirmsBySame():
		return s.count(FewestCalibration)
	case s.Scarce():
		return s.count(ScarceCalibration)
	}
	pairs := int(s.times(CalibrationShare, s.Options.Time) / (2 * s.RunCost()))
	return max(least, min(most, 2*pairs))
}

// confirmsBySame reports whether a search is so short that the runs of its last comparison
// confirm all that it keeps, and may do so because all of its runs have one length.
func (s *State) confirmsBySame() bool {
	return s.oneLength() && s.Options.Time < s.times(VeryScarce, s.RunCost())
}

// fullLoad is how long a full run may be so that the last comparison has at
// most a fifth of the time.
func (s *State) fullLoad() time.Duration {
	if !s.bounded() {
		return s.Options.Full
	}
	return s.FullIn(s.times(CompareShare, s.Options.Time))
}

// FullIn is the length of full runs with which the last comparison takes at most d.
func (s *State) FullIn(d time.Duration) time.Duration {
	each := d/time.Duration(2*s.Options.Pairs) - s.Overhead()
	return max(s.Options.Short, min(s.Options.Full, each.Truncate(time.Second)))
}

// FinalLoad is the load of a run of the last comparison, which begins now: all of the time
// left, except for a run that must be repeated.
func (s *State) FinalLoad() time.Duration {
	if !s.bounded() {
		return s.fullLoad()
	}
	return s.FullIn(s.TimeLeft() - s.Cost - s.turnsTime())
}

// endTime is what the rehearsal and the last comparison will take.
func (s *State) endTime() time.Duration {
	if s.Ledger.KeptNothing() { // the shortest comparison, so that something may be kept at all
		pairs := min(s.count(FewestPairs), s.Options.Pairs)
		return time.Duration(2*pairs)*s.runTime(s.Options.Short) + s.times(RehearsalShare, s.RunCost()) + s.turnsTime()
	}
	load := max(s.fullLoad(), s.EndLoad)
	return time.Duration(2*s.Options.Pairs)*s.runTime(load) + s.spare() + s.turnsTime()
}

// spare is the time that the end phase reserves beyond the runs of the last comparison:
// for the rehearsal and a repeated run. A scarce search repeats no run.
func (s *State) spare() time.Duration {
	if s.Scarce() {
		return s.times(RehearsalShare, s.RunCost())
	}
	return s.times(SpareRuns, s.RunCost())
}

// turnsTime is the time for the turns between the untouched and the final site in
// the last comparison: each second run of a pair needs one, and half of the first
// runs.
func (s *State) turnsTime() time.Duration {
	return time.Duration(s.Options.Pairs+s.Options.Pairs/2) * s.Switching
}

// tailTime is the time that is reserved for the debts: what is not proven alone, or weakly.
// Changes of logs and other checks get what the search leaves, see logsFirst. So do full runs
// without each kept change: such a run takes as long as five short ones, and harm that only it
// shows is rare. A search that goes on after its debts were paid leaves the time for these runs.
// Less is reserved while the search may gain much by going on.
func (s *State) tailTime() time.Duration {
	if !s.bounded() || s.Ending || s.Scarce() && !s.workDecides() {
		return 0
	}
	debts := s.debtTime()
	if debts > 0 && !s.Scarce() && s.debtsWait() {
		return time.Duration(s.constant(DebtWaits) * float64(debts))
	}
	if s.Resumed == 0 || s.Scarce() {
		return debts
	}
	if long := s.longTime(); long <= s.longLeft()-debts {
		debts += long
	}
	return debts
}

// debtsWait reports whether the proof of each kept change alone waits: a considerable gain may have
// moved the limit, and the site was not observed since, or the candidates that had no trial promise
// a solid one.
func (s *State) debtsWait() bool {
	if s.Stale {
		return true
	}
	left := 0.0
	for _, c := range s.waiting(false) {
		left += c.promise()
	}
	return left >= s.constant(Solid)
}

// debtTime is the time that is reserved for the debts alone: in a scarce search for one round, if
// the work of a request then tells what does nothing.
func (s *State) debtTime() time.Duration {
	need := s.weakTime()
	if s.Scarce() {
		need = need / time.Duration(s.count(DebtRounds))
	}
	return min(s.times(DebtShare, s.Options.Time), need)
}

// weakTime is the time to prove alone what is not proven, or weakly.
func (s *State) weakTime() time.Duration { return time.Duration(s.debtRuns()) * s.Cost }

// leastTrial is the least number of runs in whose time a trial can decide.
func (s *State) leastTrial() float64 {
	if s.Scarce() {
		return s.constant(LeastTrialScarce)
	}
	return s.constant(LeastTrial)
}

// toConfirm is how many runs confirm what the next design of a scarce search lets in: none while
// nothing was kept, since the last comparison does then.
func (s *State) toConfirm() float64 {
	if s.Ledger.KeptNothing() {
		return 0
	}
	return s.constant(ConfirmRuns)
}

// leastObserved is how many runs before the end of the search the site is observed
// again: those of the observation, and those of the trial that follows from it.
func (s *State) leastObserved() float64 { return s.constant(ObservationRuns) + s.leastTrial() }
