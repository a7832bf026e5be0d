package lead

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// TestReopen: a round that is over becomes practice, with its best team as a ghost; one that runs
// does not.
func TestReopen(t *testing.T) { reopenOn(t, newHall) }

func reopenOn(t *testing.T, makeHall maker) {
	t.Helper()
	h := makeHall(t, 2)
	h.scores(300, 500)
	o := Reopen{Contest: "hall", Reopening: contest.Reopening{ID: "again", Round: "day"}, Ghosts: 3, Public: true}
	if _, err := h.Reopen(t.Context(), "s", o); code(err) != "not-over" {
		t.Errorf("a round that runs: %v", err)
	}
	h.at = h.at.Add(9 * time.Hour)
	h.check(h.leader.Timers(t.Context()))
	c, err := h.Reopen(t.Context(), "s", o)
	h.check(err)
	r, err := h.Round(t.Context(), "again_day")
	h.check(err)
	if c.ID != "again" || r.State != contest.Ready || r.Round.Kind != contest.Open || r.Problem() == nil {
		t.Errorf("%s is %s: %+v", c.ID, r.State, r.Round)
	}
	ghosts := h.data("again_day").Ghosts // made at one instant of this clock
	slices.SortFunc(ghosts, func(a, b board.Ghost) int { return strings.Compare(a.Name, b.Name) })
	if len(ghosts) != 2 || ghosts[0].Name != "1. team 1" || !ghosts[0].Public || ghosts[0].Points[0].Score != 500 || ghosts[1].Name != "2. team 0" {
		t.Errorf("ghosts %+v", ghosts)
	}
	if _, err := h.Reopen(t.Context(), "s", o); code(err) != "exists" {
		t.Errorf("a second time: %v", err)
	}
	o.ID, o.Contest = "third", "nowhere"
	if _, err := h.Reopen(t.Context(), "s", o); err == nil {
		t.Error("a contest that is not there")
	}
	h.check(h.leader.Timers(t.Context()))
	made, err := h.NewTeam(t.Context(), NewTeam{Contest: "again", Name: "solo"}, "http://127.0.0.1:9")
	h.check(err)
	j, err := h.Enqueue(t.Context(), "u", false, api.Enqueue{Round: "again_day", Team: made.Team})
	if err != nil || j.Lane != "practice" {
		t.Errorf("a run of practice: %+v, %v", j, err)
	}
}
