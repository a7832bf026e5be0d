// Command isucholar is the web application of the contest: the portal of a
// university. Teachers open courses, announce classes and grade; students
// register, read announcements and hand in files. It runs in its own directory
// and finds ../sql, ../data and ../assignments from there.
//
//  1. main.go: environment, routes, sessions, initialize.
//  2. auth.go: login, logout, who the caller is.
//  3. registration.go, grades.go: courses and grades of a student.
//  4. course.go, search.go: courses.
//  5. class.go, assignment.go: classes, uploads, scores, the zip of all uploads.
//  6. announcement.go: announcements and their unread markers.
//  7. db.go, util.go: connection, identifiers, statistics.
package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"

	"github.com/gorilla/sessions"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/labstack/gommon/log"
)

const (
	sqlDirectory         = "../sql/"
	initialAssignments   = "../data/"
	assignmentsDirectory = "../assignments/"

	sessionName   = "isucholar_go"
	sessionSecret = "isucholar-session-key"
)

// app is the state that the handlers share.
type app struct {
	db       *sqlx.DB
	sessions sessions.Store
}

func main() {
	e := echo.New()
	e.Logger.SetLevel(log.DEBUG)
	//lint:ignore SA1019 its successor logs less of each request, and its cost is part of the contest
	e.Use(middleware.Logger())
	e.Use(middleware.Recover())

	db, err := connectDB(false)
	if err != nil {
		e.Logger.Fatalf("connecting to the database: %v", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(10)
	store := sessions.NewCookieStore([]byte(sessionSecret))
	store.Options = &sessions.Options{Path: "/", MaxAge: 3600}
	a := &app{db: db, sessions: store}
	a.routes(e)

	e.Logger.Fatal(e.Start(net.JoinHostPort(os.Getenv("HOST"), env("PORT", "7000"))))
}

func (a *app) routes(e *echo.Echo) {
	e.POST("/initialize", a.postInitialize)
	e.POST("/login", a.postLogin)
	e.POST("/logout", a.postLogout)

	api := e.Group("/api", a.loggedIn)
	api.GET("/users/me", a.getMe)
	api.GET("/users/me/courses", a.getRegisteredCourses)
	api.PUT("/users/me/courses", a.putRegisteredCourses)
	api.GET("/users/me/grades", a.getGrades)

	api.GET("/courses", a.getCourses)
	api.POST("/courses", a.postCourse, a.teacherOnly)
	api.GET("/courses/:courseID", a.getCourse)
	api.PUT("/courses/:courseID/status", a.putCourseStatus, a.teacherOnly)
	api.GET("/courses/:courseID/classes", a.getClasses)
	api.POST("/courses/:courseID/classes", a.postClass, a.teacherOnly)
	api.POST("/courses/:courseID/classes/:classID/assignments", a.postAssignment)
	api.PUT("/courses/:courseID/classes/:classID/assignments/scores", a.putScores, a.teacherOnly)
	api.GET("/courses/:courseID/classes/:classID/assignments/export", a.getExport, a.teacherOnly)

	api.GET("/announcements", a.getAnnouncements)
	api.POST("/announcements", a.postAnnouncement, a.teacherOnly)
	api.GET("/announcements/:announcementID", a.getAnnouncement)
}

// serverError answers 500 with an empty body and leaves the reason in the log.
func serverError(c echo.Context, doing string, err error) error {
	c.Logger().Errorf("%s: %v", doing, err)
	return c.NoContent(http.StatusInternalServerError)
}

// postInitialize loads schema and initial data again, and the initial uploads.
func (a *app) postInitialize(c echo.Context) error {
	db, err := connectDB(true)
	if err != nil {
		return serverError(c, "connecting to the database", err)
	}
	defer db.Close()
	for _, name := range []string{"1_schema.sql", "2_init.sql", "3_sample.sql"} {
		text, err := os.ReadFile(sqlDirectory + name)
		if err != nil {
			return serverError(c, "reading "+name, err)
		}
		if _, err := db.Exec(string(text)); err != nil {
			return serverError(c, "running "+name, err)
		}
	}

	if err := exec.Command("rm", "-rf", assignmentsDirectory).Run(); err != nil {
		return serverError(c, "removing the uploads", err)
	}
	if err := exec.Command("cp", "-r", initialAssignments, assignmentsDirectory).Run(); err != nil {
		return serverError(c, "copying the initial uploads", err)
	}
	return c.JSON(http.StatusOK, map[string]string{"language": "go"})
}
