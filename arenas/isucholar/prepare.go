package isucholar

import (
	"context"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/prechecks"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checksTimeout limits all checks before the load.
const checksTimeout = 90 * time.Second

// Prepare initializes the target, checks its answers, and initializes it again.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) error {
	ct.begin(s)
	if err := prechecks.Run(ctx, s, checksTimeout, ct.initialize, ct.check); err != nil {
		return err
	}
	ct.begin(s)
	s.Phase(scenario.Initialize)
	return ct.initialize(ctx)
}

// check is the compatibility check. The search is checked first, because the other checks
// create courses.
func (ct *contest) check(ctx context.Context) error {
	with, err := ct.cast(ctx)
	if err != nil {
		return err
	}
	defer with.close()
	if err := ct.checkInitialSearch(ctx, with); err != nil {
		return err
	}
	checks := []func(ctx context.Context, with *cast) error{ct.checkFlow, ct.checkAnnouncements, ct.checkStatus,
		ct.checkRefusals}
	return parallel.Do(ctx, len(checks), func(ctx context.Context, i int) error { return checks[i](ctx, with) })
}

// A cast are the users of the checks. Each check has its own.
type cast struct {
	teachers []*agent
	students []*student
}

const (
	castTeachers = 5
	castStudents = 8
)

// cast has users of the initial data log in.
func (ct *contest) cast(ctx context.Context) (*cast, error) {
	c := new(cast)
	r := ct.rand("checks")
	for _, i := range r.Perm(len(ct.data.Teachers))[:castTeachers] {
		c.teachers = append(c.teachers, ct.browser(ct.data.Teachers[i]))
	}
	for _, i := range r.Perm(len(ct.data.Students))[:castStudents] {
		c.students = append(c.students, &student{agent: ct.browser(ct.data.Students[i]), byID: map[string]*notice{}})
	}
	all := c.teachers
	for _, st := range c.students {
		all = append(all, st.agent)
	}
	err := parallel.Do(ctx, len(all), func(ctx context.Context, i int) error { return all[i].login(ctx) })
	if err == nil {
		err = c.students[0].openPage(ctx)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *cast) close() {
	for _, t := range c.teachers {
		t.close()
	}
	for _, st := range c.students {
		st.close()
	}
}

// checkInitialSearch compares searches with the initial courses.
func (ct *contest) checkInitialSearch(ctx context.Context, with *cast) error {
	r := ct.rand("searches")
	all := ct.data.Courses
	one := all[r.IntN(initialCourses)]
	conditions := []condition{
		{}, {kind: typeMajor}, {credit: 1}, {teacher: one.Teacher}, {period: 1}, {day: days[0]},
		{keywords: anyKeyword(r)}, {keywords: "SpeedUP"}, {keywords: "speedup"}, {keywords: one.Keywords},
		{status: statusClosed},
		{one.Type, one.Teacher, one.DayOfWeek, one.Keywords, one.Status, one.Credit, one.Period},
	}
	return parallel.Do(ctx, len(conditions), func(ctx context.Context, i int) error {
		return with.students[i%2].checkSearch(ctx, conditions[i], all)
	})
}

// newCourse creates a course for the checks.
func (ct *contest) newCourse(ctx context.Context, teacher *agent, slot int) (*course, error) {
	ct.mu.Lock()
	drawn, _ := ct.plan.course(slot)
	ct.mu.Unlock()
	drawn.Teacher = teacher.user.Name
	c := &course{Course: drawn, slot: slot, teacher: teacher}
	id, err := teacher.postCourse(ctx, &c.Course)
	c.ID = id
	return c, err
}

// enrol registers a student for courses.
func (ct *contest) enrol(ctx context.Context, st *student, courses []*course) error {
	ids := make([]string, len(courses))
	for i, c := range courses {
		ids[i] = c.ID
	}
	if err := st.register(ctx, ids); err != nil {
		return err
	}
	ct.locked(func() {
		for _, c := range courses {
			c.students = append(c.students, st)
			st.registered = append(st.registered, c)
			st.held[c.slot] = c
		}
	})
	return nil
}
