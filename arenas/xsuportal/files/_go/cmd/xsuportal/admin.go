package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"xsuportal"
	adminpb "xsuportal/proto/services/admin"
)

// postInitialize empties all tables, and sets the times of the contest.
func postInitialize(c echo.Context) error {
	var request adminpb.InitializeRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	for _, table := range []string{"teams", "contestants", "benchmark_jobs", "clarifications", "notifications",
		"push_subscriptions", "contest_config"} {
		if _, err := db.Exec("TRUNCATE `" + table + "`"); err != nil {
			return fmt.Errorf("emptying %s: %w", table, err)
		}
	}
	_, err := db.Exec("INSERT INTO `contestants` (`id`, `password`, `staff`, `created_at`) VALUES (?, ?, TRUE, NOW(6))",
		AdminID, passwordHash(AdminPassword))
	if err != nil {
		return fmt.Errorf("storing the administrator: %w", err)
	}
	if contest := request.GetContest(); contest != nil {
		_, err = db.Exec("INSERT INTO `contest_config`"+
			" (`registration_open_at`, `contest_starts_at`, `contest_freezes_at`, `contest_ends_at`) VALUES (?, ?, ?, ?)",
			contest.GetRegistrationOpenAt().AsTime().Round(time.Microsecond),
			contest.GetContestStartsAt().AsTime().Round(time.Microsecond),
			contest.GetContestFreezesAt().AsTime().Round(time.Microsecond),
			contest.GetContestEndsAt().AsTime().Round(time.Microsecond))
	} else {
		_, err = db.Exec("INSERT INTO `contest_config`" +
			" (`registration_open_at`, `contest_starts_at`, `contest_freezes_at`, `contest_ends_at`) VALUES" +
			" (NOW(6), TIMESTAMPADD(SECOND, 5, NOW(6)), TIMESTAMPADD(SECOND, 40, NOW(6)), TIMESTAMPADD(SECOND, 50, NOW(6)))")
	}
	if err != nil {
		return fmt.Errorf("storing the times of the contest: %w", err)
	}
	port, err := strconv.Atoi(xsuportal.GetEnv("BENCHMARK_SERVER_PORT", "50051"))
	if err != nil {
		return fmt.Errorf("BENCHMARK_SERVER_PORT: %w", err)
	}
	return writeProto(c, http.StatusOK, &adminpb.InitializeResponse{
		Language: "go",
		BenchmarkServer: &adminpb.InitializeResponse_BenchmarkServer{
			Host: xsuportal.GetEnv("BENCHMARK_SERVER_HOST", "localhost"),
			Port: int64(port),
		},
	})
}

// getAdminClarifications lists all questions, those changed last first.
func getAdminClarifications(c echo.Context) error {
	if err := staffRequired(c, db); err != nil {
		return err
	}
	var clarifications []xsuportal.Clarification
	err := db.Select(&clarifications, "SELECT * FROM `clarifications` ORDER BY `updated_at` DESC")
	if err != nil {
		return fmt.Errorf("reading the questions: %w", err)
	}
	list, err := makeClarificationsPB(clarifications)
	if err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &adminpb.ListClarificationsResponse{Clarifications: list})
}

// getAdminClarification answers one question.
func getAdminClarification(c echo.Context) error {
	if err := staffRequired(c, db); err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return halt(c, http.StatusNotFound, xsuportal.MsgNoSuchQuestion, nil)
	}
	var clarification xsuportal.Clarification
	err = db.Get(&clarification, "SELECT * FROM `clarifications` WHERE `id` = ? LIMIT 1", id)
	if errors.Is(err, sql.ErrNoRows) {
		return halt(c, http.StatusNotFound, xsuportal.MsgNoSuchQuestion, nil)
	}
	if err != nil {
		return fmt.Errorf("reading question %d: %w", id, err)
	}
	var team xsuportal.Team
	if err := db.Get(&team, "SELECT * FROM `teams` WHERE `id` = ? LIMIT 1", clarification.TeamID); err != nil {
		return fmt.Errorf("reading team %d: %w", clarification.TeamID, err)
	}
	answer, err := makeClarificationPB(db, &clarification, &team)
	if err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &adminpb.GetClarificationResponse{Clarification: answer})
}

// putAdminClarification answers a question, and notifies those who may read the answer.
func putAdminClarification(c echo.Context) error {
	if err := staffRequired(c, db); err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return halt(c, http.StatusNotFound, xsuportal.MsgNoSuchQuestion, nil)
	}
	var request adminpb.RespondClarificationRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	tx, err := db.Beginx()
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback()

	var before xsuportal.Clarification
	err = tx.Get(&before, "SELECT * FROM `clarifications` WHERE `id` = ? LIMIT 1 FOR UPDATE", id)
	if errors.Is(err, sql.ErrNoRows) {
		return halt(c, http.StatusNotFound, xsuportal.MsgNoSuchQuestion, nil)
	}
	if err != nil {
		return fmt.Errorf("reading question %d: %w", id, err)
	}
	wasAnswered := before.AnsweredAt.Valid
	wasDisclosed := before.Disclosed

	_, err = tx.Exec("UPDATE `clarifications` SET `disclosed` = ?, `answer` = ?, `updated_at` = NOW(6), `answered_at` = NOW(6)"+
		" WHERE `id` = ? LIMIT 1", request.GetDisclose(), request.GetAnswer(), id)
	if err != nil {
		return fmt.Errorf("storing the answer: %w", err)
	}
	var clarification xsuportal.Clarification
	if err := tx.Get(&clarification, "SELECT * FROM `clarifications` WHERE `id` = ? LIMIT 1", id); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	var team xsuportal.Team
	if err := tx.Get(&team, "SELECT * FROM `teams` WHERE `id` = ? LIMIT 1", clarification.TeamID); err != nil {
		return fmt.Errorf("reading team %d: %w", clarification.TeamID, err)
	}
	answer, err := makeClarificationPB(tx, &clarification, &team)
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	updated := wasAnswered && wasDisclosed == clarification.Disclosed
	if err := notifier.NotifyClarificationAnswered(db, &clarification, updated); err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &adminpb.RespondClarificationResponse{Clarification: answer})
}
