package isucholar

import (
	"context"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	// finishTime limits the retries of writes after the load.
	finishTime = 5 * time.Second

	gradesEvery    = 10 // of the students whose grades are compared, one in
	noticeStudents = 10 // whose announcements are compared
	mostWait       = 5 * time.Second
	leastWait      = time.Second
)

// Validate compares what the target has with what it has acknowledged.
func (ct *contest) Validate(ctx context.Context, _ scenario.Session) error {
	ct.settle(ctx)
	var checks []func(ctx context.Context) error
	checks = append(checks, ct.finalCourses)
	var summary gradeSummaries
	ct.mu.Lock()
	for i, st := range ct.students {
		if i%gradesEvery == 0 && st.finished > 0 {
			checks = append(checks, func(ctx context.Context) error { return ct.finalGrades(ctx, st, &summary) })
		}
	}
	for i := range min(noticeStudents, len(ct.students)) {
		st := ct.students[i*len(ct.students)/min(noticeStudents, len(ct.students))]
		checks = append(checks, func(ctx context.Context) error { return ct.finalNotices(ctx, st) })
	}
	ct.mu.Unlock()
	return parallel.Do(ctx, len(checks), func(ctx context.Context, i int) error { return checks[i](ctx) })
}

// settle finishes the writes that the end of the load left open. What cannot be finished
// is not compared.
func (ct *contest) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	ct.mu.Lock()
	open := ct.open
	ct.mu.Unlock()
	var all sync.WaitGroup
	for _, w := range open {
		all.Go(func() {
			for w.do(ctx) != nil {
				if !scenario.Sleep(ctx, retryPause) {
					ct.locked(w.failed)
					return
				}
			}
		})
	}
	all.Wait()
}

// wait spreads the checks over some seconds.
func (ct *contest) wait(ctx context.Context, name string) {
	ct.pause(ctx, leastWait+time.Duration(ct.rand(name).Int64N(int64(mostWait-leastWait))))
}

// gradeSummaries knows whether the statistics over all students can be compared.
type gradeSummaries struct {
	once  sync.Once
	known bool
}

// finalGrades compares the grades of a student.
func (ct *contest) finalGrades(ctx context.Context, st *student, all *gradeSummaries) error {
	ct.wait(ctx, "grades "+st.user.Code)
	ct.mu.Lock()
	all.once.Do(func() {
		all.known = true
		for _, c := range ct.courses {
			all.known = all.known && !c.unsure
		}
	})
	want, summary, unsure := st.wantedGrades(), st.wantedSummary(ct.students), st.unsure
	ct.mu.Unlock()
	if unsure {
		return nil
	}
	g, err := st.grades(ctx)
	if err == nil {
		err = g.checkCourses(want, true)
	}
	if err == nil && all.known {
		err = g.checkSummary(summary)
	}
	return err
}

// finalNotices compares the announcements of a student.
func (ct *contest) finalNotices(ctx context.Context, st *student) error {
	ct.wait(ctx, "announcements "+st.user.Code)
	ct.mu.Lock()
	want, unsure := st.wantedNotices(nil), st.unsure
	ct.mu.Unlock()
	if unsure {
		return nil
	}
	return st.checkNotices(ctx, want, nil)
}

// finalCourses compares all courses with an unfiltered search.
func (ct *contest) finalCourses(ctx context.Context) error {
	ct.mu.Lock()
	all := append([]Course(nil), ct.data.Courses...)
	unsure := len(ct.students) == 0 || ct.lostCourse
	for _, c := range ct.courses {
		all = append(all, c.Course)
		unsure = unsure || c.unsure
	}
	ct.mu.Unlock()
	if unsure {
		return nil
	}
	return ct.students[0].checkSearch(ctx, condition{}, all)
}
