package isucholar

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A refusal is a request that must be refused, with the name of the check.
type refusal struct {
	check  string
	status int
	r      *scenario.Request
}

// refused sends requests that must be refused. The bodies of the answers are free.
func (a *agent) refused(ctx context.Context, list []refusal) error {
	for _, f := range list {
		err := a.do(ctx, f.r, func(res *scenario.Response) error { return verify.RefusalStatus(res, f.check, f.status) })
		if err != nil {
			return err
		}
	}
	return nil
}

// sameID checks that a repeated creation has the identifier of the first.
func sameID(check, want, got string, err error) error {
	if err == nil && want != got {
		return wrong(-1, check, "the same request again made %s, the first one made %s", got, want)
	}
	return err
}

func bare(step scenario.Step, path string) *scenario.Request {
	return &scenario.Request{Step: step, Path: path}
}

// A stage is what the checks of refusals need: courses of each status, and classes.
type stage struct {
	teacher          *agent
	student, other   *student // other is registered for nothing
	registering      [3]*course
	running, foreign *course // foreign runs without the student
	class            *class
	notice           *announcement
	nothing          string // an identifier of nothing
}

// checkRefusals checks what must be refused.
func (ct *contest) checkRefusals(ctx context.Context, with *cast) error {
	s, err := ct.stage(ctx, with)
	if err != nil {
		return err
	}
	checks := []func(ctx context.Context, s *stage) error{ct.checkStrangers, ct.checkRoles, ct.checkLogins,
		ct.checkRegistrationErrors,
		ct.checkMissing, ct.checkRepeats, ct.checkUploads}
	for _, check := range checks {
		if err := check(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// stage creates what the checks of refusals need.
func (ct *contest) stage(ctx context.Context, with *cast) (*stage, error) {
	s := &stage{teacher: with.teachers[4], student: with.students[5], other: with.students[6],
		nothing: ct.ids.next(time.Now())}
	courses := make([]*course, 5)
	for i, slot := range [...]int{3, 3, 4, 4, 9} { // two in one slot, one in that of the running one
		c, err := ct.newCourse(ctx, s.teacher, slot)
		if err != nil {
			return nil, err
		}
		courses[i] = c
	}
	s.running, s.foreign = courses[3], courses[4]
	copy(s.registering[:], courses)
	if err := ct.enrol(ctx, s.student, []*course{s.running}); err != nil {
		return nil, err
	}
	if err := ct.eachStatus(ctx, []*course{s.running, s.foreign}, statusInProgress); err != nil {
		return nil, err
	}
	var err error
	s.class, s.notice, err = ct.newClass(ctx, s.running, 1, ct.rand("refusals"))
	return s, err
}

// everything is one request of each kind that needs a login, those of teachers last.
func (s *stage) everything() []*scenario.Request {
	course, class := s.running.ID, s.class.id
	return []*scenario.Request{
		bare(stepMe, "/api/users/me"),
		bare(stepRegistered, "/api/users/me/courses"),
		request(stepRegister, http.MethodPut, "/api/users/me/courses", []idBody{{s.registering[0].ID}}),
		bare(stepGrades, "/api/users/me/grades"),
		bare(stepSearch, "/api/courses"),
		bare(stepCourse, "/api/courses/"+course),
		bare(stepClasses, classesPath(course)),
		uploadRequest(course, class, "a.pdf", []byte("%PDF-1.4")),
		bare(stepAnnouncements, announcementsPath),
		bare(stepAnnouncement, announcementsPath+"/"+s.notice.id),
		request(stepPostCourse, http.MethodPost, "/api/courses", bodyOf(&s.foreign.Course)),
		request(stepStatus, http.MethodPut, "/api/courses/"+course+"/status", map[string]string{"status": statusClosed}),
		request(stepPostClass, http.MethodPost, classesPath(course), classBody{2, "t", "d"}),
		request(stepScores, http.MethodPut, assignmentsPath(course, class)+"/scores", []scoreBody{}),
		bare(stepExport, assignmentsPath(course, class)+"/export"),
		request(stepPostAnnouncement, http.MethodPost, announcementsPath, announcementBody{s.nothing, course, "t", "m"}),
	}
}

// forTeachers is the number of the last requests of everything.
const forTeachers = 6

// checkStrangers: without a login everything is refused.
func (ct *contest) checkStrangers(ctx context.Context, s *stage) error {
	stranger := ct.browser(s.other.user)
	defer stranger.close()
	var list []refusal
	for _, r := range s.everything() {
		list = append(list, refusal{"login-required", http.StatusUnauthorized, r})
	}
	return stranger.refused(ctx, list)
}

// checkRoles: students may not do what teachers do, and it has no effect.
func (ct *contest) checkRoles(ctx context.Context, s *stage) error {
	all := s.everything()
	var list []refusal
	for _, r := range all[len(all)-forTeachers:] {
		list = append(list, refusal{"teachers-only", http.StatusForbidden, r})
	}
	if err := s.student.refused(ctx, list); err != nil {
		return err
	}
	return ct.checkClassList(ctx, s.running, s.student)
}

// checkLogins: wrong codes and passwords, and a second login.
func (ct *contest) checkLogins(ctx context.Context, s *stage) error {
	login := func(code, password string) *scenario.Request {
		return request(stepLogin, http.MethodPost, "/login", map[string]string{"code": code, "password": password})
	}
	stranger := ct.browser(s.other.user)
	defer stranger.close()
	u := s.other.user
	err := stranger.refused(ctx, []refusal{
		{"login-wrong", http.StatusUnauthorized, login(u.Code, u.Password+"x")},
		{"login-wrong", http.StatusUnauthorized, login("S99990", u.Password)},
	})
	if err != nil {
		return err
	}
	if err := s.other.refused(ctx, []refusal{{"login-again", http.StatusBadRequest, login(u.Code,
		u.Password)}}); err != nil {
		return err
	}
	if err := stranger.login(ctx); err != nil {
		return err
	}
	err = stranger.do(ctx, &scenario.Request{Step: stepLogin, Method: http.MethodPost, Path: "/logout"},
		wantStatus(http.StatusOK))
	if err != nil {
		return err
	}
	return stranger.refused(ctx, []refusal{{"logout", http.StatusUnauthorized, bare(stepMe, "/api/users/me")}})
}

// registrationErrors is the body of a refused registration.
type registrationErrors struct {
	CourseNotFound       []string `json:"course_not_found"`
	NotRegistrableStatus []string `json:"not_registrable_status"`
	ScheduleConflict     []string `json:"schedule_conflict"`
}

// checkRegistrationErrors: one request with every reason at once. Nothing is registered then.
func (ct *contest) checkRegistrationErrors(ctx context.Context, s *stage) error {
	ids := []string{s.nothing, s.foreign.ID, s.registering[0].ID, s.registering[1].ID, s.registering[2].ID}
	want := registrationErrors{[]string{s.nothing}, []string{s.foreign.ID}, ids[2:]}
	err := s.student.do(ctx, request(stepRegister, http.MethodPut, "/api/users/me/courses", idBodies(ids)),
		func(res *scenario.Response) error {
			var got registrationErrors
			if err := scenario.WantJSON(res, http.StatusBadRequest, &got); err != nil {
				return err
			}
			for _, l := range [][2][]string{{got.CourseNotFound, want.CourseNotFound}, {got.NotRegistrableStatus,
				want.NotRegistrableStatus},
				{got.ScheduleConflict, want.ScheduleConflict}} {
				if !slices.Equal(slices.Sorted(slices.Values(l[0])), slices.Sorted(slices.Values(l[1]))) {
					return scenario.Wrong(res, "registration-errors", "reasons %+v, want %+v", got, want)
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	return ct.checkRegistered(ctx, s.student, []*course{s.running})
}

// checkMissing: what does not exist, and what cannot be read.
func (ct *contest) checkMissing(ctx context.Context, s *stage) error {
	nobody := "/api/courses/" + s.nothing
	raw := func(step scenario.Step, method, path string) *scenario.Request {
		return &scenario.Request{Step: step, Method: method, Path: path, ContentType: jsonType, Body: []byte(`{"id":`)}
	}
	err := s.teacher.refused(ctx, []refusal{
		{"course-missing", http.StatusNotFound, bare(stepCourse, nobody)},
		{"course-missing", http.StatusNotFound, bare(stepClasses, nobody+"/classes")},
		{"course-missing", http.StatusNotFound, request(stepStatus, http.MethodPut, nobody+"/status",
			map[string]string{"status": statusClosed})},
		{"course-missing", http.StatusNotFound, request(stepPostClass, http.MethodPost, nobody+"/classes", classBody{1, "t",
			"d"})},
		{"course-missing", http.StatusNotFound, request(stepPostAnnouncement, http.MethodPost, announcementsPath,
			announcementBody{s.nothing, s.nothing, "t", "m"})},
		{"class-missing", http.StatusNotFound, request(stepScores, http.MethodPut, assignmentsPath(s.running.ID,
			s.nothing)+"/scores", []scoreBody{})},
		{"class-missing", http.StatusNotFound, bare(stepExport, assignmentsPath(s.running.ID, s.nothing)+"/export")},
		{"announcement-missing", http.StatusNotFound, bare(stepAnnouncement, announcementsPath+"/"+s.nothing)},
		{"page-refused", http.StatusBadRequest, bare(stepSearch, "/api/courses?page=0")},
		{"page-refused", http.StatusBadRequest, bare(stepSearch, "/api/courses?page=x")},
		{"page-refused", http.StatusBadRequest, bare(stepAnnouncements, announcementsPath+"?page=-1")},
		{"json-refused", http.StatusBadRequest, raw(stepPostCourse, http.MethodPost, "/api/courses")},
		{"json-refused", http.StatusBadRequest, raw(stepPostClass, http.MethodPost, classesPath(s.running.ID))},
		{"json-refused", http.StatusBadRequest, raw(stepPostAnnouncement, http.MethodPost, announcementsPath)},
		{"class-status", http.StatusBadRequest, request(stepPostClass, http.MethodPost, classesPath(s.registering[0].ID),
			classBody{1, "t", "d"})},
		{"scores-open", http.StatusBadRequest, request(stepScores, http.MethodPut, assignmentsPath(s.running.ID,
			s.class.id)+"/scores", []scoreBody{})},
	})
	if err != nil {
		return err
	}
	return s.other.refused(ctx, []refusal{
		{"announcement-foreign", http.StatusNotFound, bare(stepAnnouncement, announcementsPath+"/"+s.notice.id)},
	})
}

// checkRepeats: a repeated creation has the answer of the first, one with other content is
// refused.
func (ct *contest) checkRepeats(ctx context.Context, s *stage) error {
	c := s.running
	id, err := s.teacher.postCourse(ctx, &c.Course)
	if err := sameID("course-again", c.ID, id, err); err != nil {
		return err
	}
	body := classBody{s.class.part, s.class.title, s.class.description}
	id, err = s.teacher.postClass(ctx, c.ID, body)
	if err := sameID("class-again", s.class.id, id, err); err != nil {
		return err
	}
	if err := s.teacher.postAnnouncement(ctx, s.notice); err != nil {
		return err
	}
	other := c.Course
	other.Description += "。"
	unknown, day := bodyOf(&other), bodyOf(&other)
	unknown.Code, unknown.Type = s.nothing, "sports"
	day.Code, day.DayOfWeek = s.nothing, "sunday"
	body.Title += "。"
	err = s.teacher.refused(ctx, []refusal{
		{"course-conflict", http.StatusConflict, request(stepPostCourse, http.MethodPost, "/api/courses", bodyOf(&other))},
		{"course-type", http.StatusBadRequest, request(stepPostCourse, http.MethodPost, "/api/courses", unknown)},
		{"course-day", http.StatusBadRequest, request(stepPostCourse, http.MethodPost, "/api/courses", day)},
		{"class-conflict", http.StatusConflict, request(stepPostClass, http.MethodPost, classesPath(c.ID), body)},
		{"announcement-conflict", http.StatusConflict, request(stepPostAnnouncement, http.MethodPost, announcementsPath,
			announcementBody{s.notice.id, c.ID, s.notice.title, s.notice.message + "。"})},
	})
	if err != nil {
		return err
	}
	ct.mu.Lock()
	want := s.student.wantedNotices(nil)
	ct.mu.Unlock()
	return s.student.checkNotices(ctx, want, nil)
}

// checkUploads checks that the app refuses wrong files, and all files once the submissions of
// a class are closed. It also checks the class's zip without submissions, and its scores.
func (ct *contest) checkUploads(ctx context.Context, s *stage) error {
	pdf := []byte("%PDF-1.4")
	course, class := s.running.ID, s.class.id
	field := &scenario.Request{Step: stepUpload, Method: http.MethodPost, Path: assignmentsPath(course, class),
		ContentType: "multipart/form-data; boundary=" + boundary, Body: uploadBody("other", "a.pdf", pdf)}
	err := s.student.refused(ctx, []refusal{
		{"upload-course", http.StatusNotFound, uploadRequest(s.nothing, class, "a.pdf", pdf)},
		{"upload-status", http.StatusBadRequest, uploadRequest(s.registering[0].ID, class, "a.pdf", pdf)},
		{"upload-class", http.StatusNotFound, uploadRequest(course, s.nothing, "a.pdf", pdf)},
		{"upload-file", http.StatusBadRequest, field},
	})
	if err != nil {
		return err
	}
	if err := s.other.refused(ctx, []refusal{{"upload-registered", http.StatusBadRequest, uploadRequest(course, class,
		"a.pdf", pdf)}}); err != nil {
		return err
	}
	if err := ct.checkClassList(ctx, s.running, s.student); err != nil {
		return err
	}
	if err := s.teacher.export(ctx, course, class, map[string]uint32{}); err != nil {
		return err
	}
	ct.locked(func() { s.class.closed = true })
	if err := s.student.refused(ctx, []refusal{{"upload-closed", http.StatusBadRequest, uploadRequest(course, class,
		"a.pdf", pdf)}}); err != nil {
		return err
	}
	if err := s.teacher.putScores(ctx, course, class, []scoreBody{}); err != nil {
		return err
	}
	return ct.checkClassList(ctx, s.running, s.student)
}
