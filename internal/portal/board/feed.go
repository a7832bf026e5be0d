package board

import (
	"cmp"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// An Item is one line of a round's feed.
type Item struct {
	At    time.Time `json:"at"`
	Team  string    `json:"team"`
	Name  string    `json:"name"`
	What  string    `json:"what"` // "first", "best" or "lead"
	Score float64   `json:"score"`
}

// Feed is what happened, the newest first, at most n items: first scores, new bests, and
// leads. It is made of the results that the view shows to all.
func (v *View) Feed(n int) []Item {
	type event struct {
		Result
		name string
	}
	var all []event
	for _, t := range v.teams {
		for _, r := range v.seen[t.ID] {
			if t.Gone == "" {
				all = append(all, event{r, t.Name})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Job, b.Job)) })
	best, lead := map[string]float64{}, 0.0
	var out []Item
	for _, e := range all {
		was, any := best[e.Team]
		switch {
		case e.Outcome != iikanji.Passed:
			continue
		case e.Score > lead:
			out = append(out, Item{e.At, e.Team, e.name, "lead", e.Score})
		case !any:
			out = append(out, Item{e.At, e.Team, e.name, "first", e.Score})
		case e.Score > was:
			out = append(out, Item{e.At, e.Team, e.name, "best", e.Score})
		}
		best[e.Team], lead = max(was, e.Score), max(lead, e.Score)
	}
	slices.Reverse(out)
	return out[:min(n, len(out))]
}
