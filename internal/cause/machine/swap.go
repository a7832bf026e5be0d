package machine

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// pageIn is the time to read one page back from swap, in seconds.
var pageIn = iikanji.Range{Lo: 20e-6, Hi: 500e-6}

const (
	pageBytes = 4 << 10
	// leastSwapped is the least amount that was read back from swap: memory that
	// was only written out was not needed.
	leastSwapped = 1 << 20
)

var swapping = cause.Declare(cause.PerHost, findSwap,
	cause.Cause{Code: "OS103", Title: "swap", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "memory was full, and pages were moved to disk",
		Remedies: []cause.Way{cause.Person}})

// findSwap reports memory that was swapped out and read back.
func findSwap(v *cause.View) []iikanji.Finding {
	m := v.Machine()
	if m == nil || m.SwapIn < leastSwapped {
		return nil
	}
	pages := float64(m.SwapIn) / pageBytes
	f := iikanji.Finding{Code: "OS103", Where: "host",
		Claim: fmt.Sprintf("memory ran out: %s was read back from swap during the run, %s was written to it", m.SwapIn, m.SwapOut),
		Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("%s of memory, at least %s available; %s of swap in use; some process waited for memory %.0f %% of the time",
			m.MemTotal, m.MemLeast, m.SwapUsed, 100*m.PressureMemory)}},
		Gain: iikanji.Range{Lo: cause.Round(pages * pageIn.Lo), Hi: cause.Round(pages * pageIn.Hi)},
		Remedies: []iikanji.Remedy{iikanji.ByPerson("host", "use less memory (start with the largest process), or a machine with more"),
			iikanji.ByPerson("host", "swap only if memory is full: vm.swappiness = 1")}}
	names := v.Services()
	slices.SortStableFunc(names, func(a, b string) int { return int(v.Host(b).PeakRSS>>10) - int(v.Host(a).PeakRSS>>10) })
	for _, name := range names {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("%s: at most %s", name, v.Host(name).PeakRSS)})
	}
	return []iikanji.Finding{f}
}
