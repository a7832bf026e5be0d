package isucholar

import "math"

// A gotGrades is the answer of GET /api/users/me/grades.
type gotGrades struct {
	Summary *gradeSummary `json:"summary"`
	Courses []courseGrade `json:"courses"`
}

type gradeSummary struct {
	Credits   int     `json:"credits"`
	GPA       float64 `json:"gpa"`
	GPATScore float64 `json:"gpa_t_score"`
	GPAAvg    float64 `json:"gpa_avg"`
	GPAMax    float64 `json:"gpa_max"`
	GPAMin    float64 `json:"gpa_min"`
}

type courseGrade struct {
	Name             string       `json:"name"`
	Code             string       `json:"code"`
	TotalScore       int          `json:"total_score"`
	TotalScoreTScore float64      `json:"total_score_t_score"`
	TotalScoreAvg    float64      `json:"total_score_avg"`
	TotalScoreMax    int          `json:"total_score_max"`
	TotalScoreMin    int          `json:"total_score_min"`
	ClassScores      []classScore `json:"class_scores"`
}

type classScore struct {
	ClassID    string `json:"class_id"`
	Title      string `json:"title"`
	Part       int    `json:"part"`
	Score      *int   `json:"score"`
	Submitters int    `json:"submitters"`
}

// tolerance is how much an answer's numbers may differ from the exact ones.
const tolerance = 0.01

func near(a, b float64) bool { return math.Abs(a-b) <= tolerance }

// A wantedCourse is a course of the grades that are wanted.
type wantedCourse struct {
	courseGrade
	running bool // the totals and the newest class may change at any time
	skip    bool // what the target has is not known
}

// wantedCourse returns what the grades of a student must have for a course. The caller
// holds the lock.
func (st *student) wantedCourse(c *course) wantedCourse {
	w := wantedCourse{running: c.Status != statusClosed, skip: c.unsure}
	totals := spreadOf(c.totals())
	total := c.total(st)
	w.courseGrade = courseGrade{Name: c.Name, Code: c.Code, TotalScore: total,
		TotalScoreTScore: totals.tScore(float64(total)),
		TotalScoreAvg:    totals.average, TotalScoreMax: int(totals.most), TotalScoreMin: int(totals.least)}
	for i := len(c.classes) - 1; i >= 0; i-- {
		cl := c.classes[i]
		s := classScore{ClassID: cl.id, Title: cl.title, Part: cl.part, Submitters: len(cl.files)}
		if score, graded := cl.scores[st]; graded {
			s.Score = &score
		}
		w.ClassScores = append(w.ClassScores, s)
	}
	return w
}

// wantedGrades returns the courses of a student's grades by their codes. The caller holds
// the lock.
func (st *student) wantedGrades() map[string]wantedCourse {
	want := make(map[string]wantedCourse, len(st.registered))
	for _, c := range st.registered {
		want[c.Code] = st.wantedCourse(c)
	}
	return want
}

// wantedSummary returns the summary of a student's grades among students. The caller
// holds the lock.
func (st *student) wantedSummary(all []*student) gradeSummary {
	var gpas []float64
	for _, other := range all {
		if gpa, credits := other.gpa(); credits > 0 {
			gpas = append(gpas, gpa)
		}
	}
	s := spreadOf(gpas)
	gpa, credits := st.gpa()
	return gradeSummary{credits, gpa, s.tScore(gpa), s.average, s.most, s.least}
}

// checkCourses compares the courses of grades with those that are wanted. Those that run
// are compared in full only if exact is set.
func (g *gotGrades) checkCourses(want map[string]wantedCourse, exact bool) error {
	if len(g.Courses) != len(want) {
		return wrong(stepGrades, "grades-courses", "%d courses, want %d", len(g.Courses), len(want))
	}
	found := map[string]bool{}
	for i := range g.Courses {
		got := &g.Courses[i]
		w, ok := want[got.Code]
		if !ok || found[got.Code] || w.Name != got.Name {
			return wrong(stepGrades, "grades-courses", "course %s %s is not registered, or there twice", got.Code, got.Name)
		}
		found[got.Code] = true
		if w.skip {
			continue
		}
		loose := w.running && !exact
		if err := got.checkScores(&w.courseGrade, loose); err != nil {
			return err
		}
		if !loose {
			if err := got.checkTotals(&w.courseGrade); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTotals compares the statistics of a course.
func (g *courseGrade) checkTotals(w *courseGrade) error {
	if g.TotalScore != w.TotalScore || g.TotalScoreMax != w.TotalScoreMax || g.TotalScoreMin != w.TotalScoreMin ||
		!near(g.TotalScoreAvg, w.TotalScoreAvg) || !near(g.TotalScoreTScore, w.TotalScoreTScore) {
		return wrong(stepGrades, "grades-totals",
			"course %s: total %d, t-score %.3f, average %.3f, %d to %d; want %d, %.3f, %.3f, %d to %d", g.Code,
			g.TotalScore, g.TotalScoreTScore, g.TotalScoreAvg, g.TotalScoreMin, g.TotalScoreMax,
			w.TotalScore, w.TotalScoreTScore, w.TotalScoreAvg, w.TotalScoreMin, w.TotalScoreMax)
	}
	return nil
}

// checkScores compares the classes of a course, the newest first. With loose set, the
// target may have newer classes, and the newest wanted one may differ.
func (g *courseGrade) checkScores(w *courseGrade, loose bool) error {
	got, want := g.ClassScores, w.ClassScores
	for i := 1; i < len(got); i++ {
		if got[i-1].Part <= got[i].Part {
			return wrong(stepGrades, "grades-order", "course %s: class %d is before class %d", g.Code, got[i-1].Part,
				got[i].Part)
		}
	}
	if loose {
		want = want[min(1, len(want)):]
		got = got[max(0, len(got)-len(want)):]
	}
	if len(got) != len(want) {
		return wrong(stepGrades, "grades-classes", "course %s: %d classes, want %d", g.Code, len(got), len(want))
	}
	for i := range want {
		a, b := got[i], want[i]
		if a.ClassID != b.ClassID || a.Title != b.Title || a.Part != b.Part {
			return wrong(stepGrades, "grades-classes", "course %s: class %s (%d), want %s (%d)", g.Code, a.ClassID, a.Part,
				b.ClassID, b.Part)
		}
		if (a.Score == nil) != (b.Score == nil) || a.Score != nil && *a.Score != *b.Score {
			return wrong(stepGrades, "grades-score", "course %s, class %d: score %v, want %v", g.Code, a.Part, shown(a.Score),
				shown(b.Score))
		}
		if a.Submitters != b.Submitters {
			return wrong(stepGrades, "grades-submitters", "course %s, class %d: %d submitters, want %d", g.Code, a.Part,
				a.Submitters, b.Submitters)
		}
	}
	return nil
}

// shown is a score that may be missing.
func shown(score *int) any {
	if score == nil {
		return "none"
	}
	return *score
}

// checkSummary compares the summary.
func (g *gotGrades) checkSummary(w gradeSummary) error {
	s := g.Summary
	if s == nil {
		return wrong(stepGrades, "grades-summary", "no summary")
	}
	if s.Credits != w.Credits || !near(s.GPA, w.GPA) || !near(s.GPATScore, w.GPATScore) || !near(s.GPAAvg, w.GPAAvg) ||
		!near(s.GPAMax, w.GPAMax) || !near(s.GPAMin, w.GPAMin) {
		return wrong(stepGrades, "grades-summary", "summary %+v, want %+v", *s, w)
	}
	return nil
}
