// Command benchmark_server is the queue of the contest's portal: virtual benchmarkers fetch
// jobs and report their results over gRPC.
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"time"

	"github.com/jmoiron/sqlx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"xsuportal"
	"xsuportal/proto/resources"
	"xsuportal/proto/services/bench"
)

const (
	pollTimes    = 10
	pollInterval = 50 * time.Millisecond
)

var (
	db       *sqlx.DB
	notifier xsuportal.Notifier
)

type benchmarkQueueService struct {
	bench.UnimplementedBenchmarkQueueServer
}

type benchmarkReportService struct {
	bench.UnimplementedBenchmarkReportServer
}

// ReceiveBenchmarkJob hands out the oldest job that waits, or nothing.
func (s *benchmarkQueueService) ReceiveBenchmarkJob(_ context.Context, _ *bench.ReceiveBenchmarkJobRequest) (*bench.ReceiveBenchmarkJobResponse, error) {
	var jobHandle *bench.ReceiveBenchmarkJobResponse_JobHandle
	for {
		next, err := func() (bool, error) {
			tx, err := db.Beginx()
			if err != nil {
				return false, fmt.Errorf("beginning a transaction: %w", err)
			}
			defer tx.Rollback()

			job, err := pollBenchmarkJob(tx)
			if err != nil {
				return false, fmt.Errorf("polling: %w", err)
			}
			if job == nil {
				return false, nil
			}

			var gotLock bool
			err = tx.Get(&gotLock, "SELECT 1 FROM `benchmark_jobs` WHERE `id` = ? AND `status` = ? FOR UPDATE",
				job.ID, int(resources.BenchmarkJob_PENDING))
			if errors.Is(err, sql.ErrNoRows) { // another one has it
				return true, nil
			}
			if err != nil {
				return false, fmt.Errorf("locking job %d: %w", job.ID, err)
			}

			random := make([]byte, 16)
			rand.Read(random)
			handle := base64.StdEncoding.EncodeToString(random)
			_, err = tx.Exec("UPDATE `benchmark_jobs` SET `status` = ?, `handle` = ? WHERE `id` = ? AND `status` = ? LIMIT 1",
				int(resources.BenchmarkJob_SENT), handle, job.ID, int(resources.BenchmarkJob_PENDING))
			if err != nil {
				return false, fmt.Errorf("marking job %d as sent: %w", job.ID, err)
			}

			var contestStartsAt time.Time
			if err := tx.Get(&contestStartsAt, "SELECT `contest_starts_at` FROM `contest_config` LIMIT 1"); err != nil {
				return false, fmt.Errorf("reading the start of the contest: %w", err)
			}
			if err := tx.Commit(); err != nil {
				return false, fmt.Errorf("committing: %w", err)
			}
			jobHandle = &bench.ReceiveBenchmarkJobResponse_JobHandle{
				JobId:            job.ID,
				Handle:           handle,
				TargetHostname:   job.TargetHostName,
				ContestStartedAt: timestamppb.New(contestStartsAt),
				JobCreatedAt:     timestamppb.New(job.CreatedAt),
			}
			return false, nil
		}()
		if err != nil {
			log.Printf("handing out a job: %v", err)
			return nil, status.Error(codes.Internal, "handing out a job")
		}
		if !next {
			break
		}
	}
	return &bench.ReceiveBenchmarkJobResponse{JobHandle: jobHandle}, nil
}

// pollBenchmarkJob looks for a job that waits, for half a second at most.
func pollBenchmarkJob(db sqlx.Queryer) (*xsuportal.BenchmarkJob, error) {
	for i := range pollTimes {
		if i >= 1 {
			time.Sleep(pollInterval)
		}
		var job xsuportal.BenchmarkJob
		err := sqlx.Get(db, &job, "SELECT * FROM `benchmark_jobs` WHERE `status` = ? ORDER BY `id` LIMIT 1",
			int(resources.BenchmarkJob_PENDING))
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &job, nil
	}
	return nil, nil
}

// ReportBenchmarkResult stores the state of jobs.
func (s *benchmarkReportService) ReportBenchmarkResult(stream bench.BenchmarkReport_ReportBenchmarkResultServer) error {
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if request.GetResult() == nil {
			return status.Error(codes.InvalidArgument, "no result")
		}
		if err := s.store(request); err != nil {
			if _, ok := status.FromError(err); ok {
				return err
			}
			log.Printf("storing the report of job %d: %v", request.GetJobId(), err)
			return status.Error(codes.Internal, "storing the report")
		}
		if err := stream.Send(&bench.ReportBenchmarkResultResponse{AckedNonce: request.GetNonce()}); err != nil {
			return err
		}
	}
}

// store stores one report.
func (s *benchmarkReportService) store(request *bench.ReportBenchmarkResultRequest) error {
	tx, err := db.Beginx()
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback()

	var job xsuportal.BenchmarkJob
	err = tx.Get(&job, "SELECT * FROM `benchmark_jobs` WHERE `id` = ? AND `handle` = ? LIMIT 1 FOR UPDATE",
		request.GetJobId(), request.GetHandle())
	if errors.Is(err, sql.ErrNoRows) {
		return status.Errorf(codes.NotFound, "no job %d with this handle", request.GetJobId())
	}
	if err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	if request.GetResult().GetMarkedAt() == nil {
		return status.Error(codes.InvalidArgument, "no time")
	}
	if !request.GetResult().GetFinished() {
		if err := saveAsRunning(tx, &job, request); err != nil {
			return err
		}
		return tx.Commit()
	}
	if err := saveAsFinished(tx, &job, request); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return notifier.NotifyBenchmarkJobFinished(db, &job)
}

func saveAsFinished(db sqlx.Execer, job *xsuportal.BenchmarkJob, request *bench.ReportBenchmarkResultRequest) error {
	if !job.StartedAt.Valid || job.FinishedAt.Valid {
		return status.Errorf(codes.FailedPrecondition, "job %d is finished, or was not started", job.ID)
	}
	result := request.GetResult()
	markedAt := result.GetMarkedAt().AsTime().Round(time.Microsecond)
	var raw, deduction sql.NullInt64
	if result.GetScoreBreakdown() != nil {
		raw = sql.NullInt64{Int64: result.GetScoreBreakdown().GetRaw(), Valid: true}
		deduction = sql.NullInt64{Int64: result.GetScoreBreakdown().GetDeduction(), Valid: true}
	}
	_, err := db.Exec("UPDATE `benchmark_jobs` SET `status` = ?, `score_raw` = ?, `score_deduction` = ?, `passed` = ?,"+
		" `reason` = ?, `updated_at` = NOW(6), `finished_at` = ? WHERE `id` = ? LIMIT 1",
		int(resources.BenchmarkJob_FINISHED), raw, deduction, result.GetPassed(), result.GetReason(), markedAt, job.ID)
	if err != nil {
		return fmt.Errorf("marking the job as finished: %w", err)
	}
	return nil
}

func saveAsRunning(db sqlx.Execer, job *xsuportal.BenchmarkJob, request *bench.ReportBenchmarkResultRequest) error {
	if job.FinishedAt.Valid {
		return status.Errorf(codes.FailedPrecondition, "job %d is finished", job.ID)
	}
	startedAt := job.StartedAt.Time
	if !job.StartedAt.Valid {
		startedAt = request.GetResult().GetMarkedAt().AsTime().Round(time.Microsecond)
	}
	_, err := db.Exec("UPDATE `benchmark_jobs` SET `status` = ?, `score_raw` = NULL, `score_deduction` = NULL,"+
		" `passed` = FALSE, `reason` = NULL, `started_at` = ?, `updated_at` = NOW(6), `finished_at` = NULL WHERE `id` = ? LIMIT 1",
		int(resources.BenchmarkJob_RUNNING), startedAt, job.ID)
	if err != nil {
		return fmt.Errorf("marking the job as running: %w", err)
	}
	return nil
}

func main() {
	var err error
	db, err = xsuportal.GetDB()
	if err != nil {
		log.Fatalf("connecting to the database: %v", err)
	}
	address := net.JoinHostPort(xsuportal.GetEnv("HOST", "127.0.0.1"), xsuportal.GetEnv("PORT", "50051"))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatalf("listening: %v", err)
	}
	log.Printf("listening on %s", address)
	server := grpc.NewServer()
	bench.RegisterBenchmarkQueueServer(server, &benchmarkQueueService{})
	bench.RegisterBenchmarkReportServer(server, &benchmarkReportService{})
	if err := server.Serve(listener); err != nil {
		log.Fatalf("serving: %v", err)
	}
}
