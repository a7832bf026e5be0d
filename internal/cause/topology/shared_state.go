package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// The verdicts of fact.Tie that decide whether and how an app can run twice.
const (
	tieRefused = "refused"
	tiePinned  = "pinned"
	tieByHost  = "by host"
)

// mostTies bounds the places that a finding names.
const mostTies = 12

var sharedState = cause.Declare(cause.PerRun, findSharedState,
	cause.Cause{Code: "TOP104", Title: "what keeps the app on one host", Of: iikanji.OfCPU, Relieves: cause.CPU,
		Line:     "an app that fills its machine could run on another one too, if what it keeps were shared",
		Remedies: []cause.Way{cause.Plan("topology", "spread", iikanji.RoleApp), cause.Person}})

// findSharedState reports apps of the machine that is the limit, while another machine is
// idle: with the places that keep the app from running twice, or that nothing does.
func findSharedState(v *cause.View) []iikanji.Finding {
	all := machines(v)
	full := fullOf(v, all)
	if full == nil {
		return nil
	}
	var out []iikanji.Finding
	for _, s := range v.Input.Target.WithRole(iikanji.RoleApp) {
		u, runs := full.of[s.Name]
		is, known := fact.TopicTies.Of(v.Input.Facts, s.Name, "")
		if s.Host != full.name || !runs || !known || !is.Known || len(s.Instances) > 0 || u.Share/full.used < leastMoved {
			continue
		}
		var best *machine // with most cores left
		for i, to := range all {
			if to.name == full.name || 1-to.peak < leastIdle || !fits(v, s, to.name) || !mayRun(v, s, to.name) {
				continue
			}
			if best == nil || (1-to.peak)*to.cores > (1-best.peak)*best.cores {
				best = &all[i]
			}
		}
		if best != nil {
			out = append(out, spreadFinding(s, u, *full, *best, is))
		}
	}
	return out
}

// mayRun reports whether the roles of a machine allow a service.
func mayRun(v *cause.View, s iikanji.Service, name string) bool {
	roles := v.Input.Target.Roles[name]
	return len(roles) == 0 || slices.Contains(roles, s.Role)
}

func spreadFinding(s iikanji.Service, u iikanji.Usage, full, to machine, is fact.Ties) iikanji.Finding {
	seconds := (u.User + u.System).Seconds()
	f := iikanji.Finding{Code: "TOP104", Where: s.Name, Gain: cause.Between(seconds/2, 0.3, 1),
		Evidence: []iikanji.Evidence{{Source: "usage", Text: fmt.Sprintf("%s: %.0f %% of %.2g cores; %s: %.1f s of CPU; %s: %.0f %%",
			called(full.name), 100*full.peak, full.cores, s.Name, seconds, called(to.name), 100*to.peak)}}}
	refused := with(is.All, tieRefused)
	if stop := append(refused, with(is.All, tieByHost)...); len(stop) > 0 {
		f.Claim = fmt.Sprintf("%s fills %s, and %s keep it from running on %s too", s.Name, called(full.name), cause.Plural(float64(len(stop)), "place"), called(to.name))
		f.Evidence = append(f.Evidence, evidenceOf(stop)...)
		f.Remedies = curesOf(s.Name, stop)
		return f
	}
	args := map[string]string{"act": "spread", "service": s.Name, "over": full.name + "," + to.name}
	f.Claim = fmt.Sprintf("%s fills %s, and could run on %s too: nothing that requests need is on one host", s.Name, called(full.name), called(to.name))
	says := fmt.Sprintf("run it on %s too", called(to.name))
	if pinned := with(is.All, tiePinned); len(pinned) > 0 {
		routes := routesOf(pinned)
		f.Claim = fmt.Sprintf("%s fills %s, and could run on %s too, but for %s with files of %s", s.Name, called(full.name), called(to.name), cause.Plural(float64(len(routes)), "route"), called(full.name))
		f.Evidence = append(f.Evidence, evidenceOf(pinned)...)
		args["by"] = "path"
		says += ", without " + strings.Join(routes, ", ")
	}
	f.Remedies = []iikanji.Remedy{{Kind: "topology", Target: s.Name, Args: args, Says: says}}
	return f
}

func with(all []fact.Tie, verdict string) []fact.Tie {
	return slices.DeleteFunc(slices.Clone(all), func(t fact.Tie) bool { return t.Spread != verdict })
}

func evidenceOf(all []fact.Tie) (out []iikanji.Evidence) {
	for _, t := range all[:min(len(all), mostTies)] {
		text := fmt.Sprintf("%s at %s (%s): %s", t.Kind, t.Place, t.Name, t.Breaks)
		if len(t.Routes) > 0 && len(t.Routes) <= mostRoutes {
			text += "; " + strings.Join(t.Routes, ", ")
		}
		out = append(out, iikanji.Evidence{Source: "source", Text: text})
	}
	return out
}

// mostRoutes bounds the routes that one place is shown with.
const mostRoutes = 4

// curesOf are what a person can do, once each, with the first place.
func curesOf(service string, all []fact.Tie) (out []iikanji.Remedy) {
	seen := map[string]bool{}
	for _, t := range all {
		if !seen[t.Cure] {
			seen[t.Cure] = true
			out = append(out, iikanji.ByPerson(service, fmt.Sprintf("%s (%s)", t.Cure, t.Place)))
		}
	}
	return out
}

// routesOf are the routes of ties, each once.
func routesOf(all []fact.Tie) (out []string) {
	for _, t := range all {
		for _, r := range t.Routes {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	slices.Sort(out)
	return out
}
