package xsuportal

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/bench"
	"github.com/iikanji/iikanji/internal/load/rpc"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Methods of the benchmark server.
const (
	receiveMethod = "/xsuportal.proto.services.bench.BenchmarkQueue/ReceiveBenchmarkJob"
	reportMethod  = "/xsuportal.proto.services.bench.BenchmarkReport/ReportBenchmarkResult"
)

const (
	unavailablePause = time.Second // before a benchmark server that is not there is asked again
	unavailableTries = 10
)

// queueClient connects to the benchmark server.
func (ct *contest) queueClient() scenario.Client {
	return ct.s.NewClient(scenario.ClientOptions{BaseURL: ct.queue, Protocol: scenario.HTTP2, UserAgent: "iikanji-worker/1"})
}

// workLoop is a virtual benchmark worker of a team: it fetches jobs, of any team, and reports
// their results. A report that has begun before the end is completed.
func (ct *contest) workLoop(ctx context.Context, t *team) {
	play, cancel := ct.play(ctx)
	defer cancel()
	cl := ct.queueClient()
	defer cl.Close()
	runs := ct.rand("scores of " + t.name)
	gone := 0
	for play.Err() == nil {
		job, err := ct.receive(play, cl, t)
		switch {
		case isUnavailable(err) && gone < unavailableTries:
			gone++
			ct.s.Report(err)
			ct.pause(play, unavailablePause)
		case err != nil:
			ct.s.Report(err)
			ct.pause(play, errorPause)
		case job != nil:
			gone = 0
			ct.work(ctx, cl, runs, job)
		}
	}
}

// isUnavailable reports whether nothing answers at the benchmark server's address.
func isUnavailable(err error) bool {
	var f *scenario.Fault
	return errors.As(err, &f) && (f.Kind == iikanji.FaultDial || f.Check == unavailableCheck)
}

const unavailableCheck = "queue-unavailable"

// receive asks for a job. It returns nil if none waits.
func (ct *contest) receive(ctx context.Context, cl scenario.Client, t *team) (*bench.ReceiveBenchmarkJobResponse_JobHandle, error) {
	out := new(bench.ReceiveBenchmarkJobResponse)
	r, err := rpc.Do(ctx, cl, &rpc.Call{Step: stepReceive, Method: receiveMethod, Timeout: scenario.NoTimeout},
		&bench.ReceiveBenchmarkJobRequest{TeamId: t.id}, out)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	if r.Code == rpc.Unavailable {
		return nil, rpc.Wrong(&r, unavailableCheck, "%s", r.Message)
	}
	if err := rpc.WantCode(&r, rpc.OK); err != nil {
		return nil, err
	}
	job := out.GetJobHandle()
	if job == nil {
		return nil, nil
	}
	ct.mu.Lock()
	defer ct.mu.Unlock()
	if job.GetJobId() <= 0 || job.GetHandle() == "" || ct.hosts[job.GetTargetHostname()] == nil {
		return nil, rpc.Wrong(&r, "queue-job", "the job is %v", job)
	}
	if !job.GetContestStartedAt().AsTime().Equal(ct.times.start) {
		return nil, rpc.Wrong(&r, "queue-job", "the contest of job %d started at %v, want %v", job.GetJobId(),
			job.GetContestStartedAt().AsTime(), ct.times.start.UTC())
	}
	if ct.handed[job.GetJobId()] {
		err := rpc.Wrong(&r, "queue-twice", "job %d was handed out twice", job.GetJobId())
		ct.s.Fail(err)
		return nil, err
	}
	ct.handed[job.GetJobId()] = true
	return job, nil
}

// work does a job and reports it, until the report is stored.
func (ct *contest) work(ctx context.Context, cl scenario.Client, runs *rand.Rand, job *bench.ReceiveBenchmarkJobResponse_JobHandle) {
	started := ct.mark()
	r := &result{job: job.GetJobId(), host: job.GetTargetHostname(), handle: job.GetHandle(), started: started}
	ct.mu.Lock()
	t := ct.hosts[r.host]
	drawn := t.draw(runs, len(t.results))
	ct.mu.Unlock()
	r.raw, r.deduction, r.passed, r.reason = drawn.raw, drawn.deduction, drawn.passed, drawn.reason
	for try := 0; ctx.Err() == nil; try++ {
		err := ct.report(ctx, cl, t, r, try > 0)
		if err == nil {
			ct.locked(func() { r.acked = time.Now() })
			return
		}
		ct.s.Report(err)
		ct.pause(ctx, errorPause)
	}
}

// report sends both reports of a job: that it runs, and its result.
func (ct *contest) report(ctx context.Context, cl scenario.Client, t *team, r *result, again bool) error {
	st, err := rpc.Open(ctx, cl, &rpc.Call{Step: stepReport, Method: reportMethod, Timeout: scenario.NoTimeout})
	if err != nil {
		return err
	}
	defer st.Close()
	if err := ct.send(st, stepReportRunning, r, &resources.BenchmarkResult{MarkedAt: r.at()}); err != nil {
		return ct.explain(st, err, r, again)
	}
	ct.announce(t, r)
	err = ct.send(st, stepReportFinished, r, &resources.BenchmarkResult{
		Finished: true, Passed: r.passed, Score: r.score(), Reason: r.reason, MarkedAt: timestamppb.New(r.finished),
		ScoreBreakdown: &resources.BenchmarkResult_ScoreBreakdown{Raw: r.raw, Deduction: r.deduction},
	})
	if err != nil {
		return ct.explain(st, err, r, again)
	}
	end, err := st.Finish()
	if err != nil {
		return err
	}
	return rpc.WantCode(&end, rpc.OK)
}

// announce notes a result before it is sent, because boards may show it at once.
func (ct *contest) announce(t *team, r *result) {
	if !r.finished.IsZero() {
		return // sent before
	}
	at := ct.mark()
	ct.mu.Lock()
	defer ct.mu.Unlock()
	r.finished = at
	t.results = append(t.results, r)
}

// request is a report of a job.
func (r *result) request(what *resources.BenchmarkResult) *bench.ReportBenchmarkResultRequest {
	return &bench.ReportBenchmarkResultRequest{JobId: r.job, Handle: r.handle, Nonce: r.job, Result: what}
}

// at is when the job was started.
func (r *result) at() *timestamppb.Timestamp { return timestamppb.New(r.started) }

// send sends one report and waits for its acknowledgement.
func (ct *contest) send(st *rpc.Stream, step scenario.Step, r *result, what *resources.BenchmarkResult) error {
	in := r.request(what)
	in.Nonce = ct.nonces.Add(1)
	out := new(bench.ReportBenchmarkResultResponse)
	if err := st.Exchange(rpc.Turn{Step: step}, in, out); err != nil {
		return err
	}
	if out.GetAckedNonce() != in.GetNonce() {
		return wrong(step, "report-nonce", "the report with nonce %d is acknowledged with %d", in.GetNonce(), out.GetAckedNonce())
	}
	return nil
}

// explain returns why a stream of reports ended early: the status of the call where there is
// one. A job that is finished already was stored by an earlier report, whose acknowledgement
// was lost: that is no error.
func (ct *contest) explain(st *rpc.Stream, err error, r *result, again bool) error {
	if scenario.KindOf(err) != iikanji.FaultClosed {
		return err
	}
	end, e := st.Finish()
	if e != nil {
		return err
	}
	if again && end.Code == rpc.FailedPrecondition && !r.finished.IsZero() {
		return nil
	}
	return rpc.WantCode(&end, rpc.OK)
}
