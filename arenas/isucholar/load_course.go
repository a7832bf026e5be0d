package isucholar

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	parts         = 5               // classes of a course
	registerTime  = 2 * time.Second // from the first registration to the end of them
	readTime      = 5 * time.Second // for a student to read that there is a class
	checkedShare  = 0.2             // of the zips that are read
	coursesOpened = 2               // for each one whose registration ends
)

// courseLoop is the life of a course.
func (ct *contest) courseLoop(ctx context.Context, c *course) {
	if !ct.awaitStudents(ctx, c) {
		return
	}
	for range coursesOpened {
		ct.s.Go("opening", func(ctx context.Context) { ct.openCourse(ctx, c.slot) })
	}
	if ct.setStatus(ctx, c, statusInProgress) != nil {
		return
	}
	r := ct.rand("course " + c.Code)
	for part := 1; part <= parts; part++ {
		title, description := drawClass(r, c.Name, part)
		cl := &class{title: title, description: description, part: part, files: map[*student]file{},
			scores: map[*student]int{}}
		scores := make([]int, len(c.students))
		for i := range scores {
			scores[i] = drawScore(r)
		}
		if !ct.hold(ctx, c, cl, scores, r.Float64() < checkedShare) {
			return
		}
	}
	if ct.setStatus(ctx, c, statusClosed) == nil {
		ct.finish(c)
	}
}

// awaitStudents waits for the end of the registration: all seats are taken, or some time
// has passed since the first one, or no student is left who could take one. It returns
// false if the phase ended.
func (ct *contest) awaitStudents(ctx context.Context, c *course) bool {
	for {
		changed := c.changed.wait()
		ct.mu.Lock()
		late := time.Duration(0)
		if n := len(c.students); n > 0 {
			late = time.Until(c.first.Add(ct.span(registerTime)))
			c.shut = c.shut || n >= ct.rules.seats || late <= 0 || c.pending == 0 && !ct.anyFree(c)
		}
		over := c.shut && c.pending == 0
		if c.shut {
			ct.waiting = slices.DeleteFunc(ct.waiting, func(w *course) bool { return w == c })
			late = 0
		}
		ct.mu.Unlock()
		if over {
			return true
		}
		var timer <-chan time.Time
		if late > 0 {
			timer = time.After(late)
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		case <-timer:
		}
	}
}

// anyFree reports whether a student could take the slot of a course. The caller holds the
// lock.
func (ct *contest) anyFree(c *course) bool {
	return slices.ContainsFunc(ct.students, func(st *student) bool { return st.held[c.slot] == nil })
}

// setStatus changes the status of a course. A closed course releases its slot.
func (ct *contest) setStatus(ctx context.Context, c *course, status string) error {
	return ct.insist(ctx, false, func(ctx context.Context) error {
		if err := c.teacher.putStatus(ctx, c.ID, status); err != nil {
			return err
		}
		ct.mu.Lock()
		defer ct.mu.Unlock()
		if c.Status == status {
			return nil
		}
		c.Status = status
		if status == statusClosed {
			for _, st := range c.students {
				st.finished++
				st.drop(c)
			}
		}
		return nil
	}, func() { c.lost() })
}

// lost notes that it is not known what the target has of a course. The caller holds the
// lock.
func (c *course) lost() {
	c.unsure = true
	for _, st := range c.students {
		st.unsure = true
	}
}

// hold is one class: it is added and announced, students read that and hand in their files,
// the teacher gets the files and grades. It returns false if the course cannot go on.
func (ct *contest) hold(ctx context.Context, c *course, cl *class, scores []int, checked bool) bool {
	if ct.addClass(ctx, c, cl) != nil {
		return false
	}
	a := &announcement{title: "講義追加: " + cl.title, message: cl.title + "\n" + cl.description, course: c}
	if ct.announce(ctx, c, a) != nil {
		return false
	}
	var all sync.WaitGroup
	for _, st := range c.students {
		all.Go(func() { ct.handIn(ctx, c, cl, st, a.id) })
	}
	all.Wait()
	if ctx.Err() != nil || ct.getFiles(ctx, c, cl, checked) != nil {
		return false
	}
	return ct.grade(ctx, c, cl, scores) == nil
}

// addClass adds a class to a course.
func (ct *contest) addClass(ctx context.Context, c *course, cl *class) error {
	return ct.insist(ctx, true, func(ctx context.Context) error {
		id, err := c.teacher.postClass(ctx, c.ID, classBody{cl.part, cl.title, cl.description})
		if err != nil {
			return err
		}
		ct.mu.Lock()
		defer ct.mu.Unlock()
		if cl.id == "" {
			cl.id = id
			c.classes = append(c.classes, cl)
		}
		return nil
	}, func() { c.lost() })
}

// announce posts an announcement and gives it to all students of the course.
func (ct *contest) announce(ctx context.Context, c *course, a *announcement) error {
	a.id = ct.ids.next(time.Now())
	return ct.insist(ctx, true, func(ctx context.Context) error {
		if err := c.teacher.postAnnouncement(ctx, a); err != nil {
			return err
		}
		ct.mu.Lock()
		defer ct.mu.Unlock()
		for _, st := range c.students {
			st.add(a)
			st.news.ring()
		}
		return nil
	}, func() { c.lost() })
}

// handIn has a student submit a file once it has read the announcement. A student who does
// not read it in time hands in nothing.
func (ct *contest) handIn(ctx context.Context, c *course, cl *class, st *student, noticeID string) {
	ct.mu.Lock()
	n := st.byID[noticeID]
	want, unsure := c.wantedClasses(st), c.unsure
	ct.mu.Unlock()
	timer := time.NewTimer(ct.span(readTime))
	defer timer.Stop()
	select {
	case <-n.read:
	case <-timer.C:
		return
	case <-ctx.Done():
		return
	}
	got, err := st.getClasses(ctx, c.ID)
	if err == nil && !unsure {
		err = checkClasses(got, want)
	}
	ct.s.Report(err)
	if ctx.Err() != nil {
		return
	}
	r := ct.rand("submission " + cl.id + st.user.Code)
	pdf := submissionPDF(r, c.Code, cl.part, st.user.Code)
	f := fileOf(fileName(r, c.Name, cl.title, st.user.Code, st.user.Name), pdf)
	_ = ct.insist(ctx, false, func(ctx context.Context) error {
		if err := st.upload(ctx, c.ID, cl.id, f.name, pdf); err != nil {
			return err
		}
		ct.s.Add(submitted, 1)
		ct.locked(func() { cl.files[st] = f })
		return nil
	}, func() { c.lost() })
}

// getFiles gets the zip of a class.
func (ct *contest) getFiles(ctx context.Context, c *course, cl *class, checked bool) error {
	var want map[string]uint32
	ct.mu.Lock()
	if checked && !c.unsure {
		want = cl.wantedZip()
	}
	ct.mu.Unlock()
	return ct.insist(ctx, true, func(ctx context.Context) error {
		if err := c.teacher.export(ctx, c.ID, cl.id, want); err != nil {
			return err
		}
		ct.locked(func() {
			cl.closed = true
			ct.exports++
		})
		return nil
	}, func() { c.lost() })
}

// wantedZip returns the files of a class by their names in the zip. The caller holds the
// lock.
func (cl *class) wantedZip() map[string]uint32 {
	want := make(map[string]uint32, len(cl.files))
	for st, f := range cl.files {
		want[st.user.Code+"-"+f.name] = f.crc
	}
	return want
}

// grade stores the scores of those who have handed in a file.
func (ct *contest) grade(ctx context.Context, c *course, cl *class, scores []int) error {
	list := []scoreBody{}
	drawn := map[*student]int{}
	ct.mu.Lock()
	for i, st := range c.students {
		if _, ok := cl.files[st]; ok {
			list = append(list, scoreBody{st.user.Code, scores[i]})
			drawn[st] = scores[i]
		}
	}
	ct.mu.Unlock()
	return ct.insist(ctx, false, func(ctx context.Context) error {
		if err := c.teacher.putScores(ctx, c.ID, cl.id, list); err != nil {
			return err
		}
		ct.locked(func() { cl.scores = drawn })
		return nil
	}, func() { c.lost() })
}
