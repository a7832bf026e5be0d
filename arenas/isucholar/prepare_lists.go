package isucholar

import (
	"context"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
)

// listCourses is the number of courses of checkAnnouncements. Each has all classes, so that
// the list passes the end of a page.
const listCourses = 5

// checkAnnouncements compares the whole list of announcements of two students, all and by
// course, before the first one and after each.
func (ct *contest) checkAnnouncements(ctx context.Context, with *cast) error {
	teacher, students := with.teachers[2], with.students[2:4]
	courses := make([]*course, listCourses)
	for i := range courses {
		var err error
		if courses[i], err = ct.newCourse(ctx, teacher, i*periods+1); err != nil {
			return err
		}
	}
	for _, st := range students {
		if err := ct.enrol(ctx, st, courses); err != nil {
			return err
		}
	}
	if err := ct.eachStatus(ctx, courses, statusInProgress); err != nil {
		return err
	}
	if err := ct.checkAllLists(ctx, students, courses[0]); err != nil {
		return err
	}
	r := ct.rand("announcements")
	for part := 1; part <= parts; part++ {
		for _, c := range courses {
			if _, _, err := ct.newClass(ctx, c, part, r); err != nil {
				return err
			}
			if err := ct.checkAllLists(ctx, students, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAllLists compares the lists of students, all and of a course.
func (ct *contest) checkAllLists(ctx context.Context, students []*student, c *course) error {
	return parallel.Do(ctx, 2*len(students), func(ctx context.Context, i int) error {
		st, of := students[i/2], c
		if i%2 == 0 {
			of = nil
		}
		ct.mu.Lock()
		want := st.wantedNotices(of)
		ct.mu.Unlock()
		return st.checkNotices(ctx, want, of)
	})
}

// checkStatus has a student watch a course from its creation to its end. Nobody is
// registered, so that it changes no grades.
func (ct *contest) checkStatus(ctx context.Context, with *cast) error {
	teacher, st := with.teachers[3], with.students[4]
	c, err := ct.newCourse(ctx, teacher, 7)
	if err != nil {
		return err
	}
	for _, status := range []string{statusRegistration, statusInProgress, statusClosed} {
		if status != statusRegistration {
			if err := teacher.putStatus(ctx, c.ID, status); err != nil {
				return err
			}
			c.Status = status
		}
		got, err := st.getCourse(ctx, c.ID)
		if err != nil {
			return err
		}
		if got.Status != status {
			return wrong(stepCourse, "status-visible", "course %s is %s, want %s", c.ID, got.Status, status)
		}
		if got != c.Course {
			return wrong(stepCourse, "course-fields", "course %+v, want %+v", got, c.Course)
		}
	}
	return nil
}
