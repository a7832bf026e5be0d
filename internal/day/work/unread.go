package work

import (
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// NewlyUnread are the places that could not be read at the begin of a run, each with the reason.
// Those that could not be read at the run before either are left out: a place is named once.
func (d *Day) NewlyUnread(now *state.State) []string {
	places := unreadOf(now)
	if len(places) == 0 {
		return nil
	}
	runs, err := d.Store.Runs()
	if err != nil {
		return nil
	}
	runs = slices.DeleteFunc(runs, func(id iikanji.RunID) bool { return now.Run > 0 && id >= now.Run })
	if len(runs) > 0 {
		if last, err := d.Store.LoadState(runs[len(runs)-1]); err == nil { // of a damaged one nothing was read
			known := unreadOf(last)
			maps.DeleteFunc(places, func(place, _ string) bool { _, named := known[place]; return named })
		}
	}
	var lines []string
	for _, place := range slices.Sorted(maps.Keys(places)) {
		lines = append(lines, place+": "+places[place])
	}
	return lines
}

// unreadOf are the places of all hosts that could not be read, HOST:PATH on another machine.
func unreadOf(s *state.State) map[string]string {
	all := map[string]string{}
	for _, h := range s.Hosts {
		for place, why := range h.Unread {
			all[strings.TrimPrefix(h.Name+":"+place, ":")] = why
		}
	}
	return all
}
