package main

import (
	"database/sql"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
)

type gradesResponse struct {
	Summary gradeSummary   `json:"summary"`
	Courses []courseResult `json:"courses"`
}

type gradeSummary struct {
	Credits   int     `json:"credits"`
	GPA       float64 `json:"gpa"`
	GPATScore float64 `json:"gpa_t_score"`
	GPAAvg    float64 `json:"gpa_avg"`
	GPAMax    float64 `json:"gpa_max"`
	GPAMin    float64 `json:"gpa_min"`
}

type courseResult struct {
	Name             string       `json:"name"`
	Code             string       `json:"code"`
	TotalScore       int          `json:"total_score"`
	TotalScoreTScore float64      `json:"total_score_t_score"`
	TotalScoreAvg    float64      `json:"total_score_avg"`
	TotalScoreMax    int          `json:"total_score_max"`
	TotalScoreMin    int          `json:"total_score_min"`
	ClassScores      []classScore `json:"class_scores"`
}

type classScore struct {
	ClassID    string `json:"class_id"`
	Title      string `json:"title"`
	Part       int    `json:"part"`
	Score      *int   `json:"score"`
	Submitters int    `json:"submitters"`
}

// getGrades answers the caller's scores in every course, and how they compare.
func (a *app) getGrades(c echo.Context) error {
	userID, _, _, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}

	var courses []courseRow
	err = a.db.Select(&courses, "SELECT `courses`.* FROM `registrations`"+
		" JOIN `courses` ON `registrations`.`course_id` = `courses`.`id` WHERE `user_id` = ?", userID)
	if err != nil {
		return serverError(c, "reading the courses", err)
	}

	results := make([]courseResult, 0, len(courses))
	points, credits := 0, 0
	for _, course := range courses {
		classScores, total, err := a.classScores(course.ID, userID)
		if err != nil {
			return serverError(c, "reading the scores", err)
		}
		totals, err := a.totals(course.ID)
		if err != nil {
			return serverError(c, "reading the totals", err)
		}
		results = append(results, courseResult{
			Name:             course.Name,
			Code:             course.Code,
			TotalScore:       total,
			TotalScoreTScore: tScore(total, totals),
			TotalScoreAvg:    average(totals),
			TotalScoreMax:    largest(totals),
			TotalScoreMin:    smallest(totals),
			ClassScores:      classScores,
		})
		if course.Status == statusClosed {
			points += total * course.Credit
			credits += course.Credit
		}
	}

	gpa := 0.0
	if credits > 0 {
		gpa = float64(points) / 100 / float64(credits)
	}
	gpas, err := a.gpas()
	if err != nil {
		return serverError(c, "reading the GPAs", err)
	}
	return c.JSON(http.StatusOK, gradesResponse{
		Summary: gradeSummary{
			Credits:   credits,
			GPA:       gpa,
			GPATScore: tScore(gpa, gpas),
			GPAAvg:    average(gpas),
			GPAMax:    largest(gpas),
			GPAMin:    smallest(gpas),
		},
		Courses: results,
	})
}

// classScores returns a user's scores in the classes of a course, the last class first, and their sum.
func (a *app) classScores(courseID, userID string) (scores []classScore, total int, err error) {
	var classes []classRow
	err = a.db.Select(&classes, "SELECT * FROM `classes` WHERE `course_id` = ? ORDER BY `part` DESC", courseID)
	if err != nil {
		return nil, 0, err
	}

	scores = make([]classScore, 0, len(classes))
	for _, class := range classes {
		result := classScore{ClassID: class.ID, Title: class.Title, Part: class.Part}
		err := a.db.Get(&result.Submitters, "SELECT COUNT(*) FROM `submissions` WHERE `class_id` = ?", class.ID)
		if err != nil {
			return nil, 0, err
		}
		var score sql.NullInt64
		err = a.db.Get(&score, "SELECT `score` FROM `submissions` WHERE `user_id` = ? AND `class_id` = ?",
			userID, class.ID)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, 0, err
		}
		if score.Valid {
			own := int(score.Int64)
			result.Score = &own
			total += own
		}
		scores = append(scores, result)
	}
	return scores, total, nil
}

// totals returns the sum of scores of everyone who is registered for a course.
func (a *app) totals(courseID string) ([]int, error) {
	var totals []int
	err := a.db.Select(&totals, "SELECT IFNULL(SUM(`submissions`.`score`), 0) AS `total_score`"+
		" FROM `users`"+
		" JOIN `registrations` ON `users`.`id` = `registrations`.`user_id`"+
		" JOIN `courses` ON `registrations`.`course_id` = `courses`.`id`"+
		" LEFT JOIN `classes` ON `courses`.`id` = `classes`.`course_id`"+
		" LEFT JOIN `submissions` ON `users`.`id` = `submissions`.`user_id`"+
		" AND `submissions`.`class_id` = `classes`.`id`"+
		" WHERE `courses`.`id` = ?"+
		" GROUP BY `users`.`id`", courseID)
	return totals, err
}

// gpas returns the GPA of every student who has a closed course.
func (a *app) gpas() ([]float64, error) {
	var gpas []float64
	err := a.db.Select(&gpas, "SELECT"+
		" IFNULL(SUM(`submissions`.`score` * `courses`.`credit`), 0) / 100 / `credits`.`credits` AS `gpa`"+
		" FROM `users`"+
		" JOIN ("+
		"SELECT `users`.`id` AS `user_id`, SUM(`courses`.`credit`) AS `credits`"+
		" FROM `users`"+
		" JOIN `registrations` ON `users`.`id` = `registrations`.`user_id`"+
		" JOIN `courses` ON `registrations`.`course_id` = `courses`.`id` AND `courses`.`status` = ?"+
		" GROUP BY `users`.`id`"+
		") AS `credits` ON `credits`.`user_id` = `users`.`id`"+
		" JOIN `registrations` ON `users`.`id` = `registrations`.`user_id`"+
		" JOIN `courses` ON `registrations`.`course_id` = `courses`.`id` AND `courses`.`status` = ?"+
		" LEFT JOIN `classes` ON `courses`.`id` = `classes`.`course_id`"+
		" LEFT JOIN `submissions` ON `users`.`id` = `submissions`.`user_id`"+
		" AND `submissions`.`class_id` = `classes`.`id`"+
		" WHERE `users`.`type` = ?"+
		" GROUP BY `users`.`id`", statusClosed, statusClosed, userTypeStudent)
	return gpas, err
}
