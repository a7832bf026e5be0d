package xsuportal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const jobsPath = "/api/contestant/benchmark_jobs"

// enqueueLoop is what a developer does: a benchmark after the other, while no question of the
// team is open.
func (ct *contest) enqueueLoop(ctx context.Context, t *team) {
	for ct.awaitFree(ctx, t) {
		if err := ct.enqueue(ctx, t); err != nil {
			ct.s.Report(err)
			ct.pause(ctx, errorPause)
		}
	}
}

// awaitFree waits until no benchmark of a team runs and none of its questions is open. It
// returns false if the contest ended.
func (ct *contest) awaitFree(ctx context.Context, t *team) bool {
	for {
		changed := t.done.wait()
		ct.mu.Lock()
		free := t.job == 0 && t.open == 0
		ct.mu.Unlock()
		if free {
			return ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// enqueue opens the page and starts a benchmark.
func (ct *contest) enqueue(ctx context.Context, t *team) error {
	m := t.developer()
	if err := m.page(ctx, "/contestant"); err != nil {
		return err
	}
	ct.s.Go("page of a developer", func(ctx context.Context) { ct.s.Report(m.board(ctx)) })
	ct.s.Go("page of a developer", func(ctx context.Context) { ct.s.Report(m.jobs(ctx)) })
	out := new(contestant.EnqueueBenchmarkJobResponse)
	err := m.agent.call(ctx, stepEnqueue, http.MethodPost, jobsPath, &contestant.EnqueueBenchmarkJobRequest{TargetHostname: hostOf(t.id)}, out)
	if err != nil {
		return err
	}
	job := out.GetJob()
	if job.GetId() <= 0 || job.GetTeamId() != t.id || job.GetTargetHostname() != hostOf(t.id) || job.GetResult() != nil {
		return wrong(stepEnqueue, "job-fields", "the new job is %v, want one of team %d", job, t.id)
	}
	ct.mu.Lock()
	defer ct.mu.Unlock()
	t.job = job.GetId()
	if r := t.resultOf(job.GetId()); r != nil && r.done { // its notification came before the answer
		t.job = 0
	}
	return nil
}

// resultOf returns what the virtual benchmarker has reported of a job of the team, or nil
// while it has not reported that the job runs. The caller holds contest.mu.
func (t *team) resultOf(job int64) *result {
	for i := len(t.results) - 1; i >= 0; i-- {
		if t.results[i].job == job {
			return t.results[i]
		}
	}
	return nil
}

// jobDone handles the notification that a job is finished: the developer looks at its result.
func (m *member) jobDone(ctx context.Context, job int64) error {
	ct, t := m.agent.ct, m.team
	ct.mu.Lock()
	r := t.resultOf(job)
	ct.mu.Unlock()
	if r == nil {
		return wrong(stepNotifications, "notification-job", "%s is notified of job %d, which has no result", m.id, job)
	}
	for { // the team starts no other job before this one was seen
		err := m.seeJob(ctx, r)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return err
		}
		ct.s.Report(err)
		if !ct.pause(ctx, errorPause) {
			return nil
		}
	}
	ct.add(finished)
	ct.mu.Lock()
	defer ct.mu.Unlock()
	r.done = true
	if t.job == job {
		t.job = 0
	}
	t.done.ring()
	ct.finishedRuns++
	if ct.finishedRuns%ct.rules.audience == 0 && ctx.Err() == nil {
		ct.viewers++
		ct.s.Go("viewer", ct.player(ct.watchLoop))
	}
	return nil
}

// seeJob compares the page about a job with its result.
func (m *member) seeJob(ctx context.Context, r *result) error {
	out := new(contestant.GetBenchmarkJobResponse)
	if err := m.agent.call(ctx, stepJob, http.MethodGet, fmt.Sprintf("%s/%d", jobsPath, r.job), nil, out); err != nil {
		return err
	}
	return r.check(stepJob, out.GetJob(), m.team)
}

// check compares a finished job with its result.
func (r *result) check(step scenario.Step, job *resources.BenchmarkJob, t *team) error {
	got := job.GetResult()
	if job.GetId() != r.job || job.GetTeamId() != t.id || job.GetStatus() != resources.BenchmarkJob_FINISHED ||
		job.GetTargetHostname() != r.host {
		return wrong(step, "job-fields", "the job is %v, want %d of team %d, finished", job, r.job, t.id)
	}
	if !got.GetFinished() || got.GetPassed() != r.passed || got.GetReason() != r.reason || got.GetScore() != r.score() ||
		got.GetScoreBreakdown().GetRaw() != r.raw || got.GetScoreBreakdown().GetDeduction() != r.deduction {
		return wrong(step, "job-result", "the result of job %d is %v, want %d - %d, passed %v, %q", r.job, got, r.raw, r.deduction, r.passed, r.reason)
	}
	if !got.GetMarkedAt().AsTime().Equal(r.finished) || !job.GetFinishedAt().AsTime().Equal(r.finished) ||
		!job.GetStartedAt().AsTime().Equal(r.started) {
		return wrong(step, "job-times", "job %d: started %v, finished %v, marked %v; want %v and %v", r.job, job.GetStartedAt().AsTime(),
			job.GetFinishedAt().AsTime(), got.GetMarkedAt().AsTime(), r.started.UTC(), r.finished.UTC())
	}
	return nil
}

// jobs checks the list of the team's jobs.
func (m *member) jobs(ctx context.Context) error {
	ct, t := m.agent.ct, m.team
	ct.mu.Lock()
	acked := 0
	for _, r := range t.results {
		if !r.acked.IsZero() {
			acked++
		}
	}
	ct.mu.Unlock()
	out := new(contestant.ListBenchmarkJobsResponse)
	if err := m.agent.call(ctx, stepJobs, http.MethodGet, jobsPath, nil, out); err != nil {
		return err
	}
	ended := 0
	for i, job := range out.GetJobs() {
		if job.GetTeamId() != t.id || i > 0 && out.GetJobs()[i-1].GetId() <= job.GetId() {
			return wrong(stepJobs, "jobs-order", "job %d of team %d is in the list of team %d, or in the wrong place", job.GetId(),
				job.GetTeamId(), t.id)
		}
		if job.GetStatus() != resources.BenchmarkJob_FINISHED {
			if job.GetResult() != nil {
				return wrong(stepJobs, "job-result", "job %d is not finished and has a result", job.GetId())
			}
			continue
		}
		ended++
		ct.mu.Lock()
		r := t.resultOf(job.GetId())
		ct.mu.Unlock()
		if r == nil {
			return wrong(stepJobs, "job-result", "job %d is finished, and was never reported so", job.GetId())
		}
		if err := r.check(stepJobs, job, t); err != nil {
			return err
		}
	}
	if ended < acked {
		return wrong(stepJobs, "jobs-missing", "the list of team %d has %d finished jobs, want %d or more", t.id, ended, acked)
	}
	return nil
}

// viewLoop is what an operator does: looks at the board and the jobs, once a second at most.
func (ct *contest) viewLoop(ctx context.Context, t *team) {
	m := t.operator()
	for ctx.Err() == nil {
		err := m.page(ctx, "/contestant")
		if err == nil {
			break
		}
		ct.s.Report(err)
		ct.pause(ctx, errorPause)
	}
	for ctx.Err() == nil {
		began := time.Now()
		both := make(chan error, 2)
		go func() { both <- m.board(ctx) }()
		go func() { both <- m.jobs(ctx) }()
		err := errors.Join(<-both, <-both)
		if err == nil {
			ct.add(viewed)
		} else {
			ct.s.Report(err)
		}
		scenario.Sleep(ctx, ct.span(time.Second)-time.Since(began))
	}
}
