package isucholar_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/iikanji/iikanji/arenas/isucholar"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// site is the running site of the tests.
var site *apptest.Site

// testApp runs the tests below on the app with its own MariaDB and nginx.
func testApp(t *testing.T, up *stack.Stack) {
	site = apptest.On(t, up)
	client(t).Send("POST", "/initialize").Want(t, 200, "")
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{{"sample", testSample}, {"slow", testSlow}, {"files", testFiles}, {"browser student", testBrowserStudent},
		{"browser teacher", testBrowserTeacher}} {
		t.Run(c.name, c.run)
	}
}

// TestArena calls testApp on its stack.
func init() { OnStack = testApp }

func client(t *testing.T) *apptest.Client { t.Helper(); return site.NewClient(t) }

// as returns a client of a user of the sample.
func as(t *testing.T, code string) *apptest.Client {
	t.Helper()
	c := client(t)
	c.Send("POST", "/login", apptest.WithJSON(map[string]string{"code": code, "password": "isucon"})).WantEmpty(t, 200)
	return c
}

// Identifiers of the sample.
const (
	sampleCourse = "01FGWKRE7YPFBYEB31FQGERSQA" // X0001
	sampleClass  = "01FGWKTVXWS9TVHAXYZNX2FCTR"
)

// testSample: the sample for people is as the rules describe it.
func testSample(t *testing.T) {
	var grades struct {
		Summary map[string]float64
		Courses []map[string]any
	}
	as(t, "S99999").Get("/api/users/me/grades").Decode(t, 200, &grades)
	totals := map[any]any{}
	for _, c := range grades.Courses {
		totals[c["code"]] = c["total_score"]
	}
	if totals["X0001"] != 396.0 || totals["X0002"] != 0.0 || grades.Summary["credits"] != 0 {
		t.Errorf("grades %v %v", totals, grades.Summary)
	}
	var list struct {
		UnreadCount   int `json:"unread_count"`
		Announcements []map[string]any
	}
	as(t, "S99999").Get("/api/announcements").Decode(t, 200, &list)
	if list.UnreadCount != 1 || len(list.Announcements) != 5 {
		t.Errorf("announcements %+v", list)
	}
	zip := as(t, "T99999").Get("/api/courses/" + sampleCourse + "/classes/" + sampleClass + "/assignments/export")
	zip.Want(t, 200, "")
	for _, name := range []string{"S99997-S99997.pdf", "S99998-S99998.pdf", "S99999-S99999.pdf"} {
		if !strings.Contains(string(zip.Body), name) {
			t.Errorf("the zip has no %s", name)
		}
	}
}

// testSlow: the app is as slow as the rules describe it.
func testSlow(t *testing.T) {
	teacher, student := as(t, "T99999"), as(t, "S99999")
	post := site.WorkOf(t, func() {
		teacher.Send("POST", "/api/announcements", apptest.WithJSON(map[string]string{
			"id": "01ZZZZZZZZZZZZZZZZZZZZZZZZ", "course_id": sampleCourse, "title": "t", "message": "m"})).WantEmpty(t, 201)
	})
	if post.Inserts != 1+3 || post.Commits != 1 {
		t.Errorf("an announcement for 3 students: %+v", post)
	}
	grades := site.WorkOf(t, func() { student.Get("/api/users/me/grades").Want(t, 200, "") })
	// The courses; for each of two the classes and the totals, two for each of five classes; the GPAs.
	if want := 1 + 2*2 + 5*2 + 1; grades.Selects != want {
		t.Errorf("grades: %d SELECTs, want %d", grades.Selects, want)
	}
	if grades.Prepares < grades.Selects-1 {
		t.Errorf("grades: %d statements of %d are prepared", grades.Prepares, grades.Selects)
	}
	list := site.WorkOf(t, func() { student.Get("/api/announcements").Want(t, 200, "") })
	if list.Commits != 1 || list.Selects != 2 {
		t.Errorf("a list: %+v", list)
	}
}

// testFiles checks that the page answers each path that is neither a file nor of the API.
func testFiles(t *testing.T) {
	for _, path := range []string{"/", "/courses", "/index.html"} {
		page := client(t).Get(path)
		if page.Want(t, 200, ""); !strings.Contains(string(page.Body), "/_nuxt/app.js") {
			t.Errorf("%s is no page", path)
		}
	}
	if got := client(t).Get("/_nuxt/app.js"); len(got.Body) != 460356 {
		t.Errorf("the script has %d bytes", len(got.Body))
	}
}

// loggedIn are the lines of a script that log in, and then run further ones.
func loggedIn(code, then string) string {
	return fmt.Sprintf(`
		const once = (find, act) => { const wait = setInterval(() => { const e = find(); if (e) { clearInterval(wait); act(e) } }, 20) }
		once(() => document.getElementById('login'), form => {
			form.elements.code.value = %q
			form.elements.password.value = 'isucon'
			form.requestSubmit()
			once(() => document.getElementById('me'), () => { %s })
		})`, code, then)
}

// browsed opens the page, has a script act on it, and returns the page at the end.
func browsed(t *testing.T, script string) string {
	t.Helper()
	page := site.Browse(t, site.Driven(t, script).URL+"/")
	if strings.Contains(page, `class="problem"`) {
		t.Errorf("the page shows a problem: %.1500s", page)
	}
	return page
}

// testBrowserStudent has a student see the timetable, grades and an announcement.
func testBrowserStudent(t *testing.T) {
	page := browsed(t, loggedIn("S99999", ""))
	apptest.WantAll(t, "timetable", apptest.All(page, `data-course="(\w+)"`), []string{sampleCourse,
		"01FGWKT3J0886Q6Z7BF1DR6Y02"})
	page = browsed(t, loggedIn("S99999", "location.hash = 'grades'"))
	if !strings.Contains(page, `id="gpa"`) || !strings.Contains(page, "396") {
		t.Errorf("no grades: %.2000s", page)
	}
	page = browsed(t, loggedIn("S99998", "location.hash = 'announcement/01FGWKVKJ03E5YPP56X0J8DJ5D'"))
	apptest.WantAll(t, "message", apptest.All(page, `id="message">([^<]*)`), []string{"第 1 回が追加されました。測り方を学びます。"})
}

// testBrowserTeacher has a teacher open a course, which then is in the search.
func testBrowserTeacher(t *testing.T) {
	page := browsed(t, loggedIn("T99999", `
		location.hash = 'new'
		once(() => document.getElementById('new'), form => {
			for (const [k, v] of Object.entries({ code: 'X0009', name: '実習九', description: 'd', keywords: 'k', credit: 2, period: 3 })) form.elements[k].value = v
			form.requestSubmit()
			once(() => document.getElementById('class'), () => {
				document.querySelector('button[data-status="in-progress"]').click()
				once(() => view().textContent.includes('開講中'), () => {
					const add = document.getElementById('class')
					add.elements.title.value = '初回'
					add.elements.description.value = 'd'
					add.requestSubmit()
				})
			})
		})`))
	if !strings.Contains(page, "<h1>実習九</h1>") || !strings.Contains(page, "<td>初回</td>") {
		t.Errorf("no course with its class: %.2500s", page)
	}
}
