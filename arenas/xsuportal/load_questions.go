package xsuportal

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	clarificationsPath      = "/api/contestant/clarifications"
	adminClarificationsPath = "/api/admin/clarifications"

	askPause   = 3 * time.Second // before the first question, and between two
	adminPause = 200 * time.Millisecond
	// discloseEvery is how many questions come to one whose answer is for everyone.
	discloseEvery = 20
)

// askLoop is what a leader does: asks, when all earlier questions are answered.
func (ct *contest) askLoop(ctx context.Context, t *team) {
	r := ct.rand("questions of " + t.name)
	for ct.pause(ctx, askPause) && ct.awaitAnswers(ctx, t) {
		ct.mu.Lock()
		q := &question{team: t, text: questionText(r, len(ct.questions)+1), answer: answerText(r, len(ct.questions)+1)}
		q.disclosed = (len(ct.questions)+1)%discloseEvery == 0
		ct.questions = append(ct.questions, q)
		ct.byText[q.text] = q
		t.open++
		ct.mu.Unlock()
		if err := ct.ask(ctx, t, q); err != nil {
			ct.s.Report(err)
			ct.locked(func() {
				if q.posted.IsZero() && q.put.IsZero() { // the developer goes on, whatever became of it
					t.open--
					q.resolved = true
				}
			})
			t.done.ring()
		}
	}
}

// awaitAnswers waits until no question of a team is open.
func (ct *contest) awaitAnswers(ctx context.Context, t *team) bool {
	for {
		changed := t.done.wait()
		ct.mu.Lock()
		none := t.open == 0
		ct.mu.Unlock()
		if none {
			return ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// ask opens the page of questions, and posts one.
func (ct *contest) ask(ctx context.Context, t *team, q *question) error {
	m := t.leader()
	if err := m.page(ctx, "/contestant/clarifications"); err != nil {
		return err
	}
	if _, err := m.questions(ctx); err != nil {
		return err
	}
	out := new(contestant.RequestClarificationResponse)
	err := m.agent.call(ctx, stepAsk, http.MethodPost, clarificationsPath, &contestant.RequestClarificationRequest{Question: q.text}, out)
	if err != nil {
		return err
	}
	c := out.GetClarification()
	if c.GetId() <= 0 || c.GetTeamId() != t.id || c.GetQuestion() != q.text || c.GetAnswered() {
		return wrong(stepAsk, "clarification-fields", "the new question is %v, want %q of team %d", c, q.text, t.id)
	}
	ct.locked(func() { q.id, q.posted = c.GetId(), time.Now() })
	return nil
}

// questions gets the questions that a member may see, and checks each.
func (m *member) questions(ctx context.Context) ([]*resources.Clarification, error) {
	ct, t := m.agent.ct, m.team
	ct.mu.Lock()
	var sure []*question // those that the list must have
	for _, q := range ct.questions {
		if q.team == t && !q.posted.IsZero() || q.disclosed && !q.put.IsZero() {
			sure = append(sure, q)
		}
	}
	ct.mu.Unlock()
	out := new(contestant.ListClarificationsResponse)
	if err := m.agent.call(ctx, stepClarifications, http.MethodGet, clarificationsPath, nil, out); err != nil {
		return nil, err
	}
	list := out.GetClarifications()
	got := map[string]bool{}
	for i, c := range list {
		if i > 0 && list[i-1].GetId() <= c.GetId() {
			return nil, wrong(stepClarifications, "clarifications-order", "question %d is behind %d", c.GetId(), list[i-1].GetId())
		}
		q, err := ct.checkQuestion(stepClarifications, c)
		if err != nil {
			return nil, err
		}
		if q.team != t && !(c.GetAnswered() && c.GetDisclosed()) {
			return nil, wrong(stepClarifications, "clarifications-foreign", "team %d sees question %d of team %d", t.id, c.GetId(), c.GetTeamId())
		}
		got[q.text] = true
	}
	for _, q := range sure {
		if !got[q.text] {
			return nil, wrong(stepClarifications, "clarifications-missing", "team %d does not see question %d of team %d", t.id, q.id, q.team.id)
		}
	}
	return list, nil
}

// checkQuestion compares a question with what was asked and answered.
func (ct *contest) checkQuestion(step scenario.Step, c *resources.Clarification) (*question, error) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	q := ct.byText[c.GetQuestion()]
	if q == nil {
		return nil, wrong(step, "clarification-unknown", "nobody has asked question %d, %.80q", c.GetId(), c.GetQuestion())
	}
	if c.GetTeamId() != q.team.id || q.id != 0 && c.GetId() != q.id {
		return nil, wrong(step, "clarification-fields", "question %d of team %d, want %d of team %d", c.GetId(), c.GetTeamId(), q.id, q.team.id)
	}
	if got := c.GetTeam(); got.GetId() != q.team.id || got.GetName() != q.team.name || got.GetLeader().GetId() != q.team.leader().id {
		return nil, wrong(step, "clarification-team", "the team of question %d is %v, want %d (%s)", c.GetId(), got, q.team.id, q.team.name)
	}
	switch {
	case c.GetAnswered() && q.sent.IsZero():
		return nil, wrong(step, "clarification-answer", "question %d has an answer, and nobody has given one", c.GetId())
	case c.GetAnswered() && (c.GetAnswer() != q.answer || c.GetDisclosed() != q.disclosed || c.GetAnsweredAt() == nil):
		return nil, wrong(step, "clarification-answer", "the answer to question %d is %.80q, disclosed %v; want %q, %v", c.GetId(), c.GetAnswer(),
			c.GetDisclosed(), q.answer, q.disclosed)
	case !c.GetAnswered() && c.GetAnswer() != "":
		return nil, wrong(step, "clarification-answer", "question %d is not answered, but has an answer", c.GetId())
	}
	return q, nil
}

// questionAnswered handles the notification of an answer: the leader reads it.
func (m *member) questionAnswered(ctx context.Context, n *resources.Notification_ClarificationMessage) error {
	ct, t := m.agent.ct, m.team
	if err := m.page(ctx, "/contestant/clarifications"); err != nil {
		return m.retry(ctx, n, err)
	}
	list, err := m.questions(ctx)
	if err != nil {
		return m.retry(ctx, n, err)
	}
	for _, c := range list {
		if c.GetId() != n.GetClarificationId() {
			continue
		}
		if !c.GetAnswered() {
			return wrong(stepClarifications, "clarification-answer", "team %d is notified of question %d, which has no answer", t.id, c.GetId())
		}
		ct.mu.Lock()
		q := ct.byText[c.GetQuestion()]
		owned := q.team == t
		first := owned && !q.resolved
		if first {
			q.resolved = true
			t.open--
		}
		ct.mu.Unlock()
		if n.GetOwned() != owned {
			return wrong(stepNotifications, "notification-owned", "the notification of question %d of team %d for team %d: owned %v", c.GetId(),
				q.team.id, t.id, n.GetOwned())
		}
		if first {
			ct.add(resolved)
			t.done.ring()
		}
		return nil
	}
	return wrong(stepClarifications, "clarifications-missing", "team %d is notified of question %d and does not see it", t.id, n.GetClarificationId())
}

// retry reports an error and has the leader read the answer again, as a person would.
func (m *member) retry(ctx context.Context, n *resources.Notification_ClarificationMessage, err error) error {
	if ctx.Err() != nil {
		return err
	}
	m.agent.ct.s.Report(err)
	if !m.agent.ct.pause(ctx, errorPause) {
		return nil
	}
	return m.questionAnswered(ctx, n)
}

// adminLoop is what the administrator does: answers questions.
func (ct *contest) adminLoop(ctx context.Context) {
	a := ct.browser()
	defer a.close()
	if !scenario.Sleep(ctx, time.Until(ct.times.start)) {
		return
	}
	for {
		err := a.call(ctx, stepLogin, http.MethodPost, "/api/login", &contestant.LoginRequest{ContestantId: adminID, Password: adminPassword},
			new(contestant.LoginResponse))
		if err == nil {
			break
		}
		ct.s.Report(err)
		if !ct.pause(ctx, errorPause) {
			return
		}
	}
	for ctx.Err() == nil {
		n, err := ct.answerAll(ctx, a)
		ct.s.Report(err)
		if n == 0 {
			ct.pause(ctx, adminPause)
		}
	}
}

// The administrator's account.
const (
	adminID       = "admin"
	adminPassword = "admin"
)

// answerAll answers all open questions, and returns their number.
func (ct *contest) answerAll(ctx context.Context, a *agent) (int, error) {
	if _, err := a.page(ctx, "/admin/clarifications", adminShell); err != nil {
		return 0, err
	}
	out := new(admin.ListClarificationsResponse)
	if err := a.call(ctx, stepAdminClarifications, http.MethodGet, adminClarificationsPath, nil, out); err != nil {
		return 0, err
	}
	var open []openQuestion
	for _, c := range out.GetClarifications() {
		q, err := ct.checkQuestion(stepAdminClarifications, c)
		if err != nil {
			return 0, err
		}
		ct.mu.Lock()
		q.id = c.GetId()
		if !c.GetAnswered() {
			open = append(open, openQuestion{q, c.GetId()})
		}
		ct.mu.Unlock()
	}
	return len(open), parallel.Do(ctx, len(open), func(ctx context.Context, i int) error { return ct.answer(ctx, a, open[i]) })
}

// An openQuestion is a question without an answer, with its number in the target.
type openQuestion struct {
	question *question
	id       int64
}

// answer reads one question and answers it.
func (ct *contest) answer(ctx context.Context, a *agent, o openQuestion) error {
	q, id := o.question, o.id
	path := fmt.Sprintf("%s/%d", adminClarificationsPath, id)
	one := new(admin.GetClarificationResponse)
	if err := a.call(ctx, stepAdminClarification, http.MethodGet, path, nil, one); err != nil {
		return err
	}
	if got, err := ct.checkQuestion(stepAdminClarification, one.GetClarification()); err != nil {
		return err
	} else if got != q {
		return wrong(stepAdminClarification, "clarification-fields", "question %d is %.80q, want %q", id, got.text, q.text)
	}
	ct.locked(func() {
		if q.sent.IsZero() {
			q.sent = time.Now()
		}
	})
	out := new(admin.RespondClarificationResponse)
	in := &admin.RespondClarificationRequest{Id: id, Disclose: q.disclosed, Answer: q.answer, Question: q.text}
	if err := a.call(ctx, stepAnswer, http.MethodPut, path, in, out); err != nil {
		return err
	}
	if c := out.GetClarification(); c.GetId() != id || !c.GetAnswered() || c.GetAnswer() != q.answer || c.GetDisclosed() != q.disclosed {
		return wrong(stepAnswer, "clarification-answer", "the answered question is %v, want %d with %q", c, id, q.answer)
	}
	ct.locked(func() { q.put = time.Now() })
	return nil
}
