package xsuportal

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/bench"
	"github.com/iikanji/iikanji/internal/load/rpc"
)

// readFrame reads a message of gRPC.
func readFrame(r io.Reader, m proto.Message) error {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	return proto.Unmarshal(body, m)
}

// writeFrame writes a message of gRPC.
func writeFrame(w http.ResponseWriter, m proto.Message) {
	b, _ := proto.Marshal(m)
	head := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b)))
	w.Write(append(head, b...))
	w.(http.Flusher).Flush()
}

// begin begins an answer of gRPC, end ends it.
func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
}

func end(w http.ResponseWriter, code rpc.Code, message string) {
	w.Header().Set("Grpc-Status", strconv.Itoa(int(code)))
	w.Header().Set("Grpc-Message", message)
}

// receive hands out the oldest job that waits.
func (p *perfectApp) receive(w http.ResponseWriter, r *http.Request) {
	in := new(bench.ReceiveBenchmarkJobRequest)
	begin(w)
	if err := readFrame(r.Body, in); err != nil {
		end(w, rpc.InvalidArgument, "no message")
		return
	}
	out := new(bench.ReceiveBenchmarkJobResponse)
	for timer := time.After(pollTime); ; {
		news := p.news.wait()
		if out.JobHandle = p.take(); out.JobHandle != nil {
			break
		}
		select {
		case <-news:
			continue
		case <-timer:
		case <-r.Context().Done():
		}
		break
	}
	writeFrame(w, out)
	end(w, rpc.OK, "")
}

func (p *perfectApp) take() *bench.ReceiveBenchmarkJobResponse_JobHandle {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.jobs {
		if j.Status == resources.BenchmarkJob_PENDING {
			j.Status, p.handles[j.Id] = resources.BenchmarkJob_SENT, fmt.Sprintf("handle %d", j.Id)
			return &bench.ReceiveBenchmarkJobResponse_JobHandle{JobId: j.Id, Handle: p.handles[j.Id], TargetHostname: j.TargetHostname,
				ContestStartedAt: p.times.message().ContestStartsAt, JobCreatedAt: j.CreatedAt}
		}
	}
	return nil
}

// report stores the state of jobs.
func (p *perfectApp) report(w http.ResponseWriter, r *http.Request) {
	begin(w)
	for {
		in := new(bench.ReportBenchmarkResultRequest)
		if err := readFrame(r.Body, in); err != nil {
			end(w, rpc.OK, "")
			return
		}
		if code := p.store(in); code != rpc.OK {
			end(w, code, code.String())
			return
		}
		writeFrame(w, &bench.ReportBenchmarkResultResponse{AckedNonce: in.Nonce})
	}
}

func (p *perfectApp) store(in *bench.ReportBenchmarkResultRequest) rpc.Code {
	p.mu.Lock()
	defer p.mu.Unlock()
	result := in.GetResult()
	switch {
	case result == nil:
		return rpc.InvalidArgument
	case in.JobId < 1 || in.JobId > int64(len(p.jobs)) || p.handles[in.JobId] != in.Handle:
		return rpc.NotFound
	case result.MarkedAt == nil:
		return rpc.InvalidArgument
	}
	j := p.jobs[in.JobId-1]
	if j.Result != nil || result.Finished && j.StartedAt == nil {
		return rpc.FailedPrecondition
	}
	if !result.Finished {
		j.Status, j.StartedAt = resources.BenchmarkJob_RUNNING, result.MarkedAt
		return rpc.OK
	}
	j.Status, j.FinishedAt, j.Result = resources.BenchmarkJob_FINISHED, result.MarkedAt, result
	p.tell(p.teams[j.TeamId-1].members, func(*perfectPerson) *resources.Notification {
		return &resources.Notification{Content: &resources.Notification_ContentBenchmarkJob{
			ContentBenchmarkJob: &resources.Notification_BenchmarkJobMessage{BenchmarkJobId: j.Id}}}
	})
	return rpc.OK
}
