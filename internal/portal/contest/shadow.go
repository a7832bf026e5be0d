package contest

import "slices"

// A Visit is the answer to one request for a page: its status and a digest of its body. The zero
// Visit is no answer.
type Visit struct {
	Status int
	Digest string
}

// Differs reports whether a site answers the benchmarker otherwise than other visitors: both asked
// for one page in turn, some times each, and each got the same answer every time, but not the other's.
// A page that changes by itself tells nothing.
func Differs(benchmarker, visitor []Visit) bool {
	same := func(all []Visit) bool {
		return len(all) > 1 && all[0] != Visit{} && !slices.ContainsFunc(all, func(v Visit) bool { return v != all[0] })
	}
	return same(benchmarker) && same(visitor) && benchmarker[0] != visitor[0]
}
