package app

import (
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// largerBy is how much more the first variant of a capacity lets in.
const largerBy = 4

// capacities reports constants with which an app compares the number of what exists, to refuse
// more. Time shows nothing of them: what is refused costs little. A run has met such a constant
// if requests to its function were refused, or if they came and no resource was used up.
// Where requests were refused, the work may grow as far as the constant does.
func capacities(v *cause.View) []iikanji.Finding {
	var met []hotSite
	for _, s := range v.Sites {
		if !s.At().Capacity {
			continue
		}
		h := hotSite{Site: s, refused: refusedBy(v, s)}
		idle := v.Binding.Resource == ""
		if h.refused == 0 && (!idle || requestsTo(v, s) == 0 && executions(v, s) == 0) {
			continue
		}
		met = append(met, h)
	}
	var out []iikanji.Finding
	for _, s := range oncePerSource(met) {
		f := leverFinding(v, s, nil)
		f.Claim, f.Evidence = s.At().What, slices.Concat(reachedBy(v, s.Site), statementsOf(s.At()))
		switch {
		case s.refused > 0:
			f.More = math.Log(largerBy)
			f.Claim += fmt.Sprintf("; %s to its routes were answered with an error", cause.Plural(s.refused, "request"))
		default:
			f.Claim += "; no resource was used up"
		}
		if v.Binding.Resource == "" { // nothing asks for less
			f.Remedies = slices.DeleteFunc(f.Remedies, func(r iikanji.Remedy) bool { return r.Args["variant"] == "half" })
		}
		out = append(out, f)
	}
	return out
}

// refusedBy counts the requests that the routes of a site answered with an error.
func refusedBy(v *cause.View, s cause.Site) float64 {
	n := 0.0
	for _, r := range v.Access() {
		if v.Reaches(s.Service, r.Key, s.At().Func) {
			n += float64(r.Web.Status[4] + r.Web.Status[5])
		}
	}
	return n
}

// executions counts those of the statements of a site that ran most often.
func executions(v *cause.View, s cause.Site) float64 {
	n := 0.0
	for _, d := range v.Digests {
		if d.Query != nil && s.Sends(d) {
			n = max(n, float64(d.Count))
		}
	}
	return n
}
