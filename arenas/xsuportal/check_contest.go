package xsuportal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/bench"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/load/rpc"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checkStarted: benchmarks and questions, before the freeze.
func (ct *contest) checkStarted(ctx context.Context, c *cast) error {
	if err := ct.checkSubscription(ctx, c); err != nil {
		return err
	}
	if err := ct.checkEnqueueOnce(ctx, c); err != nil {
		return err
	}
	if err := ct.checkJob(ctx, c, true); err != nil {
		return err
	}
	if err := ct.checkQuestions(ctx, c); err != nil {
		return err
	}
	return ct.checkBoards(ctx, c)
}

// checkFrozen: the own team's results stay live, others' do not show.
func (ct *contest) checkFrozen(ctx context.Context, c *cast) error {
	out := new(contestant.EnqueueBenchmarkJobResponse)
	err := c.team.developer().agent.call(ctx, stepEnqueue, http.MethodPost, jobsPath,
		&contestant.EnqueueBenchmarkJobRequest{TargetHostname: hostOf(c.team.id)}, out)
	if err != nil {
		return err
	}
	if err := ct.checkJob(ctx, c, false); err != nil {
		return err
	}
	return ct.checkBoards(ctx, c)
}

// checkBoards compares both boards, without a limit of their age.
func (ct *contest) checkBoards(ctx context.Context, c *cast) error {
	const ever = time.Hour
	return parallel.Do(ctx, 2, func(ctx context.Context, i int) error {
		if i == 0 {
			return c.team.operator().board(ctx)
		}
		k := ct.known(eye{stepAudienceDashboard, nil, ever})
		return ct.boardOf(ctx, c.guest, k)
	})
}

// checkSubscription: Web Push is there with a key, and refused without one.
func (ct *contest) checkSubscription(ctx context.Context, c *cast) error {
	m := c.team.leader()
	if c.vapid != "" {
		return ct.subscribe(ctx, m, c.vapid)
	}
	return m.agent.refused(ctx, stepSubscribe, http.MethodPost, "/api/contestant/push_subscriptions",
		&contestant.SubscribeNotificationRequest{Endpoint: "http://127.0.0.1/", P256Dh: "x", Auth: "x"}, http.StatusServiceUnavailable, "")
}

// checkEnqueueOnce: of two members who start a benchmark at once, one succeeds.
func (ct *contest) checkEnqueueOnce(ctx context.Context, c *cast) error {
	in := &contestant.EnqueueBenchmarkJobRequest{TargetHostname: hostOf(c.team.id)}
	var mu sync.Mutex
	started := 0
	err := parallel.Do(ctx, 2, func(ctx context.Context, i int) error {
		m := c.team.members[1+i]
		return m.agent.do(ctx, request(stepEnqueue, http.MethodPost, jobsPath, in), func(res *scenario.Response) error {
			if res.Status == http.StatusForbidden {
				return nil
			}
			mu.Lock()
			started++
			mu.Unlock()
			return decode(res, new(contestant.EnqueueBenchmarkJobResponse))
		})
	})
	if err != nil {
		return err
	}
	if started != 1 {
		return wrong(stepEnqueue, "enqueue-once", "of two benchmarks at once %d were started, want 1", started)
	}
	return c.team.leader().agent.refused(ctx, stepEnqueue, http.MethodPost, jobsPath, in, http.StatusForbidden, msgAlreadyRunning)
}

// checkJob does the job that waits, and compares what the team sees of it. With misuse, it
// also sends reports that must be refused.
func (ct *contest) checkJob(ctx context.Context, c *cast, misuse bool) error {
	cl := ct.queueClient()
	defer cl.Close()
	var job *bench.ReceiveBenchmarkJobResponse_JobHandle
	for job == nil {
		var err error
		if job, err = ct.receive(ctx, cl, c.team); err != nil {
			return err
		}
		if job == nil && !time.Now().Before(ct.times.end) {
			return errLate
		}
	}
	r := &result{job: job.GetJobId(), host: job.GetTargetHostname(), handle: job.GetHandle(), started: ct.mark()}
	r.raw, r.deduction, r.passed, r.reason = 1200+job.GetJobId(), 30, true, "passed with deductions"
	if misuse {
		if err := ct.checkMisuse(ctx, cl, r); err != nil {
			return err
		}
	}
	if err := ct.report(ctx, cl, c.team, r, false); err != nil {
		return err
	}
	ct.locked(func() { r.acked = time.Now() })
	if misuse {
		late := &resources.BenchmarkResult{Finished: true, MarkedAt: r.at()}
		if err := ct.checkReport(ctx, cl, r.request(late), rpc.FailedPrecondition); err != nil {
			return err
		}
		missing := c.team.developer().agent.refused(ctx, stepJob, http.MethodGet, fmt.Sprintf("%s/%d", jobsPath, r.job+1000), nil,
			http.StatusNotFound, "")
		if missing != nil {
			return missing
		}
	}
	if err := c.team.developer().seeJob(ctx, r); err != nil {
		return err
	}
	if err := c.team.operator().jobs(ctx); err != nil {
		return err
	}
	return ct.awaitNotices(ctx, c, "job", func(n notice) bool { return n.GetContentBenchmarkJob().GetBenchmarkJobId() == r.job })
}

// checkMisuse sends reports that the queue must refuse.
func (ct *contest) checkMisuse(ctx context.Context, cl scenario.Client, r *result) error {
	running := &resources.BenchmarkResult{MarkedAt: r.at()}
	foreign := r.request(running)
	foreign.Handle = "x" + r.handle
	for _, x := range []struct {
		in   *bench.ReportBenchmarkResultRequest
		code rpc.Code
	}{
		{foreign, rpc.NotFound},
		{r.request(nil), rpc.InvalidArgument},
		{r.request(&resources.BenchmarkResult{}), rpc.InvalidArgument},
		{r.request(&resources.BenchmarkResult{Finished: true, MarkedAt: r.at()}), rpc.FailedPrecondition},
	} {
		if err := ct.checkReport(ctx, cl, x.in, x.code); err != nil {
			return err
		}
	}
	return nil
}

// checkReport sends one report, which must be refused with a code.
func (ct *contest) checkReport(ctx context.Context, cl scenario.Client, in *bench.ReportBenchmarkResultRequest, code rpc.Code) error {
	st, err := rpc.Open(ctx, cl, &rpc.Call{Step: stepReport, Method: reportMethod})
	if err != nil {
		return err
	}
	defer st.Close()
	err = st.Exchange(rpc.Turn{Step: stepReportRunning}, in, new(bench.ReportBenchmarkResultResponse))
	if err == nil {
		return wrong(stepReport, "report-refused", "a report was taken that must be refused with %v: %v", code, in)
	}
	if scenario.KindOf(err) != iikanji.FaultClosed {
		return err
	}
	end, err := st.Finish()
	if err != nil {
		return err
	}
	if end.Code != code {
		return rpc.Wrong(&end, "report-code", "the report %v is refused with %v, want %v", in, end.Code, code)
	}
	return nil
}

// noticeTime limits the time until a notification comes, which may be sent later than the
// answer of the request that caused it.
const noticeTime = 5 * time.Second

// patience is how long the checks wait for a notification: less than what is left of the phase.
func (ct *contest) patience() time.Duration {
	next := ct.times.freeze
	if !time.Now().Before(next) {
		next = ct.times.end
	}
	return min(noticeTime, time.Until(next)/3)
}

// awaitNotices waits until all members of the team are notified of something.
func (ct *contest) awaitNotices(ctx context.Context, c *cast, of string, about func(n notice) bool) error {
	patience := ct.patience()
	return parallel.Do(ctx, members, func(ctx context.Context, i int) error {
		m := c.team.members[i]
		for deadline := time.Now().Add(patience); ; {
			got, err := m.notices(ctx)
			if err != nil {
				return err
			}
			if got(about) {
				return nil
			}
			if time.Now().After(deadline) {
				return wrong(stepNotifications, "notification-missing", "%s was not notified of a %s within %v", m.id, of, patience)
			}
			ct.pause(ctx, ct.rules.poll)
		}
	})
}

// notices gets all notifications of a member, also those that were pushed.
func (m *member) notices(ctx context.Context) (any func(about func(n notice) bool) bool, err error) {
	out := new(contestant.ListNotificationsResponse)
	if err := m.agent.call(ctx, stepNotifications, http.MethodGet, "/api/contestant/notifications", nil, out); err != nil {
		return nil, err
	}
	if err := m.checkList(out, 0); err != nil {
		return nil, err
	}
	for _, n := range out.GetNotifications() {
		m.receive(ctx, n)
	}
	return func(about func(n notice) bool) bool {
		for {
			select {
			case n := <-m.inbox:
				m.kept = append(m.kept, n)
				continue
			default:
			}
			break
		}
		for _, n := range m.kept {
			if about(n) {
				return true
			}
		}
		return false
	}, nil
}

// checkQuestions: a question is asked, answered for everyone, and answered again.
func (ct *contest) checkQuestions(ctx context.Context, c *cast) error {
	q := &question{team: c.team, text: questionText(ct.rand("question of the checks"), 0), answer: "See the manual.", disclosed: true}
	ct.locked(func() {
		ct.questions = append(ct.questions, q)
		ct.byText[q.text] = q
	})
	if err := ct.ask(ctx, c.team, q); err != nil {
		return err
	}
	err := c.admin.call(ctx, stepLogin, http.MethodPost, "/api/login", &contestant.LoginRequest{ContestantId: adminID, Password: adminPassword},
		new(contestant.LoginResponse))
	if err != nil {
		return err
	}
	if n, err := ct.answerAll(ctx, c.admin); err != nil {
		return err
	} else if n != 1 {
		return wrong(stepAdminClarifications, "clarifications-missing", "the administrator sees %d open questions, want 1", n)
	}
	if _, err := c.team.operator().questions(ctx); err != nil {
		return err
	}
	answered := func(updated bool) func(n notice) bool {
		return func(n notice) bool {
			x := n.GetContentClarification()
			return x.GetClarificationId() == q.id && x.GetOwned() && x.GetUpdated() == updated
		}
	}
	if err := ct.awaitNotices(ctx, c, "first answer", answered(false)); err != nil {
		return err
	}
	if err := ct.answer(ctx, c.admin, openQuestion{q, q.id}); err != nil {
		return err
	}
	if err := ct.awaitNotices(ctx, c, "second answer", answered(true)); err != nil {
		return err
	}
	return c.admin.refused(ctx, stepAnswer, http.MethodPut, fmt.Sprintf("%s/%d", adminClarificationsPath, q.id+1000),
		&admin.RespondClarificationRequest{Id: q.id + 1000, Answer: "a"}, http.StatusNotFound, "")
}

// checkFinished: after the end everything shows, and what belongs to the contest is refused.
func (ct *contest) checkFinished(ctx context.Context, c *cast) error {
	if err := ct.checkRefusals(ctx, c); err != nil {
		return err
	}
	for deadline := ct.times.end.Add(ct.span(settleTime)); ; {
		err := errors.Join(ct.finalAudience(ctx), ct.finalBoard(ctx, c.team))
		if err == nil || time.Now().After(deadline) {
			return err
		}
		ct.pause(ctx, errorPause)
	}
}
