package promise

import "github.com/iikanji/iikanji"

// Rewrite lists the promises that a rewrite of source weakens. declared are those
// of the lever that made it; tested: the rewrite is not proven by types and flow,
// but compared on recorded requests.
func Rewrite(tested bool, declared ...iikanji.Promise) []iikanji.Promise {
	if tested {
		declared = append([]iikanji.Promise{iikanji.TestedOnly}, declared...)
	}
	var out []iikanji.Promise
	for _, p := range Join(declared) {
		if p != iikanji.PromiseUnknown {
			out = append(out, p)
		}
	}
	return out
}
