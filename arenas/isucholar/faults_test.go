package isucholar

import (
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// ease makes the app fast enough for many runs: MariaDB prepares no statements, the log of
// requests is off, and zips are made without other programs.
var ease = []arenatest.Edit{
	{File: "go/db.go", Old: "\treturn sqlx.Open(", New: "\tc.InterpolateParams = true\n\treturn sqlx.Open("},
	{File: "go/main.go", Old: "\te.Use(middleware.Logger())\n", New: ""},
	{File: "go/assignment.go", Old: "\tif err := exec.Command(\"mkdir\", folder)",
		New: "\tif len(submissions) > 0 {\n\t\treturn packed(zipFile, classID, submissions)\n\t}\n" +
			"\tif err := exec.Command(\"mkdir\", folder)"},
	{File: "go/assignment.go", Old: "func createEmptyZip(", New: `func packed(zipFile, classID string, submissions []submission) error {
	file, err := os.Create(zipFile)
	if err != nil {
		return err
	}
	z := zip.NewWriter(file)
	for _, s := range submissions {
		data, err := os.ReadFile(assignmentsDirectory + classID + "-" + s.UserID + ".pdf")
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: s.UserCode + "-" + s.FileName, Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(z.Close(), file.Close())
}

func createEmptyZip(`},
}

// faults are all planted faults.
var faults = slices.Concat(searchFaults, courseFaults, gradeFaults, noticeFaults, zipFaults, refusalFaults, loadFaults)

type object = map[string]any

// by and on make the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

func on(kind iikanji.FaultKind, step scenario.Step) []arenatest.Caught {
	return []arenatest.Caught{arenatest.On(kind, stepNames[step])}
}

// plain wraps a hook without state.
func plain(h arenatest.Hook) func() arenatest.Hook { return func() arenatest.Hook { return h } }

// Patterns of the APIs.
const (
	atSearch     = "/api/courses"
	atCourse     = "/api/courses/*"
	atClasses    = "/api/courses/*/classes"
	atUpload     = "/api/courses/*/classes/*/assignments"
	atScores     = "/api/courses/*/classes/*/assignments/scores"
	atExport     = "/api/courses/*/classes/*/assignments/export"
	atRegistered = "/api/users/me/courses"
	atGrades     = "/api/users/me/grades"
	atNotices    = "/api/announcements"
	atNotice     = "/api/announcements/*"
	atMe         = "/api/users/me"
)

// changed changes successful answers to a GET.
func changed[T any](phase scenario.Phase, pattern string, change func(v T) T) func() arenatest.Hook {
	return plain(arenatest.When(phase, "GET", pattern, arenatest.After(200, arenatest.JSON(func(_ *arenatest.Exchange,
		v T) T {
		return change(v)
	}))))
}

// list changes a list.
func list(pattern string, change func(v []any) []any) func() arenatest.Hook {
	return changed("", pattern, change)
}

// each changes each object of a list.
func each(pattern string, change func(o object)) func() arenatest.Hook {
	return list(pattern, func(v []any) []any {
		for _, o := range v {
			change(o.(object))
		}
		return v
	})
}

// within changes each object of a list in an object.
func within(phase scenario.Phase, pattern, field string, change func(o object)) func() arenatest.Hook {
	return changed(phase, pattern, func(v object) object {
		if items, ok := v[field].([]any); ok {
			for _, o := range items {
				change(o.(object))
			}
		}
		return v
	})
}

func reversed(v []any) []any { slices.Reverse(v); return v }

// add adds to a number of an object.
func add(o object, name string, n float64) { o[name] = o[name].(float64) + n }

// instead answers those requests otherwise that the app answers with a status.
func instead(method, pattern string, status, other int, body string) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, arenatest.After(status, func(x *arenatest.Exchange) {
		cookie := x.Answer["Set-Cookie"]
		x.Give(other, "application/json", body)
		if cookie != nil {
			x.Answer["Set-Cookie"] = cookie
		}
	})))
}
