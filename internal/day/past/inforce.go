package past

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// A set is the changes in force when a run began, by number: whether interleaved runs have
// proven each.
type set map[iikanji.ChangeID]bool

// changesInForce reads the changes in force at the begin of each run, and, under run 0,
// those at the end of the events. A change that is being applied or reverted counts as in
// force: its state is not known.
func changesInForce(events []history.Event) map[iikanji.RunID]set {
	out, now := map[iikanji.RunID]set{}, set{}
	for _, e := range events {
		switch e.What {
		case history.Staged:
			if e.Stage == iikanji.Reverted {
				delete(now, e.Change)
			} else if _, in := now[e.Change]; !in {
				now[e.Change] = false
			}
		case history.Judged:
			if _, in := now[e.Change]; in && e.Verdict != nil {
				now[e.Change] = e.Verdict.Call == iikanji.Keep
			}
		case history.RunBegun:
			out[e.Run] = maps.Clone(now)
		}
	}
	out[0] = now
	return out
}

// Kinds of changes that are no part of what a state is: those that an observation makes and
// undoes (livesite.SensorKind), and those that bring a former state back (work.Kind).
const (
	sensorKind = "sensor"
	workKind   = "work"
)

// withoutTools leaves out the changes that only observe, and returns the runs with one of them
// in force: what is logged for an observation costs time. Where states are taken, it also leaves
// out the changes that bring a former state back: a state tells what they have left.
func withoutTools(h *history.History, sets map[iikanji.RunID]set, states bool) (observed map[iikanji.RunID]bool, err error) {
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	observed = map[iikanji.RunID]bool{}
	for _, c := range all {
		if c.Kind != sensorKind && !(states && c.Kind == workKind) {
			continue
		}
		for run, s := range sets {
			if _, in := s[c.ID]; in && c.Kind == sensorKind {
				observed[run] = true
			}
			delete(s, c.ID)
		}
	}
	return observed, nil
}

// refused are the changes that were undone and that no verdict has ever kept.
func refused(events []history.Event) set {
	undone, kept := set{}, set{}
	for _, e := range events {
		switch {
		case e.What == history.Staged:
			undone[e.Change] = e.Stage == iikanji.Reverted
			if e.Stage == iikanji.Kept {
				kept[e.Change] = true
			}
		case e.What == history.Judged && e.Verdict != nil && e.Verdict.Call == iikanji.Keep:
			kept[e.Change] = true
		}
	}
	maps.DeleteFunc(undone, func(id iikanji.ChangeID, is bool) bool { return !is || kept[id] })
	return undone
}

// has reports whether one of the changes is in another set.
func (s set) has(other set) bool {
	for id := range s {
		if _, in := other[id]; in {
			return true
		}
	}
	return false
}

// key is the numbers of the changes, in order.
func (s set) key() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(s)) {
		b.WriteString(strconv.Itoa(int(id)))
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// unproven is the number of changes without a proof.
func (s set) unproven() (n int) {
	for _, proven := range s {
		if !proven {
			n++
		}
	}
	return n
}

// says names the latest change, and the number of the others.
func (s set) says(h *history.History) string {
	if len(s) == 0 {
		return "without changes"
	}
	ids := slices.Sorted(maps.Keys(s))
	latest, err := h.LoadChange(ids[len(ids)-1])
	if err != nil {
		return fmt.Sprintf("with %d changes", len(ids))
	}
	if len(ids) == 1 {
		return latest.Says
	}
	return fmt.Sprintf("%s, and %d more", latest.Says, len(ids)-1)
}
