package sites

import "slices"

// Sixty are sites written in November 2026, before the learner was read or run for them. They are
// measured at several lengths of log. Improve says which of them served to improve the learner.
var Sixty = slices.Concat(publications, counters, interfaces, procedures, stores, consoles)

// Improve divides sites: three of four served to improve the learner (those with an even index
// first), the fourth was kept back.
func Improve(all []Site) (used, kept []Site) {
	for i, s := range all {
		if i%4 == 3 {
			kept = append(kept, s)
		} else {
			used = append(used, s)
		}
	}
	return used, kept
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
