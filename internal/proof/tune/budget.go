package tune

import (
	"math"
	"time"
)

// A budget is the time of a search and how it is divided.
type budget struct {
	options TuneOptions
	now     func() time.Time
	began   time.Time
	cost    time.Duration // of a run of the short load, with its reset
	nothing func() bool   // reports that no change is in force; may be nil
	ending  bool          // the search is over; the rest is for the end phase
	endLoad time.Duration // least load of full runs while ending
	// switching is the time to bring the site from its untouched state to its final
	// one, where that is not short: see Climb.
	switching time.Duration
	reserve   func() int // number of changes in force whose proof must be repeated
}

// timeLeft is the time left of the whole budget.
func (b *budget) timeLeft() time.Duration {
	if b.options.Time <= 0 {
		return math.MaxInt64
	}
	return b.options.Time - b.now().Sub(b.began)
}

// timeFor is the time left for searching.
func (b *budget) timeFor() time.Duration { return b.tailLeft() - b.tailTime() }

// leastOverhead is the least time that a run takes beyond its load.
const leastOverhead = 2 * time.Second

// runCost is the time of a run as it was measured, or an estimate before the first run.
func (b *budget) runCost() time.Duration {
	if b.cost > 0 {
		return b.cost
	}
	return b.options.Short + leastOverhead
}

// calibrationRuns is how many runs measure the noise before the first trial: four A/A
// pairs, but three or two where four would take more than a quarter of the time, as with the fixed
// load of 30 s and more of an outside benchmarker, and two in a scarce search, or three
// runs if there is time for a trial after them, and none after four. The judge knows a noise less well
// from fewer runs, so its bounds are wider, and each trial adds what it measured.
func (b *budget) calibrationRuns() int {
	const most, least = 2 * calibrationPairs, calibrationPairs
	if b.options.Time <= 0 {
		return most
	}
	cost := b.runCost()
	if b.options.Time < scarceRuns*cost {
		if t := b.options.Time; t < b.options.scarceTime(least, cost) && t >= b.options.scarceTime(fewestCalibration, cost) {
			return fewestCalibration
		}
		return least
	}
	pairs := int(b.options.Time / 4 / (2 * cost))
	return max(least, min(most, 2*pairs))
}

// fullLoad is how long a full run may be so that the last comparison has at
// most 20 % of the time.
func (b *budget) fullLoad() time.Duration {
	if b.options.Time <= 0 {
		return b.options.Full
	}
	return b.fullIn(b.options.Time * 20 / 100)
}

// fullIn is the length of full runs with which the last comparison takes at most d.
func (b *budget) fullIn(d time.Duration) time.Duration {
	each := d/time.Duration(2*b.options.Pairs) - b.overhead()
	return max(b.options.Short, min(b.options.Full, each.Truncate(time.Second)))
}

// overhead is the time that a run takes beyond its load.
func (b *budget) overhead() time.Duration { return max(leastOverhead, b.cost-b.options.Short) }

// beginEnd begins the end phase. Of the time that the search did not need, a twelfth of
// the whole is for changes of logs and for checks, also for weak proofs that need more
// than two pairs. The rest makes the runs of the last comparison longer, up to their full
// length: many sites slow down as their data grow, which a short run does not show.
func (b *budget) beginEnd() {
	tail := b.options.Time/12 + b.tailTime()
	b.ending = true
	if b.options.Time > 0 {
		b.endLoad = b.fullIn(b.timeLeft() - tail - 3*b.cost)
	}
}

// endTime is what the rehearsal and the last comparison will take.
func (b *budget) endTime() time.Duration {
	load := max(b.fullLoad(), b.endLoad)
	if b.nothing != nil && b.nothing() { // the shortest comparison, so that something may be kept at all
		load = b.options.Short
	}
	return time.Duration(2*b.options.Pairs)*(load+b.overhead()) + b.spare() + b.turnsTime()
}

// turnsTime is the time for the turns between the untouched and the final site in
// the last comparison: each second run of a pair needs one, and half of the first
// runs.
func (b *budget) turnsTime() time.Duration {
	return time.Duration(b.options.Pairs+b.options.Pairs/2) * b.switching
}

// tailTime is the time that is reserved for repeating weak proofs: each takes two pairs
// at least. Changes of logs and other checks get what the search leaves, see logsFirst.
func (b *budget) tailTime() time.Duration {
	if b.options.Time <= 0 || b.ending || b.scarce() {
		return 0
	}
	return b.weakTime()
}

// weakTime is the time to repeat each weak proof in two pairs.
func (b *budget) weakTime() time.Duration { return time.Duration(4*b.reserve()) * b.cost }

// LeastTime is the least time for a search: the calibration, one observed run,
// one trial of two pairs and the last comparison, with two seconds for each run
// beyond its load. Where all runs have one length, it is that of a scarce search.
func (o TuneOptions) LeastTime() time.Duration {
	cost := o.Short + leastOverhead
	if o.Full == o.Short {
		return o.scarceTime(fewestCalibration, cost)
	}
	runs := 2*calibrationPairs + 4 + 2*o.Pairs + 3
	return time.Duration(runs)*cost + o.Watch + leastOverhead
}

// scarceTime is the time of a scarce search with one trial of one run: the calibration,
// an observed run, the trial, the rehearsal and the last comparison. A run takes cost.
func (o TuneOptions) scarceTime(calibration int, cost time.Duration) time.Duration {
	observed := cost + max(0, o.Watch-o.Short)
	return time.Duration(calibration+1+2*o.Pairs)*cost + observed + cost/rehearsalShare
}

// tailLeft is the time that is left before the last comparison has to begin.
func (b *budget) tailLeft() time.Duration {
	if b.options.Time <= 0 {
		return math.MaxInt64
	}
	return b.timeLeft() - b.endTime()
}
