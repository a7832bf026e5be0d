package apitest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// Now implements api.Portal.
func (p *Portal) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// Rounds implements api.Portal.
func (p *Portal) Rounds(ctx context.Context, who api.Who) ([]api.Round, error) {
	r, err := p.Round(ctx, who, Round)
	if err != nil {
		return nil, err
	}
	return []api.Round{*r}, nil
}

// Round implements api.Portal.
func (p *Portal) Round(_ context.Context, who api.Who, round string) (*api.Round, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.data.Round
	out := &api.Round{ID: Round, Contest: "cup", Name: p.contest.Name, Title: r.Title, Kind: r.Kind, State: contest.ByTime(p.data.Clock, contest.Ready, p.now),
		Problem: r.Problem, Zone: p.contest.Zone, Local: p.contest.Local, Clock: api.ClockFor(p.data.Clock, who.Team, p.now), Teams: len(p.data.Teams),
		Division: []string{"general", "student", "guest", "agent"},
		Rules: api.Rules{Standing: r.Rules.Standing, CountsIf: r.Rules.CountsIf, Tail: r.Rules.Tail, StopOwn: r.Rules.StopOwnRun, Load: time.Minute,
			Final: "3 runs after a reboot; 2 must pass; the median counts"}}
	out.Prizes, out.Noise = api.PrizesOf(board.Of(p.data, board.Reader{Role: board.Public}, p.now)), p.data.Noise
	return out, nil
}

// Board implements api.Portal.
func (p *Portal) Board(_ context.Context, who api.Who, round string) (*api.Board, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.board(who.Reader()), nil
}

// Series implements api.Portal.
func (p *Portal) Series(_ context.Context, who api.Who, round string, teams []string) ([]board.Series, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return board.Of(p.data, who.Reader(), p.now).Series(teams...), nil
}

// Team implements api.Portal.
func (p *Portal) Team(_ context.Context, who api.Who, round, team string) (*api.Team, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.data.Teams, func(t board.Team) bool { return t.ID == team })
	if round != Round || i < 0 {
		return nil, api.ErrNotFound
	}
	t, v := p.data.Teams[i], board.Of(p.data, who.Reader(), p.now)
	out := &api.Team{ID: t.ID, Name: t.Name, Division: t.Division, Gone: t.Gone}
	if s := v.Series(team); len(s) > 0 {
		out.Series = s[0].Points
	}
	for _, row := range v.Rows {
		if row.Team == team {
			out.Row = &row
		}
	}
	if who.Team != team && !who.Role.Staff() {
		return out, nil
	}
	if v.Own != nil {
		out.Row = v.Own
	}
	chance := 0.72
	out.Chance, out.Latest, out.Members = &chance, []bool{true, false, true}, []string{"花子", "太郎"}
	out.Hosts = []api.Host{{ID: "h1", Name: "s1", Address: "http://10.20.0.3", Proven: true}, {ID: "h2", Name: "s2", Address: "http://10.20.0.4"}}
	out.Budget = &api.Budget{Used: len(out.Series)}
	for _, j := range p.jobs {
		if j.Team == team && j.State.Open() {
			out.Open = &j
		}
	}
	return out, nil
}

// Jobs implements api.Portal.
func (p *Portal) Jobs(_ context.Context, who api.Who, round, team string) ([]api.Job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if round != Round || !who.Role.Staff() && (team == "" || team != who.Team) {
		return nil, api.ErrNotFound
	}
	var out []api.Job
	for _, j := range slices.Backward(p.jobs) {
		if team == "" || j.Team == team {
			out = append(out, j)
		}
	}
	return out, nil
}

// Job implements api.Portal.
func (p *Portal) Job(_ context.Context, who api.Who, id string) (*api.Job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.jobs {
		if j.ID == id && (who.Role.Staff() || j.Team == who.Team) {
			return &j, nil
		}
	}
	return nil, api.ErrNotFound
}

// Queue implements api.Portal.
func (p *Portal) Queue(_ context.Context, who api.Who, round string) (*api.Queue, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q := &api.Queue{Slots: 4, Wait: 40 * time.Second}
	for _, j := range p.jobs {
		switch j.State {
		case api.Queued:
			q.Waiting++
		case api.Running:
			q.Running++
		default:
			continue
		}
		if who.Role.Staff() || j.Team == who.Team {
			q.Jobs = append(q.Jobs, j)
		}
	}
	return q, nil
}

// Enqueue implements api.Portal.
func (p *Portal) Enqueue(_ context.Context, who api.Who, e api.Enqueue) (*api.Job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	team := e.Team
	if !who.Role.Staff() {
		team = who.Team
	}
	if team == "" || e.Round != Round {
		return nil, api.ErrForbidden
	}
	for _, j := range p.jobs {
		if j.Team == team && j.State.Open() {
			return nil, &api.RefusedError{Code: "open-job", Text: "the team has an open job", Job: j.ID}
		}
	}
	if !p.data.Clock.Runs(team, p.now) {
		return nil, &api.RefusedError{Code: "not-running", Text: "the team's time does not run"}
	}
	j := api.Job{ID: fmt.Sprintf("%s-new%d", team, len(p.jobs)), Round: Round, Team: team, Number: 99, State: api.Queued, Lane: "live", By: who.Account, Note: e.Note, Enqueued: p.now, Place: 1, Counts: true}
	p.jobs = append(p.jobs, j)
	return &j, nil
}

// Cancel implements api.Portal.
func (p *Portal) Cancel(_ context.Context, who api.Who, id, reason string) (*api.Job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.jobs {
		if j := &p.jobs[i]; j.ID == id && (who.Role.Staff() || j.Team == who.Team) {
			if j.State.Open() {
				j.State, j.Text, j.Ended = api.Cancelled, reason, p.now
			}
			out := *j
			return &out, nil
		}
	}
	return nil, api.ErrNotFound
}

// Messages implements api.Portal.
func (p *Portal) Messages(_ context.Context, who api.Who, round string) ([]api.Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []api.Message
	for _, m := range p.messages {
		if shown, ok := m.For(who, p.now); round == Round && ok {
			out = append(out, shown)
		}
	}
	return out, nil
}

// Say implements api.Portal.
func (p *Portal) Say(_ context.Context, who api.Who, s api.Say) (*api.Message, error) {
	if !who.Role.Staff() && (s.Kind != "question" || who.Team == "") {
		return nil, api.ErrForbidden
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m := api.Message{ID: fmt.Sprintf("m%d", len(p.messages)+1), Round: Round, Kind: s.Kind, At: p.now, By: who.Name, Team: s.Team, To: s.To, Text: s.Text, Public: s.Public || s.Kind == "announcement" && s.Team == ""}
	if s.Kind == "question" {
		m.Team = who.Team
	}
	p.messages = append(p.messages, m)
	return &m, nil
}

// ClaimQuestion implements api.Portal.
func (p *Portal) ClaimQuestion(_ context.Context, who api.Who, _, question string) error {
	if !api.Answers.Allows(who) {
		return api.ErrForbidden
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.messages {
		if m := &p.messages[i]; m.ID == question && m.Kind == "question" {
			m.Claim = who.Name
			return nil
		}
	}
	return api.ErrNotFound
}

// Act implements api.Portal.
func (p *Portal) Act(ctx context.Context, who api.Who, round string, act contest.Act) (*api.Round, error) {
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	p.mu.Lock()
	act.At, act.Who = p.now, who.Account
	err := p.data.Clock.Apply(act)
	p.mu.Unlock()
	if err != nil {
		return nil, &api.RefusedError{Code: "clock", Text: err.Error()}
	}
	return p.Round(ctx, who, round)
}

// Move implements api.Portal: the fixture's states come from its clock alone.
func (p *Portal) Move(ctx context.Context, who api.Who, round string, to contest.State) (*api.Round, error) {
	r, err := p.Round(ctx, who, round)
	if err == nil && r.State != to {
		err = &api.RefusedError{Code: "state", Text: fmt.Sprintf("the round is %s", r.State)}
	}
	return r, err
}

// Begin implements api.Portal: the round has one clock for all.
func (p *Portal) Begin(context.Context, api.Who, string) (*api.Round, error) {
	return nil, &api.RefusedError{Code: "clock", Text: "the round has one clock for all"}
}

// Workers implements api.Portal.
func (p *Portal) Workers(_ context.Context, who api.Who) ([]api.Worker, error) {
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return []api.Worker{{ID: "w1", Name: "bench-1", Pool: "main", Kinds: []string{"arena", "command"}, Slots: 1, Busy: 1, Version: "v0.2.0", Seen: p.now.Add(-2 * time.Second)},
		{ID: "w2", Name: "bench-2", Pool: "main", Kinds: []string{"command"}, Slots: 1, Seen: p.now.Add(-5 * time.Minute), Unfit: "steal 12 %", Gone: true, Quarantined: true}}, nil
}

// SetNoise implements api.Portal.
func (p *Portal) SetNoise(ctx context.Context, who api.Who, round string, n api.Noise) (*api.Round, error) {
	if err := judgeOnly(who); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.data.Noise = n.SD
	p.mu.Unlock()
	return p.Round(ctx, who, round)
}

// Hold implements api.Portal.
func (p *Portal) Hold(_ context.Context, who api.Who, worker string, _ bool, _ string) error {
	if !api.Judges.Allows(who) {
		return api.ErrForbidden
	}
	if worker != "w1" && worker != "w2" {
		return api.ErrNotFound
	}
	return nil
}
