// Command sensor answers what sensors measured: echo with a repository layer
// behind an interface. It has slow patterns and code that resembles them; comments
// "Fires" and "Lookalike" name them.
package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"

	"sensor/repo"
)

// A store is what the handlers need of the database.
type store interface {
	Day(ctx context.Context, sensor int64, seconds int64) ([]repo.Point, error)
	Page(ctx context.Context, sensor int64, levels map[string]bool) ([]repo.Reading, error)
	Since(ctx context.Context, text string) ([]repo.Reading, error)
	Newest(ctx context.Context, sensor int64) (string, error)
	Names(ctx context.Context, sensor int64) ([]string, error)
	Total(ctx context.Context) (int, error)
	Labels(ctx context.Context) ([]string, error)
	Whole(ctx context.Context, sensor int64) ([]repo.Point, error)
}

type server struct{ store store }

// Fires: APP214
func main() {
	db, err := sqlx.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(6)
	s := &server{repo.New(db)}
	e := echo.New()
	e.GET("/graph/:sensor", s.graph)
	e.GET("/readings/:sensor", s.readings)
	e.GET("/since", s.since)
	e.GET("/newest/:sensor", s.newest)
	e.GET("/names/:sensor", s.names)
	e.GET("/total", s.total)
	e.GET("/labels", s.labels)
	e.GET("/whole/:sensor", s.whole)
	e.GET("/zone", s.zone)
	e.GET("/offset", s.offset)
	e.GET("/valid/:name", s.valid)
	e.GET("/format", s.format)
	l, err := net.Listen("unix", os.Getenv("LISTEN"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, e))
}

func sensorOf(c echo.Context) int64 {
	id, _ := strconv.ParseInt(c.Param("sensor"), 10, 64)
	return id
}

func (s *server) answer(c echo.Context, v any, err error) error {
	if err != nil {
		log.Print(err)
		return c.NoContent(http.StatusInternalServerError)
	}
	return c.JSON(http.StatusOK, v)
}

func (s *server) graph(c echo.Context) error {
	seconds, err := strconv.ParseInt(c.QueryParam("day"), 10, 64)
	if err != nil {
		return c.NoContent(http.StatusBadRequest)
	}
	points, err := s.store.Day(c.Request().Context(), sensorOf(c), seconds)
	return s.answer(c, points, err)
}

func (s *server) readings(c echo.Context) error {
	levels := map[string]bool{}
	for _, l := range strings.Split(c.QueryParam("levels"), ",") {
		levels[l] = true
	}
	page, err := s.store.Page(c.Request().Context(), sensorOf(c), levels)
	return s.answer(c, page, err)
}

func (s *server) since(c echo.Context) error {
	page, err := s.store.Since(c.Request().Context(), c.QueryParam("time"))
	return s.answer(c, page, err)
}

func (s *server) newest(c echo.Context) error {
	text, err := s.store.Newest(c.Request().Context(), sensorOf(c))
	return s.answer(c, text, err)
}

func (s *server) names(c echo.Context) error {
	names, err := s.store.Names(c.Request().Context(), sensorOf(c))
	return s.answer(c, names, err)
}

func (s *server) total(c echo.Context) error {
	n, err := s.store.Total(c.Request().Context())
	return s.answer(c, n, err)
}

func (s *server) labels(c echo.Context) error {
	names, err := s.store.Labels(c.Request().Context())
	return s.answer(c, names, err)
}

func (s *server) whole(c echo.Context) error {
	points, err := s.store.Whole(c.Request().Context(), sensorOf(c))
	return s.answer(c, points, err)
}

// Fires: APP206
func (s *server) zone(c echo.Context) error {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		return s.answer(c, nil, err)
	}
	return c.String(http.StatusOK, time.Unix(0, 0).In(tokyo).String())
}

// offset loads the zone that the user names.
//
// Lookalike: APP206
func (s *server) offset(c echo.Context) error {
	zone, err := time.LoadLocation(c.QueryParam("zone"))
	if err != nil {
		return c.NoContent(http.StatusBadRequest)
	}
	return c.String(http.StatusOK, time.Unix(0, 0).In(zone).String())
}

// Fires: APP206
func (s *server) valid(c echo.Context) error {
	name := regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	return c.JSON(http.StatusOK, name.MatchString(c.Param("name")))
}

// format replaces what the user names.
//
// Lookalike: APP206
func (s *server) format(c echo.Context) error {
	return c.String(http.StatusOK, strings.NewReplacer(c.QueryParam("old"), c.QueryParam("new")).Replace("a sensor"))
}
