// Command isuports is the web application of the contest: rankings for many
// tenants. The admin database has the tenants, the visits and the generator of ids;
// each tenant has an SQLite file of its own. Everything is answered in the simplest
// way. It runs in its own directory and finds ../sql from there.
//
//  1. main.go: environment, routes, answers, initialize.
//  2. viewer.go: sessions, and the tenant of a request.
//  3. tenantdb.go, sqltrace.go: the SQLite files, their locks and their trace.
//  4. admin.go: ids, tenants, billing of all tenants.
//  5. organizer.go, score.go, billing.go: what an organizer does.
//  6. player.go: what a player sees.
package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/labstack/gommon/log"
)

const (
	initScript       = "../sql/init.sh"
	tenantSchema     = "../sql/tenant/10_schema.sql"
	cookieName       = "isuports_session"
	adminName        = "admin"
	adminConnections = 10

	roleAdmin     = "admin"
	roleOrganizer = "organizer"
	rolePlayer    = "player"
	roleNone      = "none"
)

// app is the state that the handlers share.
type app struct {
	admin        *sqlx.DB
	tenantDriver string // name of the SQLite driver
}

// success is the form of an answer with data.
type success struct {
	Status bool `json:"status"`
	Data   any  `json:"data,omitempty"`
}

// failure is the form of a refusal.
type failure struct {
	Status  bool   `json:"status"`
	Message string `json:"message"`
}

func main() {
	e := echo.New()
	e.Debug = true
	e.Logger.SetLevel(log.DEBUG)

	a, err := newApp()
	if err != nil {
		e.Logger.Fatalf("starting: %v", err)
	}
	defer a.admin.Close()

	//lint:ignore SA1019 its successor logs less of each request, and its cost is part of the contest
	e.Use(middleware.Logger())
	e.Use(middleware.Recover())
	e.Use(cachePrivate)
	e.HTTPErrorHandler = answerError
	a.routes(e)

	e.Logger.Fatal(e.Start(net.JoinHostPort(os.Getenv("SERVER_APP_HOST"), env("SERVER_APP_PORT", "3000"))))
}

func env(key, otherwise string) string {
	if value := os.Getenv(key); value != "" {
		return value
	}
	return otherwise
}

func newApp() (*app, error) {
	driver, err := openTrace()
	if err != nil {
		return nil, fmt.Errorf("tracing SQLite: %w", err)
	}
	db, err := connectAdmin()
	if err != nil {
		return nil, fmt.Errorf("connecting to the admin database: %w", err)
	}
	db.SetMaxOpenConns(adminConnections)
	return &app{admin: db, tenantDriver: driver}, nil
}

func connectAdmin() (*sqlx.DB, error) {
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = net.JoinHostPort(env("ISUCON_DB_HOST", "127.0.0.1"), env("ISUCON_DB_PORT", "3306"))
	c.User = env("ISUCON_DB_USER", "isucon")
	c.Passwd = env("ISUCON_DB_PASSWORD", "isucon")
	c.DBName = env("ISUCON_DB_NAME", "isuports")
	c.ParseTime = true
	return sqlx.Open("mysql", c.FormatDSN())
}

func (a *app) routes(e *echo.Echo) {
	e.POST("/initialize", initialize)

	e.POST("/api/admin/tenants/add", a.addTenant)
	e.GET("/api/admin/tenants/billing", a.tenantsBilling)

	e.GET("/api/organizer/players", a.organizerPlayers)
	e.POST("/api/organizer/players/add", a.addPlayers)
	e.POST("/api/organizer/player/:player_id/disqualified", a.disqualifyPlayer)
	e.POST("/api/organizer/competitions/add", a.addCompetition)
	e.POST("/api/organizer/competition/:competition_id/finish", a.finishCompetition)
	e.POST("/api/organizer/competition/:competition_id/score", a.uploadScores)
	e.GET("/api/organizer/billing", a.organizerBilling)
	e.GET("/api/organizer/competitions", a.organizerCompetitions)

	e.GET("/api/player/player/:player_id", a.playerDetail)
	e.GET("/api/player/competition/:competition_id/ranking", a.ranking)
	e.GET("/api/player/competitions", a.playerCompetitions)

	e.GET("/api/me", a.me)
}

// cachePrivate keeps answers out of shared caches.
func cachePrivate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderCacheControl, "private")
		return next(c)
	}
}

// answerError answers every error of a handler. The reason is in the log only.
func answerError(err error, c echo.Context) {
	c.Logger().Errorf("%s %s: %v", c.Request().Method, c.Path(), err)
	if c.Response().Committed {
		return
	}
	status := http.StatusInternalServerError
	var refused *echo.HTTPError
	if errors.As(err, &refused) {
		status = refused.Code
	}
	if err := c.JSON(status, failure{}); err != nil {
		c.Logger().Errorf("answering: %v", err)
	}
}

// refuse is an error with a status of its own.
func refuse(status int, format string, args ...any) error {
	return echo.NewHTTPError(status, fmt.Sprintf(format, args...))
}

func answer(c echo.Context, data any) error {
	return c.JSON(http.StatusOK, success{Status: true, Data: data})
}

// initialize restores the initial data.
func initialize(c echo.Context) error {
	out, err := exec.CommandContext(c.Request().Context(), initScript).CombinedOutput()
	if err != nil {
		return fmt.Errorf("running %s: %w: %s", initScript, err, out)
	}
	return answer(c, map[string]string{"lang": "go"})
}
