package node_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
)

// TestHints: a hint is locked until its time or score has come, its text is shown to the team that
// opened it and to no other, and the trainer sees that it was opened.
func TestHints(t *testing.T) {
	w := newWorld(t)
	first, second := api.Who{Account: "u", Role: api.Leader, Team: w.teams[0]}, api.Who{Account: "v", Role: api.Member, Team: w.teams[1]}
	staff := api.Who{Account: "s", Role: api.Viewer}
	hint := func(who api.Who) api.Hint {
		t.Helper()
		all, err := w.node.Hints(t.Context(), who, hiddenRound)
		w.check(err)
		return all[0]
	}
	w.run(0, 10, 100)
	var refused *api.RefusedError
	if _, err := w.node.OpenHint(t.Context(), first, hiddenRound, "index"); !errors.As(err, &refused) || refused.Code != "locked" {
		t.Errorf("before its time: %v", err)
	}
	if _, err := w.node.OpenHint(t.Context(), first, hiddenRound, "none"); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("an unknown hint: %v", err)
	}
	w.run(1, 12, 130) // above the score of the hint
	w.shows(staff, 2)
	if h := hint(second); !h.Unlocked || h.Text != nil {
		t.Errorf("with the score: %+v", h)
	}
	if h := hint(first); h.Unlocked {
		t.Errorf("of the team without the score: %+v", h)
	}
	w.minute.Store(31)
	h, err := w.node.OpenHint(t.Context(), first, hiddenRound, "index")
	w.check(err)
	if h.Text.In("en") != "an index on the rent" || h.Opened.IsZero() {
		t.Errorf("opened: %+v", h)
	}
	if h := hint(second); h.Text != nil {
		t.Errorf("of the other team: %+v", h)
	}
	trainees, err := w.node.Trainees(t.Context(), staff, hiddenRound)
	w.check(err)
	for _, x := range trainees {
		if opened := x.Team == w.teams[0]; opened != (len(x.Hints) == 1) || opened && x.Hints[0].Text != nil {
			t.Errorf("%+v", x)
		}
	}
	if _, err := w.node.Hints(t.Context(), staff, hiddenRound); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("of staff: %v", err)
	}
}

// TestTraining: the trainer sees each team with its course and milestones, a team sees its own.
func TestTraining(t *testing.T) {
	w := newWorld(t)
	w.run(0, 10, 100)
	w.run(0, 20, 250)
	w.run(1, 30, 90)
	staff, team := api.Who{Account: "s", Role: api.Viewer}, api.Who{Account: "u", Role: api.Member, Team: w.teams[0]}
	w.shows(staff, 3)
	trainees, err := w.node.Trainees(t.Context(), staff, hiddenRound)
	w.check(err)
	got := ""
	for _, x := range trainees {
		got += fmt.Sprintf("%s %d:", x.Name, len(x.Points))
		for _, r := range x.Reached {
			got += " " + string(r.Milestone)
		}
		got += "\n"
	}
	if want := "team 0 2: pass clean double\nteam 1 1: pass clean\nteam 2 0:\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	own, err := w.node.Reached(t.Context(), team, hiddenRound)
	w.check(err)
	if len(own) != 3 || own[2].Milestone != board.Doubled {
		t.Errorf("the own milestones: %+v", own)
	}
	if _, err := w.node.Trainees(t.Context(), team, hiddenRound); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("a team as a trainer: %v", err)
	}
}

// TestBesideRoles: ghosts are the organiser's, prizes by hand and flags are the judges'.
func TestBesideRoles(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	g := api.NewGhost{Name: "g", Points: []board.GhostPoint{{Score: 5}}}
	for role, want := range map[api.Role][4]bool{api.Spectator: {}, api.Leader: {}, api.Viewer: {}, api.Support: {}, api.Judge: {false, true, true}, api.Operator: {false, true, true}, api.Organiser: {true, true, true, true}} {
		who := api.Who{Account: "x", Role: role}
		if role == api.Leader {
			who.Team = w.teams[0]
		}
		made, err := w.node.AddGhost(ctx, who, hiddenRound, g)
		if (err == nil) != want[0] || want[0] && (made == nil || made.Name != "g") {
			t.Errorf("%s adds a ghost: %+v, %v", role, made, err)
		}
		if _, err := w.node.Award(ctx, who, hiddenRound, api.Award{Prize: "jury", Team: w.teams[1], Reason: "r"}); (err == nil) != want[1] {
			t.Errorf("%s gives a prize: %v", role, err)
		}
		if _, err := w.node.Flags(ctx, who, hiddenRound); (err == nil) != want[2] {
			t.Errorf("%s sees flags: %v", role, err)
		}
		if err := w.node.RemoveGhost(ctx, who, hiddenRound, "none"); errors.Is(err, api.ErrForbidden) == want[3] {
			t.Errorf("%s removes a ghost: %v", role, err)
		}
		if all, err := w.node.Ghosts(ctx, who, hiddenRound); err != nil || !role.Staff() && len(all) > 0 {
			t.Errorf("%s sees %d ghosts, %v", role, len(all), err)
		}
	}
	round, err := w.node.Round(ctx, api.Who{}, hiddenRound)
	w.check(err)
	if p := round.Prizes[1]; p.Team != w.teams[1] || p.Reason != "r" {
		t.Errorf("the prize %+v", p)
	}
}
