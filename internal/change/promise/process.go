package promise

import "github.com/iikanji/iikanji"

// Processes is how an app server runs before and after a change, and what its app
// keeps in the memory of a process between requests.
type Processes struct {
	Before, After               int // processes that answer requests
	ThreadsBefore, ThreadsAfter int // of each
	Values                      bool
	// Unknown: the source was not read.
	Unknown bool
}

// Weakens lists the promises that the change weakens.
//
// Each process has its own copy of a value, so clients may see different ones: an old value
// after another process changed it, or a count of one process only. An app that already runs
// in several processes loses nothing. Reading the code cannot prove that it is safe for
// several threads.
func (p Processes) Weakens() []iikanji.Promise {
	var out []iikanji.Promise
	if p.Before <= 1 && p.After > 1 && (p.Values || p.Unknown) {
		out = append(out, iikanji.Freshness, iikanji.Behaviour)
	}
	if p.ThreadsBefore <= 1 && p.ThreadsAfter > 1 {
		out = append(out, iikanji.TestedOnly)
		if p.Values || p.Unknown {
			out = append(out, iikanji.Behaviour)
		}
	}
	if p.After*p.ThreadsAfter < p.Before*p.ThreadsBefore { // fewer requests at once: the others wait
		out = append(out, iikanji.Availability)
	}
	return Join(out)
}
