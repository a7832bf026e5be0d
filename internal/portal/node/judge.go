package node

import (
	"context"

	"github.com/iikanji/iikanji/internal/portal/api"
)

var _ api.JudgeCalls = (*Node)(nil)

// judges are the roles that may judge.
func judges(who api.Who) bool { return may(who, api.Judge, api.Operator, api.Organiser) }

// Final implements api.JudgeCalls.
func (n *Node) Final(ctx context.Context, who api.Who, round string) (*api.FinalState, error) {
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	return n.core.Final(ctx, round)
}

// PlanFinal implements api.JudgeCalls.
func (n *Node) PlanFinal(ctx context.Context, who api.Who, round string, p api.PlanFinal) (*api.FinalState, error) {
	if !judges(who) {
		return nil, api.ErrForbidden
	}
	return n.core.PlanFinal(ctx, who.Account, round, p)
}

// FinalStep implements api.JudgeCalls.
func (n *Node) FinalStep(ctx context.Context, who api.Who, round string, s api.FinalStep) error {
	if !judges(who) {
		return api.ErrForbidden
	}
	return n.core.FinalStep(ctx, who.Account, round, s)
}

// FinalRun implements api.JudgeCalls.
func (n *Node) FinalRun(ctx context.Context, who api.Who, round, team string, block int) (*api.Job, error) {
	if !judges(who) {
		return nil, api.ErrForbidden
	}
	return n.core.FinalRun(ctx, who.Account, round, team, block)
}

// Decide implements api.JudgeCalls.
func (n *Node) Decide(ctx context.Context, who api.Who, round string) (*api.FinalState, error) {
	if !judges(who) {
		return nil, api.ErrForbidden
	}
	return n.core.Decide(ctx, who.Account, round)
}

// Reveal implements api.JudgeCalls.
func (n *Node) Reveal(ctx context.Context, who api.Who, round, reason string) (*api.Round, error) {
	if !may(who, api.Organiser) {
		return nil, api.ErrForbidden
	}
	if err := n.core.Reveal(ctx, who.Account, round, reason); err != nil {
		return nil, err
	}
	return n.Round(ctx, who, round)
}

// Rejudge implements api.JudgeCalls.
func (n *Node) Rejudge(ctx context.Context, who api.Who, round string, r api.Rejudge) (*api.Rejudged, error) {
	if !judges(who) {
		return nil, api.ErrForbidden
	}
	return n.core.Rejudge(ctx, who.Account, round, r)
}

// Disqualify implements api.JudgeCalls.
func (n *Node) Disqualify(ctx context.Context, who api.Who, round string, d api.Disqualify) (*api.Disqualified, error) {
	if !judges(who) {
		return nil, api.ErrForbidden
	}
	return n.core.Disqualify(ctx, who.Account, round, d)
}
