package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// pageIn is what it costs to bring one page back from a disk. Seconds.
var pageIn = iikanji.Range{Lo: 20e-6, Hi: 500e-6}

const (
	pageBytes = 4 << 10
	// leastSwapped is how much must have come back from swap: what is only
	// written out was not missed.
	leastSwapped = 1 << 20
)

// os103 reports memory that was swapped out and missed.
func os103(v *view) []iikanji.Finding {
	m := v.machine()
	if m == nil || m.SwapIn < leastSwapped {
		return nil
	}
	pages := float64(m.SwapIn) / pageBytes
	f := iikanji.Finding{Code: "OS103", Where: "host",
		Claim: fmt.Sprintf("memory ran out: %s came back from swap during the run, %s went there", m.SwapIn, m.SwapOut),
		Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("%s of memory, at the least %s were available; %s of swap in use; somebody waited for memory %.0f %% of the time",
			m.MemTotal, m.MemLeast, m.SwapUsed, 100*m.PressureMemory)}},
		Gain: iikanji.Range{Lo: round(pages * pageIn.Lo), Hi: round(pages * pageIn.Hi)},
		Remedies: []iikanji.Remedy{{Kind: "topology", Target: "host", Says: "use less memory (the greatest user first), or a machine with more"},
			{Kind: "sysctl", Target: "host", Says: "swap only when there is no other way", Args: map[string]string{"act": "sysctl", "vm.swappiness": "1"}}}}
	names := v.services()
	slices.SortStableFunc(names, func(a, b string) int { return int(v.host(b).PeakRSS>>10) - int(v.host(a).PeakRSS>>10) })
	for _, name := range names {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("%s: %s at the most", name, v.host(name).PeakRSS)})
	}
	return []iikanji.Finding{f}
}

const (
	// What others take is told from these shares of the machine on.
	leastSteal = 0.02
	leastOther = 0.10
)

// os104 reports CPU that went to somebody else: to other guests of the same
// hardware (steal), or to processes that are no part of the site.
func os104(v *view) []iikanji.Finding {
	m := v.machine()
	if m == nil || m.Wall <= 0 {
		return nil
	}
	all := m.Wall.Seconds() * float64(max(m.Cores, 1))
	var out []iikanji.Finding
	if s := m.Steal.Seconds(); s >= leastSteal*all {
		out = append(out, iikanji.Finding{Code: "OS104", Where: "steal", Gain: between(s, 0.5, 1),
			Claim:    fmt.Sprintf("the hypervisor gave %.0f %% of the CPU to others", 100*s/all),
			Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("steal: %.1f s of %.1f s", s, all)}},
			Remedies: []iikanji.Remedy{{Kind: "topology", Target: "host", Says: "a machine of your own, or another time; compare only runs next to each other"}}})
	}
	if o := v.host("other"); o != nil {
		if s := (o.User + o.System).Seconds(); s >= leastOther*all {
			f := iikanji.Finding{Code: "OS104", Where: "other processes", Gain: between(s, 0.5, 1),
				Claim:    fmt.Sprintf("processes that are no part of the site used %.0f %% of the CPU", 100*s/all),
				Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("other: %.1f s user, %.1f s system of %.1f s, %d processes", o.User.Seconds(), o.System.Seconds(), all, o.Processes)}},
				Remedies: []iikanji.Remedy{{Kind: "topology", Target: "host", Says: "see with iikanji top who they are; stop timers and agents while you measure"}}}
			if named := neighbours(o.Programs); named != "" {
				f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "process", Text: named})
			}
			out = append(out, f)
		}
	}
	return out
}

// neighbours names the programs of others with their CPU seconds.
func neighbours(of []iikanji.Usage) string {
	var parts []string
	for _, u := range of {
		parts = append(parts, fmt.Sprintf("%s %.1f s", u.Who, (u.User+u.System).Seconds()))
	}
	return strings.Join(parts, ", ")
}

const (
	// busyDisk is the share of the time in which a disk that is the limit works.
	busyDisk = 0.85
	// leastWaiting is the share of all CPU time that waited for it.
	leastWaiting = 0.10
)

// os107 reports a disk that works all the time while the CPU waits for it.
func os107(v *view) []iikanji.Finding {
	m, h := v.machine(), v.host("host")
	if m == nil || m.Wall <= 0 || m.DiskBusy < busyDisk {
		return nil
	}
	wait, all := m.IOWait.Seconds(), m.Wall.Seconds()*float64(max(m.Cores, 1))
	if wait < leastWaiting*all {
		return nil
	}
	return []iikanji.Finding{{Code: "OS107", Where: "host",
		Claim: fmt.Sprintf("the disk is busy %.0f %% of the time, and the CPU waits for it %.0f %%", 100*min(m.DiskBusy, 1), 100*wait/all),
		Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("%d reads of %s each, %d writes of %s, %d flushes of %s; %s read, %s written",
			m.DiskReads, brief(m.ReadTook), m.DiskWrites, brief(m.WriteTook), m.DiskFlushes, brief(m.FlushTook), h.Read, h.Written)}},
		Gain:     between(wait, 0.3, 0.9),
		Remedies: []iikanji.Remedy{{Kind: "topology", Target: "host", Says: "write and sync less (see the findings on commits), or a faster disk"}}}}
}
