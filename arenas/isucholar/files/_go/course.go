package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

const (
	statusRegistration = "registration"
	statusInProgress   = "in-progress"
	statusClosed       = "closed"
)

var (
	courseTypes = []string{"liberal-arts", "major-subjects"}
	daysOfWeek  = []string{"monday", "tuesday", "wednesday", "thursday", "friday"}
	statuses    = []string{statusRegistration, statusInProgress, statusClosed}
)

// courseRow is a row of courses.
type courseRow struct {
	ID          string `db:"id"`
	Code        string `db:"code"`
	Type        string `db:"type"`
	Name        string `db:"name"`
	Description string `db:"description"`
	Credit      int    `db:"credit"`
	Period      int    `db:"period"`
	DayOfWeek   string `db:"day_of_week"`
	TeacherID   string `db:"teacher_id"`
	Keywords    string `db:"keywords"`
	Status      string `db:"status"`
}

// courseDetail is a course as clients see it, with the name of its teacher.
type courseDetail struct {
	ID          string `db:"id" json:"id"`
	Code        string `db:"code" json:"code"`
	Type        string `db:"type" json:"type"`
	Name        string `db:"name" json:"name"`
	Description string `db:"description" json:"description"`
	Credit      int    `db:"credit" json:"credit"`
	Period      int    `db:"period" json:"period"`
	DayOfWeek   string `db:"day_of_week" json:"day_of_week"`
	TeacherID   string `db:"teacher_id" json:"-"`
	Keywords    string `db:"keywords" json:"keywords"`
	Status      string `db:"status" json:"status"`
	Teacher     string `db:"teacher" json:"teacher"`
}

type postCourseRequest struct {
	Code        string `json:"code"`
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Credit      int    `json:"credit"`
	Period      int    `json:"period"`
	DayOfWeek   string `json:"day_of_week"`
	Keywords    string `json:"keywords"`
}

// same tells if the request describes the course.
func (r *postCourseRequest) same(course courseRow) bool {
	return *r == postCourseRequest{
		Code: course.Code, Type: course.Type, Name: course.Name, Description: course.Description,
		Credit: course.Credit, Period: course.Period, DayOfWeek: course.DayOfWeek, Keywords: course.Keywords,
	}
}

// postCourse creates a course of the caller. A repeated request gets the ID of the first.
func (a *app) postCourse(c echo.Context) error {
	userID, _, _, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}
	var request postCourseRequest
	if err := json.NewDecoder(c.Request().Body).Decode(&request); err != nil {
		return c.String(http.StatusBadRequest, "Invalid format.")
	}
	if !slices.Contains(courseTypes, request.Type) {
		return c.String(http.StatusBadRequest, "Invalid course type.")
	}
	if !slices.Contains(daysOfWeek, request.DayOfWeek) {
		return c.String(http.StatusBadRequest, "Invalid day of week.")
	}

	id := newULID()
	_, err = a.db.Exec("INSERT INTO `courses`"+
		" (`id`, `code`, `type`, `name`, `description`, `credit`, `period`, `day_of_week`, `teacher_id`, `keywords`)"+
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		id, request.Code, request.Type, request.Name, request.Description,
		request.Credit, request.Period, request.DayOfWeek, userID, request.Keywords)
	if isDuplicate(err) {
		var course courseRow
		if err := a.db.Get(&course, "SELECT * FROM `courses` WHERE `code` = ?", request.Code); err != nil {
			return serverError(c, "reading the course", err)
		}
		if !request.same(course) {
			return c.String(http.StatusConflict, "A course with the same code already exists.")
		}
		return c.JSON(http.StatusCreated, map[string]string{"id": course.ID})
	} else if err != nil {
		return serverError(c, "storing the course", err)
	}
	return c.JSON(http.StatusCreated, map[string]string{"id": id})
}

// getCourse answers a course.
func (a *app) getCourse(c echo.Context) error {
	var course courseDetail
	err := a.db.Get(&course, "SELECT `courses`.*, `users`.`name` AS `teacher` FROM `courses`"+
		" JOIN `users` ON `courses`.`teacher_id` = `users`.`id` WHERE `courses`.`id` = ?", c.Param("courseID"))
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "No such course.")
	} else if err != nil {
		return serverError(c, "reading the course", err)
	}
	return c.JSON(http.StatusOK, course)
}

// putCourseStatus changes the status of a course.
func (a *app) putCourseStatus(c echo.Context) error {
	courseID := c.Param("courseID")
	var request struct {
		Status string `json:"status"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&request); err != nil {
		return c.String(http.StatusBadRequest, "Invalid format.")
	}

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	var count int
	if err := tx.Get(&count, "SELECT COUNT(*) FROM `courses` WHERE `id` = ? FOR UPDATE", courseID); err != nil {
		return serverError(c, "reading the course", err)
	}
	if count == 0 {
		return c.String(http.StatusNotFound, "No such course.")
	}
	if _, err := tx.Exec("UPDATE `courses` SET `status` = ? WHERE `id` = ?", request.Status, courseID); err != nil {
		return serverError(c, "storing the status", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.NoContent(http.StatusOK)
}

// courseExists tells if there is a course with this ID.
func courseExists(tx *sqlx.Tx, courseID string) (bool, error) {
	var count int
	err := tx.Get(&count, "SELECT COUNT(*) FROM `courses` WHERE `id` = ?", courseID)
	return count > 0, err
}
