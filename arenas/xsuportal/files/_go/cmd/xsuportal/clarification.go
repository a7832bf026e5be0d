package main

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"xsuportal"
	"xsuportal/proto/resources"
	contestantpb "xsuportal/proto/services/contestant"
)

// getClarifications lists the team's questions, and those whose answers are for everyone.
func getClarifications(c echo.Context) error {
	if err := loginRequired(c, db, guard{team: true}); err != nil {
		return err
	}
	team, err := getCurrentTeam(c, db, false)
	if err != nil {
		return err
	}
	var clarifications []xsuportal.Clarification
	err = db.Select(&clarifications, "SELECT * FROM `clarifications` WHERE `team_id` = ? OR `disclosed` = TRUE ORDER BY `id` DESC", team.ID)
	if err != nil {
		return fmt.Errorf("reading the questions: %w", err)
	}
	list, err := makeClarificationsPB(clarifications)
	if err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &contestantpb.ListClarificationsResponse{Clarifications: list})
}

// makeClarificationsPB adds to each question its team.
func makeClarificationsPB(clarifications []xsuportal.Clarification) ([]*resources.Clarification, error) {
	var list []*resources.Clarification
	for i := range clarifications {
		var team xsuportal.Team
		err := db.Get(&team, "SELECT * FROM `teams` WHERE `id` = ? LIMIT 1", clarifications[i].TeamID)
		if err != nil {
			return nil, fmt.Errorf("reading team %d: %w", clarifications[i].TeamID, err)
		}
		clarification, err := makeClarificationPB(db, &clarifications[i], &team)
		if err != nil {
			return nil, err
		}
		list = append(list, clarification)
	}
	return list, nil
}

// postClarification stores a question.
func postClarification(c echo.Context) error {
	if err := loginRequired(c, db, guard{team: true}); err != nil {
		return err
	}
	var request contestantpb.RequestClarificationRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	tx, err := db.Beginx()
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback()
	team, err := getCurrentTeam(c, tx, false)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO `clarifications` (`team_id`, `question`, `created_at`, `updated_at`) VALUES (?, ?, NOW(6), NOW(6))",
		team.ID, request.GetQuestion())
	if err != nil {
		return fmt.Errorf("storing the question: %w", err)
	}
	var clarification xsuportal.Clarification
	if err := tx.Get(&clarification, "SELECT * FROM `clarifications` WHERE `id` = LAST_INSERT_ID() LIMIT 1"); err != nil {
		return fmt.Errorf("reading the question: %w", err)
	}
	answer, err := makeClarificationPB(tx, &clarification, team)
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return writeProto(c, http.StatusOK, &contestantpb.RequestClarificationResponse{Clarification: answer})
}
