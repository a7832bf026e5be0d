package isucholar

import (
	"archive/zip"
	"bytes"
	"io"
	"slices"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// courses changes each course of the grades.
func courses(change func(o object)) func() arenatest.Hook {
	return within("", atGrades, "courses", change)
}

// scores changes each class of the grades.
func scores(change func(o object)) func() arenatest.Hook {
	return courses(func(o object) {
		for _, s := range o["class_scores"].([]any) {
			change(s.(object))
		}
	})
}

func summary(change func(o object)) func() arenatest.Hook {
	return changed("", atGrades, func(o object) object { change(o["summary"].(object)); return o })
}

// gradeFaults are wrong grades.
var gradeFaults = []arenatest.Fault{
	{Name: "course missing in the grades", Want: by("grades-courses"), Spoil: changed("", atGrades, func(o object) object {
		if v := o["courses"].([]any); len(v) > 1 {
			o["courses"] = v[1:]
		}
		return o
	})},
	{Name: "a point more in total", Want: by("grades-totals"), Spoil: courses(func(o object) {
		add(o, "total_score",
			1)
	})},
	{Name: "another average", Want: by("grades-totals"), Spoil: courses(func(o object) {
		add(o, "total_score_avg",
			0.1)
	})},
	{Name: "t-score of a sample", Want: by("grades-totals"), Spoil: courses(func(o object) {
		o["total_score_t_score"] = 50 + (o["total_score_t_score"].(float64)-50)*0.7071
	})},
	{Name: "first class first", Want: by("grades-order"),
		Spoil: courses(func(o object) { reversed(o["class_scores"].([]any)) })},
	{Name: "class missing in the grades", Want: by("grades-classes"), Spoil: courses(func(o object) {
		if v := o["class_scores"].([]any); len(v) > 1 {
			o["class_scores"] = v[1:]
		}
	})},
	{Name: "no score is a score of zero", Want: by("grades-score"), Spoil: scores(func(o object) {
		if o["score"] == nil {
			o["score"] = 0
		}
	})},
	{Name: "a submitter more", Want: by("grades-submitters"), Spoil: scores(func(o object) { add(o, "submitters", 1) })},
	{Name: "credits of open courses", Want: by("grades-summary"), Spoil: summary(func(o object) { add(o, "credits", 1) })},
	{Name: "another mean of the GPAs", Want: by("grades-summary"), Spoil: summary(func(o object) {
		add(o, "gpa_avg",
			0.05)
	})},
	{Name: "GPAs from a cache", Want: by("grades-summary"), Spoil: func() arenatest.Hook {
		var first sync.Map // by session
		return arenatest.When("", "GET", atGrades, arenatest.After(200, arenatest.JSON(func(x *arenatest.Exchange,
			o object) object {
			o["summary"], _ = first.LoadOrStore(x.Header.Get("Cookie"), o["summary"])
			return o
		})))
	}},
	{Name: "scores are not stored", Want: by("grades-totals", "grades-score"),
		Edits: []arenatest.Edit{{File: "go/assignment.go",
			Old: "\", score.Score, score.UserCode, classID)", New: "\", score.Score, score.UserCode+\"x\", classID)"}}},
}

// rezipped packs the files of each zip again; change sees the name and the bytes of each,
// and returns false to leave it out.
func rezipped(change func(number int, name string, data []byte) (string, []byte, bool)) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", atExport, arenatest.After(200, func(x *arenatest.Exchange) {
		archive, err := zip.NewReader(bytes.NewReader(x.Reply), int64(len(x.Reply)))
		if err != nil {
			return
		}
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i, f := range archive.File {
			r, err := f.Open()
			if err != nil {
				return
			}
			data, err := io.ReadAll(r)
			if err != nil {
				return
			}
			name, data, keep := change(i, f.Name, data)
			if !keep {
				continue
			}
			if w, err := z.Create(name); err == nil {
				w.Write(data)
			}
		}
		z.Close()
		x.Reply = b.Bytes()
	})))
}

// zipFaults are wrong zips and uploads.
var zipFaults = []arenatest.Fault{
	{Name: "submission missing in the zip", Want: by("zip-files"), Spoil: rezipped(func(i int, name string,
		data []byte) (string, []byte, bool) {
		return name, data, i > 0
	})},
	{Name: "files without the codes", Want: by("zip-files"), Spoil: rezipped(func(_ int, name string, data []byte) (string,
		[]byte, bool) {
		return name[1:], data, true
	})},
	{Name: "files in a folder", Want: by("zip-files"), Spoil: rezipped(func(_ int, name string, data []byte) (string,
		[]byte, bool) {
		return "files/" + name, data, true
	})},
	{Name: "submission cut", Want: by("zip-content"), Spoil: rezipped(func(_ int, name string, data []byte) (string,
		[]byte, bool) {
		return name, data[:len(data)-1], true
	})},
	{Name: "half a zip", Want: by("zip-form"), Spoil: plain(arenatest.When("", "GET", atExport, arenatest.After(200,
		func(x *arenatest.Exchange) {
			x.Reply = x.Reply[:len(x.Reply)/2]
		})))},
	{Name: "second upload is dropped", Want: by("zip-content"), Edits: []arenatest.Edit{{File: "go/assignment.go",
		Old: "\treturn os.WriteFile(destination",
		New: "\tif _, err := os.Stat(destination); err == nil {\n\t\treturn nil\n\t}\n\treturn os.WriteFile(destination"}}},
	{Name: "second upload keeps the first name", Want: by("zip-files"), Edits: []arenatest.Edit{{File: "go/assignment.go",
		Old: "`file_name` = VALUES(`file_name`)", New: "`file_name` = `file_name`"}}},
	{Name: "no zip of nothing", Want: on(iikanji.FaultStatus, stepExport),
		Edits: []arenatest.Edit{{File: "go/assignment.go",
			Old: "\t\treturn createEmptyZip(zipFile)",
			New: "\t\treturn errors.Join(createEmptyZip(zipFile), errors.ErrUnsupported)"}}},
	{Name: "export does not close", Want: on(iikanji.FaultStatus, stepScores),
		Edits: []arenatest.Edit{{File: "go/assignment.go",
			Old: "`submission_closed` = true", New: "`submission_closed` = false"}}},
	// Two exports at once may also find the file of the other one gone.
	{Name: "zip of the first export", Want: slices.Concat(by("zip-content", "zip-files", "zip-form"), on(iikanji.FaultStatus, stepExport)),
		Edits: []arenatest.Edit{{File: "go/assignment.go",
			Old: "assignmentsDirectory + classID + \".zip\"", New: "assignmentsDirectory + \"all.zip\""}}},
}
