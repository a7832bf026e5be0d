package queue

import (
	"cmp"
	"slices"
	"time"
)

// A Lane is a class of jobs. A higher lane goes before a lower one.
type Lane string

const (
	Final    Lane = "final"
	Live     Lane = "live"
	Staff    Lane = "staff"
	Practice Lane = "practice"
	Ghost    Lane = "ghost"
)

// Lanes are all lanes, the highest first.
var Lanes = []Lane{Final, Live, Staff, Practice, Ghost}

func (l Lane) rank() int { return slices.Index(Lanes, l) }

const (
	// LowerEvery: of this many starts one is of a lower lane that waits, so that a full
	// live round does not stop practice for hours.
	LowerEvery = 20
	// LongWait is the wait after which a job goes first in its lane.
	LongWait = 10 * time.Minute
	// LongMedians: so does a job that waited this many median waits.
	LongMedians = 3
)

// A Job is one waiting job.
type Job struct {
	ID       string
	Team     string
	Lane     Lane
	Enqueued time.Time
	// Number is the place in the order of enqueueing, which a job keeps when it is queued
	// again. It decides among equal times.
	Number int64
	// Again: the job ran already and lost its worker. It goes first in its lane.
	Again bool
}

// A State is what the order of a queue depends on.
type State struct {
	Waiting []Job
	Used    *Used
	FIFO    bool // in place of the fair order
	Now     time.Time
	// Median is the median wait of recent starts; 0 if unknown.
	Median time.Duration
	// Upper is how many starts in a row were of a higher lane while a lower one waited.
	Upper int
	// HighOnly: lower lanes wait: it is the last half hour of a live round.
	HighOnly bool
}

// A Pick is a job at its place, with the reason.
type Pick struct {
	Job
	Why Why
}

// A Why is the reason of a place.
type Why string

const (
	WhyAgain Why = "again" // its worker was lost
	WhyLong  Why = "long"  // it waited long
	WhyLeast Why = "least" // the team used the least worker time
	WhyFirst Why = "first" // it was enqueued first
	WhyLower Why = "lower" // the share of lower lanes
)

// longWait is the wait from which a job goes first.
func (s *State) longWait() time.Duration {
	if m := LongMedians * s.Median; m > 0 && m > LongWait {
		return m
	}
	return LongWait
}

// Order is the waiting jobs in the order of their starts. It does not change s.
func (s *State) Order() []Pick {
	if len(s.Waiting) == 0 {
		return nil
	}
	long := s.longWait()
	picks := make([]Pick, len(s.Waiting))
	used := make(map[string]float64, len(s.Waiting))
	for i, j := range s.Waiting {
		picks[i] = Pick{j, WhyFirst}
		switch {
		case j.Again:
			picks[i].Why = WhyAgain
		case s.FIFO, j.Lane == Final: // the plan of the final judging has its order
		case s.Now.Sub(j.Enqueued) >= long:
			picks[i].Why = WhyLong
		default:
			picks[i].Why = WhyLeast
			used[j.Team] = s.Used.At(j.Team, s.Now)
		}
	}
	class := map[Why]int{WhyAgain: 0, WhyLong: 1, WhyLeast: 2, WhyFirst: 2}
	slices.SortFunc(picks, func(a, b Pick) int {
		if c := cmp.Or(cmp.Compare(a.Lane.rank(), b.Lane.rank()), cmp.Compare(class[a.Why], class[b.Why])); c != 0 {
			return c
		}
		if a.Why == WhyLeast {
			if c := cmp.Compare(used[a.Team], used[b.Team]); c != 0 {
				return c
			}
		}
		return cmp.Or(a.Enqueued.Compare(b.Enqueued), cmp.Compare(a.Number, b.Number))
	})
	return s.share(picks)
}

// share moves one job in LowerEvery of a lower lane forward.
func (s *State) share(picks []Pick) []Pick {
	top := picks[0].Lane
	first := slices.IndexFunc(picks, func(p Pick) bool { return p.Lane != top })
	if s.HighOnly || first < 0 {
		return picks
	}
	out := make([]Pick, 0, len(picks))
	upper, lower := picks[:first], picks[first:]
	for n := s.Upper; len(upper) > 0; {
		if n >= LowerEvery-1 && len(lower) > 0 {
			lower[0].Why = WhyLower
			out, lower, n = append(out, lower[0]), lower[1:], 0
			continue
		}
		out, upper, n = append(out, upper[0]), upper[1:], n+1
	}
	return append(out, lower...)
}

// Started is the new Upper after the start of a job of a lane.
func (s *State) Started(p Pick) int {
	if p.Why == WhyLower {
		return 0
	}
	for _, j := range s.Waiting {
		if j.Lane.rank() > p.Lane.rank() {
			return s.Upper + 1
		}
	}
	return 0
}
