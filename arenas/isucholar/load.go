package isucholar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Pauses of the load.
const (
	loginPause = time.Second            // before a login that timed out is tried again
	retryPause = 100 * time.Millisecond // before a write is tried again
)

// Load activates the first students and opens the first courses. Each of both is an actor,
// and brings further ones.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	s.Gauge("offered work (digest)", "", work(s, ct.data))
	var came, opened atomic.Int64
	var first sync.WaitGroup
	for range ct.rules.students {
		first.Go(func() {
			if ct.activate(ctx) {
				came.Add(1)
			}
		})
	}
	first.Wait()
	if ctx.Err() == nil && came.Load() == 0 {
		return wrong(stepLogin, "no-student", "no student could log in")
	}
	for _, slot := range ct.plan.slots[:ct.rules.courses] {
		first.Go(func() {
			if ct.openCourse(ctx, slot) {
				opened.Add(1)
			}
		})
	}
	first.Wait()
	if ctx.Err() == nil && opened.Load() == 0 {
		return wrong(stepPostCourse, "no-course", "no course could be created")
	}
	<-ctx.Done()
	ct.gauges()
	return nil
}

// An unfinished is a write whose outcome the end of the load left open.
type unfinished struct {
	do     func(ctx context.Context) error
	failed func() // notes that the outcome stays unknown; the caller holds the lock
}

// insist sends a write until it succeeds. do notes the success in the model, and must be
// repeatable. A timeout is tried again, and with every set so is any other error. If the
// phase ends before, the write is finished before the checks after the load. The result
// is nil only after a success.
func (ct *contest) insist(ctx context.Context, every bool, do func(ctx context.Context) error, failed func()) error {
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			ct.s.Report(err)
			if !every && scenario.KindOf(err) != iikanji.FaultTimeout {
				ct.locked(failed)
				return err
			}
			ct.pause(ctx, retryPause)
		}
		if ctx.Err() != nil {
			ct.locked(func() { ct.open = append(ct.open, unfinished{do, failed}) })
			return err
		}
	}
}

// activate has the next student come: it opens the page, logs in and starts its loops.
// Every tenth one also pages through its announcements.
func (ct *contest) activate(ctx context.Context) bool {
	const pagers = 10
	ct.mu.Lock()
	u, ok := ct.plan.student()
	ct.mu.Unlock()
	if !ok {
		return false
	}
	st := &student{agent: ct.browser(u), byID: map[string]*notice{}}
	if err := errors.Join(st.openPage(ctx)); err != nil {
		ct.s.Report(err)
	}
	err := st.login(ctx)
	if scenario.KindOf(err) == iikanji.FaultTimeout && ct.pause(ctx, loginPause) {
		ct.s.Report(err)
		if err = st.login(ctx); alreadyIn(err) {
			err = st.me(ctx)
		}
	}
	if err != nil {
		ct.s.Report(err)
		st.close()
		return false
	}
	ct.mu.Lock()
	ct.students = append(ct.students, st)
	number := len(ct.students)
	ct.mu.Unlock()
	ct.s.Go("registering", func(ctx context.Context) { ct.registerLoop(ctx, st) })
	ct.s.Go("reading", func(ctx context.Context) { ct.readLoop(ctx, st) })
	if number%pagers == 0 {
		ct.s.Go("paging", func(ctx context.Context) { ct.pageLoop(ctx, st) })
	}
	return true
}

// alreadyIn reports whether a login was refused because an earlier one, whose answer was
// late, had succeeded.
func alreadyIn(err error) bool {
	var f *scenario.Fault
	return errors.As(err, &f) && f.Example != nil && f.Example.Status == http.StatusBadRequest
}

// A teacherSession is a teacher who logs in once.
type teacherSession struct {
	mu    sync.Mutex
	agent *agent // nil before the login
}

// teacher returns a teacher who has logged in.
func (ct *contest) teacher(ctx context.Context, u User) (*agent, error) {
	ct.mu.Lock()
	t := ct.teachers[u.Code]
	if t == nil {
		t = new(teacherSession)
		ct.teachers[u.Code] = t
	}
	ct.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.agent != nil {
		return t.agent, t.agent.me(ctx)
	}
	a := ct.browser(u)
	if err := a.login(ctx); err != nil && !alreadyIn(err) {
		a.close()
		return nil, err
	}
	t.agent = a
	return a, nil
}

// openCourse creates a course in a slot and starts it.
func (ct *contest) openCourse(ctx context.Context, slot int) bool {
	ct.mu.Lock()
	drawn, u := ct.plan.course(slot)
	ct.mu.Unlock()
	c := &course{Course: drawn, slot: slot}
	create := func(ctx context.Context) error {
		t, err := ct.teacher(ctx, u)
		if err != nil {
			return err
		}
		id, err := t.postCourse(ctx, &c.Course)
		if err != nil {
			return err
		}
		ct.mu.Lock()
		defer ct.mu.Unlock()
		if ct.byID[id] != nil && ct.byID[id] != c {
			return wrong(stepPostCourse, "course-id", "two courses have the identifier %s", id)
		}
		if c.ID == "" {
			c.ID, c.teacher = id, t
			ct.byID[id] = c
			ct.courses, ct.waiting = append(ct.courses, c), append(ct.waiting, c)
		}
		return nil
	}
	if ct.insist(ctx, true, create, func() { ct.lostCourse = true }) != nil {
		return false
	}
	ct.s.Go("course", func(ctx context.Context) { ct.courseLoop(ctx, c) })
	return true
}

// finish notes that a course is closed, and has students come for it.
func (ct *contest) finish(c *course) {
	ct.mu.Lock()
	ct.finished++
	ct.pairs += len(c.students)
	more := ct.pairs/ct.rules.growth - ct.grown
	ct.grown += more
	ct.mu.Unlock()
	for range more {
		ct.s.Go("coming", func(ctx context.Context) { ct.activate(ctx) })
	}
}

// String names a course in messages.
func (c *course) String() string { return fmt.Sprintf("%s %s", c.Code, c.Name) }
