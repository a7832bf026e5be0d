package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// leastChanged is the least number of pages that must have changed after one write, and
	// leastOften the least share of them, for a part of them to count as a fragment that
	// the write changes.
	leastChanged, leastOften = 20, 0.5
	// mostFragment is the largest share of a page's bytes that is a fragment.
	mostFragment = 0.3
)

var sharedFragment = cause.Declare(cause.PerNginx, findSharedFragment,
	cause.Cause{Code: "WEB113", Title: "a fragment on every page", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "writes change a small part of all kept pages",
		Remedies: []cause.Way{cause.Patch}})

// findSharedFragment reports kept pages that a write changes in a small part only, although the write
// is not about them: a fragment that is on every page, such as a sidebar. Sent by a route
// of its own and included on the way to the client, it alone must be dropped.
func findSharedFragment(v *cause.View) []iikanji.Finding {
	if v.Input.Run == nil {
		return nil
	}
	kept := cause.FactsOf(v, fact.TopicKept)
	var out []iikanji.Finding
	for _, at := range slices.Sorted(maps.Keys(kept)) {
		k := kept[at]
		f := iikanji.Finding{Code: "WEB113", Where: v.Self.Name}
		changed := 0
		for _, p := range k.Pairs {
			if !isFragment(p) {
				continue
			}
			changed += p.Changed
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "app", Text: fmt.Sprintf("after %s, %d of %d pages of %s differed, in %.0f %% of their bytes",
				p.Write, p.Changed, p.Changed+p.Same, p.Page, 100*float64(p.Differ)/float64(p.Bytes))})
		}
		f.Claim = fmt.Sprintf("%d kept pages were computed again because of a small part of them that a write changed", changed)
		f.Gain = cause.Between(float64(changed)*tookOf(v, k.Kept).Seconds(), 0.1, 1)
		f.Remedies = v.Patch("send the part from a route of its own; pages include it where Surrogate-Capability announces SSI (argument fragments of the act nginx) or ESI (act varnish, esi=on)", nil)
		if changed > 0 && v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// isFragment reports whether a write changes a small part of pages that do not have its
// ids.
func isFragment(p iikanji.PageChange) bool {
	related := slices.ContainsFunc(strings.Split(p.Page, "/"), func(s string) bool { return len(s) == 2 && s[0] == ':' })
	often := float64(p.Changed) >= leastOften*float64(p.Changed+p.Same)
	return !related && p.Changed >= leastChanged && often && p.Bytes > 0 && float64(p.Differ) <= mostFragment*float64(p.Bytes)
}
