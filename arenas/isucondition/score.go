package isucondition

import "github.com/iikanji/iikanji/internal/load/scenario"

// The events that score.
const (
	eventInfo scenario.Event = iota // conditions newly read by their owners
	eventWarning
	eventCritical
	eventDay // + band: graphs of completed days
)

// eventToday + band are the graphs of the current day.
const eventToday = eventDay + bands

// A band is the completeness of a graph; 0 is the best.
const bands = 4

var bandNames = [bands]string{"good", "fair", "poor", "bare"}

// table is the score table of sections 12 and 13 of the rules.
var table = scenario.Table{
	Base: 1000,
	Events: []scenario.EventRule{
		{Name: "50 info conditions read", Points: 20, Per: 50},
		{Name: "50 warning conditions read", Points: 8, Per: 50},
		{Name: "50 critical conditions read", Points: 4, Per: 50},
		{Name: "completed graph, " + bandNames[0], Points: 150},
		{Name: "completed graph, " + bandNames[1], Points: 100},
		{Name: "completed graph, " + bandNames[2], Points: 60},
		{Name: "completed graph, " + bandNames[3], Points: 10},
		{Name: "today's graph, " + bandNames[0], Points: 60},
		{Name: "today's graph, " + bandNames[1], Points: 40},
		{Name: "today's graph, " + bandNames[2], Points: 24},
		{Name: "today's graph, " + bandNames[3], Points: 4},
	},
	PerError:    1,
	PerTimeouts: 10,
	MaxErrors:   100,
	FailAtZero:  true,
}

// bandOf returns the band of a graph whose emptiest hour has n conditions.
func bandOf(n int) int {
	switch {
	case n > 20:
		return 0
	case n > 10:
		return 1
	case n > 5:
		return 2
	default:
		return 3
	}
}

// levelEvent returns the event for reading a condition of a level.
func levelEvent(l Level) scenario.Event { return eventInfo + scenario.Event(l-Info) }

// A ledger records which graphs of one ISU have scored. Days are JST midnights in
// Unix seconds.
type ledger struct {
	born     int64 // the day of registration; earlier days have no graph
	complete int64 // the newest day known to be complete; none if below born
	paid     map[int64]bool
	firstDue int64 // every earlier day is paid
}

// newLedger returns the ledger of an ISU registered at a virtual time.
func newLedger(registered int64) *ledger {
	day := dayOf(registered)
	return &ledger{born: day, complete: day - daySeconds, paid: map[int64]bool{}, firstDue: day}
}

// learn applies the rule of completed days to a graph just read. Data at or after
// noon of a day completes all days before it. Data in the morning only completes
// all days except the one directly before.
func (l *ledger) learn(day int64, hours *[24]int) {
	morning, noon := false, false
	for h, n := range hours {
		morning = morning || n > 0 && h < 12
		noon = noon || n > 0 && h >= 12
	}
	switch {
	case noon:
		l.complete = max(l.complete, day-daySeconds)
	case morning:
		l.complete = max(l.complete, day-2*daySeconds)
	}
}

// needs reports whether a walk back from today should still read the graph of a
// day. Days before the registration, and paid days with all earlier days paid too,
// need no reading.
func (l *ledger) needs(day int64) bool { return day >= l.firstDue }

// pay returns the band that a completed day scores. ok is false if the day is not
// complete or was paid before.
func (l *ledger) pay(day int64, hours *[24]int) (band int, ok bool) {
	if day < l.born || day > l.complete || l.paid[day] {
		return 0, false
	}
	l.paid[day] = true
	for l.paid[l.firstDue] {
		delete(l.paid, l.firstDue) // firstDue covers it
		l.firstDue += daySeconds
	}
	return bandOf(barest(hours[:])), true
}

// payToday returns the band of the current day's graph at a virtual time. Hours
// that have not ended are ignored.
func payToday(day, now int64, hours *[24]int) int {
	ended := min(max((now-day)/hourSeconds, 0), 24)
	return bandOf(barest(hours[:ended]))
}

// barest returns the smallest count; 0 for no counts.
func barest(hours []int) int {
	if len(hours) == 0 {
		return 0
	}
	n := hours[0]
	for _, h := range hours[1:] {
		n = min(n, h)
	}
	return n
}
