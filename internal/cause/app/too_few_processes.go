package app

import (
	"fmt"
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// slotQueue is the number of requests under way for each that is computed, from which
	// on requests wait for a process.
	slotQueue = 1.5
	// processFull is the share of a core from which on a process computes all the time.
	processFull = 0.7
	// processesPerCore and one more is the number of processes with which half of them
	// may wait for a database while the others compute.
	processesPerCore = 2
	// threadsTried are the threads of a process whose requests mostly wait.
	threadsTried = 4
	// memoryKept is the share of the memory that stays available, and connectionsKept the
	// number of connections to a database.
	memoryKept      = 0.1
	connectionsKept = 5
)

var tooFewProcesses = cause.Declare(cause.PerRun, findTooFewProcesses,
	cause.Cause{Code: "APP222", Title: "too few processes", Of: iikanji.OfCPU, Inside: true, Relieves: cause.AnyLimit,
		Line:     "requests wait for a process of the app server while cores are idle",
		Remedies: []cause.Way{cause.Plan("workers", "", iikanji.RoleApp), cause.Patch}},
	cause.Cause{Code: "APP225", Title: "sessions hold the app to one process", Of: iikanji.OfCPU, Inside: true, Relieves: cause.AnyLimit,
		Line:     "sessions are in the memory of the only process",
		Remedies: []cause.Way{cause.Plan("workers", "", iikanji.RoleApp), cause.Patch}})

// findTooFewProcesses reports app servers for whose processes requests waited while cores were idle
// (APP222), and app servers whose sessions allow no second process (APP225).
func findTooFewProcesses(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, a := range appServers(v) {
		if a.load < slotQueue*float64(a.slots) || a.idle < leastIdle {
			continue
		}
		gain := a.gain(min(a.load, a.cores*processesPerCore+1))
		if len(a.Sessions) > 0 && a.Processes == 1 {
			out = append(out, heldBySessions(v, a, gain))
			continue
		}
		remedies := a.more(v)
		if len(remedies) == 0 {
			continue
		}
		evidence := append([]iikanji.Evidence{a.use(), a.price(a.wanted(v))}, a.kept()...)
		out = append(out, iikanji.Finding{Code: "APP222", Where: a.name,
			Claim:    fmt.Sprintf("%s computes %d requests at once and %.1f were under way: they wait for a process while %.2f cores are idle", a.Server, a.slots, a.load, a.idle),
			Evidence: evidence, Gain: gain, Remedies: remedies})
	}
	return out
}

// gain is what further slots could save: at most the cores that were idle.
func (a appServer) gain(slots float64) iikanji.Range {
	share := 1 - float64(a.slots)/max(slots, float64(a.slots))
	return cause.Between(min(a.idle*a.wall, a.wall*share), 0.2, 1)
}

// wanted is the number of processes that the load can use.
func (a appServer) wanted(v *cause.View) int {
	n := int(a.cores)*processesPerCore + 1
	if a.cpu < processFull*float64(a.Processes) { // they wait more than they compute
		n = max(n, min(2*n, int(math.Ceil(a.load))))
	} else {
		n = min(n, max(a.Processes+1, int(math.Ceil(a.load/float64(a.Threads)))))
	}
	return min(n, a.most(v, a.Threads))
}

// more are the remedies: processes, and threads where requests mostly wait.
func (a appServer) more(v *cause.View) []iikanji.Remedy {
	var out []iikanji.Remedy
	n := a.wanted(v)
	if n > a.Processes && a.ProcessesBy != "unavailable" {
		out = append(out, iikanji.Remedy{Kind: "workers", Target: a.name, Says: fmt.Sprintf("run %d processes", n), Args: map[string]string{"workers": fmt.Sprint(n)}})
	}
	threads := max(threadsTried, 2*a.Threads)
	if a.ThreadsBy != "unavailable" && len(a.Connections) == 0 && a.cpu < processFull*float64(a.Processes) && a.most(v, threads) >= a.Processes {
		out = append(out, iikanji.Remedy{Kind: "workers", Target: a.name, Says: fmt.Sprintf("run %d threads in each process", threads), Args: map[string]string{"threads": fmt.Sprint(threads)}})
	}
	if len(out) == 0 && a.ProcessesBy == "unavailable" {
		out = append(out, iikanji.Remedy{Kind: "patch", Target: a.name, Says: "fork one process for each core, with the module cluster or a process manager"})
	}
	return out
}

// heldBySessions is the finding of an app whose sessions are in the memory of its only
// process.
func heldBySessions(v *cause.View, a appServer, gain iikanji.Range) iikanji.Finding {
	return iikanji.Finding{Code: "APP225", Where: a.name,
		Claim:    fmt.Sprintf("%.1f requests were under way and one process answers: its memory holds the sessions, so that there can be no second one", a.load),
		Evidence: append([]iikanji.Evidence{a.use()}, a.kept()...), Gain: gain,
		Remedies: []iikanji.Remedy{{Kind: "patch", Target: a.name, Says: "keep sessions in a memcached, a Redis or a signed cookie, then run more processes"}}}
}
