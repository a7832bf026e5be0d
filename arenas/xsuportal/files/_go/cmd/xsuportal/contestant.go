package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"

	"xsuportal"
	"xsuportal/proto/resources"
	contestantpb "xsuportal/proto/services/contestant"
)

// postBenchmarkJob queues a benchmark. A team has one at a time.
func postBenchmarkJob(c echo.Context) error {
	var request contestantpb.EnqueueBenchmarkJobRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	tx, err := db.Beginx()
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback()
	if err := loginRequired(c, tx, guard{team: true, lock: true}); err != nil {
		return err
	}
	if err := contestStatusRestricted(c, tx, resources.Contest_STARTED, xsuportal.MsgOutsideContest); err != nil {
		return err
	}
	team, err := getCurrentTeam(c, tx, false)
	if err != nil {
		return err
	}
	var jobCount int
	err = tx.Get(&jobCount, "SELECT COUNT(*) AS `count` FROM `benchmark_jobs` WHERE `team_id` = ? AND `finished_at` IS NULL", team.ID)
	if err != nil {
		return fmt.Errorf("counting the open jobs: %w", err)
	}
	if jobCount > 0 {
		return halt(c, http.StatusForbidden, xsuportal.MsgAlreadyRunning, nil)
	}
	_, err = tx.Exec("INSERT INTO `benchmark_jobs` (`team_id`, `target_hostname`, `status`, `updated_at`, `created_at`)"+
		" VALUES (?, ?, ?, NOW(6), NOW(6))", team.ID, request.GetTargetHostname(), int(resources.BenchmarkJob_PENDING))
	if err != nil {
		return fmt.Errorf("storing the job: %w", err)
	}
	var job xsuportal.BenchmarkJob
	if err := tx.Get(&job, "SELECT * FROM `benchmark_jobs` WHERE `id` = (SELECT LAST_INSERT_ID()) LIMIT 1"); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return writeProto(c, http.StatusOK, &contestantpb.EnqueueBenchmarkJobResponse{Job: makeBenchmarkJobPB(&job)})
}

// getBenchmarkJobs lists the team's jobs, the newest first.
func getBenchmarkJobs(c echo.Context) error {
	if err := loginRequired(c, db, guard{team: true}); err != nil {
		return err
	}
	jobs, err := makeBenchmarkJobsPB(c, db)
	if err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &contestantpb.ListBenchmarkJobsResponse{Jobs: jobs})
}

func makeBenchmarkJobsPB(c echo.Context, db sqlx.Queryer) ([]*resources.BenchmarkJob, error) {
	team, err := getCurrentTeam(c, db, false)
	if err != nil {
		return nil, err
	}
	var jobs []xsuportal.BenchmarkJob
	if err := sqlx.Select(db, &jobs, "SELECT * FROM `benchmark_jobs` WHERE `team_id` = ? ORDER BY `id` DESC", team.ID); err != nil {
		return nil, fmt.Errorf("reading the jobs: %w", err)
	}
	var list []*resources.BenchmarkJob
	for i := range jobs {
		list = append(list, makeBenchmarkJobPB(&jobs[i]))
	}
	return list, nil
}

// getBenchmarkJob answers one job of the team.
func getBenchmarkJob(c echo.Context) error {
	if err := loginRequired(c, db, guard{team: true}); err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return halt(c, http.StatusNotFound, xsuportal.MsgNoSuchJob, nil)
	}
	team, err := getCurrentTeam(c, db, false)
	if err != nil {
		return err
	}
	var job xsuportal.BenchmarkJob
	err = db.Get(&job, "SELECT * FROM `benchmark_jobs` WHERE `team_id` = ? AND `id` = ? LIMIT 1", team.ID, id)
	if errors.Is(err, sql.ErrNoRows) {
		return halt(c, http.StatusNotFound, xsuportal.MsgNoSuchJob, nil)
	}
	if err != nil {
		return fmt.Errorf("reading job %d: %w", id, err)
	}
	return writeProto(c, http.StatusOK, &contestantpb.GetBenchmarkJobResponse{Job: makeBenchmarkJobPB(&job)})
}

// getContestantDashboard answers the leaderboard as the caller's team sees it.
func getContestantDashboard(c echo.Context) error {
	if err := loginRequired(c, db, guard{team: true}); err != nil {
		return err
	}
	team, err := getCurrentTeam(c, db, false)
	if err != nil {
		return err
	}
	leaderboard, err := makeLeaderboardPB(team.ID)
	if err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &contestantpb.DashboardResponse{Leaderboard: leaderboard})
}
