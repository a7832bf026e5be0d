package main

import (
	"archive/zip"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"

	"github.com/labstack/echo/v4"
)

// postAssignment stores the caller's file for a class, and replaces an earlier one.
func (a *app) postAssignment(c echo.Context) error {
	userID, _, _, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}
	courseID, classID := c.Param("courseID"), c.Param("classID")

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	var status string
	err = tx.Get(&status, "SELECT `status` FROM `courses` WHERE `id` = ? LOCK IN SHARE MODE", courseID)
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "No such course.")
	} else if err != nil {
		return serverError(c, "reading the course", err)
	}
	if status != statusInProgress {
		return c.String(http.StatusBadRequest, "This course is not in progress.")
	}

	var registered int
	err = tx.Get(&registered, "SELECT COUNT(*) FROM `registrations` WHERE `user_id` = ? AND `course_id` = ?",
		userID, courseID)
	if err != nil {
		return serverError(c, "reading the registration", err)
	}
	if registered == 0 {
		return c.String(http.StatusBadRequest, "You have not taken this course.")
	}

	var closed bool
	err = tx.Get(&closed, "SELECT `submission_closed` FROM `classes` WHERE `id` = ? LOCK IN SHARE MODE", classID)
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "No such class.")
	} else if err != nil {
		return serverError(c, "reading the class", err)
	}
	if closed {
		return c.String(http.StatusBadRequest, "Submission has been closed for this class.")
	}

	header, err := c.FormFile("file")
	if err != nil {
		return c.String(http.StatusBadRequest, "Invalid file.")
	}
	_, err = tx.Exec("INSERT INTO `submissions` (`user_id`, `class_id`, `file_name`) VALUES (?, ?, ?)"+
		" ON DUPLICATE KEY UPDATE `file_name` = VALUES(`file_name`)", userID, classID, header.Filename)
	if err != nil {
		return serverError(c, "storing the submission", err)
	}
	if err := storeUpload(header, assignmentsDirectory+classID+"-"+userID+".pdf"); err != nil {
		return serverError(c, "storing the file", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.NoContent(http.StatusNoContent)
}

func storeUpload(header *multipart.FileHeader, destination string) error {
	file, err := header.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	return os.WriteFile(destination, data, 0o666)
}

// putScores stores the scores of a class whose submissions are closed.
func (a *app) putScores(c echo.Context) error {
	classID := c.Param("classID")

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	var closed bool
	err = tx.Get(&closed, "SELECT `submission_closed` FROM `classes` WHERE `id` = ? LOCK IN SHARE MODE", classID)
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "No such class.")
	} else if err != nil {
		return serverError(c, "reading the class", err)
	}
	if !closed {
		return c.String(http.StatusBadRequest, "This assignment is not closed yet.")
	}

	var scores []struct {
		UserCode string `json:"user_code"`
		Score    int    `json:"score"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&scores); err != nil {
		return c.String(http.StatusBadRequest, "Invalid format.")
	}
	for _, score := range scores {
		_, err := tx.Exec("UPDATE `submissions` JOIN `users` ON `users`.`id` = `submissions`.`user_id` SET `score` = ?"+
			" WHERE `users`.`code` = ? AND `class_id` = ?", score.Score, score.UserCode, classID)
		if err != nil {
			return serverError(c, "storing a score", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.NoContent(http.StatusNoContent)
}

// submission is a file in the zip of a class.
type submission struct {
	UserID   string `db:"user_id"`
	UserCode string `db:"user_code"`
	FileName string `db:"file_name"`
}

// getExport closes the submissions of a class and answers a zip of them.
func (a *app) getExport(c echo.Context) error {
	classID := c.Param("classID")

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	var count int
	if err := tx.Get(&count, "SELECT COUNT(*) FROM `classes` WHERE `id` = ? FOR UPDATE", classID); err != nil {
		return serverError(c, "reading the class", err)
	}
	if count == 0 {
		return c.String(http.StatusNotFound, "No such class.")
	}

	var submissions []submission
	err = tx.Select(&submissions, "SELECT `submissions`.`user_id`, `submissions`.`file_name`,"+
		" `users`.`code` AS `user_code`"+
		" FROM `submissions` JOIN `users` ON `users`.`id` = `submissions`.`user_id` WHERE `class_id` = ?", classID)
	if err != nil {
		return serverError(c, "reading the submissions", err)
	}
	zipFile := assignmentsDirectory + classID + ".zip"
	if err := createZip(zipFile, classID, submissions); err != nil {
		return serverError(c, "creating the zip", err)
	}

	if _, err := tx.Exec("UPDATE `classes` SET `submission_closed` = true WHERE `id` = ?", classID); err != nil {
		return serverError(c, "closing the submissions", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.File(zipFile)
}

// createZip packs the files of a class under the names that their students gave them.
func createZip(zipFile, classID string, submissions []submission) error {
	folder := assignmentsDirectory + classID + "/"
	if err := exec.Command("rm", "-rf", folder, zipFile).Run(); err != nil {
		return fmt.Errorf("removing earlier files: %w", err)
	}
	if len(submissions) == 0 {
		return createEmptyZip(zipFile) // the command fails without files
	}
	if err := exec.Command("mkdir", folder).Run(); err != nil {
		return fmt.Errorf("creating the folder: %w", err)
	}
	for _, s := range submissions {
		upload := assignmentsDirectory + classID + "-" + s.UserID + ".pdf"
		if err := exec.Command("cp", upload, folder+s.UserCode+"-"+s.FileName).Run(); err != nil {
			return fmt.Errorf("copying a file: %w", err)
		}
	}
	if err := exec.Command("zip", "-j", "-r", zipFile, folder).Run(); err != nil {
		return fmt.Errorf("packing: %w", err)
	}
	return nil
}

func createEmptyZip(zipFile string) error {
	file, err := os.Create(zipFile)
	if err != nil {
		return err
	}
	if err := zip.NewWriter(file).Close(); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
