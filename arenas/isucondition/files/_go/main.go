// Command isucondition is the web application of the contest: chairs report
// their condition, owners read it. Everything is answered from the database,
// in the simplest way. It runs in its own directory and finds ../sql/init.sh,
// ../public, ../NoImage.jpg and ../ec256-public.pem from there.
//
//  1. main.go: environment, routes, sessions, initialize.
//  2. auth.go: login with a token of JIA.
//  3. isu.go: list, registration, detail, icon.
//  4. condition.go: receives reports, answers the history.
//  5. graph.go, trend.go: data computed from the conditions.
package main

import (
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
	_ "time/tzdata" // for machines without time zone files

	"github.com/go-sql-driver/mysql"
	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/sessions"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/labstack/gommon/log"
)

const (
	sessionName           = "isucondition"
	initScript            = "../sql/init.sh"
	frontend              = "../public"
	noImage               = "../NoImage.jpg"
	publicKeyFile         = "../ec256-public.pem"
	defaultJIAServiceURL  = "http://localhost:5000"
	jiaServiceURLConfig   = "jia_service_url"
	mysqlErrDuplicateName = 1062
)

// app is the state that the handlers share.
type app struct {
	db       *sqlx.DB
	sessions sessions.Store
	jiaKey   *ecdsa.PublicKey
	// target is the address to which JIA sends conditions.
	target string
}

func main() {
	e := echo.New()
	e.Logger.SetLevel(log.DEBUG)
	//lint:ignore SA1019 its successor logs less of each request, and its cost is part of the contest
	e.Use(middleware.Logger())
	e.Use(middleware.Recover())

	a, err := newApp()
	if err != nil {
		e.Logger.Fatalf("starting: %v", err)
	}
	defer a.db.Close()
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
	target := os.Getenv("POST_ISUCONDITION_TARGET_BASE_URL")
	if target == "" {
		return nil, fmt.Errorf("POST_ISUCONDITION_TARGET_BASE_URL is not set")
	}
	pem, err := os.ReadFile(publicKeyFile)
	if err != nil {
		return nil, fmt.Errorf("reading the public key: %w", err)
	}
	key, err := jwt.ParseECPublicKeyFromPEM(pem)
	if err != nil {
		return nil, fmt.Errorf("reading the public key: %w", err)
	}
	db, err := connectDB()
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	db.SetMaxOpenConns(10)
	store := sessions.NewCookieStore([]byte(env("SESSION_KEY", "isucondition")))
	store.Options = &sessions.Options{Path: "/", MaxAge: 30 * 24 * 60 * 60}
	return &app{db: db, sessions: store, jiaKey: key, target: target}, nil
}

func connectDB() (*sqlx.DB, error) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = net.JoinHostPort(env("MYSQL_HOST", "127.0.0.1"), env("MYSQL_PORT", "3306"))
	c.DBName = env("MYSQL_DBNAME", "isucondition")
	c.User = env("MYSQL_USER", "isucon")
	c.Passwd = env("MYSQL_PASS", "isucon")
	c.ParseTime = true
	c.Loc = tokyo
	return sqlx.Open("mysql", c.FormatDSN())
}

func (a *app) routes(e *echo.Echo) {
	e.POST("/initialize", a.postInitialize)

	e.POST("/api/auth", a.postAuthentication)
	e.POST("/api/signout", a.postSignout)
	e.GET("/api/user/me", a.getMe)
	e.GET("/api/isu", a.getIsuList)
	e.POST("/api/isu", a.postIsu)
	e.GET("/api/isu/:jia_isu_uuid", a.getIsu)
	e.GET("/api/isu/:jia_isu_uuid/icon", a.getIsuIcon)
	e.GET("/api/isu/:jia_isu_uuid/graph", a.getIsuGraph)
	e.GET("/api/condition/:jia_isu_uuid", a.getIsuConditions)
	e.GET("/api/trend", a.getTrend)
	e.POST("/api/condition/:jia_isu_uuid", a.postIsuCondition)

	for _, page := range []string{"/", "/register", "/isu/:jia_isu_uuid", "/isu/:jia_isu_uuid/condition", "/isu/:jia_isu_uuid/graph"} {
		e.GET(page, getIndex)
	}
	e.Static("/assets", frontend+"/assets")
}

// getIndex answers every page: the page's script reads the address.
func getIndex(c echo.Context) error {
	return c.File(frontend + "/index.html")
}

// serverError answers 500 with an empty body and leaves the reason in the log.
func serverError(c echo.Context, doing string, err error) error {
	c.Logger().Errorf("%s: %v", doing, err)
	return c.NoContent(http.StatusInternalServerError)
}

// postInitialize loads schema and initial data again and stores the URL of JIA.
func (a *app) postInitialize(c echo.Context) error {
	var request struct {
		JIAServiceURL string `json:"jia_service_url"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&request); err != nil {
		return c.String(http.StatusBadRequest, "bad request body")
	}

	load := exec.Command(initScript)
	load.Stdout = os.Stderr
	load.Stderr = os.Stderr
	if err := load.Run(); err != nil {
		return serverError(c, "running "+initScript, err)
	}

	_, err := a.db.Exec(
		"INSERT INTO `isu_association_config` (`name`, `url`) VALUES (?, ?) ON DUPLICATE KEY UPDATE `url` = VALUES(`url`)",
		jiaServiceURLConfig, request.JIAServiceURL)
	if err != nil {
		return serverError(c, "storing the address of JIA", err)
	}
	return c.JSON(http.StatusOK, map[string]string{"language": "go"})
}
