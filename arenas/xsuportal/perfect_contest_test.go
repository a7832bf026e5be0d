package xsuportal

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/audience"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/registration"
)

func readAll(r *http.Request) []byte {
	b, _ := io.ReadAll(r.Body)
	return b
}

func (p *perfectApp) signup(v *visit) (proto.Message, *refused) {
	in := new(contestant.SignupRequest)
	v.read(in)
	if p.people[in.ContestantId] != nil {
		return nil, &refused{http.StatusBadRequest, "taken"}
	}
	who := &perfectPerson{Contestant: &resources.Contestant{Id: in.ContestantId}, password: in.Password}
	p.people[who.Id] = who
	p.logIn(v, who)
	return new(contestant.SignupResponse), nil
}

func (p *perfectApp) login(v *visit) (proto.Message, *refused) {
	in := new(contestant.LoginRequest)
	v.read(in)
	who := p.people[in.ContestantId]
	if who == nil || who.password != in.Password {
		return nil, &refused{http.StatusBadRequest, msgWrongLogin}
	}
	p.logIn(v, who)
	return new(contestant.LoginResponse), nil
}

func (p *perfectApp) logout(v *visit) (proto.Message, *refused) {
	if v.who == nil {
		return nil, &refused{http.StatusUnauthorized, "not logged in"}
	}
	http.SetCookie(v.w, &http.Cookie{Name: perfectCookie, Path: "/", MaxAge: -1})
	return new(contestant.LogoutResponse), nil
}

var closed = &refused{http.StatusForbidden, "no registration"}

func (p *perfectApp) createTeam(v *visit) (proto.Message, *refused) {
	in := new(registration.CreateTeamRequest)
	v.read(in)
	switch {
	case v.who == nil:
		return nil, noLogin
	case p.status() != resources.Contest_REGISTRATION || len(p.teams) >= p.capacity:
		return nil, closed
	}
	id := int64(len(p.teams) + 1)
	t := &perfectTeam{Team: &resources.Team{Id: id, Name: in.TeamName}, email: in.EmailAddress, token: fmt.Sprintf("token_%d==", id)}
	p.teams = append(p.teams, t)
	v.who.enter(t, in.Name, in.IsStudent)
	t.LeaderId = v.who.Id
	return &registration.CreateTeamResponse{TeamId: id}, nil
}

func (who *perfectPerson) enter(t *perfectTeam, name string, student bool) {
	who.team, who.TeamId, who.Name, who.IsStudent = t, t.Id, name, student
	t.members = append(t.members, who)
}

func (p *perfectApp) join(v *visit) (proto.Message, *refused) {
	in := new(registration.JoinTeamRequest)
	v.read(in)
	t := p.invited(strconv.FormatInt(in.TeamId, 10), in.InviteToken)
	switch {
	case v.who == nil:
		return nil, noLogin
	case p.status() != resources.Contest_REGISTRATION:
		return nil, closed
	case t == nil:
		return nil, &refused{http.StatusBadRequest, msgBadInvitation}
	case len(t.members) >= members:
		return nil, &refused{http.StatusBadRequest, msgTeamFull}
	}
	v.who.enter(t, in.Name, in.IsStudent)
	return new(registration.JoinTeamResponse), nil
}

func (p *perfectApp) change(v *visit) (proto.Message, *refused) {
	in := new(registration.UpdateRegistrationRequest)
	v.read(in)
	if t := v.who.team; t.LeaderId == v.who.Id {
		t.Name, t.email = in.TeamName, in.EmailAddress
	}
	v.who.Name, v.who.IsStudent = in.Name, in.IsStudent
	return new(registration.UpdateRegistrationResponse), nil
}

func (p *perfectApp) withdraw(v *visit) (proto.Message, *refused) {
	if p.status() != resources.Contest_REGISTRATION {
		return nil, closed
	}
	t := v.who.team
	leaving := []*perfectPerson{v.who}
	if t.LeaderId == v.who.Id {
		leaving = slices.Clone(t.members)
		t.Withdrawn, t.LeaderId = true, ""
	}
	for _, who := range leaving {
		who.team, who.TeamId = nil, 0
		t.members = slices.DeleteFunc(t.members, func(m *perfectPerson) bool { return m == who })
	}
	return new(registration.DeleteRegistrationResponse), nil
}

func (p *perfectApp) enqueue(v *visit) (proto.Message, *refused) {
	in := new(contestant.EnqueueBenchmarkJobRequest)
	v.read(in)
	if p.status() != resources.Contest_STARTED {
		return nil, &refused{http.StatusForbidden, msgOutsideContest}
	}
	for _, j := range p.jobs {
		if j.TeamId == v.who.TeamId && j.Result == nil {
			return nil, &refused{http.StatusForbidden, msgAlreadyRunning}
		}
	}
	j := &resources.BenchmarkJob{Id: int64(len(p.jobs) + 1), TeamId: v.who.TeamId, TargetHostname: in.TargetHostname, CreatedAt: timestamppb.Now()}
	p.jobs = append(p.jobs, j)
	p.news.ring()
	return &contestant.EnqueueBenchmarkJobResponse{Job: j}, nil
}

func (p *perfectApp) listJobs(v *visit) (proto.Message, *refused) {
	out := new(contestant.ListBenchmarkJobsResponse)
	for _, j := range slices.Backward(p.jobs) {
		if j.TeamId == v.who.TeamId {
			out.Jobs = append(out.Jobs, j)
		}
	}
	return out, nil
}

func (p *perfectApp) job(v *visit) (proto.Message, *refused) {
	if i := v.id() - 1; i >= 0 && i < int64(len(p.jobs)) && p.jobs[i].TeamId == v.who.TeamId {
		return &contestant.GetBenchmarkJobResponse{Job: p.jobs[i]}, nil
	}
	return nil, noThing
}

func (p *perfectApp) dashboard(v *visit) (proto.Message, *refused) {
	return &contestant.DashboardResponse{Leaderboard: p.board(v.who.team)}, nil
}

func (p *perfectApp) audience(*visit) (proto.Message, *refused) {
	return &audience.DashboardResponse{Leaderboard: p.board(nil)}, nil
}

func (p *perfectApp) listTeams(*visit) (proto.Message, *refused) {
	out := new(audience.ListTeamsResponse)
	for _, t := range slices.Backward(p.teams) {
		if t.Withdrawn {
			continue
		}
		item := &audience.ListTeamsResponse_TeamListItem{TeamId: t.Id, Name: t.Name, IsStudent: true}
		for _, m := range t.members {
			item.MemberNames = append(item.MemberNames, m.Name)
			item.IsStudent = item.IsStudent && m.IsStudent
		}
		out.Teams = append(out.Teams, item)
	}
	return out, nil
}

// of is a question as answers show it.
func (p *perfectApp) of(c *resources.Clarification) *resources.Clarification {
	out := clone(c)
	out.Team = p.teams[c.TeamId-1].message(false)
	return out
}

func (p *perfectApp) listQuestions(v *visit) (proto.Message, *refused) {
	out := new(contestant.ListClarificationsResponse)
	for _, c := range slices.Backward(p.asked) {
		if c.TeamId == v.who.TeamId || c.Disclosed {
			out.Clarifications = append(out.Clarifications, p.of(c))
		}
	}
	return out, nil
}

func (p *perfectApp) ask(v *visit) (proto.Message, *refused) {
	in := new(contestant.RequestClarificationRequest)
	v.read(in)
	c := &resources.Clarification{Id: int64(len(p.asked) + 1), TeamId: v.who.TeamId, Question: in.Question, CreatedAt: timestamppb.Now()}
	p.asked = append(p.asked, c)
	return &contestant.RequestClarificationResponse{Clarification: p.of(c)}, nil
}

func (p *perfectApp) allQuestions(*visit) (proto.Message, *refused) {
	out := new(admin.ListClarificationsResponse)
	for _, c := range slices.Backward(p.asked) {
		out.Clarifications = append(out.Clarifications, p.of(c))
	}
	return out, nil
}

func (p *perfectApp) question(v *visit) (proto.Message, *refused) {
	if i := v.id() - 1; i >= 0 && i < int64(len(p.asked)) {
		return &admin.GetClarificationResponse{Clarification: p.of(p.asked[i])}, nil
	}
	return nil, noThing
}

func (p *perfectApp) answer(v *visit) (proto.Message, *refused) {
	in := new(admin.RespondClarificationRequest)
	v.read(in)
	i := v.id() - 1
	if i < 0 || i >= int64(len(p.asked)) {
		return nil, noThing
	}
	c := p.asked[i]
	updated := c.Answered && c.Disclosed == in.Disclose
	c.Answered, c.Disclosed, c.Answer, c.AnsweredAt = true, in.Disclose, in.Answer, timestamppb.Now()
	var to []*perfectPerson
	for _, t := range p.teams {
		if c.Disclosed || t.Id == c.TeamId {
			to = append(to, t.members...)
		}
	}
	p.tell(to, func(who *perfectPerson) *resources.Notification {
		return &resources.Notification{Content: &resources.Notification_ContentClarification{
			ContentClarification: &resources.Notification_ClarificationMessage{ClarificationId: c.Id, Owned: who.TeamId == c.TeamId, Updated: updated}}}
	})
	return &admin.RespondClarificationResponse{Clarification: p.of(c)}, nil
}

func (p *perfectApp) listNotices(v *visit) (proto.Message, *refused) {
	out := new(contestant.ListNotificationsResponse)
	after, _ := strconv.ParseInt(v.URL.Query().Get("after"), 10, 64)
	for _, n := range v.who.notices {
		if n.Id > after && (p.pusher == nil || len(v.who.browsers) == 0) {
			out.Notifications = append(out.Notifications, n)
		}
	}
	for _, c := range p.asked {
		if c.Answered && (c.Disclosed || c.TeamId == v.who.TeamId) {
			out.LastAnsweredClarificationId = c.Id
		}
	}
	return out, nil
}

func (p *perfectApp) subscribe(v *visit) (proto.Message, *refused) {
	if p.pusher == nil {
		return nil, &refused{http.StatusServiceUnavailable, "no push"}
	}
	in := new(contestant.SubscribeNotificationRequest)
	v.read(in)
	v.who.browsers = append(v.who.browsers, browserKeys{in.Endpoint, in.P256Dh, in.Auth})
	return new(contestant.SubscribeNotificationResponse), nil
}

// pollTime is how long the queue waits for a job.
const pollTime = 450 * time.Millisecond
