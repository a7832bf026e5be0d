package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

type registeredCourse struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Teacher   string `json:"teacher"`
	Period    int    `json:"period"`
	DayOfWeek string `json:"day_of_week"`
}

// getRegisteredCourses lists the caller's courses that are not closed.
func (a *app) getRegisteredCourses(c echo.Context) error {
	userID, _, _, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	courses, err := openCourses(tx, userID)
	if err != nil {
		return serverError(c, "reading the courses", err)
	}
	list := make([]registeredCourse, 0, len(courses))
	for _, course := range courses {
		var teacher userRow
		if err := tx.Get(&teacher, "SELECT * FROM `users` WHERE `id` = ?", course.TeacherID); err != nil {
			return serverError(c, "reading the teacher", err)
		}
		list = append(list, registeredCourse{
			ID: course.ID, Name: course.Name, Teacher: teacher.Name, Period: course.Period, DayOfWeek: course.DayOfWeek,
		})
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.JSON(http.StatusOK, list)
}

// openCourses reads the user's courses that are not closed.
func openCourses(tx *sqlx.Tx, userID string) ([]courseRow, error) {
	var courses []courseRow
	err := tx.Select(&courses, "SELECT `courses`.* FROM `courses`"+
		" JOIN `registrations` ON `courses`.`id` = `registrations`.`course_id`"+
		" WHERE `courses`.`status` != ? AND `registrations`.`user_id` = ?", statusClosed, userID)
	return courses, err
}

// registrationErrors has the courses that cannot be registered, by reason.
type registrationErrors struct {
	CourseNotFound       []string `json:"course_not_found,omitempty"`
	NotRegistrableStatus []string `json:"not_registrable_status,omitempty"`
	ScheduleConflict     []string `json:"schedule_conflict,omitempty"`
}

func (e *registrationErrors) any() bool {
	return len(e.CourseNotFound) > 0 || len(e.NotRegistrableStatus) > 0 || len(e.ScheduleConflict) > 0
}

// putRegisteredCourses registers the caller for all of the courses, or for none.
func (a *app) putRegisteredCourses(c echo.Context) error {
	userID, _, _, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}
	var request []struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&request); err != nil {
		return c.String(http.StatusBadRequest, "Invalid format.")
	}
	ids := make([]string, 0, len(request))
	for _, course := range request {
		ids = append(ids, course.ID)
	}
	slices.SortFunc(ids, cmp.Compare[string]) // every request locks in the same order

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	added, refused, err := registrable(tx, userID, ids)
	if err != nil {
		return serverError(c, "reading the courses", err)
	}
	registered, err := openCourses(tx, userID)
	if err != nil {
		return serverError(c, "reading the registered courses", err)
	}
	refused.ScheduleConflict = conflicts(added, append(registered, added...))
	if refused.any() {
		return c.JSON(http.StatusBadRequest, refused)
	}

	for _, course := range added {
		_, err := tx.Exec("INSERT INTO `registrations` (`course_id`, `user_id`) VALUES (?, ?)"+
			" ON DUPLICATE KEY UPDATE `course_id` = VALUES(`course_id`), `user_id` = VALUES(`user_id`)",
			course.ID, userID)
		if err != nil {
			return serverError(c, "registering", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.NoContent(http.StatusOK)
}

// registrable reads the courses that the user is not registered for yet, and
// the reasons against others. Later changes of their status wait.
func registrable(tx *sqlx.Tx, userID string, ids []string) (added []courseRow, refused registrationErrors, err error) {
	for _, id := range ids {
		var course courseRow
		err := tx.Get(&course, "SELECT * FROM `courses` WHERE `id` = ? LOCK IN SHARE MODE", id)
		if errors.Is(err, sql.ErrNoRows) {
			refused.CourseNotFound = append(refused.CourseNotFound, id)
			continue
		} else if err != nil {
			return nil, refused, err
		}
		if course.Status != statusRegistration {
			refused.NotRegistrableStatus = append(refused.NotRegistrableStatus, id)
			continue
		}
		var count int
		err = tx.Get(&count, "SELECT COUNT(*) FROM `registrations` WHERE `course_id` = ? AND `user_id` = ?", id, userID)
		if err != nil {
			return nil, refused, err
		}
		if count == 0 {
			added = append(added, course)
		}
	}
	return added, refused, nil
}

// conflicts returns the IDs of the added courses that share a slot with another of all courses.
func conflicts(added, all []courseRow) []string {
	var ids []string
	for _, one := range added {
		for _, other := range all {
			if one.ID != other.ID && one.Period == other.Period && one.DayOfWeek == other.DayOfWeek {
				ids = append(ids, one.ID)
				break
			}
		}
	}
	return ids
}
