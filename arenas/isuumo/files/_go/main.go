// Command isuumo is the web application of the contest: a site for finding a
// chair, and an estate with a door that lets it in. Everything is answered from
// the database, in the simplest way. It runs in its own directory and finds
// ../fixture and ../mysql/db from there.
//
//  1. main.go: environment, routes, initialize.
//  2. condition.go: what users can search by.
//  3. chair.go, estate.go: the two tables.
//  4. nazotte.go: search by a polygon drawn on the map.
package main

import (
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
	initScript   = "../mysql/db/init.sh"
	limit        = 20 // rows of lists that are not searches
	nazotteLimit = 50
)

var db *sqlx.DB

type InitializeResponse struct {
	Language string `json:"language"`
}

func main() {
	if err := loadConditions(); err != nil {
		fmt.Fprintf(os.Stderr, "reading the search conditions: %v\n", err)
		os.Exit(1)
	}

	e := echo.New()
	e.Debug = true
	e.Logger.SetLevel(log.DEBUG)
	//lint:ignore SA1019 its successor logs less of each request, and its cost is part of the contest
	e.Use(middleware.Logger())
	e.Use(middleware.Recover())

	e.POST("/initialize", initialize)

	e.GET("/api/chair/:id", getChairDetail)
	e.POST("/api/chair", postChair)
	e.GET("/api/chair/search", searchChairs)
	e.GET("/api/chair/low_priced", getLowPricedChair)
	e.GET("/api/chair/search/condition", getChairSearchCondition)
	e.POST("/api/chair/buy/:id", buyChair)

	e.GET("/api/estate/:id", getEstateDetail)
	e.POST("/api/estate", postEstate)
	e.GET("/api/estate/search", searchEstates)
	e.GET("/api/estate/low_priced", getLowPricedEstate)
	e.POST("/api/estate/req_doc/:id", postEstateRequestDocument)
	e.POST("/api/estate/nazotte", searchEstateNazotte)
	e.GET("/api/estate/search/condition", getEstateSearchCondition)
	e.GET("/api/recommended_estate/:id", searchRecommendedEstateWithChair)

	var err error
	db, err = connectDB()
	if err != nil {
		e.Logger.Fatalf("connecting to the database: %v", err)
	}
	db.SetMaxOpenConns(10)
	defer db.Close()

	e.Logger.Fatal(e.Start(net.JoinHostPort(os.Getenv("SERVER_HOST"), getEnv("SERVER_PORT", "1323"))))
}

func getEnv(key, defaultValue string) string {
	if value := os.Getenv(key); value != "" {
		return value
	}
	return defaultValue
}

func connectDB() (*sqlx.DB, error) {
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = net.JoinHostPort(getEnv("MYSQL_HOST", "127.0.0.1"), getEnv("MYSQL_PORT", "3306"))
	c.User = getEnv("MYSQL_USER", "isucon")
	c.Passwd = getEnv("MYSQL_PASS", "isucon")
	c.DBName = getEnv("MYSQL_DBNAME", "isuumo")
	return sqlx.Open("mysql", c.FormatDSN())
}

// initialize loads the schema and the initial data anew.
func initialize(c echo.Context) error {
	load := exec.Command(initScript)
	load.Stdout = os.Stderr
	load.Stderr = os.Stderr
	if err := load.Run(); err != nil {
		c.Logger().Errorf("running %s: %v", initScript, err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.JSON(http.StatusOK, InitializeResponse{Language: "go"})
}
