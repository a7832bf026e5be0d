package node

import (
	"context"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

// Ghosts implements api.Beside.
func (n *Node) Ghosts(ctx context.Context, who api.Who, round string) ([]board.GhostLine, error) {
	if _, err := n.Round(ctx, who, round); err != nil { // a draft is staff's alone
		return nil, err
	}
	l, err := n.live(ctx, round)
	if err != nil {
		return nil, err
	}
	return l.view(who.Reader()).Ghosts(), nil
}

// AddGhost implements api.Beside.
func (n *Node) AddGhost(ctx context.Context, who api.Who, round string, g api.NewGhost) (*board.GhostLine, error) {
	if !may(who, api.Organiser) {
		return nil, api.ErrForbidden
	}
	id, err := n.core.AddGhost(ctx, who.Account, round, g)
	if err != nil {
		return nil, err
	}
	if err := n.fresh(ctx, round); err != nil {
		return nil, err
	}
	all, err := n.Ghosts(ctx, who, round)
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	return nil, err
}

// RemoveGhost implements api.Beside.
func (n *Node) RemoveGhost(ctx context.Context, who api.Who, round, ghost string) error {
	if !may(who, api.Organiser) {
		return api.ErrForbidden
	}
	if err := n.core.RemoveGhost(ctx, who.Account, round, ghost); err != nil {
		return err
	}
	return n.fresh(ctx, round)
}

// fresh brings a round up to date at once, for those who changed it.
func (n *Node) fresh(ctx context.Context, round string) error {
	l, err := n.live(ctx, round)
	if err != nil {
		return err
	}
	return l.refresh(ctx)
}

// Award implements api.Beside.
func (n *Node) Award(ctx context.Context, who api.Who, round string, a api.Award) (*api.Round, error) {
	if !judges(who) {
		return nil, api.ErrForbidden
	}
	if err := n.core.Award(ctx, who.Account, round, a); err != nil {
		return nil, err
	}
	if err := n.fresh(ctx, round); err != nil {
		return nil, err
	}
	return n.Round(ctx, who, round)
}

// Hints implements api.Beside.
func (n *Node) Hints(ctx context.Context, who api.Who, round string) ([]api.Hint, error) {
	if who.Team == "" {
		return nil, api.ErrForbidden
	}
	r, l, err := n.roundFor(ctx, who, round)
	if err != nil {
		return nil, err
	}
	uses, err := n.core.HintUses(ctx, round, who.Team)
	if err != nil {
		return nil, err
	}
	v := l.view(who.Reader())
	best := 0.0
	if v.Own != nil {
		best = v.Own.Best
	}
	played := r.Clock.Minute(n.Now())
	if began := r.Clock.Windows[who.Team]; r.Clock.Kind == contest.Window {
		if played = 0; !began.IsZero() {
			played = n.Now().Sub(began)
		}
	}
	var out []api.Hint
	for _, h := range r.Round.Hints {
		x := hintOf(&h, uses, who.Team, true)
		x.Unlocked = x.Unlocked || r.Clock.Runs(who.Team, n.Now()) && h.Unlocked(played, best)
		out = append(out, x)
	}
	return out, nil
}

// roundFor reads a round for a caller: a draft is staff's alone.
func (n *Node) roundFor(ctx context.Context, who api.Who, round string) (*lead.Round, *live, error) {
	if _, err := n.Round(ctx, who, round); err != nil {
		return nil, nil, err
	}
	r, err := n.core.Round(ctx, round)
	if err != nil {
		return nil, nil, err
	}
	l, err := n.live(ctx, round)
	return r, l, err
}

// hintOf is a hint of a team with its use.
func hintOf(h *contest.Hint, uses []lead.HintUse, team string, text bool) api.Hint {
	out := api.Hint{ID: h.ID, Title: h.Title, After: h.After, Above: h.Above}
	for _, u := range uses {
		if u.Team != team || u.Hint != h.ID {
			continue
		}
		out.Unlocked, out.Opened, out.By = true, u.At, u.By
		if text {
			out.Text = h.Text
		}
	}
	return out
}

// OpenHint implements api.Beside.
func (n *Node) OpenHint(ctx context.Context, who api.Who, round, hint string) (*api.Hint, error) {
	find := func() (*api.Hint, error) {
		all, err := n.Hints(ctx, who, round)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].ID == hint {
				return &all[i], nil
			}
		}
		return nil, api.ErrNotFound
	}
	h, err := find()
	if err != nil {
		return nil, err
	}
	if !h.Unlocked {
		return nil, &api.RefusedError{Code: "locked", Text: "the hint is locked"}
	}
	if err := n.core.OpenHint(ctx, who, round, hint); err != nil {
		return nil, err
	}
	return find()
}

// Reached implements api.Beside.
func (n *Node) Reached(ctx context.Context, who api.Who, round string) ([]board.Reached, error) {
	if who.Team == "" {
		return nil, api.ErrForbidden
	}
	r, l, err := n.roundFor(ctx, who, round)
	if err != nil {
		return nil, err
	}
	boots, err := n.core.Boots(ctx, r.Contest.ID)
	if err != nil {
		return nil, err
	}
	return l.view(who.Reader()).Reached(who.Team, boots[who.Team]), nil
}

// Trainees implements api.Beside.
func (n *Node) Trainees(ctx context.Context, who api.Who, round string) ([]api.Trainee, error) {
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	r, l, err := n.roundFor(ctx, who, round)
	if err != nil {
		return nil, err
	}
	boots, err := n.core.Boots(ctx, r.Contest.ID)
	if err != nil {
		return nil, err
	}
	uses, err := n.core.HintUses(ctx, round, "")
	if err != nil {
		return nil, err
	}
	open, err := n.core.OpenJobs(ctx, round)
	if err != nil {
		return nil, err
	}
	v := l.view(who.Reader())
	var out []api.Trainee
	for _, row := range v.Rows {
		t := api.Trainee{Team: row.Team, Name: row.Name, Row: row, Reached: v.Reached(row.Team, boots[row.Team]), Points: []board.Point{}, Open: open[row.Team]}
		for _, s := range v.Series(row.Team) {
			t.Points = append(t.Points, s.Points...)
		}
		for i := range r.Round.Hints {
			if h := hintOf(&r.Round.Hints[i], uses, row.Team, false); !h.Opened.IsZero() {
				t.Hints = append(t.Hints, h)
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// Flags implements api.Beside.
func (n *Node) Flags(ctx context.Context, who api.Who, round string) ([]api.Flag, error) {
	if !judges(who) {
		return nil, api.ErrForbidden
	}
	flags, err := n.core.Flags(ctx, round)
	var out []api.Flag
	for _, f := range flags {
		out = append(out, api.Flag{Kind: string(f.Kind), Teams: f.Teams, Hosts: f.Hosts, Pages: f.Pages, At: f.At})
	}
	return out, err
}
