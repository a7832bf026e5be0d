package main

import (
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-sql-driver/mysql"
	"github.com/labstack/echo/v4"

	"xsuportal"
	"xsuportal/proto/services/common"
	contestantpb "xsuportal/proto/services/contestant"
)

const mysqlErrDuplicateEntry = 1062

// getSession answers who the caller is, the caller's team and the times of the contest.
func getSession(c echo.Context) error {
	answer := &common.GetCurrentSessionResponse{}
	contestant, err := getCurrentContestant(c, db, false)
	if err != nil {
		return err
	}
	if contestant != nil {
		answer.Contestant = makeContestantPB(contestant)
	}
	team, err := getCurrentTeam(c, db, false)
	if err != nil {
		return err
	}
	if team != nil {
		answer.Team, err = makeTeamPB(db, team, true, true)
		if err != nil {
			return err
		}
	}
	answer.Contest, err = makeContestPB(db)
	if err != nil {
		return err
	}
	if key := notifier.VAPIDKey(); key != nil {
		answer.PushVapidKey = key.PublicKey
	}
	return writeProto(c, http.StatusOK, answer)
}

// postSignup makes an account and logs in.
func postSignup(c echo.Context) error {
	var request contestantpb.SignupRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	_, err := db.Exec("INSERT INTO `contestants` (`id`, `password`, `staff`, `created_at`) VALUES (?, ?, FALSE, NOW(6))",
		request.GetContestantId(), passwordHash(request.GetPassword()))
	var duplicate *mysql.MySQLError
	if errors.As(err, &duplicate) && duplicate.Number == mysqlErrDuplicateEntry {
		return halt(c, http.StatusBadRequest, xsuportal.MsgIDTaken, nil)
	}
	if err != nil {
		return fmt.Errorf("storing the contestant: %w", err)
	}
	if err := logIn(c, request.GetContestantId()); err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &contestantpb.SignupResponse{})
}

// postLogin begins a session.
func postLogin(c echo.Context) error {
	var request contestantpb.LoginRequest
	if err := readProto(c, &request); err != nil {
		return err
	}
	var password string
	err := db.Get(&password, "SELECT `password` FROM `contestants` WHERE `id` = ? LIMIT 1", request.GetContestantId())
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reading the password: %w", err)
	}
	hash := passwordHash(request.GetPassword())
	if err != nil || subtle.ConstantTimeCompare([]byte(password), []byte(hash)) != 1 {
		return halt(c, http.StatusBadRequest, xsuportal.MsgWrongLogin, nil)
	}
	if err := logIn(c, request.GetContestantId()); err != nil {
		return err
	}
	return writeProto(c, http.StatusOK, &contestantpb.LoginResponse{})
}

// postLogout ends the session.
func postLogout(c echo.Context) error {
	session, err := store.Get(c.Request(), SessionName)
	if err != nil {
		return halt(c, http.StatusUnauthorized, xsuportal.MsgNotLoggedIn, nil)
	}
	if _, ok := session.Values["contestant_id"]; !ok {
		return halt(c, http.StatusUnauthorized, xsuportal.MsgNotLoggedIn, nil)
	}
	delete(session.Values, "contestant_id")
	if err := session.Save(c.Request(), c.Response()); err != nil {
		return fmt.Errorf("ending the session: %w", err)
	}
	return writeProto(c, http.StatusOK, &contestantpb.LogoutResponse{})
}
