package isucholar

// Types, days and statuses of courses.
const (
	typeLiberal = "liberal-arts"
	typeMajor   = "major-subjects"

	statusRegistration = "registration"
	statusInProgress   = "in-progress"
	statusClosed       = "closed"
)

var days = [...]string{"monday", "tuesday", "wednesday", "thursday", "friday"}

const (
	periods = 6
	slots   = len(days) * periods // of a week
)

// A User is a teacher or a student.
type User struct {
	ID       string `json:"id"`
	Code     string `json:"code"`
	Name     string `json:"name"`
	Password string `json:"password"`
}

// A Course is a course as the API shows it.
type Course struct {
	ID          string `json:"id"`
	Code        string `json:"code"`
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Credit      int    `json:"credit"`
	Period      int    `json:"period"`
	DayOfWeek   string `json:"day_of_week"`
	Teacher     string `json:"teacher"` // name
	Status      string `json:"status"`
	Keywords    string `json:"keywords"`
}

// setSlot sets day and period from the number of the slot in the week.
func (c *Course) setSlot(slot int) {
	c.DayOfWeek, c.Period = days[slot/periods], slot%periods+1
}

// A Dataset is what the benchmarker knows of the initial data. Courses has those of the
// sample for people too, in the order of their codes.
type Dataset struct {
	Teachers []User   `json:"teachers"`
	Students []User   `json:"students"`
	Courses  []Course `json:"courses"`
}
