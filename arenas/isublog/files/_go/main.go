// Command isublog is the web application of the contest: a small public blog with
// articles and anonymous comments. Everything comes from this program, also the
// static files, and every page is computed anew from the database. It runs in its
// own directory and finds templates/, ../public and ../sql/restore.sh from there.
//
//  1. main.go: environment, routes, initialize.
//  2. data.go: the rows and their queries.
//  3. pages.go: the pages.
package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
	_ "time/tzdata" // for machines without time zone files

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

const (
	restoreScript = "../sql/restore.sh"
	publicFolder  = "../public"
)

// app is the state that the handlers share.
type app struct {
	db *sqlx.DB
}

func main() {
	e := echo.New()
	//lint:ignore SA1019 its successor logs less of each request, and its cost is part of the contest
	e.Use(middleware.Logger())
	e.Use(middleware.Recover())

	db, err := connectDB()
	if err != nil {
		e.Logger.Fatalf("connecting to the database: %v", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(10)
	a := &app{db: db}
	a.routes(e)

	e.Logger.Fatal(e.Start(net.JoinHostPort(env("APP_HOST", "127.0.0.1"), env("APP_PORT", "5000"))))
}

func env(key, otherwise string) string {
	if value := os.Getenv(key); value != "" {
		return value
	}
	return otherwise
}

func connectDB() (*sqlx.DB, error) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = net.JoinHostPort(env("DB_HOST", "127.0.0.1"), env("DB_PORT", "3306"))
	c.DBName = env("DB_NAME", "isublog")
	c.User = env("DB_USER", "isuconapp")
	c.Passwd = env("DB_PASS", "isublog")
	c.ParseTime = true
	c.Loc = tokyo
	return sqlx.Open("mysql", c.FormatDSN())
}

func (a *app) routes(e *echo.Echo) {
	e.POST("/initialize", a.postInitialize)

	e.GET("/", a.getIndex)
	e.GET("/article/:id", a.getArticle)
	e.GET("/post", a.getPost)
	e.POST("/post", a.postArticle)
	e.POST("/comment/:id", a.postComment)

	e.Static("/css", publicFolder+"/css")
	e.Static("/js", publicFolder+"/js")
	e.Static("/images", publicFolder+"/images")
	e.File("/favicon.ico", publicFolder+"/favicon.ico")
}

// postInitialize removes the rows that were added since the initial data.
func (a *app) postInitialize(c echo.Context) error {
	restore := exec.Command(restoreScript)
	restore.Stdout = os.Stderr
	restore.Stderr = os.Stderr
	if err := restore.Run(); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"language": "go"})
}
