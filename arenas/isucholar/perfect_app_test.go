package isucholar

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A perfectApp implements the contest's API in memory. It is fast and correct, so the
// benchmarker must find no fault.
type perfectApp struct {
	data *Dataset

	mu       sync.Mutex
	ids      ulids
	users    map[string]*perfectUser // by code
	sessions map[string]*perfectUser
	courses  map[string]*perfectCourse
	classes  map[string]*perfectClass
	notices  map[string]*announcementBody
}

type perfectUser struct {
	User
	courses []*perfectCourse
	unread  map[string]bool // by announcement; false if it is read
}

type perfectCourse struct {
	Course
	classes  []*perfectClass
	students map[string]*perfectUser // by code
}

type perfectClass struct {
	classBody
	id     string
	closed bool
	files  map[string]perfectFile // by code
	scores map[string]int
}

type perfectFile struct {
	name string
	body []byte
}

// initialize restores the initial data, without the classes of the sample.
func (a *perfectApp) initialize() {
	a.users, a.sessions, a.courses = map[string]*perfectUser{}, map[string]*perfectUser{}, map[string]*perfectCourse{}
	a.classes, a.notices = map[string]*perfectClass{}, map[string]*announcementBody{}
	for _, u := range slices.Concat(a.data.Teachers, a.data.Students) {
		a.users[u.Code] = &perfectUser{User: u, unread: map[string]bool{}}
	}
	for _, c := range a.data.Courses {
		a.courses[c.ID] = &perfectCourse{Course: c, students: map[string]*perfectUser{}}
	}
}

// A perfectCall is a request with its user.
type perfectCall struct {
	w    http.ResponseWriter
	r    *http.Request
	user *perfectUser
}

func (c *perfectCall) json(status int, v any) {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(status)
	json.NewEncoder(c.w).Encode(v)
}

func (c *perfectCall) read(v any) bool {
	if json.NewDecoder(c.r.Body).Decode(v) != nil {
		c.w.WriteHeader(http.StatusBadRequest)
		return false
	}
	return true
}

func (a *perfectApp) routes() http.Handler {
	mux := http.NewServeMux()
	for _, f := range staticFiles() {
		serve := func(w http.ResponseWriter, _ *http.Request) { w.Write(f.body) }
		if mux.HandleFunc("GET "+f.path, serve); f.path == "/index.html" {
			mux.HandleFunc("GET /{$}", serve)
		}
	}
	handle := func(pattern string, answer func(c *perfectCall)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			c := &perfectCall{w: w, r: r}
			if cookie, err := r.Cookie("session"); err == nil {
				c.user = a.sessions[cookie.Value]
			}
			if c.user == nil && strings.Contains(pattern, "/api/") {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			answer(c)
		})
	}
	teacher := func(pattern string, answer func(c *perfectCall)) {
		handle(pattern, func(c *perfectCall) {
			if !c.user.teaches() {
				c.w.WriteHeader(http.StatusForbidden)
				return
			}
			answer(c)
		})
	}
	handle("POST /initialize", func(c *perfectCall) { a.initialize(); c.json(200, map[string]string{"language": "test"}) })
	handle("POST /login", a.login)
	handle("POST /logout", func(c *perfectCall) {
		http.SetCookie(c.w, &http.Cookie{Name: "session", MaxAge: -1,
			Path: "/"})
	})
	handle("GET /api/users/me", func(c *perfectCall) {
		c.json(200, map[string]any{"code": c.user.Code, "name": c.user.Name, "is_admin": c.user.teaches()})
	})
	handle("GET /api/users/me/courses", a.registered)
	handle("PUT /api/users/me/courses", a.register)
	handle("GET /api/users/me/grades", a.grades)
	handle("GET /api/courses", a.search)
	teacher("POST /api/courses", a.postCourse)
	handle("GET /api/courses/{id}", a.onCourse(func(c *perfectCall, o *perfectCourse) { c.json(200, o.Course) }))
	teacher("PUT /api/courses/{id}/status", a.onCourse(func(c *perfectCall, o *perfectCourse) {
		var v struct{ Status string }
		if c.read(&v) {
			o.Status = v.Status
		}
	}))
	handle("GET /api/courses/{id}/classes", a.onCourse(a.listClasses))
	teacher("POST /api/courses/{id}/classes", a.postClass)
	handle("POST /api/courses/{id}/classes/{class}/assignments", a.onCourse(a.upload))
	teacher("PUT /api/courses/{id}/classes/{class}/assignments/scores", a.putScores)
	teacher("GET /api/courses/{id}/classes/{class}/assignments/export", a.export)
	handle("GET /api/announcements", a.listNotices)
	teacher("POST /api/announcements", a.postNotice)
	handle("GET /api/announcements/{id}", a.readNotice)
	return mux
}

func (a *perfectApp) login(c *perfectCall) {
	var v struct{ Code, Password string }
	if !c.read(&v) {
		return
	}
	u := a.users[v.Code]
	if u == nil || u.Password != v.Password {
		c.w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if c.user == u {
		c.w.WriteHeader(http.StatusBadRequest)
		return
	}
	id := a.ids.next(time.Now())
	a.sessions[id] = u
	http.SetCookie(c.w, &http.Cookie{Name: "session", Value: id, Path: "/"})
}

func (a *perfectApp) onCourse(do func(c *perfectCall, o *perfectCourse)) func(c *perfectCall) {
	return func(c *perfectCall) {
		if o := a.courses[c.r.PathValue("id")]; o != nil {
			do(c, o)
			return
		}
		c.w.WriteHeader(http.StatusNotFound)
	}
}

func (u *perfectUser) open() (list []*perfectCourse) {
	for _, o := range u.courses {
		if o.Status != statusClosed {
			list = append(list, o)
		}
	}
	return list
}

func (a *perfectApp) registered(c *perfectCall) {
	list := []gotRegistered{}
	for _, o := range c.user.open() {
		list = append(list, registeredOf(&o.Course))
	}
	c.json(200, list)
}

func (a *perfectApp) register(c *perfectCall) {
	var v []idBody
	if !c.read(&v) {
		return
	}
	var e registrationErrors
	var added []*perfectCourse
	for _, id := range v {
		switch o := a.courses[id.ID]; {
		case o == nil:
			e.CourseNotFound = append(e.CourseNotFound, id.ID)
		case o.Status != statusRegistration:
			e.NotRegistrableStatus = append(e.NotRegistrableStatus, id.ID)
		case o.students[c.user.Code] == nil:
			added = append(added, o)
		}
	}
	for _, o := range added {
		if slices.ContainsFunc(slices.Concat(c.user.open(), added), func(p *perfectCourse) bool {
			return p != o && p.Period == o.Period && p.DayOfWeek == o.DayOfWeek
		}) {
			e.ScheduleConflict = append(e.ScheduleConflict, o.ID)
		}
	}
	if len(e.CourseNotFound)+len(e.NotRegistrableStatus)+len(e.ScheduleConflict) > 0 {
		c.json(http.StatusBadRequest, e)
		return
	}
	for _, o := range added {
		o.students[c.user.Code] = c.user
		c.user.courses = append(c.user.courses, o)
	}
}

func (o *perfectCourse) total(code string) (sum int) {
	for _, cl := range o.classes {
		sum += cl.scores[code]
	}
	return sum
}

func (u *perfectUser) gpa() (gpa float64, credits int) {
	points := 0
	for _, o := range u.courses {
		if o.Status == statusClosed {
			points, credits = points+o.total(u.Code)*o.Credit, credits+o.Credit
		}
	}
	return float64(points) / float64(max(credits, 1)) / 100, credits
}

func (a *perfectApp) grades(c *perfectCall) {
	g := gotGrades{Summary: new(gradeSummary), Courses: []courseGrade{}}
	for _, o := range c.user.courses {
		var totals []float64
		for code := range o.students {
			totals = append(totals, float64(o.total(code)))
		}
		s, total := spreadOf(totals), o.total(c.user.Code)
		grade := courseGrade{o.Name, o.Code, total, s.tScore(float64(total)), s.average, int(s.most), int(s.least),
			[]classScore{}}
		for _, cl := range slices.Backward(o.classes) {
			score := classScore{ClassID: cl.id, Title: cl.Title, Part: cl.Part, Submitters: len(cl.files)}
			if v, ok := cl.scores[c.user.Code]; ok {
				score.Score = &v
			}
			grade.ClassScores = append(grade.ClassScores, score)
		}
		g.Courses = append(g.Courses, grade)
	}
	var gpas []float64
	for _, u := range a.users {
		if gpa, credits := u.gpa(); credits > 0 {
			gpas = append(gpas, gpa)
		}
	}
	gpa, credits := c.user.gpa()
	s := spreadOf(gpas)
	*g.Summary = gradeSummary{credits, gpa, s.tScore(gpa), s.average, s.most, s.least}
	c.json(200, g)
}

// page cuts a page out of a list, and sets the header Link.
func page[T any](c *perfectCall, all []T) ([]T, bool) {
	q := c.r.URL.Query()
	number, err := strconv.Atoi(cmp.Or(q.Get("page"), "1"))
	if err != nil || number < 1 {
		c.w.WriteHeader(http.StatusBadRequest)
		return nil, false
	}
	var link []string
	add := func(number int, rel string) {
		q.Set("page", fmt.Sprint(number))
		link = append(link, fmt.Sprintf(`<%s?%s>; rel="%s"`, c.r.URL.Path, q.Encode(), rel))
	}
	if number > 1 {
		add(number-1, "prev")
	}
	all = all[min(len(all), (number-1)*pageSize):]
	if len(all) > pageSize {
		add(number+1, "next")
		all = all[:pageSize]
	}
	if link != nil {
		c.w.Header().Set("Link", strings.Join(link, ","))
	}
	return append([]T{}, all...), true
}

func (a *perfectApp) search(c *perfectCall) {
	q := c.r.URL.Query()
	number := func(name string) int { n, _ := strconv.Atoi(q.Get(name)); return n }
	want := condition{q.Get("type"), q.Get("teacher"), q.Get("day_of_week"), q.Get("keywords"), q.Get("status"),
		number("credit"), number("period")}
	var all []Course
	for _, o := range a.courses {
		if want.matches(&o.Course) {
			all = append(all, o.Course)
		}
	}
	slices.SortFunc(all, func(a, b Course) int { return cmp.Compare(a.Code, b.Code) })
	if list, ok := page(c, all); ok {
		c.json(200, list)
	}
}

func (a *perfectApp) postCourse(c *perfectCall) {
	var v courseBody
	if !c.read(&v) {
		return
	}
	if v.Type != typeLiberal && v.Type != typeMajor || !slices.Contains(days[:], v.DayOfWeek) {
		c.w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, o := range a.courses {
		if o.Code == v.Code && bodyOf(&o.Course) == v {
			c.json(http.StatusCreated, idBody{o.ID})
			return
		} else if o.Code == v.Code {
			c.w.WriteHeader(http.StatusConflict)
			return
		}
	}
	o := &perfectCourse{Course: Course{a.ids.next(time.Now()), v.Code, v.Type, v.Name, v.Description, v.Credit, v.Period,
		v.DayOfWeek,
		c.user.Name, statusRegistration, v.Keywords}, students: map[string]*perfectUser{}}
	a.courses[o.ID] = o
	c.json(http.StatusCreated, idBody{o.ID})
}

func (a *perfectApp) listClasses(c *perfectCall, o *perfectCourse) {
	list := []gotClass{}
	for _, cl := range o.classes {
		_, submitted := cl.files[c.user.Code]
		list = append(list, gotClass{cl.id, cl.Part, cl.Title, cl.Description, &cl.closed, &submitted})
	}
	c.json(200, list)
}

// visible are the announcements for a user, the newest first.
func (a *perfectApp) visible(u *perfectUser, course string) []gotNotice {
	var list []gotNotice
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(u.unread))) {
		n, unread := a.notices[id], u.unread[id]
		if course == "" || n.CourseID == course {
			list = append(list, gotNotice{ID: id, CourseID: n.CourseID, CourseName: a.courses[n.CourseID].Name, Title: n.Title,
				Unread: &unread})
		}
	}
	return list
}

func (a *perfectApp) listNotices(c *perfectCall) {
	unread := 0
	for _, u := range c.user.unread {
		if u {
			unread++
		}
	}
	if list, ok := page(c, a.visible(c.user, c.r.URL.Query().Get("course_id"))); ok {
		c.json(200, gotNotices{&unread, list})
	}
}

func (a *perfectApp) readNotice(c *perfectCall) {
	id := c.r.PathValue("id")
	unread, ok := c.user.unread[id]
	if !ok {
		c.w.WriteHeader(http.StatusNotFound)
		return
	}
	n := a.notices[id]
	c.json(200, gotNotice{id, n.CourseID, a.courses[n.CourseID].Name, n.Title, n.Message, &unread})
	c.user.unread[id] = false
}

func (a *perfectApp) postNotice(c *perfectCall) {
	var v announcementBody
	if !c.read(&v) {
		return
	}
	o, old := a.courses[v.CourseID], a.notices[v.ID]
	switch {
	case o == nil:
		c.w.WriteHeader(http.StatusNotFound)
	case old != nil && *old != v:
		c.w.WriteHeader(http.StatusConflict)
	case old != nil:
		c.w.WriteHeader(http.StatusCreated)
	default:
		a.notices[v.ID] = &v
		for _, u := range o.students {
			u.unread[v.ID] = true
		}
		c.w.WriteHeader(http.StatusCreated)
	}
}
