// Command xsuportal is the web application of the contest: the portal of a contest, with
// teams, benchmarks, leaderboards, questions and notifications. It runs in the folder go and
// finds ../public from there.
//
//  1. main.go: routes, sessions, guards, answers.
//  2. session.go, registration.go: who the caller is, and teams.
//  3. contestant.go, clarification.go, notification.go: what a team does.
//  4. admin.go: initialize and answers to questions. audience.go: what everyone sees.
//  5. leaderboard.go, resources.go: messages from rows.
package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gorilla/sessions"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"google.golang.org/protobuf/proto"

	"xsuportal"
	"xsuportal/proto/errorpb"
	"xsuportal/proto/resources"
)

const (
	// TeamCapacity is how many teams may register.
	TeamCapacity = 10
	// MemberCapacity is how many members a team may have.
	MemberCapacity = 3

	AdminID       = "admin"
	AdminPassword = "admin"

	SessionName = "xsucon_session"
	sessionKey  = "xsuportal-session-key"

	publicFolder = "../public"

	protobufType = "application/vnd.google.protobuf"
	errorType    = protobufType + "; proto=xsuportal.proto.Error"
)

var (
	db       *sqlx.DB
	store    = newStore()
	notifier xsuportal.Notifier
)

func newStore() *sessions.CookieStore {
	s := sessions.NewCookieStore([]byte(sessionKey))
	s.Options = &sessions.Options{Path: "/", MaxAge: 3600}
	return s
}

func main() {
	e := echo.New()
	e.Debug = xsuportal.GetEnv("DEBUG", "") != ""
	//lint:ignore SA1019 its successor logs less of each request, and its cost is part of the contest
	e.Use(middleware.Logger())
	e.Use(middleware.Recover())
	e.HTTPErrorHandler = handleError

	var err error
	db, err = xsuportal.GetDB()
	if err != nil {
		e.Logger.Fatalf("connecting to the database: %v", err)
	}
	defer db.Close()

	routes(e)
	e.Logger.Fatal(e.Start(xsuportal.GetEnv("HOST", "127.0.0.1") + ":" + xsuportal.GetEnv("PORT", "9292")))
}

func routes(e *echo.Echo) {
	for shell, paths := range map[string][]string{
		"audience.html":   {"/", "/registration", "/signup", "/login", "/logout", "/teams"},
		"contestant.html": {"/contestant", "/contestant/benchmark_jobs", "/contestant/benchmark_jobs/:id", "/contestant/clarifications"},
		"admin.html":      {"/admin", "/admin/", "/admin/clarifications", "/admin/clarifications/:id"},
	} {
		for _, path := range paths {
			e.File(path, publicFolder+"/"+shell)
		}
	}
	e.Static("/", publicFolder)

	e.POST("/initialize", postInitialize)
	e.GET("/api/session", getSession)
	e.POST("/api/signup", postSignup)
	e.POST("/api/login", postLogin)
	e.POST("/api/logout", postLogout)

	e.GET("/api/registration/session", getRegistrationSession)
	e.POST("/api/registration/team", postTeam)
	e.POST("/api/registration/contestant", postContestant)
	e.PUT("/api/registration", putRegistration)
	e.DELETE("/api/registration", deleteRegistration)

	e.POST("/api/contestant/benchmark_jobs", postBenchmarkJob)
	e.GET("/api/contestant/benchmark_jobs", getBenchmarkJobs)
	e.GET("/api/contestant/benchmark_jobs/:id", getBenchmarkJob)
	e.GET("/api/contestant/clarifications", getClarifications)
	e.POST("/api/contestant/clarifications", postClarification)
	e.GET("/api/contestant/dashboard", getContestantDashboard)
	e.GET("/api/contestant/notifications", getNotifications)
	e.POST("/api/contestant/push_subscriptions", postPushSubscription)
	e.DELETE("/api/contestant/push_subscriptions", deletePushSubscription)

	e.GET("/api/audience/teams", getTeams)
	e.GET("/api/audience/dashboard", getAudienceDashboard)

	e.GET("/api/admin/clarifications", getAdminClarifications)
	e.GET("/api/admin/clarifications/:id", getAdminClarification)
	e.PUT("/api/admin/clarifications/:id", putAdminClarification)
}

// writeProto answers with a message.
func writeProto(c echo.Context, code int, m proto.Message) error {
	text, err := proto.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	return c.Blob(code, protobufType, text)
}

// readProto reads a message from the body.
func readProto(c echo.Context, m proto.Message) error {
	text, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	if err := proto.Unmarshal(text, m); err != nil {
		return halt(c, http.StatusBadRequest, "The body is not a message.", err)
	}
	return nil
}

// A haltError is an answer that is written already.
type haltError struct{ cause error }

func (h haltError) Error() string { return fmt.Sprintf("answered: %v", h.cause) }

// halt answers with an error.
func halt(c echo.Context, code int, message string, cause error) error {
	answer := &errorpb.Error{Code: int32(code), Name: http.StatusText(code), HumanMessage: message}
	if cause != nil {
		c.Logger().Errorf("%s %s: %v", c.Request().Method, c.Path(), cause)
		answer.DebugInfo = &errorpb.Error_DebugInfo{Exception: cause.Error()}
	}
	text, err := proto.Marshal(answer)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	if err := c.Blob(code, errorType, text); err != nil {
		return err
	}
	return haltError{cause}
}

// handleError answers with 500 where a handler failed. Other answers are written already.
func handleError(err error, c echo.Context) {
	var h haltError
	if errors.As(err, &h) {
		return
	}
	if he := new(echo.HTTPError); errors.As(err, &he) { // as for a path that nothing answers
		_ = halt(c, he.Code, http.StatusText(he.Code), nil)
		return
	}
	_ = halt(c, http.StatusInternalServerError, xsuportal.MsgInternal, err)
}

// passwordHash is how passwords are stored.
func passwordHash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// logIn begins a session.
func logIn(c echo.Context, contestantID string) error {
	session, err := store.New(c.Request(), SessionName)
	if err != nil && session == nil {
		return fmt.Errorf("beginning a session: %w", err)
	}
	session.Values["contestant_id"] = contestantID
	return session.Save(c.Request(), c.Response())
}

// getCurrentContestant reads the account of the request's session from the database. If lock is
// true, the SELECT locks the row (FOR UPDATE). Without a login it returns nil and no error.
func getCurrentContestant(c echo.Context, db sqlx.Queryer, lock bool) (*xsuportal.Contestant, error) {
	session, err := store.Get(c.Request(), SessionName)
	if err != nil {
		return nil, nil // a cookie of another key is no session
	}
	id, ok := session.Values["contestant_id"]
	if !ok {
		return nil, nil
	}
	query := "SELECT * FROM `contestants` WHERE `id` = ? LIMIT 1"
	if lock {
		query += " FOR UPDATE"
	}
	var contestant xsuportal.Contestant
	if err := sqlx.Get(db, &contestant, query, id); errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the contestant: %w", err)
	}
	return &contestant, nil
}

// getCurrentTeam returns the caller's team, nil for none.
func getCurrentTeam(c echo.Context, db sqlx.Queryer, lock bool) (*xsuportal.Team, error) {
	// Without a lock, this read would fix what later reads of the transaction see.
	contestant, err := getCurrentContestant(c, db, lock)
	if err != nil || contestant == nil || !contestant.TeamID.Valid {
		return nil, err
	}
	query := "SELECT * FROM `teams` WHERE `id` = ? LIMIT 1"
	if lock {
		query += " FOR UPDATE"
	}
	var team xsuportal.Team
	if err := sqlx.Get(db, &team, query, contestant.TeamID.Int64); errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the team: %w", err)
	}
	return &team, nil
}

// getCurrentContestStatus returns the times of the contest, and where the database's clock is in them.
func getCurrentContestStatus(db sqlx.Queryer) (*xsuportal.ContestStatus, error) {
	var s xsuportal.ContestStatus
	err := sqlx.Get(db, &s, "SELECT *, NOW(6) AS `current_time`,"+
		" CASE WHEN NOW(6) < `registration_open_at` THEN 0"+
		" WHEN NOW(6) < `contest_starts_at` THEN 1"+
		" WHEN NOW(6) < `contest_ends_at` THEN 2"+
		" ELSE 3 END AS `status`,"+
		" IF(`contest_freezes_at` <= NOW(6) AND NOW(6) < `contest_ends_at`, 1, 0) AS `frozen`"+
		" FROM `contest_config` LIMIT 1")
	if err != nil {
		return nil, fmt.Errorf("reading the times of the contest: %w", err)
	}
	return &s, nil
}

// A guard is what a caller needs.
type guard struct {
	team bool
	lock bool // of the contestant and the team, until the end of the transaction
}

// loginRequired refuses callers who are not logged in, or have no team.
func loginRequired(c echo.Context, db sqlx.Queryer, g guard) error {
	contestant, err := getCurrentContestant(c, db, g.lock)
	if err != nil {
		return err
	}
	if contestant == nil {
		return halt(c, http.StatusUnauthorized, xsuportal.MsgLoginRequired, nil)
	}
	if g.team {
		team, err := getCurrentTeam(c, db, g.lock)
		if err != nil {
			return err
		}
		if team == nil {
			return halt(c, http.StatusForbidden, xsuportal.MsgTeamRequired, nil)
		}
	}
	return nil
}

// staffRequired refuses callers who are no administrators.
func staffRequired(c echo.Context, db sqlx.Queryer) error {
	if err := loginRequired(c, db, guard{}); err != nil {
		return err
	}
	contestant, err := getCurrentContestant(c, db, false)
	if err != nil {
		return err
	}
	if !contestant.Staff {
		return halt(c, http.StatusForbidden, xsuportal.MsgStaffRequired, nil)
	}
	return nil
}

// contestStatusRestricted refuses requests outside of a phase of the contest.
func contestStatusRestricted(c echo.Context, db sqlx.Queryer, status resources.Contest_Status, message string) error {
	now, err := getCurrentContestStatus(db)
	if err != nil {
		return err
	}
	if now.Status != int(status) {
		return halt(c, http.StatusForbidden, message, nil)
	}
	return nil
}
