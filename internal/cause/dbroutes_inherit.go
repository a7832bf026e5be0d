package cause

import (
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

// Times alone cannot separate routes whose requests always come together. Two
// facts of the log can: the statements of one transaction belong to one request,
// and a look-up for each row of another statement belongs to that statement's
// request.

// Limits of the comparisons of counts.
const (
	wholeTransaction = 0.05 // relative difference of counts within transactions of one shape
	linkedWithin     = 0.08 // the same of rows and executions: requests may be cut off by the end of the load
)

// inheritRoutes gives the route of a statement to those that are sent for it.
func (v *View) inheritRoutes() {
	for range 3 { // chains of three statements, as in a loop in a loop
		changed := v.inheritInTransactions()
		for i := range v.Digests {
			if p, ok := v.linkedParent(i); ok && v.Digests[i].takeRoute(v.Digests[p]) {
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// takeRoute gives a digest the route of another one, and reports whether that is
// news. The digest keeps a route that has the better evidence, and takes none that the source
// does not allow.
func (d *Digest) takeRoute(from Digest) bool {
	if from.Route == nil || len(d.within) > 0 && !slices.Contains(d.within, from.Route.Route) || d.Route != nil && (d.Route.Route == from.Route.Route || d.Route.margin >= from.Route.margin) {
		return false
	}
	f := *from.Route
	f.from, f.Each, f.Err = from.where(), f.Each*d.Totals.Count/from.Totals.Count, f.Err*d.Totals.Count/from.Totals.Count
	d.Senders, d.Route = []Sender{f}, &f
	return true
}

// linkedParent finds the one statement that sends a row, with the value that is
// looked up, for each execution of a digest.
func (v *View) linkedParent(at int) (parent int, ok bool) {
	d := v.Digests[at]
	if !v.Lookup(d) {
		return 0, false
	}
	parent = -1
	for i, p := range v.Digests {
		if i == at || p.Block() == nil || p.Totals.Sent == 0 || p.Totals.Count*FewPerRow > d.Totals.Count || !Links(p, d) {
			continue
		}
		off, fits := v.Fits(p, d)
		if !fits && (p.Totals.Count*ManyPerRow > d.Totals.Count || math.Abs(p.Totals.Sent-d.Totals.Count) > linkedWithin*d.Totals.Count) {
			continue
		}
		if parent >= 0 && off >= 0 {
			return 0, false // either could be
		}
		parent = i
	}
	return parent, parent >= 0
}

// inheritInTransactions gives all statements of a shape of transactions the route
// of the one with the best evidence, if they are sent in such transactions only.
func (v *View) inheritInTransactions() (changed bool) {
	for _, p := range v.Input.Profiles {
		for _, t := range p.Transactions {
			within := v.wholeIn(t)
			best := -1
			for _, i := range within {
				if f := v.Digests[i].Route; f != nil && (best < 0 || f.margin > v.Digests[best].Route.margin) {
					best = i
				}
			}
			for _, i := range within {
				if best >= 0 && v.Digests[i].takeRoute(v.Digests[best]) {
					changed = true
				}
			}
		}
	}
	return changed
}

// wholeIn are the digests all of whose executions are in transactions of a shape:
// those that each transaction executes once, and one in a loop.
func (v *View) wholeIn(t iikanji.Transaction) (out []int) {
	count := float64(t.Count)
	looped := float64(t.Statements) - count*float64(len(t.Digests)-1)
	for _, name := range t.Digests {
		for i, d := range v.Digests {
			if d.Query.Digest != name || d.Block() == nil {
				continue
			}
			if alikeWithin(d.Totals.Count, count, wholeTransaction) || alikeWithin(d.Totals.Count, looped, wholeTransaction) {
				out = append(out, i)
			}
		}
	}
	return out
}

func alikeWithin(a, b, share float64) bool { return a > 0 && math.Abs(a-b) <= share*a }

// inherited is the evidence of a route that another statement has.
func (f Sender) inherited() string {
	if f.from == "" {
		return ""
	}
	return fmt.Sprintf("; as the route of %s", Cut(f.from, 80))
}
