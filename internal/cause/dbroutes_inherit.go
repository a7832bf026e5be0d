package cause

import (
	"fmt"
	"math"

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
func (v *view) inheritRoutes() {
	for range 3 { // chains of three statements, as in a loop in a loop
		changed := v.inheritInTransactions()
		for i := range v.digests {
			if p, ok := v.linkedParent(i); ok && v.digests[i].takeRoute(v.digests[p]) {
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// takeRoute gives a digest the route of another one, and reports whether that is
// news. The digest keeps a route that has the better evidence.
func (d *digest) takeRoute(from digest) bool {
	if from.route == nil || d.route != nil && (d.route.route == from.route.route || d.route.margin >= from.route.margin) {
		return false
	}
	f := *from.route
	f.from, f.each, f.err = from.where(), f.each*d.q.Count/from.q.Count, f.err*d.q.Count/from.q.Count
	d.senders, d.route = []fit{f}, &f
	return true
}

// linkedParent finds the one statement that sends a row, with the value that is
// looked up, for each execution of a digest.
func (v *view) linkedParent(at int) (parent int, ok bool) {
	d := v.digests[at]
	if !v.lookup(d) {
		return 0, false
	}
	parent = -1
	for i, p := range v.digests {
		if i == at || p.block() == nil || p.q.Sent == 0 || p.q.Count*fewPerRow > d.q.Count || !links(p, d) {
			continue
		}
		off, fits := v.fits(p, d)
		if !fits && (p.q.Count*manyPerRow > d.q.Count || math.Abs(p.q.Sent-d.q.Count) > linkedWithin*d.q.Count) {
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
func (v *view) inheritInTransactions() (changed bool) {
	for _, p := range v.in.Profiles {
		for _, t := range p.Transactions {
			within := v.wholeIn(t)
			best := -1
			for _, i := range within {
				if f := v.digests[i].route; f != nil && (best < 0 || f.margin > v.digests[best].route.margin) {
					best = i
				}
			}
			for _, i := range within {
				if best >= 0 && v.digests[i].takeRoute(v.digests[best]) {
					changed = true
				}
			}
		}
	}
	return changed
}

// wholeIn are the digests all of whose executions are in transactions of a shape:
// those that each transaction executes once, and one in a loop.
func (v *view) wholeIn(t iikanji.Transaction) (out []int) {
	count := float64(t.Count)
	looped := float64(t.Statements) - count*float64(len(t.Digests)-1)
	for _, name := range t.Digests {
		for i, d := range v.digests {
			if d.Query.Digest != name || d.block() == nil {
				continue
			}
			if alikeWithin(d.q.Count, count, wholeTransaction) || alikeWithin(d.q.Count, looped, wholeTransaction) {
				out = append(out, i)
			}
		}
	}
	return out
}

func alikeWithin(a, b, share float64) bool { return a > 0 && math.Abs(a-b) <= share*a }

// inherited is the evidence of a route that another statement has.
func (f fit) inherited() string {
	if f.from == "" {
		return ""
	}
	return fmt.Sprintf("; as the route of %s", cut(f.from, 80))
}
