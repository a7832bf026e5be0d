package app

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// crowded is the number of processes for each core above which they only take turns.
	crowded = 4
	// crowdedMemory is the share of the memory that they take together, from which on the
	// page cache and the buffer pool miss it.
	crowdedMemory = 0.4
	// waitedMemory is the share of the time in which processes waited for memory.
	waitedMemory = 0.05
)

var tooManyProcesses = cause.Declare(cause.PerRun, findTooManyProcesses,
	cause.Cause{Code: "APP223", Title: "too many processes", Of: iikanji.OfCPU, Inside: true, Relieves: cause.AnyLimit,
		Line:     "processes of the app server only take turns, and fill the memory",
		Remedies: []cause.Way{cause.Plan("workers", "", iikanji.RoleApp)}})

// findTooManyProcesses reports app servers with more processes than the cores can use and the memory
// can hold.
func findTooManyProcesses(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, a := range appServers(v) {
		m := v.MachineOf(a.name)
		takes := float64(a.Private) * float64(a.Processes)
		few := int(a.cores)*processesPerCore + 1
		tight := m.PressureMemory >= waitedMemory || takes >= crowdedMemory*float64(a.Memory)
		if a.ProcessesBy == "unavailable" || float64(a.Processes) <= crowded*a.cores || a.idle >= leastIdle || !tight {
			continue
		}
		out = append(out, iikanji.Finding{Code: "APP223", Where: a.name,
			Claim: fmt.Sprintf("%d processes of %s share %.3g cores and take up to %s of %s of memory", a.Processes, a.Server, a.cores, iikanji.Bytes(takes), a.Memory),
			Evidence: []iikanji.Evidence{a.use(),
				{Source: "host", Text: fmt.Sprintf("processes waited for memory %.0f %% of the time", 100*m.PressureMemory)}},
			Gain:     cause.Between(a.wall*max(m.PressureMemory, waitedMemory), 0, 1),
			Remedies: []iikanji.Remedy{{Kind: "workers", Target: a.name, Says: fmt.Sprintf("run %d processes", few), Args: map[string]string{"workers": fmt.Sprint(few)}}}})
	}
	return out
}
