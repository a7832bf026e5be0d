package xsuportal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/registration"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// errFull means that the target admits no further team.
var errFull = errors.New("no further team is admitted")

// registerTeam has the next team register. It returns false if no further one can.
func (ct *contest) registerTeam(ctx context.Context) bool {
	ct.mu.Lock()
	if ct.stopped {
		ct.mu.Unlock()
		return false
	}
	ct.numbers++
	number := ct.numbers
	ct.mu.Unlock()
	t := ct.newTeam(number)
	err := ct.enter(ctx, t)
	if errors.Is(err, errFull) {
		ct.locked(func() { ct.stopped = true })
		return false
	}
	if err != nil && !ct.tooLate(err) {
		ct.s.Report(err)
		ct.pause(ctx, errorPause)
	}
	return true
}

// tooLate reports whether a request of the registration was refused because the contest had
// begun: the team stays as it is, and does not take part.
func (ct *contest) tooLate(err error) bool {
	var f *scenario.Fault
	return errors.As(err, &f) && f.Example != nil && f.Example.Status == http.StatusForbidden && !time.Now().Before(ct.times.start)
}

func (ct *contest) newTeam(number int) *team {
	t := &team{plan: planOf(ct.s, number), heard: map[int64]bool{}}
	for i := range t.members {
		t.members[i] = &member{person: t.people[i], team: t, seen: map[int64]bool{}, inbox: make(chan notice, inboxSize)}
	}
	return t
}

// enter is the registration of a team.
func (ct *contest) enter(ctx context.Context, t *team) error {
	leader := t.leader()
	key, err := leader.signUp(ctx, ct)
	if err != nil {
		return err
	}
	if err := ct.createTeam(ctx, t); err != nil {
		return err
	}
	ct.s.Go("benchmark worker", func(ctx context.Context) { ct.workLoop(ctx, t) })
	if err := leader.checkCreated(ctx); err != nil {
		return err
	}
	ct.startWatching(leader, key)
	err = parallel.Do(ctx, members-1, func(ctx context.Context, i int) error {
		m := t.members[1+i]
		key, err := m.signUp(ctx, ct)
		if err == nil {
			err = ct.join(ctx, m)
		}
		if err == nil {
			ct.startWatching(m, key)
		}
		return err
	})
	if err != nil {
		ct.locked(func() { t.unsure = true })
		return err
	}
	ct.locked(func() { t.complete = true })
	return nil
}

// signUp opens the page for it and makes the member's account. It returns the key of Web Push.
func (m *member) signUp(ctx context.Context, ct *contest) (key string, err error) {
	m.agent = ct.browser()
	session, err := m.agent.page(ctx, "/signup", audienceShell)
	if err != nil {
		return "", err
	}
	if session.GetContestant() != nil {
		return "", wrong(stepSession, "session-contestant", "the contestant of a new browser is %v", session.GetContestant())
	}
	return session.GetPushVapidKey(), m.agent.call(ctx, stepSignup, http.MethodPost, "/api/signup",
		&contestant.SignupRequest{ContestantId: m.id, Password: m.password}, new(contestant.SignupResponse))
}

// createTeam creates a team. The leader is its first member.
func (ct *contest) createTeam(ctx context.Context, t *team) error {
	in := &registration.CreateTeamRequest{TeamName: t.name, Name: t.leader().name, EmailAddress: t.email, IsStudent: t.leader().student}
	out := new(registration.CreateTeamResponse)
	full := false
	ct.locked(func() { ct.half[t.name] = t })
	err := t.leader().agent.do(ctx, request(stepCreateTeam, http.MethodPost, "/api/registration/team", in), func(res *scenario.Response) error {
		full = res.Status == http.StatusForbidden
		return decode(res, out)
	})
	if full {
		ct.locked(func() { delete(ct.half, t.name) })
		return errFull
	}
	if err != nil {
		return err
	}
	ct.mu.Lock()
	defer ct.mu.Unlock()
	t.id = out.GetTeamId()
	if other := ct.teams[t.id]; other != nil || t.id <= 0 {
		return wrong(stepCreateTeam, "team-id", "the new team has the number %d", t.id)
	}
	delete(ct.half, t.name)
	t.joined++
	ct.teams[t.id], ct.hosts[hostOf(t.id)] = t, t
	return nil
}

// hostOf is the host that a team has benchmarked: its number can be read from it.
func hostOf(team int64) string { return fmt.Sprintf("xsu-contestant-%05d", team) }

// registrationOf asks what the member can do.
func (m *member) registrationOf(ctx context.Context, query string) (*registration.GetRegistrationSessionResponse, error) {
	out := new(registration.GetRegistrationSessionResponse)
	return out, m.agent.call(ctx, stepRegistration, http.MethodGet, "/api/registration/session"+query, nil, out)
}

// checkCreated has the leader look at the new team, and takes the invitation.
func (m *member) checkCreated(ctx context.Context) error {
	s, err := m.registrationOf(ctx, "")
	if err != nil {
		return err
	}
	t := m.team
	if s.GetStatus() != registration.GetRegistrationSessionResponse_JOINED {
		return wrong(stepRegistration, "registration-status", "the status of a leader is %v", s.GetStatus())
	}
	if got := s.GetTeam(); got.GetId() != t.id || got.GetName() != t.name || got.GetLeaderId() != m.id ||
		got.GetDetail().GetEmailAddress() != t.email || got.GetDetail().GetInviteToken() != s.GetInviteToken() {
		return wrong(stepRegistration, "registration-team", "the team is %v, want %d (%s) of %s", got, t.id, t.name, m.id)
	}
	if s.GetInviteToken() == "" || s.GetMemberInviteUrl() != t.invitation(s.GetInviteToken()) {
		return wrong(stepRegistration, "registration-invitation", "the invitation is %.200q with the token %.100q", s.GetMemberInviteUrl(),
			s.GetInviteToken())
	}
	m.agent.ct.locked(func() { t.inviteToken = s.GetInviteToken() })
	return nil
}

func (t *team) invitation(token string) string { return "/registration" + t.query(token) }

func (t *team) query(token string) string {
	return "?" + url.Values{"team_id": {strconv.FormatInt(t.id, 10)}, "invite_token": {token}}.Encode()
}

// join has a member follow the invitation.
func (ct *contest) join(ctx context.Context, m *member) error {
	t := m.team
	ct.mu.Lock()
	token := t.inviteToken
	ct.mu.Unlock()
	if _, err := m.agent.page(ctx, t.invitation(token), audienceShell); err != nil {
		return err
	}
	s, err := m.registrationOf(ctx, t.query(token))
	if err != nil {
		return err
	}
	if s.GetStatus() != registration.GetRegistrationSessionResponse_JOINABLE || s.GetTeam().GetId() != t.id {
		return wrong(stepRegistration, "registration-status", "the status of an invitation is %v for team %d", s.GetStatus(), s.GetTeam().GetId())
	}
	if s.GetTeam().GetDetail() != nil {
		return wrong(stepRegistration, "registration-detail", "%s sees the address of team %d", m.id, t.id)
	}
	in := &registration.JoinTeamRequest{TeamId: t.id, InviteToken: token, Name: m.name, IsStudent: m.student}
	err = m.agent.call(ctx, stepJoinTeam, http.MethodPost, "/api/registration/contestant", in, new(registration.JoinTeamResponse))
	if err == nil {
		ct.locked(func() { t.joined++ })
	}
	return err
}
