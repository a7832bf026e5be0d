package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"xsuportal"
	"xsuportal/proto/resources"
	"xsuportal/proto/services/registration"
)

// getRegistrationSession answers what the caller can do: create a team, join the one of an
// invitation, or neither.
func getRegistrationSession(c echo.Context) error {
	var team *xsuportal.Team
	contestant, err := getCurrentContestant(c, db, false)
	if err != nil {
		return err
	}
	team, err = getCurrentTeam(c, db, false)
	if err != nil {
		return err
	}
	if team == nil {
		teamID, inviteToken := c.QueryParam("team_id"), c.QueryParam("invite_token")
		if teamID != "" && inviteToken != "" {
			var invited xsuportal.Team
			err := db.Get(&invited, "SELECT * FROM `teams` WHERE `id` = ? AND `invite_token` = ? AND `withdrawn` = FALSE LIMIT 1",
				teamID, inviteToken)
			if errors.Is(err, sql.ErrNoRows) {
				return halt(c, http.StatusNotFound, xsuportal.MsgBadInvitation, nil)
			}
			if err != nil {
				return fmt.Errorf("reading the team: %w", err)
			}
			team = &invited
		}
	}

	var members []xsuportal.Contestant
	if team != nil {
		if err := db.Select(&members, "SELECT * FROM `contestants` WHERE `team_id` = ?", team.ID); err != nil {
			return fmt.Errorf("reading the members: %w", err)
		}
	}
	answer := &registration.GetRegistrationSessionResponse{}
	switch {
	case contestant != nil && contestant.TeamID.Valid:
		answer.Status = registration.GetRegistrationSessionResponse_JOINED
	case team != nil && len(members) >= MemberCapacity:
		answer.Status = registration.GetRegistrationSessionResponse_NOT_JOINABLE
	case contestant == nil:
		answer.Status = registration.GetRegistrationSessionResponse_NOT_LOGGED_IN
	case team != nil:
		answer.Status = registration.GetRegistrationSessionResponse_JOINABLE
	default:
		answer.Status = registration.GetRegistrationSessionResponse_CREATABLE
	}
	if team != nil {
		leads := contestant != nil && team.LeaderID.Valid && contestant.ID == team.LeaderID.String
		answer.Team, err = makeTeamPB(db, team, leads, true)
		if err != nil {
			return err
		}
		answer.MemberInviteUrl = "/registration?" + url.Values{"team_id": {strconv.FormatInt(team.ID, 10)},
			"invite_token": {team.InviteToken}}.Encode()
		answer.InviteToken = team.InviteToken
	}
	return writeProto(c, http.StatusOK, answer)
}

// postTeam creates a team, whose leader the caller is.
func postTeam(c echo.Context) error {
	var request registration.CreateTeamRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	if err := loginRequired(c, db, guard{}); err != nil {
		return err
	}
	if err := contestStatusRestricted(c, db, resources.Contest_REGISTRATION, xsuportal.MsgNoRegistration); err != nil {
		return err
	}
	contestant, err := getCurrentContestant(c, db, false)
	if err != nil {
		return err
	}

	// The locks belong to one connection.
	ctx := context.Background()
	conn, err := db.Connx(ctx)
	if err != nil {
		return fmt.Errorf("taking a connection: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "LOCK TABLES `teams` WRITE, `contestants` WRITE"); err != nil {
		return fmt.Errorf("locking: %w", err)
	}
	defer conn.ExecContext(ctx, "UNLOCK TABLES")

	random := make([]byte, 64)
	rand.Read(random)
	inviteToken := base64.URLEncoding.EncodeToString(random)

	var withinCapacity bool
	err = conn.QueryRowContext(ctx, "SELECT COUNT(*) < ? AS `within_capacity` FROM `teams`", TeamCapacity).Scan(&withinCapacity)
	if err != nil {
		return fmt.Errorf("counting the teams: %w", err)
	}
	if !withinCapacity {
		return halt(c, http.StatusForbidden, xsuportal.MsgCapacityReached, nil)
	}
	_, err = conn.ExecContext(ctx, "INSERT INTO `teams` (`name`, `email_address`, `invite_token`, `created_at`) VALUES (?, ?, ?, NOW(6))",
		request.GetTeamName(), request.GetEmailAddress(), inviteToken)
	if err != nil {
		return fmt.Errorf("storing the team: %w", err)
	}
	var teamID int64
	if err := conn.QueryRowContext(ctx, "SELECT LAST_INSERT_ID() AS `id`").Scan(&teamID); err != nil {
		return fmt.Errorf("reading the number of the team: %w", err)
	}
	_, err = conn.ExecContext(ctx, "UPDATE `contestants` SET `name` = ?, `student` = ?, `team_id` = ? WHERE `id` = ? LIMIT 1",
		request.GetName(), request.GetIsStudent(), teamID, contestant.ID)
	if err != nil {
		return fmt.Errorf("storing the leader: %w", err)
	}
	_, err = conn.ExecContext(ctx, "UPDATE `teams` SET `leader_id` = ? WHERE `id` = ? LIMIT 1", contestant.ID, teamID)
	if err != nil {
		return fmt.Errorf("naming the leader: %w", err)
	}
	return writeProto(c, http.StatusOK, &registration.CreateTeamResponse{TeamId: teamID})
}

// postContestant joins a team by its invitation.
func postContestant(c echo.Context) error {
	var request registration.JoinTeamRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	if err := loginRequired(c, db, guard{}); err != nil {
		return err
	}
	if err := contestStatusRestricted(c, db, resources.Contest_REGISTRATION, xsuportal.MsgNoRegistration); err != nil {
		return err
	}
	tx, err := db.Beginx()
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback()
	// Both locks come first: what is read before them could be older.
	contestant, err := getCurrentContestant(c, tx, true)
	if err != nil {
		return err
	}
	var team xsuportal.Team
	err = tx.Get(&team, "SELECT * FROM `teams` WHERE `id` = ? AND `invite_token` = ? AND `withdrawn` = FALSE LIMIT 1 FOR UPDATE",
		request.GetTeamId(), request.GetInviteToken())
	if errors.Is(err, sql.ErrNoRows) {
		return halt(c, http.StatusBadRequest, xsuportal.MsgBadInvitation, nil)
	}
	if err != nil {
		return fmt.Errorf("reading the team: %w", err)
	}
	var memberCount int
	if err := tx.Get(&memberCount, "SELECT COUNT(*) FROM `contestants` WHERE `team_id` = ?", team.ID); err != nil {
		return fmt.Errorf("counting the members: %w", err)
	}
	if memberCount >= MemberCapacity {
		return halt(c, http.StatusBadRequest, xsuportal.MsgTeamFull, nil)
	}
	_, err = tx.Exec("UPDATE `contestants` SET `team_id` = ?, `name` = ?, `student` = ? WHERE `id` = ? LIMIT 1",
		team.ID, request.GetName(), request.GetIsStudent(), contestant.ID)
	if err != nil {
		return fmt.Errorf("storing the member: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return writeProto(c, http.StatusOK, &registration.JoinTeamResponse{})
}

// putRegistration changes the caller's name, and for the leader the team's.
func putRegistration(c echo.Context) error {
	var request registration.UpdateRegistrationRequest
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
	contestant, err := getCurrentContestant(c, tx, false)
	if err != nil {
		return err
	}
	team, err := getCurrentTeam(c, tx, false)
	if err != nil {
		return err
	}
	if team.LeaderID.Valid && team.LeaderID.String == contestant.ID {
		_, err := tx.Exec("UPDATE `teams` SET `name` = ?, `email_address` = ? WHERE `id` = ? LIMIT 1",
			request.GetTeamName(), request.GetEmailAddress(), team.ID)
		if err != nil {
			return fmt.Errorf("changing the team: %w", err)
		}
	}
	_, err = tx.Exec("UPDATE `contestants` SET `name` = ?, `student` = ? WHERE `id` = ? LIMIT 1",
		request.GetName(), request.GetIsStudent(), contestant.ID)
	if err != nil {
		return fmt.Errorf("changing the contestant: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return writeProto(c, http.StatusOK, &registration.UpdateRegistrationResponse{})
}

// deleteRegistration has a member leave its team; the leader withdraws the team.
func deleteRegistration(c echo.Context) error {
	tx, err := db.Beginx()
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback()
	if err := loginRequired(c, tx, guard{team: true, lock: true}); err != nil {
		return err
	}
	if err := contestStatusRestricted(c, tx, resources.Contest_REGISTRATION, xsuportal.MsgNoRegistration); err != nil {
		return err
	}
	contestant, err := getCurrentContestant(c, tx, false)
	if err != nil {
		return err
	}
	team, err := getCurrentTeam(c, tx, false)
	if err != nil {
		return err
	}
	if team.LeaderID.Valid && team.LeaderID.String == contestant.ID {
		_, err := tx.Exec("UPDATE `teams` SET `withdrawn` = TRUE, `leader_id` = NULL WHERE `id` = ? LIMIT 1", team.ID)
		if err != nil {
			return fmt.Errorf("withdrawing the team: %w", err)
		}
		if _, err := tx.Exec("UPDATE `contestants` SET `team_id` = NULL WHERE `team_id` = ?", team.ID); err != nil {
			return fmt.Errorf("releasing the members: %w", err)
		}
	} else if _, err := tx.Exec("UPDATE `contestants` SET `team_id` = NULL WHERE `id` = ? LIMIT 1", contestant.ID); err != nil {
		return fmt.Errorf("leaving the team: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return writeProto(c, http.StatusOK, &registration.DeleteRegistrationResponse{})
}
