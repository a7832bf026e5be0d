package sites

import "slices"

// Sixty are sites written in November 2026, before the learner was read or run for them. They are
// measured at several lengths of log. Those with an even index served to improve the learner,
// the others were kept back.
var Sixty = slices.Concat(publications, counters, interfaces, procedures, stores, consoles)

// Half gives the sites with an even (0) or odd (1) index.
func Half(all []Site, k int) (half []Site) {
	for i := k; i < len(all); i += 2 {
		half = append(half, all[i])
	}
	return half
}

// Lengths are the sizes of logs, in lines, at which Sixty are measured.
var Lengths = []int{1000, 20000, 50000}

// Cut gives the sites with logs of n lines.
func Cut(all []Site, n int) []Site {
	cut := slices.Clone(all)
	for i := range cut {
		cut[i].Lines = n
	}
	return cut
}
