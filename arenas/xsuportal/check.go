package xsuportal

import (
	"context"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/audience"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/registration"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A cast are the people of the checks.
type cast struct {
	team   *team   // three members, in the end
	fourth *member // would be the fourth member, and has no team
	loner  *member // leads a team that withdraws
	admin  *agent
	guest  *agent
	vapid  string
}

// Numbers of the teams of the checks: the load's begin at 1.
const (
	castTeam = -iota
	fourthTeam
	lonerTeam
)

// check is the compatibility check: what belongs to each phase of a short contest.
func (ct *contest) check(ctx context.Context) error {
	c := &cast{team: ct.newTeam(castTeam), fourth: ct.newTeam(fourthTeam).leader(), loner: ct.newTeam(lonerTeam).leader(),
		admin: ct.browser(), guest: ct.browser()}
	defer func() {
		for _, m := range []*member{c.team.members[0], c.team.members[1], c.team.members[2], c.fourth, c.loner} {
			if m.agent != nil {
				m.agent.close()
			}
		}
		c.admin.close()
		c.guest.close()
	}()
	t := ct.times
	for _, p := range []struct {
		from, to time.Time
		do       func(ctx context.Context, c *cast) error
	}{
		{time.Time{}, t.open, ct.checkStandby},
		{t.open, t.start, ct.checkRegistration},
		{t.start, t.freeze, ct.checkStarted},
		{t.freeze, t.end, ct.checkFrozen},
		{t.end, time.Time{}, ct.checkFinished},
	} {
		// The target's clock may be read in another place: a little later it is past the time, too.
		const margin = 5 * time.Millisecond
		if !scenario.Sleep(ctx, time.Until(p.from)+margin) {
			return ctx.Err()
		}
		err := p.do(ctx, c)
		if !p.to.IsZero() && !time.Now().Before(p.to) {
			return errLate
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkStandby: before the registration people may have accounts, but no teams.
func (ct *contest) checkStandby(ctx context.Context, c *cast) error {
	people := []*member{c.team.members[0], c.team.members[1], c.team.members[2], c.fourth, c.loner}
	err := parallel.Do(ctx, len(people), func(ctx context.Context, i int) error {
		key, err := people[i].signUp(ctx, ct)
		if i == 0 {
			c.vapid = key
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.team.leader().agent.refused(ctx, stepCreateTeam, http.MethodPost, "/api/registration/team",
		&registration.CreateTeamRequest{TeamName: c.team.name, Name: "n", EmailAddress: "e"}, http.StatusForbidden, "")
}

// checkRegistration: teams are created, joined, changed and withdrawn.
func (ct *contest) checkRegistration(ctx context.Context, c *cast) error {
	t := c.team
	if err := ct.createTeam(ctx, t); err != nil {
		return err
	}
	if err := t.leader().checkCreated(ctx); err != nil {
		return err
	}
	err := parallel.Do(ctx, members-1, func(ctx context.Context, i int) error { return ct.join(ctx, t.members[1+i]) })
	if err != nil {
		return err
	}
	ct.locked(func() { t.complete = true })
	checks := []func(ctx context.Context, c *cast) error{ct.checkRefusedMembers, ct.checkRefusedAccounts, ct.checkChanges, ct.checkWithdrawal}
	return parallel.Do(ctx, len(checks), func(ctx context.Context, i int) error { return checks[i](ctx, c) })
}

// checkRefusedMembers: a team has three members, and an invitation is needed.
func (ct *contest) checkRefusedMembers(ctx context.Context, c *cast) error {
	t := c.team
	for _, x := range []struct{ token, message string }{{t.inviteToken, msgTeamFull}, {"x" + t.inviteToken, msgBadInvitation}} {
		err := c.fourth.agent.refused(ctx, stepJoinTeam, http.MethodPost, "/api/registration/contestant",
			&registration.JoinTeamRequest{TeamId: t.id, InviteToken: x.token, Name: "n"}, http.StatusBadRequest, x.message)
		if err != nil {
			return err
		}
	}
	s, err := c.fourth.registrationOf(ctx, t.query(t.inviteToken))
	if err != nil {
		return err
	}
	if s.GetStatus() != registration.GetRegistrationSessionResponse_NOT_JOINABLE {
		return wrong(stepRegistration, "registration-status", "the status of a full team is %v", s.GetStatus())
	}
	s, err = c.fourth.registrationOf(ctx, "")
	if err != nil {
		return err
	}
	if s.GetStatus() != registration.GetRegistrationSessionResponse_CREATABLE || s.GetTeam() != nil {
		return wrong(stepRegistration, "registration-status", "the status without a team is %v, the team %v", s.GetStatus(), s.GetTeam())
	}
	return c.guest.refused(ctx, stepRegistration, http.MethodGet, "/api/registration/session"+t.query("x"), nil, http.StatusNotFound, "")
}

// checkRefusedAccounts: an ID is taken once, and benchmarks wait for the contest.
func (ct *contest) checkRefusedAccounts(ctx context.Context, c *cast) error {
	m := c.team.developer()
	err := c.guest.refused(ctx, stepSignup, http.MethodPost, "/api/signup",
		&contestant.SignupRequest{ContestantId: m.id, Password: m.password}, http.StatusBadRequest, "")
	if err != nil {
		return err
	}
	return m.agent.refused(ctx, stepEnqueue, http.MethodPost, jobsPath,
		&contestant.EnqueueBenchmarkJobRequest{TargetHostname: hostOf(c.team.id)}, http.StatusForbidden, msgOutsideContest)
}

// checkChanges: a leader renames the team, a member only itself.
func (ct *contest) checkChanges(ctx context.Context, c *cast) error {
	t := c.team
	renamed, other := t.name+" II", t.operator().name+"2"
	for _, x := range []struct {
		m  *member
		in *registration.UpdateRegistrationRequest
	}{
		{t.leader(), &registration.UpdateRegistrationRequest{TeamName: renamed, Name: t.leader().name, EmailAddress: t.email, IsStudent: t.leader().student}},
		{t.operator(), &registration.UpdateRegistrationRequest{TeamName: "nobody's", Name: other, EmailAddress: "x", IsStudent: t.operator().student}},
	} {
		err := x.m.agent.call(ctx, stepUpdateRegistration, http.MethodPut, "/api/registration", x.in, new(registration.UpdateRegistrationResponse))
		if err != nil {
			return err
		}
	}
	ct.locked(func() { t.name, t.operator().name = renamed, other })
	return t.operator().page(ctx, "/contestant")
}

// checkWithdrawal: a leader withdraws a team, which then is in no list of teams.
func (ct *contest) checkWithdrawal(ctx context.Context, c *cast) error {
	t := c.loner.team
	if err := ct.createTeam(ctx, t); err != nil {
		return err
	}
	err := c.loner.agent.call(ctx, stepDeleteRegistration, http.MethodDelete, "/api/registration", nil, new(registration.DeleteRegistrationResponse))
	if err != nil {
		return err
	}
	ct.locked(func() { // leaderboards still show it, without a leader
		delete(ct.teams, t.id)
		ct.half[t.name] = t
	})
	s, err := c.loner.registrationOf(ctx, "")
	if err != nil {
		return err
	}
	if s.GetStatus() != registration.GetRegistrationSessionResponse_CREATABLE {
		return wrong(stepRegistration, "registration-status", "the status behind a withdrawal is %v", s.GetStatus())
	}
	list := new(audience.ListTeamsResponse)
	if err := c.guest.call(ctx, stepTeams, http.MethodGet, "/api/audience/teams", nil, list); err != nil {
		return err
	}
	if len(list.GetTeams()) != 1 || list.GetTeams()[0].GetTeamId() != c.team.id || len(list.GetTeams()[0].GetMemberNames()) != members ||
		list.GetTeams()[0].GetIsStudent() != c.team.student {
		return wrong(stepTeams, "teams", "the teams are %v, want %d alone", list.GetTeams(), c.team.id)
	}
	return nil
}
