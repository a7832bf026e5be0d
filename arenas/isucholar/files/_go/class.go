package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
)

// classRow is a row of classes.
type classRow struct {
	ID               string `db:"id"`
	CourseID         string `db:"course_id"`
	Part             int    `db:"part"`
	Title            string `db:"title"`
	Description      string `db:"description"`
	SubmissionClosed bool   `db:"submission_closed"`
}

// classListItem is a class as its course's list has it for one user.
type classListItem struct {
	ID               string `db:"id" json:"id"`
	CourseID         string `db:"course_id" json:"-"`
	Part             int    `db:"part" json:"part"`
	Title            string `db:"title" json:"title"`
	Description      string `db:"description" json:"description"`
	SubmissionClosed bool   `db:"submission_closed" json:"submission_closed"`
	Submitted        bool   `db:"submitted" json:"submitted"`
}

// getClasses lists the classes of a course.
func (a *app) getClasses(c echo.Context) error {
	userID, _, _, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}
	courseID := c.Param("courseID")

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	exists, err := courseExists(tx, courseID)
	if err != nil {
		return serverError(c, "reading the course", err)
	}
	if !exists {
		return c.String(http.StatusNotFound, "No such course.")
	}

	classes := []classListItem{}
	err = tx.Select(&classes, "SELECT `classes`.*, `submissions`.`user_id` IS NOT NULL AS `submitted` FROM `classes`"+
		" LEFT JOIN `submissions` ON `classes`.`id` = `submissions`.`class_id` AND `submissions`.`user_id` = ?"+
		" WHERE `classes`.`course_id` = ? ORDER BY `classes`.`part`", userID, courseID)
	if err != nil {
		return serverError(c, "reading the classes", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.JSON(http.StatusOK, classes)
}

// postClass adds a class to a course. A repeated request gets the ID of the first.
func (a *app) postClass(c echo.Context) error {
	courseID := c.Param("courseID")
	var request struct {
		Part        int    `json:"part"`
		Title       string `json:"title"`
		Description string `json:"description"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&request); err != nil {
		return c.String(http.StatusBadRequest, "Invalid format.")
	}

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	var course courseRow
	err = tx.Get(&course, "SELECT * FROM `courses` WHERE `id` = ? LOCK IN SHARE MODE", courseID)
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "No such course.")
	} else if err != nil {
		return serverError(c, "reading the course", err)
	}
	if course.Status != statusInProgress {
		return c.String(http.StatusBadRequest, "This course is not in progress.")
	}

	id := newULID()
	_, err = tx.Exec("INSERT INTO `classes` (`id`, `course_id`, `part`, `title`, `description`) VALUES (?, ?, ?, ?, ?)",
		id, courseID, request.Part, request.Title, request.Description)
	if isDuplicate(err) {
		_ = tx.Rollback()
		var class classRow
		err := a.db.Get(&class, "SELECT * FROM `classes` WHERE `course_id` = ? AND `part` = ?", courseID, request.Part)
		if err != nil {
			return serverError(c, "reading the class", err)
		}
		if request.Title != class.Title || request.Description != class.Description {
			return c.String(http.StatusConflict, "A class with the same part already exists.")
		}
		return c.JSON(http.StatusCreated, map[string]string{"class_id": class.ID})
	} else if err != nil {
		return serverError(c, "storing the class", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.JSON(http.StatusCreated, map[string]string{"class_id": id})
}
