package isucholar

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	mostHeld       = 20 // courses of a student at once
	searchesEach   = 3  // before a registration
	gradesEach     = 20 // finished courses between two looks at the grades
	registerPeriod = 100 * time.Millisecond
	readPeriod     = 50 * time.Millisecond
	newsTime       = 400 * time.Millisecond // between two looks at announcements without news
	gradesPause    = 10 * time.Second       // after grades that failed
)

// registerLoop has a student search for courses and register for them, for as long as it
// has free slots.
func (ct *contest) registerLoop(ctx context.Context, st *student) {
	r := ct.rand("registering " + st.user.Code)
	looks := 0
	for ct.awaitFree(ctx, st) {
		began := time.Now()
		ct.mu.Lock()
		due := st.finished / gradesEach
		ct.mu.Unlock()
		if due > looks {
			if err := ct.seeGrades(ctx, st); err != nil {
				ct.s.Report(err)
				ct.pause(ctx, gradesPause)
				continue
			}
			looks = due
		}
		err := ct.browse(ctx, st, r)
		if err == nil {
			err = ct.seeRegistered(ctx, st)
		}
		if err != nil {
			ct.s.Report(err)
		} else {
			ct.registerMore(ctx, st)
		}
		scenario.Sleep(ctx, ct.span(registerPeriod)-time.Since(began))
	}
}

// awaitFree waits until a student may take another course. It returns false if the phase
// ended.
func (ct *contest) awaitFree(ctx context.Context, st *student) bool {
	for {
		freed := st.freed.wait()
		ct.mu.Lock()
		free := st.count < mostHeld
		ct.mu.Unlock()
		if free {
			return ctx.Err() == nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

// seeGrades checks the grades of a student under load.
func (ct *contest) seeGrades(ctx context.Context, st *student) error {
	ct.mu.Lock()
	want := st.wantedGrades()
	ct.mu.Unlock()
	g, err := st.grades(ctx)
	if err != nil {
		return err
	}
	return g.checkCourses(want, false)
}

func (a *agent) grades(ctx context.Context) (gotGrades, error) {
	return getJSON[gotGrades](ctx, a, stepGrades, "/api/users/me/grades")
}

// browse searches for courses, and opens the last one that came first in a list.
func (ct *contest) browse(ctx context.Context, st *student, r *rand.Rand) error {
	var next, found string
	var c condition
	for range searchesEach {
		path := next
		if path == "" {
			c = ct.search(r)
			path = c.path()
		}
		list, l, err := st.search(ctx, path)
		if err == nil {
			err = checkFound(c, list)
		}
		if err != nil {
			return err
		}
		if next = l.next; len(list) > 0 {
			found = list[0].ID
		}
	}
	if found == "" {
		return nil
	}
	got, err := st.getCourse(ctx, found)
	if err != nil {
		return err
	}
	var want Course
	ct.locked(func() {
		if known := ct.byID[found]; known != nil {
			want = known.Course
		}
	})
	want.Status = got.Status
	if want.ID != "" && got != want {
		return wrong(stepCourse, "course-fields", "course %+v, want %+v", got, want)
	}
	return nil
}

// heldNow returns the courses that a student holds, by their identifiers.
func (ct *contest) heldNow(st *student) map[string]*course {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	m := map[string]*course{}
	for _, c := range st.held {
		if c != nil {
			m[c.ID] = c
		}
	}
	return m
}

// seeRegistered checks that each registered course is one that the student holds.
func (ct *contest) seeRegistered(ctx context.Context, st *student) error {
	held := ct.heldNow(st)
	list, err := st.getRegistered(ctx)
	if err != nil {
		return err
	}
	for _, got := range list {
		c := held[got.ID]
		if c == nil {
			return wrong(stepRegistered, "registered-foreign", "course %s %s is not one of the student's, or closed", got.ID,
				got.Name)
		}
		if got != registeredOf(&c.Course) {
			return wrong(stepRegistered, "registered-fields", "course %+v, want %+v", got, registeredOf(&c.Course))
		}
	}
	return nil
}

// reserve takes courses that wait for students, the oldest first, as far as their slots
// are free.
func (ct *contest) reserve(st *student) (taken []*course) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	for _, c := range ct.waiting {
		if st.count >= mostHeld {
			break
		}
		if st.held[c.slot] == nil && !c.shut && len(c.students)+c.pending < ct.rules.seats {
			st.held[c.slot] = c
			st.count++
			c.pending++
			taken = append(taken, c)
		}
	}
	return taken
}

// registerMore registers a student for as many courses as it may take.
func (ct *contest) registerMore(ctx context.Context, st *student) {
	taken := ct.reserve(st)
	if len(taken) == 0 {
		return
	}
	ids := make([]string, len(taken))
	for i, c := range taken {
		ids[i] = c.ID
	}
	settled := false
	_ = ct.insist(ctx, false, func(ctx context.Context) error {
		if err := st.register(ctx, ids); err != nil {
			return err
		}
		ct.mu.Lock()
		defer ct.mu.Unlock()
		if settled {
			return nil
		}
		settled = true
		for _, c := range taken {
			c.pending--
			if len(c.students) == 0 {
				c.first = time.Now()
			}
			c.students = append(c.students, st)
			st.registered = append(st.registered, c)
		}
		return nil
	}, func() {
		st.unsure = true
		for _, c := range taken {
			c.pending--
			c.lost()
			st.drop(c)
		}
	})
	for _, c := range taken {
		c.changed.ring()
	}
}

// readLoop has a student read its announcements. A page with older unread ones behind it
// leads to the next page, otherwise the student waits for news.
func (ct *contest) readLoop(ctx context.Context, st *student) {
	path := announcementsPath
	for ctx.Err() == nil {
		began := time.Now()
		news := st.news.wait()
		next, err := ct.readPage(ctx, st, path)
		if err != nil {
			ct.s.Report(err)
		}
		if path = next; path == "" {
			path = announcementsPath
			timer := time.NewTimer(ct.span(newsTime))
			select {
			case <-news:
			case <-timer.C:
			case <-ctx.Done():
			}
			timer.Stop()
		}
		scenario.Sleep(ctx, ct.span(readPeriod)-time.Since(began))
	}
}

// readPage reads a page and what is unread on it. It returns the next page if there is
// more to read.
func (ct *contest) readPage(ctx context.Context, st *student, path string) (next string, err error) {
	ct.mu.Lock()
	marks := st.marks()
	ct.mu.Unlock()
	page, at, err := st.listNotices(ctx, path)
	if err != nil {
		return "", err
	}
	var unread []*notice
	ct.mu.Lock()
	err = st.checkPage(&page, marks)
	for _, g := range page.Announcements {
		if n := st.byID[g.ID]; n != nil && (n.unread || n.dirty) {
			unread = append(unread, n)
		}
	}
	more := len(page.Announcements) > 0 && st.olderUnread(page.Announcements[len(page.Announcements)-1].ID)
	ct.mu.Unlock()
	if err != nil {
		return "", err
	}
	ct.s.Add(listed, 1)
	for _, n := range unread {
		if err := ct.read(ctx, st, n); err != nil {
			return "", err
		}
	}
	if more {
		return at.next, nil
	}
	return "", nil
}

// read opens an announcement.
func (ct *contest) read(ctx context.Context, st *student, n *notice) error {
	ct.mu.Lock()
	was := seen{n.unread, n.dirty}
	ct.mu.Unlock()
	g, err := st.readNotice(ctx, n.id)
	var f *scenario.Fault
	if errors.As(err, &f) && (f.Kind == iikanji.FaultTimeout || f.Kind == iikanji.FaultCut ||
		f.Kind == iikanji.FaultClosed) {
		ct.locked(func() { n.dirty = true })
	}
	if err != nil {
		return err
	}
	if err := n.checkRead(&g, was); err != nil {
		return err
	}
	ct.locked(n.mark)
	return nil
}

// pageLoop has a student walk over all pages of its announcements, and open one on each
// page again.
func (ct *contest) pageLoop(ctx context.Context, st *student) {
	r := ct.rand("paging " + st.user.Code)
	path := announcementsPath
	for ctx.Err() == nil {
		began := time.Now()
		page, at, err := st.listNotices(ctx, path)
		var again *notice
		if err == nil {
			ct.mu.Lock()
			err = st.checkPage(&page, nil)
			again = st.anyRead(r, &page)
			ct.mu.Unlock()
		}
		if err == nil {
			ct.s.Add(listed, 1)
			if again != nil {
				err = ct.read(ctx, st, again)
			}
		}
		ct.s.Report(err)
		if path = at.next; path == "" || err != nil {
			path = announcementsPath
		}
		scenario.Sleep(ctx, ct.span(readPeriod)-time.Since(began))
	}
}
