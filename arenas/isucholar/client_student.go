package isucholar

import (
	"context"
	"net/http"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A gotRegistered is an item of GET /api/users/me/courses.
type gotRegistered struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Teacher   string `json:"teacher"`
	Period    int    `json:"period"`
	DayOfWeek string `json:"day_of_week"`
}

func registeredOf(c *Course) gotRegistered {
	return gotRegistered{c.ID, c.Name, c.Teacher, c.Period, c.DayOfWeek}
}

// getJSON gets a value.
func getJSON[T any](ctx context.Context, a *agent, step scenario.Step, path string) (v T, err error) {
	err = a.get(ctx, step, path, func(res *scenario.Response) error { return scenario.WantJSON(res, http.StatusOK, &v) })
	return v, err
}

func (a *agent) getRegistered(ctx context.Context) ([]gotRegistered, error) {
	list, err := getJSON[[]gotRegistered](ctx, a, stepRegistered, "/api/users/me/courses")
	if err == nil && list == nil {
		err = wrong(stepRegistered, "registered-list", "the list is null, want an array")
	}
	return list, err
}

// idBody is a course in a registration.
type idBody struct {
	ID string `json:"id"`
}

func idBodies(ids []string) []idBody {
	list := make([]idBody, len(ids))
	for i, id := range ids {
		list[i] = idBody{id}
	}
	return list
}

func (a *agent) register(ctx context.Context, ids []string) error {
	return a.send(ctx, stepRegister, http.MethodPut, "/api/users/me/courses", idBodies(ids), http.StatusOK)
}

func (a *agent) getCourse(ctx context.Context, id string) (Course, error) {
	return getJSON[Course](ctx, a, stepCourse, "/api/courses/"+id)
}

// search gets a page of a search.
func (a *agent) search(ctx context.Context, path string) (list []Course, l links, err error) {
	err = a.get(ctx, stepSearch, path, func(res *scenario.Response) error {
		if err := scenario.WantJSON(res, http.StatusOK, &list); err != nil {
			return err
		}
		l, err = linksOf(res)
		return err
	})
	return list, l, err
}

// A gotClass is an item of the classes of a course.
type gotClass struct {
	ID               string `json:"id"`
	Part             int    `json:"part"`
	Title            string `json:"title"`
	Description      string `json:"description"`
	SubmissionClosed *bool  `json:"submission_closed"`
	Submitted        *bool  `json:"submitted"`
}

func (a *agent) getClasses(ctx context.Context, courseID string) ([]gotClass, error) {
	return getJSON[[]gotClass](ctx, a, stepClasses, classesPath(courseID))
}

func uploadRequest(courseID, classID, name string, pdf []byte) *scenario.Request {
	return &scenario.Request{Step: stepUpload, Method: http.MethodPost, Path: assignmentsPath(courseID, classID),
		ContentType: "multipart/form-data; boundary=" + boundary, Body: uploadBody("file", name, pdf)}
}

func (a *agent) upload(ctx context.Context, courseID, classID, name string, pdf []byte) error {
	return a.do(ctx, uploadRequest(courseID, classID, name, pdf), wantStatus(http.StatusNoContent))
}

// A gotNotice is an item of the list of announcements, or with its message the answer
// about one.
type gotNotice struct {
	ID         string `json:"id"`
	CourseID   string `json:"course_id"`
	CourseName string `json:"course_name"`
	Title      string `json:"title"`
	Message    string `json:"message"`
	Unread     *bool  `json:"unread"`
}

// A gotNotices is a page of announcements.
type gotNotices struct {
	UnreadCount   *int        `json:"unread_count"`
	Announcements []gotNotice `json:"announcements"`
}

const announcementsPath = "/api/announcements"

// listNotices gets a page of announcements.
func (a *agent) listNotices(ctx context.Context, path string) (page gotNotices, l links, err error) {
	err = a.get(ctx, stepAnnouncements, path, func(res *scenario.Response) error {
		if err := scenario.WantJSON(res, http.StatusOK, &page); err != nil {
			return err
		}
		if page.UnreadCount == nil || page.Announcements == nil {
			return scenario.Wrong(res, "announcements-fields", "unread_count or announcements is missing")
		}
		l, err = linksOf(res)
		return err
	})
	return page, l, err
}

// readNotice gets an announcement, which marks it as read.
func (a *agent) readNotice(ctx context.Context, id string) (gotNotice, error) {
	return getJSON[gotNotice](ctx, a, stepAnnouncement, announcementsPath+"/"+id)
}
