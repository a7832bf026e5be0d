package isucholar

import (
	"sync"
	"time"
)

// What the benchmarker knows of the target. contest.mu guards all fields that change.
type (
	// A student is active: it has logged in.
	student struct {
		*agent
		held       [slots]*course // reserved or registered and not closed
		count      int            // of held
		registered []*course      // with those that are closed
		notices    []*notice      // in the order in which they were posted
		byID       map[string]*notice
		finished   int  // courses that are closed
		unsure     bool // what the target has for the student is not known

		news, freed bell
	}

	// A notice is an announcement for one student.
	notice struct {
		*announcement
		unread bool
		dirty  bool          // a request that reads it had no answer
		read   chan struct{} // closed when it is read
	}

	announcement struct {
		id, title, message string
		course             *course
	}

	// A course is one that the benchmarker has created. Its Status is the last one that
	// the target has acknowledged.
	course struct {
		Course
		slot     int
		teacher  *agent
		students []*student // registered
		pending  int        // reserved, not yet registered
		shut     bool       // takes no more reservations
		first    time.Time  // of the first registration
		classes  []*class
		unsure   bool // what the target has of it is not known

		changed bell // a reservation or registration
	}

	class struct {
		id, title, description string
		part                   int
		closed                 bool // submissions
		files                  map[*student]file
		scores                 map[*student]int
	}

	// A file is a submission, as the zip should have it.
	file struct {
		name string
		crc  uint32
	}
)

// A bell wakes all that wait for it.
type bell struct {
	mu sync.Mutex
	ch chan struct{}
}

// wait returns a channel that the next ring closes.
func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// add gives a student a notice of an announcement.
func (st *student) add(a *announcement) {
	if st.byID[a.id] != nil {
		return
	}
	n := &notice{announcement: a, unread: true, read: make(chan struct{})}
	st.byID[a.id] = n
	st.notices = append(st.notices, n)
}

// mark notes that the student has read a notice.
func (n *notice) mark() {
	if n.unread {
		n.unread = false
		close(n.read)
	}
	n.dirty = false
}

// seen is the mark of a notice at some time.
type seen struct{ unread, dirty bool }

// marks returns the marks of all notices.
func (st *student) marks() map[string]seen {
	m := make(map[string]seen, len(st.notices))
	for _, n := range st.notices {
		m[n.id] = seen{n.unread, n.dirty}
	}
	return m
}

// olderUnread reports whether there is an unread notice before an identifier.
func (st *student) olderUnread(id string) bool {
	for _, n := range st.notices {
		if n.id < id && n.unread {
			return true
		}
	}
	return false
}

// drop releases the slot of a course.
func (st *student) drop(c *course) {
	if st.held[c.slot] == c {
		st.held[c.slot] = nil
		st.count--
		st.freed.ring()
	}
}

// total is the sum of a student's scores in a course.
func (c *course) total(st *student) (sum int) {
	for _, cl := range c.classes {
		sum += cl.scores[st]
	}
	return sum
}

// totals are those of all registered students.
func (c *course) totals() []float64 {
	list := make([]float64, len(c.students))
	for i, st := range c.students {
		list[i] = float64(c.total(st))
	}
	return list
}

// gpa returns the mean of a student's totals in closed courses, weighted by their
// credits, and the credits.
func (st *student) gpa() (gpa float64, credits int) {
	points := 0
	for _, c := range st.registered {
		if c.Status == statusClosed {
			points += c.total(st) * c.Credit
			credits += c.Credit
		}
	}
	if credits == 0 {
		return 0, 0
	}
	return float64(points) / float64(credits) / 100, credits
}
