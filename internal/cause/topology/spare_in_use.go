package topology

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// leastSpareCPU is the share of a machine's cores, and leastSpareMemory that of its
	// memory, from which on a spare is worth being stopped.
	leastSpareCPU    = 0.02
	leastSpareMemory = 0.05
)

var spareInUse = cause.Declare(cause.PerHost, findSpareInUse,
	cause.Cause{Code: "TOP102", Title: "a spare uses the machine", Of: iikanji.OfCPU, Relieves: cause.CPU,
		Line:     "a service that the site does not use there takes CPU time or memory",
		Remedies: []cause.Way{cause.Plan("unit", "state", iikanji.RoleUnknown)}})

// findSpareInUse reports services that run on a machine where the site does not use them.
func findSpareInUse(v *cause.View) []iikanji.Finding {
	m, name := v.Machine(), v.On()
	if m == nil || name == "" || m.Wall <= 0 {
		return nil
	}
	host := name
	if host == cause.ThisMachine {
		host = ""
	}
	var out []iikanji.Finding
	for _, s := range v.Elsewhere() {
		row := v.Host(s.Name)
		if row == nil || !slices.Contains(s.Spare, host) || runsOn(s, host) {
			continue
		}
		cpu := (row.User + row.System).Seconds()
		share, memory := cpu/(m.Wall.Seconds()*float64(max(m.Cores, 1))), float64(row.PeakRSS)/float64(max(m.MemTotal, 1))
		if share < leastSpareCPU && memory < leastSpareMemory {
			continue
		}
		unit := s.Unit
		if unit == "" {
			continue
		}
		target := "host"
		if host != "" {
			target = "host:" + host
		}
		out = append(out, iikanji.Finding{Code: "TOP102", Where: s.Name,
			Claim:    fmt.Sprintf("%s runs on %s, where the site does not use it: %.1f s of CPU, %s of memory", s.Name, name, cpu, row.PeakRSS),
			Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("%s: %.1f %% of the cores, %.1f %% of the memory of %s", s.Name, 100*share, 100*memory, name)}},
			Gain:     cause.Between(cpu, 0.5, 1),
			Remedies: []iikanji.Remedy{{Kind: "unit", Target: target, Says: "end " + unit + " there, and leave it out at boot",
				Args: map[string]string{"act": "state", "unit": unit, "active": "no", "enabled": "no"}}}})
	}
	return out
}
