package isucholar

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// Names of the settings.
const (
	studentsSetting = "students"
	coursesSetting  = "courses"
	seatsSetting    = "seats"
	growthSetting   = "growth"
)

// rules are the numbers of the load.
type rules struct {
	students int // that are active at the beginning
	courses  int // that are created at the beginning, each in a slot of its own
	seats    int // of a course
	growth   int // pairs of a student and a finished course for one more student
}

// contestRules are the contest's.
var contestRules = rules{students: 50, courses: slots, seats: 50, growth: 50}

// settings are the benchmarker's. Other values than the contest's make a load that is no
// contest's, as for a machine that is shared, or for a short run.
var settings = []arena.Setting{
	{Name: studentsSetting, Default: "50", Help: "Students at the beginning (1 to 1000)."},
	{Name: coursesSetting, Default: "30", Help: "Courses at the beginning, each in a slot of its own (1 to 30)."},
	{Name: seatsSetting, Default: "50", Help: "Students of a full course (1 to 200)."},
	{Name: growthSetting, Default: "50",
		Help: "One more student comes for this number of pairs of a student and a finished course (1 to 10000)."},
}

// rulesOf reads the settings.
func rulesOf(set arena.Values) (rules, error) {
	r := contestRules
	for _, s := range []struct {
		name string
		to   *int
		most int
	}{{studentsSetting, &r.students, 1000}, {coursesSetting, &r.courses, slots}, {seatsSetting, &r.seats, 200},
		{growthSetting, &r.growth, 10000}} {
		text := set[s.name]
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > s.most {
			return r, fmt.Errorf("setting %s: %.40q is not a number from 1 to %d", s.name, text, s.most)
		}
		*s.to = n
	}
	return r, nil
}
