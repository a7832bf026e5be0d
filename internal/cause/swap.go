package cause

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
)

// pageIn is the time to read one page back from swap, in seconds.
var pageIn = iikanji.Range{Lo: 20e-6, Hi: 500e-6}

const (
	pageBytes = 4 << 10
	// leastSwapped is the least amount that was read back from swap: memory that
	// was only written out was not needed.
	leastSwapped = 1 << 20
)

var swapping = Declare(PerHost, findSwap,
	Cause{Code: "OS103", Title: "swap", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line:     "memory was full, and pages were moved to disk",
		Remedies: []Way{Person}})

// findSwap reports memory that was swapped out and read back.
func findSwap(v *view) []iikanji.Finding {
	m := v.machine()
	if m == nil || m.SwapIn < leastSwapped {
		return nil
	}
	pages := float64(m.SwapIn) / pageBytes
	f := iikanji.Finding{Code: "OS103", Where: "host",
		Claim: fmt.Sprintf("memory ran out: %s was read back from swap during the run, %s was written to it", m.SwapIn, m.SwapOut),
		Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("%s of memory, at least %s available; %s of swap in use; some process waited for memory %.0f %% of the time",
			m.MemTotal, m.MemLeast, m.SwapUsed, 100*m.PressureMemory)}},
		Gain: iikanji.Range{Lo: round(pages * pageIn.Lo), Hi: round(pages * pageIn.Hi)},
		Remedies: []iikanji.Remedy{iikanji.ByPerson("host", "use less memory (start with the largest process), or a machine with more"),
			iikanji.ByPerson("host", "swap only if memory is full: vm.swappiness = 1")}}
	names := v.services()
	slices.SortStableFunc(names, func(a, b string) int { return int(v.host(b).PeakRSS>>10) - int(v.host(a).PeakRSS>>10) })
	for _, name := range names {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("%s: at most %s", name, v.host(name).PeakRSS)})
	}
	return []iikanji.Finding{f}
}
