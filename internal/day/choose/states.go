package choose

import (
	"slices"

	"github.com/iikanji/iikanji"
)

// A State is all that a run depends on, as far as the history records it.
type State struct {
	Key  string `json:"key"`  // equal for equal states
	Says string `json:"says"` // for people, as in "run 27 capacity 60"
	// Unproven are the edits in force whose effect no interleaved runs have proven.
	Unproven int `json:"unproven"`
	// Rehearsed: its services came back after a restart in the worst order.
	Rehearsed bool `json:"rehearsed"`
	// Boot are the known reasons why it would not come back after a reboot.
	Boot int `json:"boot"`
}

// A Run is one run of a state that was meant to count: neither void nor cut off.
type Run struct {
	ID     iikanji.RunID
	State  State
	Passed bool
	Score  float64  // of a run that passed
	Faults []string // what made it fail, one word for one kind of fault
}

// A group is the runs of one state.
type group struct {
	State
	runs []Run
}

// groupsOf collects the runs by state, in the order of the states' first runs. The
// latest run of a state has its present properties.
func groupsOf(runs []Run) (groups []*group) {
	for _, r := range runs {
		i := slices.IndexFunc(groups, func(g *group) bool { return g.Key == r.State.Key })
		if i < 0 {
			i, groups = len(groups), append(groups, &group{})
		}
		groups[i].State = r.State
		groups[i].runs = append(groups[i].runs, r)
	}
	return groups
}

// scores are those of the runs that passed.
func (g *group) scores() (scores []float64) {
	for _, r := range g.runs {
		if r.Passed {
			scores = append(scores, r.Score)
		}
	}
	return scores
}

// neighbours are the states that were run right before or right after a state.
func neighbours(runs []Run, key string) (keys []string) {
	add := func(k string) {
		if k != key && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for i, r := range runs {
		if r.State.Key != key {
			continue
		}
		if i > 0 {
			add(runs[i-1].State.Key)
		}
		if i+1 < len(runs) {
			add(runs[i+1].State.Key)
		}
	}
	return keys
}

// failures are the weighted failures of a state: those of its own runs, and half of
// each failed run of a neighbouring state that failed for a reason for which this state
// failed, too.
func failures(runs []Run, g *group) (own int, neighbouring float64) {
	var faults []string
	for _, r := range g.runs {
		if !r.Passed {
			own++
			faults = append(faults, r.Faults...)
		}
	}
	near := neighbours(runs, g.Key)
	for _, r := range runs {
		same := func(f string) bool { return slices.Contains(faults, f) }
		if !r.Passed && slices.Contains(near, r.State.Key) && slices.ContainsFunc(r.Faults, same) {
			neighbouring += neighbourWeight
		}
	}
	return own, neighbouring
}

// neighbourWeight is the weight of a failed run of a neighbouring state: most of that
// state is the same, but its edits may be the reason why it failed.
const neighbourWeight = 0.5
