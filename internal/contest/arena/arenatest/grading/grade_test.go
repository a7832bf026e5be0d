package grading

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// TestScore: each finding is one answer at most. The code alone is not enough:
// columns, routes and statements have to be the answer's too.
func TestScore(t *testing.T) {
	answers := ReadAnswers("# a comment\nDB101\tisu_condition(jia_isu_uuid, timestamp)\tscan\nDB110\tGET /a: select * from c order by ts desc\thistory\nDB110\tGET /b/:uuid: select * from c where a = ?… order by ts\thistory\n" +
		"DB101\tisu(jia_user_id)\tlist\nWEB101\t/assets\tstatic\nDB111\tisu.image\tblob\n\nbroken line\n")
	if len(answers) != 6 {
		t.Fatalf("%d answers", len(answers))
	}
	f := func(code iikanji.Code, where string) iikanji.Finding {
		return iikanji.Finding{Code: code, Where: where}
	}
	blob := func(where, column string) iikanji.Finding {
		return iikanji.Finding{Code: "DB111", Where: where, Remedies: []iikanji.Remedy{{Args: map[string]string{"column": column}}}}
	}
	s := ScoreOf([]iikanji.Finding{
		f("DB101", "s.isu_condition (jia_isu_uuid, timestamp DESC)"),
		f("DB110", "select * from c order by ts desc"), // its route is not known
		f("DB103", "s.isu k"), // unexpected, and so on
		f("DB101", "s.isu (character)"),
		f("DB110", "GET /a: select * from c where a = ? order by ts"),
		f("DB110", "GET /b/:id: select * from c where a = ? and b < ? order by ts"),
		f("WEB101", "/image/7.png"),
		f("DB101", "s.isu (jia_user_id, id)"), // more than is wanted does it too
		blob("select * from chair where id = ?", "image"),
		blob("select * from isu where id = ?", "name"),
		blob("select * from isu where id = ?", "image"),
		blob("GET /c: select i.* from user as u join isu as i", "image"), // once more
		f("WEB101", "GET /assets/:file.js"),
	}, answers)
	if s.At5 != 2 || s.At10 != 4 || s.All != 6 || s.Doubled != 1 || len(s.Unexpected) != 6 {
		t.Errorf("%+v", s)
	}
	for i, want := range []int{1, 2, 6, 8, 12, 11} {
		if s.Answers[i].Found != want {
			t.Errorf("%s %s is found at %d, want %d", s.Answers[i].Code, s.Answers[i].Where, s.Answers[i].Found, want)
		}
	}
	if answers[0].Found != 0 {
		t.Error("the answers that were given have changed")
	}
}

// TestAnswers reads the answers of every arena: each line has a code, a place and a cause,
// and an effect is a gain in percent.
func TestAnswers(t *testing.T) {
	files, err := filepath.Glob("../../../../../arenas/*/answers.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		answers, n := ReadAnswers(string(text)), 0
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if f[0] == alsoMark && len(f) == 3 && n > 0 && strings.HasPrefix(f[1], "APP2") {
				continue
			}
			n++
			if len(f) < 3 || len(f) > 4 || len(f) == 4 && (!effectForm.MatchString(f[3]) || n > len(answers) || answers[n-1].Effect <= 0) {
				t.Errorf("%s: %q", file, line)
			}
		}
		if len(answers) != n {
			t.Errorf("%s: %d answers in %d lines", file, len(answers), n)
		}
	}
}

var effectForm = regexp.MustCompile(`^\+[0-9.]+ %$`)

// TestProven: causes with a measured effect are counted by themselves.
func TestProven(t *testing.T) {
	answers := ReadAnswers("DB115\tapp\tprepared\nWEB110\tnginx\tlog\t+2.5 %\nWEB102\tnginx\tconnections\t+30 %\n")
	s := ScoreOf([]iikanji.Finding{{Code: "DB115", Where: "app"}, {Code: "WEB102", Where: "nginx"}}, answers)
	if s.Proven != 2 || s.ProvenAt10 != 1 || s.At10 != 2 || s.Answers[1].Effect != 2.5 {
		t.Errorf("%+v", s)
	}
}

// TestLevers: a code lever whose code no answer has is another name for a cause, and is
// not graded.
func TestLevers(t *testing.T) {
	findings := []iikanji.Finding{{Code: "APP204", Nature: iikanji.Nature{Inside: true}, Where: "a.go:3 post"}, {Code: "APP215", Nature: iikanji.Nature{Inside: true}, Where: "a.go:9 list"}, {Code: "APP215", Nature: iikanji.Nature{Inside: true}, Where: "a.go:12 search"}}
	s := ScoreOf(findings, ReadAnswers("APP215\ta.go search\teach search is computed again\n"))
	if s.All != 1 || s.Answers[0].Found != 2 || len(s.Unexpected) != 1 {
		t.Errorf("%+v", s)
	}
	if s := ScoreOf(findings, ReadAnswers("DB101\tt(a)\tscan\n")); len(s.Unexpected) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestOtherNames: a code lever is a cause if it is another name of it, and no place is
// taken by what shows a found cause again.
func TestOtherNames(t *testing.T) {
	answers := ReadAnswers("DB123\treplace into ids…\teach id is a write\t+20 %\n=\tAPP204\ta.go newID\nDB101\tt(a)\tscan\t+10 %\n")
	s := ScoreOf([]iikanji.Finding{
		{Code: "APP204", Nature: iikanji.Nature{Inside: true}, Where: "a.go:7 newTitle"}, // at another place: not graded
		{Code: "APP204", Nature: iikanji.Nature{Inside: true}, Where: "a.go:31 newID at app"},
		{Code: "DB123", Where: "replace into ids(a) values (?)"},
		{Code: "DB101", Where: "s.t (a, b)"},
	}, answers)
	if len(answers) != 2 || s.Answers[0].Found != 1 || s.Answers[1].Found != 2 || s.Doubled != 1 || len(s.Unexpected) != 0 || s.ProvenAt10 != 2 {
		t.Errorf("%+v", s)
	}
}

// TestPlaces checks that findings and answers use the same names for places.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		answer, finding string
		holds           bool
	}{
		{"GET /api/isu/:jia_isu_uuid/icon", "GET /api/isu/:uuid/icon", true},
		{"GET /api/isu/:jia_isu_uuid/icon", "GET /assets/", false},
		{"GET /api/isu/:jia_isu_uuid", "GET /api/isu/:uuid/icon", false},
		{"GET /api/isu", "POST /api/isu", false},
		{"/assets", "GET /assets/", true},
		{"/assets", "GET /assets2/", false},
		{"/assets", "nginx", false},
		{"nginx", "127.0.0.1:3000", true},
		{"nginx", "GET /api/isu", false},
		{"app", "database", false},
		{"select count(*) from user where id = ?", "GET /a: select count(*) from `user` where id = ?", true},
		{"select count(*) from user where id = ?", "select count(*) from user where name = ?", false},
		{"select * from c order by ts", "select * from c order by ts limit ?", false},
		{"GET /a: select * from c", "GET /b: select * from c", false},
		{"GET /a: select * from c", "GET /a", false},
		{"c(a, b DESC)", "s.c (a, b)", false},
		{"c(a, b)", "s.c (b, a)", false},
		{"c(a, b)", "s.c (a)", false},
		{"c(a)", "s.d (a)", false},
		{"a.go search", "a.go:12 search", true},
		{"a.go search", "a.go:12 (*app).search", false},
		{"a.go search", "b.go:12 search", false},
		{"a.go search", "a.go:12 search at app", true},
	} {
		if got := readPlace(c.answer).holds(iikanji.Finding{Where: c.finding}); got != c.holds {
			t.Errorf("answer %q, finding %q: %v", c.answer, c.finding, got)
		}
	}
}

// TestFirstCauseFirst diagnoses a kept run of the untouched arena, observed on
// a quiet machine. The first known cause must be the first finding, most of the other
// causes must be found, and there must be no unexpected finding.
func TestFirstCauseFirst(t *testing.T) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, dir, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS("testdata/observed")); err != nil {
		t.Fatal(err)
	}
	ob, known, err := observe.Recall(h, id)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../../../arenas/isucondition/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.New(ob, known)
	if err != nil {
		t.Fatal(err)
	}
	s := ScoreOf(d.Findings, ReadAnswers(string(text)))
	if len(s.Answers) != strings.Count(string(text), "\n") {
		t.Errorf("%d answers in %d lines", len(s.Answers), strings.Count(string(text), "\n"))
	}
	if s.Answers[0].Found != 1 {
		t.Errorf("the first cause is finding %d", s.Answers[0].Found)
	}
	if s.At5 < 4 || s.At10 < 8 || s.All < 18 || len(s.Unexpected) > 0 {
		t.Errorf("%d of the causes among the first 5, %d among the first 10, %d in all; unexpected: %+v", s.At5, s.At10, s.All, s.Unexpected)
	}
}
