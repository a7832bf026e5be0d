package cause

import "github.com/iikanji/iikanji"

const (
	ConnectionSeconds = 0.02  // lost by a refused client: it reconnects, or fails
	comeLeast         = 200.0 // least number of new connections where it is not known how many are open
	comeFew           = 20.0  // the same where it is known
	comeTimes         = 3.0   // least number of new connections for each open one: pools fill once
	MadeShare         = 0.05  // new connections by requests
)

// LeastMade is the least number of new connections that are no filling of pools, where some
// are open at the end of the load; 0 for unknown. A slow site answers few requests, so
// that a fixed number would hide the cause there.
func LeastMade(open float64) float64 {
	if open == 0 {
		return comeLeast
	}
	return max(comeFew, comeTimes*open)
}

// RefusedSeconds is the cost of a refused connection in seconds: the client retries,
// or is lost.
var RefusedSeconds = iikanji.Range{Lo: 0.001, Hi: 0.05}
