package node

import (
	"context"
	"errors"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/judging"
	"github.com/iikanji/iikanji/internal/portal/queue"

	"github.com/iikanji/iikanji"
)

// Rounds implements api.Portal. Drafts are for staff.
func (n *Node) Rounds(ctx context.Context, who api.Who) (out []api.Round, err error) {
	ids, err := n.core.RoundIDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		r, err := n.Round(ctx, who, id)
		if errors.Is(err, api.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, *r)
	}
	return out, nil
}

// Round implements api.Portal.
func (n *Node) Round(ctx context.Context, who api.Who, id string) (*api.Round, error) {
	r, err := n.core.Round(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.State == contest.Draft && !who.Role.Staff() {
		return nil, api.ErrNotFound
	}
	l, err := n.live(ctx, id)
	if err != nil {
		return nil, err
	}
	v := l.view(board.Reader{Role: board.Public})
	now, rules := n.Now(), r.Round.Rules
	out := &api.Round{ID: id, Contest: r.Contest.ID, Name: r.Contest.Name, Title: r.Round.Title, Kind: r.Round.Kind, State: contest.ByTime(r.Clock, r.State, now),
		Problem: r.Round.Problem, Zone: r.Contest.Zone, Local: r.Contest.Local, Clock: api.ClockFor(r.Clock, who.Team, now), Teams: len(v.Rows),
		Rules: api.Rules{Standing: rules.Standing, CountsIf: rules.CountsIf, Tail: rules.Tail, StopOwn: rules.StopOwnRun, Load: r.Problem().Load, Final: judging.Sentence(r.Round.Final)}}
	out.Prizes, out.Noise = api.PrizesOf(v), l.noise()
	seen := map[string]bool{}
	for _, row := range v.Rows {
		if !seen[row.Division] {
			seen[row.Division] = true
			out.Division = append(out.Division, row.Division)
		}
	}
	return out, nil
}

// Team implements api.Portal.
func (n *Node) Team(ctx context.Context, who api.Who, round, team string) (*api.Team, error) {
	l, err := n.live(ctx, round)
	if err != nil {
		return nil, err
	}
	v := l.view(who.Reader())
	out := &api.Team{ID: team}
	for i := range v.Rows {
		if row := v.Rows[i]; row.Team == team {
			out.Name, out.Division, out.Gone, out.Row = row.Name, row.Division, row.Gone, &row
		}
	}
	if out.Row == nil {
		return nil, api.ErrNotFound
	}
	for _, s := range v.Series(team) {
		out.Series = s.Points
	}
	if who.Team != team && !who.Role.Staff() {
		return out, nil
	}
	if v.Own != nil {
		out.Row = v.Own
	}
	return out, n.own(ctx, who, round, v, out)
}

// own adds what the team itself and staff see.
func (n *Node) own(ctx context.Context, who api.Who, round string, v *board.View, out *api.Team) error {
	r, err := n.core.Round(ctx, round)
	if err != nil {
		return err
	}
	t, err := n.core.Team(ctx, round, out.ID)
	if err != nil {
		return err
	}
	out.Hosts, out.Members, out.Extra = t.Hosts, t.Members, r.Clock.Extra[out.ID]
	b := r.Round.Queue.Budget(t.Division)
	out.Budget = &api.Budget{Used: len(t.Past), Runs: b.Runs, PerHour: b.PerHour}
	var over *queue.BudgetError
	if errors.As(queue.Check(b, t.Past, n.Now(), 1), &over) {
		out.Budget.From = over.From
	}
	for _, x := range v.Results(out.ID) {
		out.Latest = append(out.Latest, x.Outcome == iikanji.Passed)
	}
	out.Latest = out.Latest[max(0, len(out.Latest)-judging.Latest):]
	if r.Round.Final.Runs > 0 {
		chance := judging.Chance(r.Round.Final, out.Latest)
		out.Chance = &chance
	}
	if t.Open != "" {
		out.Open, err = n.Job(ctx, who, t.Open)
	}
	return err
}

// Messages implements api.Portal.
func (n *Node) Messages(ctx context.Context, who api.Who, round string) (out []api.Message, err error) {
	all, err := n.core.Messages(ctx, round)
	for _, m := range all {
		if shown, ok := m.For(who, n.Now()); ok {
			out = append(out, shown)
		}
	}
	return out, err
}

// Say implements api.Portal.
func (n *Node) Say(ctx context.Context, who api.Who, s api.Say) (*api.Message, error) {
	if s.Kind != "question" && !may(who, api.Support, api.Judge, api.Organiser) {
		return nil, api.ErrForbidden
	}
	return n.core.Say(ctx, who, s)
}

// ClaimQuestion implements api.Portal.
func (n *Node) ClaimQuestion(ctx context.Context, who api.Who, round, question string) error {
	if !may(who, api.Support, api.Judge, api.Organiser) {
		return api.ErrForbidden
	}
	return n.core.ClaimQuestion(ctx, who, round, question)
}

// may reports whether a caller has one of some roles.
func may(who api.Who, roles ...api.Role) bool {
	for _, r := range roles {
		if who.Role == r {
			return true
		}
	}
	return false
}

// Act implements api.Portal.
func (n *Node) Act(ctx context.Context, who api.Who, round string, act contest.Act) (*api.Round, error) {
	if !may(who, api.Organiser) {
		return nil, api.ErrForbidden
	}
	if err := n.core.Act(ctx, who.Account, round, act); err != nil {
		return nil, err
	}
	return n.Round(ctx, who, round)
}

// Move implements api.Portal.
func (n *Node) Move(ctx context.Context, who api.Who, round string, to contest.State) (*api.Round, error) {
	if !may(who, api.Organiser) {
		return nil, api.ErrForbidden
	}
	if err := n.core.Move(ctx, who.Account, round, to); err != nil {
		return nil, err
	}
	return n.Round(ctx, who, round)
}

// Begin implements api.Portal.
func (n *Node) Begin(ctx context.Context, who api.Who, round string) (*api.Round, error) {
	if who.Team == "" {
		return nil, api.ErrForbidden
	}
	if err := n.core.Begin(ctx, round, who.Team); err != nil {
		return nil, err
	}
	return n.Round(ctx, who, round)
}

// Workers implements api.Portal.
func (n *Node) Workers(ctx context.Context, who api.Who) ([]api.Worker, error) {
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	return n.core.Workers(ctx)
}

// SetNoise implements api.Portal.
func (n *Node) SetNoise(ctx context.Context, who api.Who, round string, noise api.Noise) (*api.Round, error) {
	if !api.Judges.Allows(who) {
		return nil, api.ErrForbidden
	}
	if err := n.core.SetNoise(ctx, who.Account, round, noise); err != nil {
		return nil, err
	}
	if err := n.fresh(ctx, round); err != nil {
		return nil, err
	}
	return n.Round(ctx, who, round)
}

// Hold implements api.Portal.
func (n *Node) Hold(ctx context.Context, who api.Who, worker string, hold bool, reason string) error {
	if !api.Judges.Allows(who) {
		return api.ErrForbidden
	}
	return n.core.Hold(ctx, who.Account, worker, hold, reason)
}
