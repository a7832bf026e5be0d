package isucholar

import (
	"context"
	"net/http"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

func classesPath(courseID string) string { return "/api/courses/" + courseID + "/classes" }

func assignmentsPath(courseID, classID string) string {
	return classesPath(courseID) + "/" + classID + "/assignments"
}

// courseBody is a course as its POST has it.
type courseBody struct {
	Code        string `json:"code"`
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Credit      int    `json:"credit"`
	Period      int    `json:"period"`
	DayOfWeek   string `json:"day_of_week"`
	Keywords    string `json:"keywords"`
}

func bodyOf(c *Course) courseBody {
	return courseBody{c.Code, c.Type, c.Name, c.Description, c.Credit, c.Period, c.DayOfWeek, c.Keywords}
}

// postCourse creates a course and returns its identifier.
func (a *agent) postCourse(ctx context.Context, c *Course) (id string, err error) {
	err = a.do(ctx, request(stepPostCourse, http.MethodPost, "/api/courses", bodyOf(c)),
		func(res *scenario.Response) error {
			var v struct{ ID string }
			if err := scenario.WantJSON(res, http.StatusCreated, &v); err != nil {
				return err
			}
			if id = v.ID; id == "" {
				return scenario.Wrong(res, "course-id", "no identifier of the course")
			}
			return nil
		})
	return id, err
}

func (a *agent) putStatus(ctx context.Context, courseID, status string) error {
	return a.send(ctx, stepStatus, http.MethodPut, "/api/courses/"+courseID+"/status", map[string]string{"status": status},
		http.StatusOK)
}

// classBody is a class as its POST has it.
type classBody struct {
	Part        int    `json:"part"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// postClass adds a class and returns its identifier.
func (a *agent) postClass(ctx context.Context, courseID string, body classBody) (id string, err error) {
	err = a.do(ctx, request(stepPostClass, http.MethodPost, classesPath(courseID), body),
		func(res *scenario.Response) error {
			var v struct {
				ClassID string `json:"class_id"`
			}
			if err := scenario.WantJSON(res, http.StatusCreated, &v); err != nil {
				return err
			}
			if id = v.ClassID; id == "" {
				return scenario.Wrong(res, "class-id", "no identifier of the class")
			}
			return nil
		})
	return id, err
}

// announcementBody is an announcement as its POST has it.
type announcementBody struct {
	ID       string `json:"id"`
	CourseID string `json:"course_id"`
	Title    string `json:"title"`
	Message  string `json:"message"`
}

func (a *agent) postAnnouncement(ctx context.Context, n *announcement) error {
	return a.send(ctx, stepPostAnnouncement, http.MethodPost, "/api/announcements", announcementBody{n.id, n.course.ID,
		n.title, n.message}, http.StatusCreated)
}

// scoreBody is a line of the scores of a class.
type scoreBody struct {
	UserCode string `json:"user_code"`
	Score    int    `json:"score"`
}

func (a *agent) putScores(ctx context.Context, courseID, classID string, scores []scoreBody) error {
	return a.send(ctx, stepScores, http.MethodPut, assignmentsPath(courseID, classID)+"/scores", scores,
		http.StatusNoContent)
}

// export gets the zip of a class. want has its files by their names in it; nil leaves the
// content unchecked.
func (a *agent) export(ctx context.Context, courseID, classID string, want map[string]uint32) error {
	return a.get(ctx, stepExport, assignmentsPath(courseID, classID)+"/export", func(res *scenario.Response) error {
		if err := scenario.WantStatus(res, http.StatusOK); err != nil {
			return err
		}
		if err := scenario.WantType(res, "application/zip"); err != nil {
			return err
		}
		if want == nil {
			return nil
		}
		return checkZip(res, want)
	})
}
