package xsuportal

import (
	"context"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/registration"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A refusal is a request that must be refused.
type refusal struct {
	step    scenario.Step
	method  string
	path    string
	in      proto.Message
	status  int
	message string
}

// refusedAll sends requests that must be refused.
func (a *agent) refusedAll(ctx context.Context, list []refusal) error {
	return parallel.Do(ctx, len(list), func(ctx context.Context, i int) error {
		r := list[i]
		return a.refused(ctx, r.step, r.method, r.path, r.in, r.status, r.message)
	})
}

// contestantRequests are the seven that need a team.
func contestantRequests(status int, message string) []refusal {
	return []refusal{
		{stepUpdateRegistration, http.MethodPut, "/api/registration", &registration.UpdateRegistrationRequest{TeamName: "t"}, status, message},
		{stepDeleteRegistration, http.MethodDelete, "/api/registration", nil, status, message},
		{stepEnqueue, http.MethodPost, jobsPath, &contestant.EnqueueBenchmarkJobRequest{TargetHostname: "h"}, status, message},
		{stepJobs, http.MethodGet, jobsPath, nil, status, message},
		{stepJob, http.MethodGet, jobsPath + "/1", nil, status, message},
		{stepClarifications, http.MethodGet, clarificationsPath, nil, status, message},
		{stepAsk, http.MethodPost, clarificationsPath, &contestant.RequestClarificationRequest{Question: "q"}, status, message},
	}
}

// adminRequests are the three of the administrator.
func adminRequests(id int64, status int, message string) []refusal {
	one := fmt.Sprintf("%s/%d", adminClarificationsPath, id)
	return []refusal{
		{stepAdminClarifications, http.MethodGet, adminClarificationsPath, nil, status, message},
		{stepAdminClarification, http.MethodGet, one, nil, status, message},
		{stepAnswer, http.MethodPut, one, &admin.RespondClarificationRequest{Id: id, Answer: "a"}, status, message},
	}
}

// checkRefusals sends what must be refused after the end of the contest, each in the name of
// whom it must be refused to.
func (ct *contest) checkRefusals(ctx context.Context, c *cast) error {
	guest := append(contestantRequests(http.StatusUnauthorized, msgLoginRequired), adminRequests(1, http.StatusUnauthorized, msgLoginRequired)...)
	if err := c.guest.refusedAll(ctx, guest); err != nil {
		return err
	}
	if err := c.fourth.agent.refusedAll(ctx, contestantRequests(http.StatusForbidden, msgTeamRequired)); err != nil {
		return err
	}
	m := c.team.developer()
	if err := m.agent.refusedAll(ctx, adminRequests(1, http.StatusForbidden, msgStaffRequired)); err != nil {
		return err
	}
	err := m.agent.refused(ctx, stepEnqueue, http.MethodPost, jobsPath,
		&contestant.EnqueueBenchmarkJobRequest{TargetHostname: hostOf(c.team.id)}, http.StatusForbidden, msgOutsideContest)
	if err != nil {
		return err
	}
	return ct.checkLogin(ctx, c)
}

// checkLogin: the right password logs in, others do not; who logs out is out.
func (ct *contest) checkLogin(ctx context.Context, c *cast) error {
	m := c.team.operator()
	a := ct.browser()
	defer a.close()
	for _, in := range []*contestant.LoginRequest{{ContestantId: m.id, Password: m.password + "x"}, {ContestantId: "nobody-" + m.id, Password: m.password}} {
		if err := a.refused(ctx, stepLogin, http.MethodPost, "/api/login", in, http.StatusBadRequest, msgWrongLogin); err != nil {
			return err
		}
	}
	if err := a.refused(ctx, stepLogout, http.MethodPost, "/api/logout", nil, http.StatusUnauthorized, ""); err != nil {
		return err
	}
	err := a.call(ctx, stepLogin, http.MethodPost, "/api/login", &contestant.LoginRequest{ContestantId: m.id, Password: m.password},
		new(contestant.LoginResponse))
	if err != nil {
		return err
	}
	s, err := a.session(ctx)
	if err != nil {
		return err
	}
	if s.GetContestant().GetId() != m.id {
		return wrong(stepSession, "session-contestant", "the contestant is %v, want %s", s.GetContestant(), m.id)
	}
	if err := a.call(ctx, stepLogout, http.MethodPost, "/api/logout", nil, new(contestant.LogoutResponse)); err != nil {
		return err
	}
	if s, err = a.session(ctx); err != nil {
		return err
	}
	if s.GetContestant() != nil {
		return wrong(stepSession, "session-logout", "%v is still logged in", s.GetContestant())
	}
	return nil
}
