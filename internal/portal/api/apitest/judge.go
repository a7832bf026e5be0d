package apitest

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

var (
	_ api.HostCalls  = (*Portal)(nil)
	_ api.JudgeCalls = (*Portal)(nil)
)

// Hosts implements api.HostCalls: two machines, one of them with a problem.
func (p *Portal) Hosts(_ context.Context, who api.Who, round string) ([]api.Host, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	team := who.Team
	if team == "" {
		team = Member.Team
	}
	return []api.Host{
		{ID: "h1", Team: team, Name: "s1", Address: "http://10.20.0.3", Proven: true, Way: api.ByAgent, Boot: "0f0e0d0c-0b0a", Reached: p.Now().Add(-4 * time.Second), Offset: 3 * time.Millisecond,
			Facts: &api.HostFacts{Name: "s1", System: "Debian GNU/Linux 13", Kernel: "6.12", CPU: 2, Memory: 4 << 30}},
		{ID: "h2", Team: team, Name: "s2 <b>bold</b>", Address: "http://10.20.0.4", Way: api.ByPath, Problem: "no answer from 10.20.0.4:80 <script>alert(1)</script>"},
	}, nil
}

// AddHost implements api.HostCalls.
func (p *Portal) AddHost(_ context.Context, who api.Who, round string, _ api.NewHost) (*api.MadeHost, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	if who.Team == "" && who.Role != api.Operator && who.Role != api.Organiser {
		return nil, api.ErrForbidden
	}
	return &api.MadeHost{Host: "h3", Token: "tokentokentoken", Path: api.HostPath, Text: "0123456789abcdef"}, nil
}

// RemoveHost implements api.HostCalls.
func (p *Portal) RemoveHost(_ context.Context, who api.Who, _, _ string) error {
	if who.Team == "" && who.Role != api.Operator && who.Role != api.Organiser {
		return api.ErrForbidden
	}
	return nil
}

// HostBeat implements api.HostCalls: no token is known.
func (p *Portal) HostBeat(context.Context, api.HostBeat, netip.Addr) (*api.HostBeatAnswer, error) {
	return nil, api.ErrNotFound
}

// DueHosts implements api.HostCalls.
func (p *Portal) DueHosts(context.Context, string) ([]api.HostCheck, error) { return nil, nil }

// Checked implements api.HostCalls.
func (p *Portal) Checked(context.Context, string, []api.HostResult) error { return nil }

// Final implements api.JudgeCalls: one team has passed, one has not come back.
func (p *Portal) Final(_ context.Context, who api.Who, round string) (*api.FinalState, error) {
	if round != Round {
		return nil, api.ErrNotFound
	}
	if !who.Role.Staff() {
		return nil, api.ErrForbidden
	}
	at := p.Now()
	return &api.FinalState{Round: Round, State: contest.Judging, Rule: "3 runs after a reboot; 2 must pass; the median counts", Workers: []string{"w1", "w2"}, Takes: 20 * time.Minute,
		Plan: []api.FinalPlanned{{Team: "t03", Worker: "w1"}, {Team: "t04", Worker: "w2"}},
		Teams: []api.FinalTeam{
			{Team: "t03", Name: "first <b>bold</b>", Place: 1, Verdict: api.FinalVerdict{Passed: true, Score: 41234},
				Steps: []api.FinalStep{{Team: "t03", Name: "reboot", At: at, Passed: true, Evidence: "all machines have another boot id"}},
				Runs:  []api.FinalRun{{Job: "t03-01", State: api.Done, Outcome: iikanji.Passed, Score: 41234, Worker: "w1"}, {Job: "t03-02", Block: 1, State: api.Queued}}},
			{Team: "t04", Name: "second", Place: 2, Verdict: api.FinalVerdict{Reason: "reboot: host s1: not back within 5m0s, twice"},
				Steps: []api.FinalStep{{Team: "t04", Name: "reboot", At: at, Evidence: "host s1: not back within 5m0s, twice"}}},
		}, Moves: []api.Move{{Team: "t04", From: 2, To: 9, Was: 40000}}}, nil
}

// judgeOnly refuses other roles than those of judges.
func judgeOnly(who api.Who) error {
	if !slices.Contains([]api.Role{api.Judge, api.Operator, api.Organiser}, who.Role) {
		return api.ErrForbidden
	}
	return nil
}

// PlanFinal implements api.JudgeCalls.
func (p *Portal) PlanFinal(ctx context.Context, who api.Who, round string, _ api.PlanFinal) (*api.FinalState, error) {
	if err := judgeOnly(who); err != nil {
		return nil, err
	}
	return p.Final(ctx, who, round)
}

// FinalStep implements api.JudgeCalls.
func (p *Portal) FinalStep(_ context.Context, who api.Who, _ string, _ api.FinalStep) error {
	return judgeOnly(who)
}

// FinalRun implements api.JudgeCalls.
func (p *Portal) FinalRun(_ context.Context, who api.Who, _, _ string, _ int) (*api.Job, error) {
	return &api.Job{ID: "t03-01"}, judgeOnly(who)
}

// Decide implements api.JudgeCalls.
func (p *Portal) Decide(ctx context.Context, who api.Who, round string) (*api.FinalState, error) {
	return p.PlanFinal(ctx, who, round, api.PlanFinal{})
}

// Reveal implements api.JudgeCalls.
func (p *Portal) Reveal(ctx context.Context, who api.Who, round, _ string) (*api.Round, error) {
	if who.Role != api.Organiser {
		return nil, api.ErrForbidden
	}
	return p.Round(ctx, who, round)
}

// Rejudge implements api.JudgeCalls.
func (p *Portal) Rejudge(_ context.Context, who api.Who, _ string, _ api.Rejudge) (*api.Rejudged, error) {
	return &api.Rejudged{}, judgeOnly(who)
}

// Disqualify implements api.JudgeCalls.
func (p *Portal) Disqualify(_ context.Context, who api.Who, _ string, _ api.Disqualify) (*api.Disqualified, error) {
	return &api.Disqualified{}, judgeOnly(who)
}
