package measurement

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var timeouts = cause.Declare(cause.PerRun, findTimeouts,
	cause.Cause{Code: "BEN105", Title: "requests timed out", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "the benchmarker gave up waiting for answers",
		Remedies: []cause.Way{cause.Person}})

// findTimeouts reports the timeouts of the benchmarker by route, and the host and the resource
// that were full meanwhile.
func findTimeouts(v *cause.View) []iikanji.Finding {
	late := said(v, iikanji.MeansTimeout)
	if len(late) == 0 {
		return nil
	}
	counts, routes := map[string]int64{}, []string{}
	for _, m := range late {
		if m.Route == "" {
			continue
		}
		if counts[m.Route] == 0 {
			routes = append(routes, m.Route)
		}
		counts[m.Route] += m.Count
	}
	where, by := "run", ""
	for i, route := range routes[:min(3, len(routes))] {
		if i == 0 {
			where, by = route, ": "
		} else {
			by += ", "
		}
		by += fmt.Sprintf("%s ×%d", route, counts[route])
		if slow := slowness(v, route); slow != "" {
			by += " (" + slow + ")"
		}
	}
	f := iikanji.Finding{Code: "BEN105", Where: where, Evidence: evidenceOf(late),
		Claim: fmt.Sprintf("%s timed out%s", cause.Plural(float64(times(late)), "request"), by)}
	remedy := "nothing was used up: look for waiting in the app (locks, pools, calls to other services) and for limits of connections"
	if what := full(v); what != "" {
		on := ""
		if host := hostOf(v); host != "" {
			on = " of host " + host
		}
		f.Claim += fmt.Sprintf("; %s%s was used up", what, on)
		remedy = fmt.Sprintf("relieve %s%s first: the findings below say by what", what, on)
	}
	f.Remedies = []iikanji.Remedy{iikanji.ByPerson(strings.TrimSpace("run "+hostOf(v)), remedy)}
	return []iikanji.Finding{f}
}
