package isucholar

import "github.com/iikanji/iikanji/internal/load/scenario"

// The steps: one for each request of the API, and for the static files.
const (
	stepUpload scenario.Step = iota
	stepAnnouncements
	stepInitialize
	stepLogin
	stepMe
	stepRegistered
	stepRegister
	stepGrades
	stepSearch
	stepPostCourse
	stepCourse
	stepStatus
	stepClasses
	stepPostClass
	stepScores
	stepExport
	stepPostAnnouncement
	stepAnnouncement
	stepStatic
)

var stepNames = []string{
	"POST /api/courses/:id/classes/:id/assignments",
	"GET /api/announcements",
	"POST /initialize",
	"POST /login",
	"GET /api/users/me",
	"GET /api/users/me/courses",
	"PUT /api/users/me/courses",
	"GET /api/users/me/grades",
	"GET /api/courses",
	"POST /api/courses",
	"GET /api/courses/:id",
	"PUT /api/courses/:id/status",
	"GET /api/courses/:id/classes",
	"POST /api/courses/:id/classes",
	"PUT /api/courses/:id/classes/:id/assignments/scores",
	"GET /api/courses/:id/classes/:id/assignments/export",
	"POST /api/announcements",
	"GET /api/announcements/:id",
	"GET /*",
}
