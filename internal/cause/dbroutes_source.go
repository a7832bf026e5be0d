package cause

import (
	"math"
	"slices"
	"strconv"
)

// Times alone confuse routes whose requests follow from each other: where a news item is stored,
// all readers ask for it at once, and a statement of theirs runs fifty times for each that is
// stored. The source of the apps says which handlers can send a statement.

// bySource finds the routes whose handlers can send each digest, by the source of the apps, and
// returns them as within: none where the source allows all routes, or is not known. It replaces
// the senders of a digest, which the times gave, if they are not all among these routes or explain
// too few executions.
func (v *View) bySource(c clock, routes, digests []counted, senders [][]Sender) (within [][]string) {
	within = make([][]string, len(digests))
	sent := map[string][]SentStatement{}
	for _, s := range v.Sends() {
		sent[s.Digest] = append(sent[s.Digest], s)
	}
	alike := map[string][]int{} // digests by their routes
	allowed := map[string][]int{}
	for k, d := range digests {
		of := v.allowed(sent[d.key], routes)
		if len(of) == 0 || len(of) == len(routes) {
			continue
		}
		for _, i := range of {
			within[k] = append(within[k], routes[i].key)
		}
		if agree(senders[k], within[k]) {
			continue
		}
		if len(of) == 1 {
			senders[k] = only(c, routes[of[0]], d)
			continue
		}
		key := ""
		for _, i := range of {
			key += strconv.Itoa(i) + " "
		}
		alike[key], allowed[key] = append(alike[key], k), of
	}
	for key, of := range allowed {
		var some, same []counted
		for _, i := range of {
			some = append(some, routes[i])
		}
		for _, k := range alike[key] {
			same = append(same, digests[k])
		}
		for i, found := range sendersOf(c, some, same) {
			senders[alike[key][i]] = found
		}
	}
	return within
}

// allowed are the routes whose handlers reach a place that sends a statement; none if a place is
// not known to be reached by handlers only.
func (v *View) allowed(sent []SentStatement, routes []counted) (of []int) {
	for _, s := range sent {
		if s.Func == "" || !v.Routed(s.Service, s.Func) {
			return nil
		}
		for i, r := range routes {
			if v.Reaches(s.Service, r.key, s.Func) && !slices.Contains(of, i) {
				of = append(of, i)
			}
		}
	}
	slices.Sort(of)
	return of
}

// agree reports whether senders are known and all among the allowed routes.
func agree(senders []Sender, within []string) bool {
	share := 0.0
	for _, s := range senders {
		if !slices.Contains(within, s.Route) {
			return false
		}
		share += s.Share
	}
	return share >= FitShare
}

// only is the sender of a statement that no other route of the run can send.
func only(c clock, route, digest counted) []Sender {
	asked, count := route.events(), digest.events()
	if asked < 1 || count == 0 {
		return nil
	}
	return []Sender{{Route: route.key, Each: count / asked, Share: 1, margin: math.MaxFloat64, n: c.n, step: c.step, source: true}}
}
