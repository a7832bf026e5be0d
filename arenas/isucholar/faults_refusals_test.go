package isucholar

import (
	"sync"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// refusalFaults are requests that are accepted and must not be, and repeated ones.
var refusalFaults = []arenatest.Fault{
	{Name: "no login is needed", Want: by("login-required"), Spoil: instead("GET", atGrades, 401, 200, "{}")},
	{Name: "students open courses", Want: by("teachers-only"), Spoil: instead("POST", atSearch, 403, 201, "{}")},
	{Name: "students close submissions", Want: by("teachers-only"), Spoil: instead("GET", atExport, 403, 200, "")},
	{Name: "any password", Want: by("login-wrong"), Spoil: instead("POST", "/login", 401, 200, "")},
	{Name: "second login", Want: by("login-again"), Spoil: instead("POST", "/login", 400, 200, "")},
	{Name: "logout without effect", Want: by("logout"), Spoil: plain(arenatest.When("", "POST", "/logout",
		arenatest.Instead(200, "", "")))},
	{Name: "one course of a conflict is named", Want: by("registration-errors"), Spoil: plain(arenatest.When("", "PUT",
		atRegistered,
		arenatest.After(400, arenatest.JSON(func(_ *arenatest.Exchange, o object) object {
			if v, ok := o["schedule_conflict"].([]any); ok {
				o["schedule_conflict"] = v[1:]
			}
			return o
		}))))},
	{Name: "unknown courses are ignored", Want: by("registration-errors"), Spoil: plain(arenatest.When("", "PUT",
		atRegistered,
		arenatest.After(400, arenatest.JSON(func(_ *arenatest.Exchange, o object) object {
			delete(o,
				"course_not_found")
			return o
		}))))},
	{Name: "part of a refused registration stays", Want: by("registered-list"),
		Edits: []arenatest.Edit{{File: "go/registration.go",
			Old: "\tif refused.any() {\n", New: "\tif refused.any() && len(added) > 0 {\n" +
				"\t\ttx.Exec(\"INSERT INTO `registrations` (`course_id`, `user_id`) VALUES (?, ?)\", added[0].ID, userID)\n\t\ttx.Commit()\n\t}\n\tif refused.any() {\n"}}},
	{Name: "course of nothing", Want: by("course-missing"), Spoil: instead("GET", atCourse, 404, 200, "{}")},
	{Name: "zip of no class", Want: by("class-missing"), Spoil: instead("GET", atExport, 404, 200, "")},
	{Name: "page 0", Want: by("page-refused"), Spoil: instead("GET", atSearch, 400, 200, "[]")},
	{Name: "half JSON", Want: by("json-refused"), Spoil: plain(arenatest.When("", "POST", atSearch, arenatest.After(400,
		func(x *arenatest.Exchange) {
			if len(x.Body) < 20 {
				x.Give(201, "application/json", "{}")
			}
		})))},
	{Name: "class before the course runs", Want: by("class-status"), Spoil: plain(arenatest.When("", "POST", atClasses,
		arenatest.After(400, func(x *arenatest.Exchange) {
			if len(x.Body) > 20 {
				x.Give(201, "application/json", "{}")
			}
		})))},
	{Name: "scores before the end of submissions", Want: by("scores-open"), Spoil: instead("PUT", atScores, 400, 204, "")},
	{Name: "announcements of strangers", Want: by("announcement-foreign"),
		Edits: []arenatest.Edit{{File: "go/announcement.go",
			Old: " WHERE `announcements`.`id` = ? AND `unread_announcements`.`user_id` = ?\"",
			New: " WHERE `announcements`.`id` = ? AND ? <> ''\""},
			{File: "go/announcement.go", Old: "\tif registered == 0 {", New: "\tif registered < 0 {"}}},
	{Name: "other course of a known code", Want: by("course-conflict"), Spoil: instead("POST", atSearch, 409, 201, "{}")},
	{Name: "other class of a known part", Want: by("class-conflict"), Spoil: instead("POST", atClasses, 409, 201, "{}")},
	{Name: "other announcement of a known id", Want: by("announcement-conflict"), Spoil: instead("POST", atNotices, 409,
		201, "")},
	{Name: "course again is another one", Want: by("course-again"), Spoil: func() arenatest.Hook {
		var seen sync.Map
		return arenatest.When("", "POST", atSearch, arenatest.After(201, func(x *arenatest.Exchange) {
			if _, again := seen.LoadOrStore(string(x.Body), true); again {
				x.Reply = []byte(`{"id":"01FGWKRE7YPFBYEB31FQGERSQX"}`)
			}
		}))
	}},
	{Name: "any type of course", Want: by("course-type"), Edits: []arenatest.Edit{{File: "go/course.go",
		Old: "if !slices.Contains(courseTypes, request.Type) {",
		New: "if !slices.Contains(courseTypes, request.Type) && request.Type != \"sports\" {"}}},
	{Name: "upload to a course that does not run", Want: by("upload-status"),
		Edits: []arenatest.Edit{{File: "go/assignment.go",
			Old: "if status != statusInProgress {\n\t\treturn c.String(http.StatusBadRequest",
			New: "if status != statusInProgress {\n\t\treturn c.String(http.StatusNoContent"}}},
	{Name: "upload to a stranger's course", Want: by("upload-registered"),
		Edits: []arenatest.Edit{{File: "go/assignment.go",
			Old: "\tif registered == 0 {", New: "\tif registered < 0 {"}}},
	{Name: "upload without a file", Want: by("upload-file"), Edits: []arenatest.Edit{{File: "go/assignment.go",
		Old: "return c.String(http.StatusBadRequest, \"Invalid file.\")", New: "return c.NoContent(http.StatusNoContent)"}}},
	{Name: "upload after the end", Want: by("upload-closed"), Edits: []arenatest.Edit{{File: "go/assignment.go",
		Old: "\tif closed {\n", New: "\tif closed && userID == \"\" {\n"}}},
}
