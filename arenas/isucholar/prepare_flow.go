package isucholar

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
)

// flowCourses is the number of courses of checkFlow.
const flowCourses = 20

// checkFlow takes two students through 20 courses, from the registration to the grades.
func (ct *contest) checkFlow(ctx context.Context, with *cast) error {
	teachers, students := with.teachers[:2], with.students[:2]
	courses, err := ct.flowCourses(ctx, teachers)
	if err != nil {
		return err
	}
	for _, st := range students {
		if err := ct.enrol(ctx, st, courses); err != nil {
			return err
		}
		if err := ct.checkRegistered(ctx, st, courses); err != nil {
			return err
		}
	}
	if err := ct.eachStatus(ctx, courses, statusInProgress); err != nil {
		return err
	}
	r := ct.rand("flow")
	detail, absent := 1+r.IntN(parts), 1+r.IntN(parts)
	for part := 1; part <= parts; part++ {
		err := parallel.Do(ctx, len(courses), func(ctx context.Context, i int) error {
			return ct.checkClass(ctx, courses[i], part, part == detail, part == absent)
		})
		if err != nil {
			return err
		}
		if err := ct.checkGrades(ctx, students); err != nil {
			return err
		}
	}
	if err := ct.eachStatus(ctx, courses, statusClosed); err != nil {
		return err
	}
	for _, st := range students {
		if err := ct.checkRegistered(ctx, st, nil); err != nil {
			return err
		}
	}
	if err := ct.checkGrades(ctx, students); err != nil {
		return err
	}
	return parallel.Do(ctx, len(students), func(ctx context.Context, i int) error {
		ct.mu.Lock()
		want := students[i].wantedNotices(nil)
		ct.mu.Unlock()
		return students[i].checkNotices(ctx, want, nil)
	})
}

// flowCourses creates the courses, each in a slot of its own.
func (ct *contest) flowCourses(ctx context.Context, teachers []*agent) ([]*course, error) {
	courses := make([]*course, flowCourses)
	order := ct.rand("flow slots").Perm(slots)
	err := parallel.Do(ctx, len(courses), func(ctx context.Context, i int) (err error) {
		courses[i], err = ct.newCourse(ctx, teachers[i%len(teachers)], order[i])
		return err
	})
	return courses, err
}

// eachStatus changes the status of courses.
func (ct *contest) eachStatus(ctx context.Context, courses []*course, status string) error {
	return parallel.Do(ctx, len(courses), func(ctx context.Context, i int) error {
		c := courses[i]
		if err := c.teacher.putStatus(ctx, c.ID, status); err != nil {
			return err
		}
		ct.locked(func() { c.Status = status })
		return nil
	})
}

// checkRegistered compares the list of a student's open courses.
func (ct *contest) checkRegistered(ctx context.Context, st *student, courses []*course) error {
	got, err := st.getRegistered(ctx)
	if err != nil {
		return err
	}
	want := []gotRegistered{}
	for _, c := range courses {
		want = append(want, registeredOf(&c.Course))
	}
	byID := func(a, b gotRegistered) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	if !slices.Equal(got, want) {
		return wrong(stepRegistered, "registered-list", "registered courses %+v, want %+v", got, want)
	}
	return nil
}

// checkGrades compares the grades of all students that have any.
func (ct *contest) checkGrades(ctx context.Context, students []*student) error {
	return parallel.Do(ctx, len(students), func(ctx context.Context, i int) error {
		st := students[i]
		g, err := st.grades(ctx)
		if err != nil {
			return err
		}
		ct.mu.Lock()
		want, summary := st.wantedGrades(), st.wantedSummary(students)
		ct.mu.Unlock()
		if err := g.checkCourses(want, true); err != nil {
			return err
		}
		return g.checkSummary(summary)
	})
}

// checkClass is one class of a course: the students hand in a file, once again in every
// other class, and the zip is read. With detail they read the announcement first. With
// absent, the last student hands in nothing.
func (ct *contest) checkClass(ctx context.Context, c *course, part int, detail, absent bool) error {
	r := ct.rand("class of " + c.ID)
	cl, a, err := ct.newClass(ctx, c, part, r)
	if err != nil {
		return err
	}
	present := c.students
	if absent {
		present = present[:len(present)-1]
	}
	err = parallel.Do(ctx, len(c.students), func(ctx context.Context, i int) error {
		st := c.students[i]
		if detail {
			ct.mu.Lock()
			n := st.byID[a.id]
			ct.mu.Unlock()
			if err := ct.read(ctx, st, n); err != nil {
				return err
			}
		}
		if i >= len(present) {
			return nil
		}
		return ct.checkHandIn(ctx, c, cl, st)
	})
	if err != nil {
		return err
	}
	ct.mu.Lock()
	want := cl.wantedZip()
	ct.mu.Unlock()
	if err := c.teacher.export(ctx, c.ID, cl.id, want); err != nil {
		return err
	}
	list := []scoreBody{}
	for _, st := range present {
		list = append(list, scoreBody{st.user.Code, r.IntN(101)})
	}
	if err := c.teacher.putScores(ctx, c.ID, cl.id, list); err != nil {
		return err
	}
	ct.locked(func() {
		cl.closed = true
		for i, st := range present {
			cl.scores[st] = list[i].Score
		}
	})
	return nil
}

// newClass adds a class and announces it.
func (ct *contest) newClass(ctx context.Context, c *course, part int, r *rand.Rand) (*class, *announcement, error) {
	title, description := drawClass(r, c.Name, part)
	cl := &class{title: title, description: description, part: part, files: map[*student]file{},
		scores: map[*student]int{}}
	id, err := c.teacher.postClass(ctx, c.ID, classBody{part, title, description})
	if err != nil {
		return nil, nil, err
	}
	cl.id = id
	a := &announcement{id: ct.ids.next(time.Now()), title: "講義追加: " + title, message: title + "\n" + description,
		course: c}
	if err := c.teacher.postAnnouncement(ctx, a); err != nil {
		return nil, nil, err
	}
	ct.locked(func() {
		c.classes = append(c.classes, cl)
		for _, st := range c.students {
			st.add(a)
		}
	})
	return cl, a, nil
}

// checkHandIn has a student hand in a file for a class. In each class with an even number
// it hands in another one first, which the second replaces.
func (ct *contest) checkHandIn(ctx context.Context, c *course, cl *class, st *student) error {
	r := ct.rand("file " + cl.id + st.user.Code)
	files := 1 + (cl.part+1)%2
	for range files {
		if err := ct.checkClassList(ctx, c, st); err != nil {
			return err
		}
		pdf := submissionPDF(r, c.Code, cl.part, st.user.Code)
		f := fileOf(fileName(r, c.Name, cl.title, st.user.Code, st.user.Name), pdf)
		if err := st.upload(ctx, c.ID, cl.id, f.name, pdf); err != nil {
			return err
		}
		ct.locked(func() { cl.files[st] = f })
	}
	return nil
}

// checkClassList compares the classes that a student sees.
func (ct *contest) checkClassList(ctx context.Context, c *course, st *student) error {
	ct.mu.Lock()
	want := c.wantedClasses(st)
	ct.mu.Unlock()
	got, err := st.getClasses(ctx, c.ID)
	if err != nil {
		return err
	}
	return checkClasses(got, want)
}
