package summary

import (
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A Pending is the trial that a search makes now, as far as its runs are saved. The
// search itself decides which of them count.
type Pending struct {
	// With are the changes of the second side that the first lacks.
	With  []iikanji.ChangeID
	Pairs []PendingPair
	Open  *history.RunEntry // the first run of a pair whose second is not saved yet
}

// A PendingPair is one pair: without and with the changes.
type PendingPair struct {
	A, B history.RunEntry
	// Ratio of the scores, B to A; 0 if one of them is not valid.
	Ratio float64
}

// PendingOf finds the pairs of the latest trial in the journal: the latest runs of
// two states, one after another, since the last change was planned. It is nil if
// the latest runs are of one state.
func PendingOf(h *history.History) (*Pending, error) {
	list, err := h.RunList()
	if err != nil {
		return nil, err
	}
	events := h.Events()
	states := statesOf(events)
	planned := int64(0)
	for _, e := range events {
		if e.What == history.ChangeMade {
			planned = e.Seq
		}
	}
	var runs []history.RunEntry
	var sides [][]iikanji.ChangeID // of the two states
	for _, r := range slices.Backward(list) {
		state, ok := states[r.ID]
		if !ok || state.seq < planned || observe.Observed(h, r.ID) {
			break
		}
		if !r.Saved {
			continue // it runs now, or was interrupted
		}
		if !slices.ContainsFunc(sides, func(s []iikanji.ChangeID) bool { return slices.Equal(s, state.applied) }) {
			if len(sides) == 2 {
				break
			}
			sides = append(sides, state.applied)
		}
		runs = append(runs, r)
	}
	slices.Reverse(runs)
	if len(sides) == 0 || len(sides) == 1 && len(sides[0]) == 0 {
		return nil, nil
	}
	fewer, more := sides[0], sides[0]
	if len(sides) == 2 {
		if more = sides[1]; len(fewer) > len(more) {
			fewer, more = more, fewer
		}
	}
	p := &Pending{With: without(more, fewer)}
	for i := 0; i < len(runs); i++ {
		if i+1 == len(runs) || slices.Equal(states[runs[i].ID].applied, states[runs[i+1].ID].applied) {
			if i+1 == len(runs) {
				p.Open = &runs[i]
			}
			continue
		}
		a, b := runs[i], runs[i+1]
		if slices.Equal(states[a.ID].applied, more) {
			a, b = b, a
		}
		pair := PendingPair{A: a, B: b}
		if a.Outcome == iikanji.Passed && b.Outcome == iikanji.Passed && a.Score > 0 {
			pair.Ratio = b.Score / a.Score
		}
		p.Pairs = append(p.Pairs, pair)
		i++
	}
	return p, nil
}

// Percent formats the ratio of a pair.
func (p PendingPair) Percent() string {
	if p.Ratio <= 0 || math.IsInf(p.Ratio, 0) {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100*(p.Ratio-1))
}
