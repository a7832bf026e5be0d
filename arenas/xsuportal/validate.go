package xsuportal

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/audience"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Times of the checks after the load.
const (
	settleTime = 5 * time.Second // from the end of the contest on
	leastWait  = time.Second     // spreads the boards
	mostWait   = 5 * time.Second
	// exempt is how long before the end an answer may have come too late.
	exempt = 10 * time.Second
)

// Validate compares all boards, the notifications of answers and the questions with what the
// target has acknowledged.
func (ct *contest) Validate(ctx context.Context, _ scenario.Session) error {
	defer ct.push.close()
	scenario.Sleep(ctx, time.Until(ct.times.end.Add(ct.span(settleTime))))
	checks := []func(ctx context.Context) error{ct.finalAudience, ct.finalHeard, ct.finalQuestions}
	ct.mu.Lock()
	for _, t := range ct.teams {
		checks = append(checks, func(ctx context.Context) error { return ct.finalBoard(ctx, t) })
	}
	ct.mu.Unlock()
	return parallel.Do(ctx, len(checks), func(ctx context.Context, i int) error { return checks[i](ctx) })
}

// wait spreads the checks over some seconds.
func (ct *contest) wait(ctx context.Context, name string) {
	ct.pause(ctx, leastWait+time.Duration(ct.rand(name).Int64N(int64(mostWait-leastWait))))
}

// finalBoard compares the board of a team's leader.
func (ct *contest) finalBoard(ctx context.Context, t *team) error {
	ct.wait(ctx, "final board of "+t.name)
	out := new(contestant.DashboardResponse)
	r := request(stepDashboard, http.MethodGet, "/api/contestant/dashboard", nil)
	r.Timeout = requestTimeout
	err := t.leader().agent.do(ctx, r, func(res *scenario.Response) error { return decode(res, out) })
	if err != nil {
		return err
	}
	return ct.checkFinal(stepDashboard, out.GetLeaderboard())
}

// finalAudience compares the audience's board.
func (ct *contest) finalAudience(ctx context.Context) error {
	ct.wait(ctx, "final board of the audience")
	a := ct.browser()
	defer a.close()
	out := new(audience.DashboardResponse)
	r := request(stepAudienceDashboard, http.MethodGet, "/api/audience/dashboard", nil)
	r.Timeout = requestTimeout
	if err := a.do(ctx, r, func(res *scenario.Response) error { return decode(res, out) }); err != nil {
		return err
	}
	return ct.checkFinal(stepAudienceDashboard, out.GetLeaderboard())
}

// checkFinal compares a whole board after the end: every team with every score. A result whose
// report had no answer at the end may be there or not.
func (ct *contest) checkFinal(step scenario.Step, b *resources.Leaderboard) error {
	k := &knownBoard{eye: eye{step: step}, ct: ct, asked: time.Now(), least: map[*team]int{}}
	ct.locked(func() {
		for _, t := range ct.teams {
			n := len(t.results)
			if n > 0 && t.results[n-1].acked.IsZero() {
				n--
			}
			k.least[t] = n // with 0, too: the team must be there
		}
	})
	return k.check(b)
}

// finalHeard checks that each team was notified of each answer for everyone.
func (ct *contest) finalHeard(context.Context) error {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	before := ct.times.end.Add(-ct.span(exempt))
	for _, q := range ct.questions {
		if !q.disclosed || q.put.IsZero() || q.put.After(before) {
			continue
		}
		for _, t := range ct.teams {
			if t.complete && !t.heard[q.id] {
				return wrong(stepNotifications, "final-notifications", "no member of team %d was notified of question %d, whose answer is for everyone",
					t.id, q.id)
			}
		}
	}
	return nil
}

// finalQuestions compares the administrator's list of questions.
func (ct *contest) finalQuestions(ctx context.Context) error {
	a := ct.browser()
	defer a.close()
	err := a.call(ctx, stepLogin, http.MethodPost, "/api/login", &contestant.LoginRequest{ContestantId: adminID, Password: adminPassword},
		new(contestant.LoginResponse))
	if err != nil {
		return err
	}
	out := new(admin.ListClarificationsResponse)
	if err := a.call(ctx, stepAdminClarifications, http.MethodGet, adminClarificationsPath, nil, out); err != nil {
		return err
	}
	got := map[*question]*resources.Clarification{}
	for _, c := range out.GetClarifications() {
		q, err := ct.checkQuestion(stepAdminClarifications, c)
		if err != nil {
			return err
		}
		got[q] = c
	}
	ct.mu.Lock()
	defer ct.mu.Unlock()
	before := ct.times.end.Add(-ct.span(exempt))
	at := slices.IndexFunc(ct.questions, func(q *question) bool {
		created := !q.posted.IsZero() && q.posted.Before(before) && got[q] == nil
		return created || !q.put.IsZero() && q.put.Before(before) && !got[q].GetAnswered()
	})
	if at >= 0 {
		return wrong(stepAdminClarifications, "final-questions", "question %d (%.80q) is missing in the list, or has no answer there",
			ct.questions[at].id, ct.questions[at].text)
	}
	return nil
}
