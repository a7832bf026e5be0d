package apitest

import (
	"context"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
)

// ghosts are a public ghost with a name that looks like markup, and one that staff alone sees.
func ghosts() []board.Ghost {
	points := []board.GhostPoint{{Minute: 0, Score: 1100, Label: "the first run"}, {Minute: 45, Score: 1900, Label: "an index <b>bold</b>"}, {Minute: 130, Score: 5200}, {Minute: 260, Score: 9100, Label: "画像を静的配信にした"}, {Minute: 450, Score: 15000}}
	return []board.Ghost{{ID: "g1", Name: "昨年の優勝 <b>bold</b>", Source: "cup 2026, final", Public: true, Points: points},
		{ID: "g2", Name: "tune", Source: "iikanji tune", Points: points[:3]}}
}

// view is what a caller sees. p.mu is held.
func (p *Portal) view(who api.Who) *board.View { return board.Of(p.data, who.Reader(), p.now) }

// boots are the reboots of the member's machines.
var boots = []time.Time{Start.Add(2 * time.Hour)}

// Ghosts implements api.Beside.
func (p *Portal) Ghosts(_ context.Context, who api.Who, round string) ([]board.GhostLine, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view(who).Ghosts(), nil
}

// AddGhost implements api.Beside.
func (p *Portal) AddGhost(_ context.Context, who api.Who, round string, g api.NewGhost) (*board.GhostLine, error) {
	if who.Role != api.Organiser {
		return nil, api.ErrForbidden
	}
	if err := board.CheckGhost(g.Points); err != nil {
		return nil, &api.RefusedError{Code: "points", Text: err.Error()}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data.Ghosts = append(p.data.Ghosts, board.Ghost{ID: "new", Name: g.Name, Source: g.Source, Public: g.Public, Points: g.Points})
	all := p.view(who).Ghosts()
	return &all[len(all)-1], nil
}

// RemoveGhost implements api.Beside.
func (p *Portal) RemoveGhost(_ context.Context, who api.Who, _, ghost string) error {
	if who.Role != api.Organiser {
		return api.ErrForbidden
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.data.Ghosts)
	if p.data.Ghosts = slices.DeleteFunc(p.data.Ghosts, func(g board.Ghost) bool { return g.ID == ghost }); len(p.data.Ghosts) == n {
		return api.ErrNotFound
	}
	return nil
}

// Award implements api.Beside.
func (p *Portal) Award(ctx context.Context, who api.Who, round string, a api.Award) (*api.Round, error) {
	if err := judgeOnly(who); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.data.Awards = append(p.data.Awards, board.Award{Prize: a.Prize, Team: a.Team, At: p.now, Reason: a.Reason})
	p.mu.Unlock()
	return p.Round(ctx, who, round)
}

// Hints implements api.Beside: one hint of each state.
func (p *Portal) Hints(_ context.Context, who api.Who, round string) ([]api.Hint, error) {
	if who.Team == "" {
		return nil, api.ErrForbidden
	}
	if round != Round {
		return nil, api.ErrNotFound
	}
	hints := p.data.Round.Hints
	out := make([]api.Hint, len(hints))
	for i, h := range hints {
		out[i] = api.Hint{ID: h.ID, Title: h.Title, After: h.After, Above: h.Above, Unlocked: i < 2}
	}
	out[0].Opened, out[0].By, out[0].Text = Start.Add(time.Hour), "太郎 <b>bold</b>", hints[0].Text
	return out, nil
}

// OpenHint implements api.Beside.
func (p *Portal) OpenHint(ctx context.Context, who api.Who, round, hint string) (*api.Hint, error) {
	all, err := p.Hints(ctx, who, round)
	for i := range all {
		if all[i].ID == hint && !all[i].Unlocked {
			return nil, &api.RefusedError{Code: "locked", Text: "the hint is locked"}
		}
		if all[i].ID == hint {
			return &all[i], nil
		}
	}
	if err == nil {
		err = api.ErrNotFound
	}
	return nil, err
}

// Reached implements api.Beside.
func (p *Portal) Reached(_ context.Context, who api.Who, round string) ([]board.Reached, error) {
	if who.Team == "" {
		return nil, api.ErrForbidden
	}
	if round != Round {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view(who).Reached(who.Team, boots), nil
}

// Trainees implements api.Beside.
func (p *Portal) Trainees(_ context.Context, who api.Who, round string) ([]api.Trainee, error) {
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	if round != Round {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.view(who)
	var out []api.Trainee
	for i, row := range v.Rows {
		t := api.Trainee{Team: row.Team, Name: row.Name, Row: row, Points: v.Series(row.Team)[0].Points, Open: i%4 == 0}
		if row.Team == Member.Team {
			t.Reached, t.Hints = v.Reached(row.Team, boots), []api.Hint{{ID: p.data.Round.Hints[0].ID, Opened: Start.Add(time.Hour)}}
		} else {
			t.Reached = v.Reached(row.Team, nil)
		}
		out = append(out, t)
	}
	return out, nil
}

// Flags implements api.Beside: one of each kind.
func (p *Portal) Flags(_ context.Context, who api.Who, round string) ([]api.Flag, error) {
	if err := judgeOnly(who); err != nil {
		return nil, err
	}
	if round != Round {
		return nil, api.ErrNotFound
	}
	return []api.Flag{{Kind: "machine", Teams: []string{"t01", "t04"}, Hosts: []string{"s1", "s2 <b>bold</b>"}}, {Kind: "address", Teams: []string{"t01", "t04"}},
		{Kind: "mail", Teams: []string{"t02", "t08"}}, {Kind: "keys", Teams: []string{"t03"}, Hosts: []string{"s1"}, At: Start.Add(time.Hour)}, {Kind: "answers", Teams: []string{"t05"}, Pages: []string{"/about?<b>"}, At: Start.Add(2 * time.Hour)},
		{Kind: "boot", Teams: []string{"t06"}, Hosts: []string{"s3"}, At: Ended}}, nil
}
