package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// leastSame is how many pages must be the same before and after one write for the pair to
// count as unrelated: with a chance of one half that a related page stays the same, one in
// a million unrelated pairs is a mistake.
const leastSame = 20

var needlessDrops = cause.Declare(cause.PerNginx, findNeedlessDrops,
	cause.Cause{Code: "WEB117", Title: "pages dropped in vain", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "writes drop kept pages that they do not change",
		Remedies: []cause.Way{cause.Plan("httpcache", "nginx", iikanji.RoleWeb)}})

// findNeedlessDrops reports kept pages that writes drop although they do not change them. Its
// remedy has the table of the pages that each write changes.
func findNeedlessDrops(v *cause.View) []iikanji.Finding {
	if v.Input.Run == nil || v.Self.Engine != iikanji.EngineNginx {
		return nil
	}
	kept := cause.FactsOf(v, fact.TopicKept)
	var out []iikanji.Finding
	for _, at := range slices.Sorted(maps.Keys(kept)) {
		k := kept[at]
		if k.Rows > 0 || len(k.Stale) > 0 || len(k.Unstable) > 0 {
			continue // there is a table, or something else than writes changes pages
		}
		f := iikanji.Finding{Code: "WEB117", Where: v.Self.Name}
		rows, vain, all := tableOf(k, &f)
		if len(rows) == 0 {
			continue
		}
		f.Claim = fmt.Sprintf("%d of %d kept pages that were computed again after a write were the same as before: writes drop more than they change", vain, all)
		f.Gain = cause.Between(float64(vain)*tookOf(v, k.Kept).Seconds(), 0.1, 1)
		f.Remedies = keepByTable(v, k.Kept, rows)
		if v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// keepByTable is the remedy. It has the proof that pages are the same for all clients
// only if this run has it for each of them.
func keepByTable(v *cause.View, kept, rows []string) []iikanji.Remedy {
	r := v.OnSelf("httpcache", "have each write drop the pages that it changes; a write that is not in the table drops all (tested-only)",
		map[string]string{"act": "nginx", "path": strings.Join(kept, ";"), "valid": purgedCache.String(), "cookies": "ignore", "drops": strings.Join(rows, ";")})
	var shared []string
	for _, g := range sharedPages(v) {
		if path, ok := onePath(g.Key); ok {
			shared = append(shared, path)
		}
	}
	if slices.ContainsFunc(kept, func(route string) bool { return !slices.Contains(shared, route) }) {
		return []iikanji.Remedy{r}
	}
	return cause.Proven([]iikanji.Remedy{r}, iikanji.SameForAll)
}

// tookOf is the mean time of an answer of some routes without other load.
func tookOf(v *cause.View, routes []string) time.Duration {
	var sum time.Duration
	n := 0
	for at, a := range cause.FactsOf(v, fact.TopicAnswer) {
		if path, ok := onePath(strings.TrimPrefix(at, v.Self.Name+" ")); ok && slices.Contains(routes, path) {
			sum, n = sum+a.Took, n+1
		}
	}
	return sum / time.Duration(max(n, 1))
}

// tableOf returns one row for each write whose changed pages are certain. all counts the
// pages that were computed again, vain those of them that had not changed. Each row is
// evidence of the finding.
func tableOf(k fact.KeptPages, f *iikanji.Finding) (rows []string, vain, all int) {
	byWrite := map[string][]fact.PageChange{}
	for _, p := range k.Pairs {
		byWrite[p.Write] = append(byWrite[p.Write], p)
	}
	for _, write := range slices.Sorted(maps.Keys(byWrite)) {
		pages, ok := pagesOf(write, k.Kept, byWrite[write])
		if !ok {
			continue
		}
		rows = append(rows, write+"="+strings.Join(pages, ","))
		text := fmt.Sprintf("%s changes %s;", write, cmp.Or(strings.Join(pages, " and "), "no page"))
		for _, p := range byWrite[write] {
			text += fmt.Sprintf(" %s changed %d of %d times,", p.Page, p.Changed, p.Changed+p.Same)
			vain, all = vain+p.Same, all+p.Same+p.Changed
		}
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "app", Text: strings.TrimSuffix(text, ",")})
	}
	return rows, vain, all
}

// pagesOf are the pages that a write drops. A page is left out only if it was seen to stay
// the same; ok is false if that is not known of the pages with other ids than the write's.
func pagesOf(write string, kept []string, pairs []fact.PageChange) (pages []string, ok bool) {
	of := map[string]fact.PageChange{}
	for _, p := range pairs {
		of[p.Page] = p
	}
	ids := strings.Count(write, "/:")
	for _, route := range kept {
		places := strings.Count(route, "/:")
		if places == 0 {
			if !unrelated(of[route]) {
				pages = append(pages, route)
			}
			continue
		}
		if places > 1 || !unrelated(of[withID(route, "id")]) {
			return nil, false
		}
		for n := range ids {
			if page := withID(route, strconv.Itoa(n+1)); !unrelated(of[page]) {
				pages = append(pages, page)
			}
		}
	}
	return pages, true
}

// unrelated reports whether a page was seen to stay the same.
func unrelated(p fact.PageChange) bool { return p.Changed == 0 && p.Same >= leastSame }

// withID is a route with another name of its placeholder.
func withID(route, name string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, ":") {
			segments[i] = ":" + name
		}
	}
	return strings.Join(segments, "/")
}
