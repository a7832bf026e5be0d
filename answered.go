package iikanji

import "fmt"

// Answered counts the requests whose answers were compared before and after a change
// of source.
type Answered struct {
	Requests int `json:"requests"`          // whose answers were compared
	Routes   int `json:"routes"`            // of these requests
	Borders  int `json:"borders,omitempty"` // of them with a parameter at a border
	// Left counts the requests that prove nothing: no answer in time, an answer that
	// changes by itself, or an error.
	Left int `json:"left_out,omitempty"`
}

// String is as in "1,204 requests on 12 routes".
func (a Answered) String() string {
	text := fmt.Sprintf("%s on %s", counted(a.Requests, "request"), counted(a.Routes, "route"))
	if a.Borders > 0 {
		text += fmt.Sprintf(", %d of them at borders of parameters", a.Borders)
	}
	if a.Left > 0 {
		text += fmt.Sprintf("; %d could not be compared", a.Left)
	}
	return text
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
