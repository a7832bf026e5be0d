package isucholar

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
)

// fields compares all fields of an item but the mark.
func (n *notice) fields(g *gotNotice) bool {
	return g.ID == n.id && g.CourseID == n.course.ID && g.CourseName == n.course.Name && g.Title == n.title &&
		g.Unread != nil
}

// checkPage checks a page of announcements under load: those that the benchmarker knows.
// marks are from before the request; nil leaves the marks unchecked. The caller holds the
// lock.
func (st *student) checkPage(page *gotNotices, marks map[string]seen) error {
	list := page.Announcements
	for i := range list {
		g := &list[i]
		if i > 0 && list[i-1].ID <= g.ID {
			return wrong(stepAnnouncements, "announcements-order", "%s is behind %s", g.ID, list[i-1].ID)
		}
		n := st.byID[g.ID]
		if n == nil {
			continue // it may just be being posted
		}
		if !n.fields(g) {
			return wrong(stepAnnouncements, "announcements-fields", "announcement %+v, want %s of course %s (%s)", *g, n.title,
				n.course.ID, n.course.Name)
		}
		if marks == nil {
			continue
		}
		was, known := marks[g.ID]
		if !known {
			was = seen{unread: true}
		}
		if !was.dirty && *g.Unread != was.unread {
			return wrong(stepAnnouncements, "announcements-unread", "announcement %s: unread %v, want %v", g.ID, *g.Unread,
				was.unread)
		}
	}
	return nil
}

// checkRead checks the answer about one announcement. was is its mark before the request.
func (n *notice) checkRead(g *gotNotice, was seen) error {
	if !n.fields(g) || g.Message != n.message {
		return wrong(stepAnnouncement, "announcement-fields", "announcement %+v, want %s: %s of course %s", *g, n.id, n.title,
			n.course.ID)
	}
	if !was.dirty && *g.Unread != was.unread {
		return wrong(stepAnnouncement, "announcement-unread", "announcement %s: unread %v, want %v", n.id, *g.Unread,
			was.unread)
	}
	return nil
}

// A wantedNotices is the list of a student's announcements, the newest first.
type wantedNotices struct {
	list   []gotNotice
	dirty  map[string]bool
	unread int // without those that are dirty
}

// wantedNotices returns the list, of one course or of all. The caller holds the lock.
func (st *student) wantedNotices(of *course) wantedNotices {
	w := wantedNotices{dirty: map[string]bool{}}
	for _, n := range st.notices {
		if n.dirty {
			w.dirty[n.id] = true
		} else if n.unread {
			w.unread++
		}
		if of == nil || n.course == of {
			unread := n.unread
			w.list = append(w.list, gotNotice{ID: n.id, CourseID: n.course.ID, CourseName: n.course.Name, Title: n.title,
				Unread: &unread})
		}
	}
	slices.SortFunc(w.list, func(a, b gotNotice) int { return cmp.Compare(b.ID, a.ID) })
	return w
}

// checkNotices walks over all pages of announcements, of one course or of all, and
// compares them with the list that is wanted.
func (a *agent) checkNotices(ctx context.Context, w wantedNotices, of *course) error {
	path := announcementsPath
	if of != nil {
		path += "?course_id=" + of.ID
	}
	l := listing[gotNotice]{name: "announcements", step: stepAnnouncements, path: path, want: w.list,
		id: func(n gotNotice) string { return n.ID }}
	l.same = func(got, want gotNotice) bool {
		marked := got.Unread != nil && (w.dirty[got.ID] || *got.Unread == *want.Unread)
		got.Unread, want.Unread = nil, nil
		return marked && got == want
	}
	l.get = func(ctx context.Context, path string) ([]gotNotice, links, error) {
		page, at, err := a.listNotices(ctx, path)
		if err != nil {
			return nil, at, err
		}
		if n := *page.UnreadCount; n < w.unread || n > w.unread+len(w.dirty) {
			return nil, at, wrong(stepAnnouncements, "announcements-count", "%s: unread_count %d, want %d", path, n, w.unread)
		}
		return page.Announcements, at, nil
	}
	return l.walk(ctx)
}

// anyRead draws one of the page's notices that the student has read before. It returns nil
// for a page without one. The caller holds the lock.
func (st *student) anyRead(r *rand.Rand, page *gotNotices) *notice {
	read := map[string]*notice{}
	for _, g := range page.Announcements {
		if n := st.byID[g.ID]; n != nil && !n.unread && !n.dirty {
			read[g.ID] = n
		}
	}
	if len(read) == 0 {
		return nil
	}
	return read[slices.Sorted(maps.Keys(read))[r.IntN(len(read))]]
}
