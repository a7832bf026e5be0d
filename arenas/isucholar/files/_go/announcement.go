package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
)

// announcementRow is a row of announcements.
type announcementRow struct {
	ID       string `db:"id"`
	CourseID string `db:"course_id"`
	Title    string `db:"title"`
	Message  string `db:"message"`
}

type announcementListItem struct {
	ID         string `db:"id" json:"id"`
	CourseID   string `db:"course_id" json:"course_id"`
	CourseName string `db:"course_name" json:"course_name"`
	Title      string `db:"title" json:"title"`
	Unread     bool   `db:"unread" json:"unread"`
}

type announcementList struct {
	UnreadCount   int                    `json:"unread_count"`
	Announcements []announcementListItem `json:"announcements"`
}

type announcementDetail struct {
	ID         string `db:"id" json:"id"`
	CourseID   string `db:"course_id" json:"course_id"`
	CourseName string `db:"course_name" json:"course_name"`
	Title      string `db:"title" json:"title"`
	Message    string `db:"message" json:"message"`
	Unread     bool   `db:"unread" json:"unread"`
}

// getAnnouncements lists the announcements for the caller: one page, the newest first.
func (a *app) getAnnouncements(c echo.Context) error {
	userID, _, _, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}
	page, ok := pageNumber(c)
	if !ok {
		return c.String(http.StatusBadRequest, "Invalid page.")
	}

	query := "SELECT `announcements`.`id`, `courses`.`id` AS `course_id`, `courses`.`name` AS `course_name`," +
		" `announcements`.`title`, NOT `unread_announcements`.`is_deleted` AS `unread`" +
		" FROM `announcements`" +
		" JOIN `courses` ON `announcements`.`course_id` = `courses`.`id`" +
		" JOIN `registrations` ON `courses`.`id` = `registrations`.`course_id`" +
		" JOIN `unread_announcements` ON `announcements`.`id` = `unread_announcements`.`announcement_id`" +
		" WHERE 1=1"
	var args []any
	if courseID := c.QueryParam("course_id"); courseID != "" {
		query += " AND `announcements`.`course_id` = ?"
		args = append(args, courseID)
	}
	query += " AND `unread_announcements`.`user_id` = ?" +
		" AND `registrations`.`user_id` = ?" +
		" ORDER BY `announcements`.`id` DESC" +
		" LIMIT ? OFFSET ?"
	args = append(args, userID, userID, pageSize+1, pageSize*(page-1)) // one more row tells of a next page

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	list := announcementList{Announcements: []announcementListItem{}}
	if err := tx.Select(&list.Announcements, query, args...); err != nil {
		return serverError(c, "reading the announcements", err)
	}
	err = tx.Get(&list.UnreadCount,
		"SELECT COUNT(*) FROM `unread_announcements` WHERE `user_id` = ? AND NOT `is_deleted`", userID)
	if err != nil {
		return serverError(c, "counting unread announcements", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}

	setLink(c, page, len(list.Announcements) > pageSize)
	if len(list.Announcements) > pageSize {
		list.Announcements = list.Announcements[:pageSize]
	}
	return c.JSON(http.StatusOK, list)
}

// getAnnouncement answers an announcement for the caller, and marks it as read.
func (a *app) getAnnouncement(c echo.Context) error {
	userID, _, _, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}
	id := c.Param("announcementID")

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	var announcement announcementDetail
	err = tx.Get(&announcement, "SELECT `announcements`.`id`, `courses`.`id` AS `course_id`,"+
		" `courses`.`name` AS `course_name`, `announcements`.`title`, `announcements`.`message`,"+
		" NOT `unread_announcements`.`is_deleted` AS `unread`"+
		" FROM `announcements`"+
		" JOIN `courses` ON `announcements`.`course_id` = `courses`.`id`"+
		" JOIN `unread_announcements` ON `announcements`.`id` = `unread_announcements`.`announcement_id`"+
		" WHERE `announcements`.`id` = ? AND `unread_announcements`.`user_id` = ?", id, userID)
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "No such announcement.")
	} else if err != nil {
		return serverError(c, "reading the announcement", err)
	}

	var registered int
	err = tx.Get(&registered, "SELECT COUNT(*) FROM `registrations` WHERE `course_id` = ? AND `user_id` = ?",
		announcement.CourseID, userID)
	if err != nil {
		return serverError(c, "reading the registration", err)
	}
	if registered == 0 {
		return c.String(http.StatusNotFound, "No such announcement.")
	}

	_, err = tx.Exec("UPDATE `unread_announcements` SET `is_deleted` = true"+
		" WHERE `announcement_id` = ? AND `user_id` = ?", id, userID)
	if err != nil {
		return serverError(c, "marking the announcement", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.JSON(http.StatusOK, announcement)
}

// postAnnouncement stores an announcement and an unread marker for every student of the course.
func (a *app) postAnnouncement(c echo.Context) error {
	var request struct {
		ID       string `json:"id"`
		CourseID string `json:"course_id"`
		Title    string `json:"title"`
		Message  string `json:"message"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&request); err != nil {
		return c.String(http.StatusBadRequest, "Invalid format.")
	}

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	exists, err := courseExists(tx, request.CourseID)
	if err != nil {
		return serverError(c, "reading the course", err)
	}
	if !exists {
		return c.String(http.StatusNotFound, "No such course.")
	}

	_, err = tx.Exec("INSERT INTO `announcements` (`id`, `course_id`, `title`, `message`) VALUES (?, ?, ?, ?)",
		request.ID, request.CourseID, request.Title, request.Message)
	if isDuplicate(err) {
		_ = tx.Rollback()
		var earlier announcementRow
		if err := a.db.Get(&earlier, "SELECT * FROM `announcements` WHERE `id` = ?", request.ID); err != nil {
			return serverError(c, "reading the announcement", err)
		}
		if earlier != announcementRow(request) {
			return c.String(http.StatusConflict, "An announcement with the same id already exists.")
		}
		return c.NoContent(http.StatusCreated)
	} else if err != nil {
		return serverError(c, "storing the announcement", err)
	}

	var users []userRow
	err = tx.Select(&users, "SELECT `users`.* FROM `users`"+
		" JOIN `registrations` ON `users`.`id` = `registrations`.`user_id`"+
		" WHERE `registrations`.`course_id` = ?", request.CourseID)
	if err != nil {
		return serverError(c, "reading the students", err)
	}
	for _, user := range users {
		_, err := tx.Exec("INSERT INTO `unread_announcements` (`announcement_id`, `user_id`) VALUES (?, ?)",
			request.ID, user.ID)
		if err != nil {
			return serverError(c, "storing an unread marker", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.NoContent(http.StatusCreated)
}
