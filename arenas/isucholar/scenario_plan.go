package isucholar

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A plan is what the seed decides: who comes in which order, and the content of courses.
type plan struct {
	students []User // the known account first, then the others in any order
	slots    []int  // of the first courses
	teachers []User
	picks    int
	rng      *rand.Rand
	majors   int
	liberals int
}

func newPlan(s scenario.Session, data *Dataset) *plan {
	r := s.Rand("plan")
	p := &plan{students: append([]User(nil), data.Students...), slots: r.Perm(slots), teachers: data.Teachers, rng: r}
	others := p.students[1:]
	r.Shuffle(len(others), func(i, k int) { others[i], others[k] = others[k], others[i] })
	return p
}

// student returns the next student who has not begun; ok is false after the last one.
func (p *plan) student() (u User, ok bool) {
	if len(p.students) == 0 {
		return User{}, false
	}
	u, p.students = p.students[0], p.students[1:]
	return u, true
}

// knownTeacher is how often the known account is the teacher.
const knownTeacher = 20

// course draws the next course and its teacher.
func (p *plan) course(slot int) (Course, User) {
	c := drawCourse(p.rng)
	c.setSlot(slot)
	if c.Type == typeMajor {
		p.majors++
		c.Code = fmt.Sprintf("M%04d", p.majors)
	} else {
		p.liberals++
		c.Code = fmt.Sprintf("L%04d", p.liberals)
	}
	t := p.teachers[1+p.rng.IntN(len(p.teachers)-1)]
	if p.picks++; p.picks%knownTeacher == 0 {
		t = p.teachers[0]
	}
	c.Teacher = t.Name
	return c, t
}

// search draws the condition of a search under load.
func (ct *contest) search(r *rand.Rand) condition {
	switch n := r.IntN(8); {
	case n < 4:
		return condition{period: 1 + r.IntN(periods), day: days[r.IntN(len(days))]}
	case n < 6:
		return condition{kind: [...]string{typeLiberal, typeMajor}[r.IntN(2)]}
	case n < 7:
		return condition{teacher: ct.data.Teachers[1+r.IntN(searchTeachers)].Name}
	default:
		return condition{keywords: anyKeyword(r)}
	}
}

// anyKeyword draws a word that courses have as keyword.
func anyKeyword(r *rand.Rand) string {
	lists := [...][]string{fields, subjects, humanities}
	return choose(r, lists[r.IntN(len(lists))])
}

// Numbers of what the digest of the offered work covers.
const (
	digestStudents = 50
	digestCourses  = 100
)

// work returns a digest of the work that the seed offers: the students in their order, and
// the courses.
func work(s scenario.Session, data *Dataset) float64 {
	h := fnv.New32a()
	p := newPlan(s, data)
	for range digestStudents {
		u, _ := p.student()
		fmt.Fprintln(h, u.Code)
	}
	for i := range digestCourses {
		c, t := p.course(p.slots[i%slots])
		fmt.Fprintln(h, c, t.Code)
	}
	return float64(h.Sum32())
}
