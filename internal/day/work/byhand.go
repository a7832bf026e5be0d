package work

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// ByHandOf is what a run depended on besides the changes of iikanji: a key that is equal for
// equal states, the number of edits since the first state, and these in words. own is
// false for a run of a search, which tries changes on top of the state that it begins with.
//
// An edit that was not loaded had no effect in its run: its key differs from that of the same
// files after a restart.
func (d *Day) ByHandOf(run *iikanji.Run) (key string, edits int, says string, own bool) {
	runs, err := d.Store.Runs()
	if err != nil {
		return "", 0, "", run.State == ""
	}
	now, own := d.takenFor(runs, run)
	if now == nil {
		return "", 0, "", own
	}
	key = string(now.Fingerprint)
	switch {
	case !own:
		key = fmt.Sprintf("%s of a search from %s", run.State, key)
	case run.State == "":
		key = "not taken, after " + key
	}
	first, err := d.Store.LoadState(runs[0])
	if err != nil || first.Fingerprint == now.Fingerprint {
		return key, 0, "", own
	}
	all := difference.Between(difference.Input{Base: first, Now: now, Text: d.Store.Get, Keyed: d.Store.Keyed})
	if len(all) == 0 {
		return key, 0, "", own
	}
	return key + notLoaded(all), len(all), all[len(all)-1].Place, own
}

// notLoaded names the edits that had no effect, in their order.
func notLoaded(all []difference.Edit) string {
	var b strings.Builder
	for _, e := range all {
		if e.Warning == difference.NotLoaded {
			fmt.Fprintf(&b, " without %s:%s", e.Host, e.Place)
		}
	}
	return b.String()
}

// takenFor is the state that a run began with, nil before the first one. own: the run was of
// this state. A run of a search is not: the latest state before it is that at the begin of the
// search. Nor has a run whose state could not be taken more than the latest one before.
func (d *Day) takenFor(runs []iikanji.RunID, run *iikanji.Run) (taken *state.State, own bool) {
	for _, id := range slices.Backward(runs) {
		if id > run.ID {
			continue
		}
		s, err := d.Store.LoadState(id)
		switch {
		case err != nil:
			continue
		case run.State != "" && s.Fingerprint == run.State: // of bench, or an arm of a proof
			return s, true
		case taken == nil && s.Ends == 0:
			taken = s
		}
	}
	return taken, run.State == ""
}
