package isucondition

import "github.com/iikanji/iikanji/internal/scenario"

// The events that score.
const (
	eventInfo scenario.Event = iota // conditions newly read by their owners
	eventWarning
	eventCritical
	eventDay // + band: graphs of completed days
)

// eventToday + band are the graphs of the day that is running.
const eventToday = eventDay + bands

// A band says how complete a graph is, 0 the best.
const bands = 4

var bandNames = [bands]string{"good", "fair", "poor", "bare"}

// table is section 12 and 13 of the rules.
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

// bandOf is the band of a graph whose barest hour has n conditions.
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

// levelEvent is the event of a condition read.
func levelEvent(l Level) scenario.Event { return eventInfo + scenario.Event(l-Info) }

// A ledger is what one ISU's graphs have been paid for. Days are JST midnights
// in Unix seconds.
type ledger struct {
	born     int64 // the day of registration: no graph before it
	complete int64 // the newest day known to be complete; below born there is none
	paid     map[int64]bool
	firstDue int64 // every day before it is paid
}

// newLedger knows that an ISU was registered at a virtual time.
func newLedger(registered int64) *ledger {
	day := dayOf(registered)
	return &ledger{born: day, complete: day - daySeconds, paid: map[int64]bool{}, firstDue: day}
}

// learn applies the written rule of completed days to a graph just read: data
// at or after noon of day completes all days before it; data in the morning
// only completes all but the day before.
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

// wants says whether the graph of a day is still to be read on a walk back
// from today: not before the registration, and not once it and all before it
// are paid.
func (l *ledger) wants(day int64) bool { return day >= l.firstDue }

// pay returns the band that a completed day pays; ok is false when the day is
// not complete or was paid before.
func (l *ledger) pay(day int64, hours *[24]int) (band int, ok bool) {
	if day < l.born || day > l.complete || l.paid[day] {
		return 0, false
	}
	l.paid[day] = true
	for l.paid[l.firstDue] {
		delete(l.paid, l.firstDue) // firstDue remembers it
		l.firstDue += daySeconds
	}
	return bandOf(barest(hours[:])), true
}

// payToday returns the band of the graph of the running day at a virtual
// time. Hours that have not ended lie in the future, in part or wholly, and
// are ignored.
func payToday(day, now int64, hours *[24]int) int {
	ended := min(max((now-day)/hourSeconds, 0), 24)
	return bandOf(barest(hours[:ended]))
}

// barest is the smallest count; 0 where there are none.
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
