package diagnose

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
)

// A Binding is the resource that a run had too little of.
type Binding struct {
	Resource string // cpu, generator, or "" when none was used up
	Who      string // the service that used most of it
	Share    float64
}

// full is the share of a machine's cores from which on the CPU is the limit.
const full = 0.85

// BindingOf tells from a run's usage what bound it. Services on one machine
// share its cores: a second saved in one of them serves all.
func BindingOf(run *iikanji.Run) Binding {
	if run == nil {
		return Binding{}
	}
	if run.Load.Void || run.Load.CPUShare > full {
		return Binding{"generator", "generator", run.Load.CPUShare}
	}
	usage := slices.DeleteFunc(slices.Clone(run.Usage), func(u iikanji.Usage) bool { return u.Who == "generator" })
	if len(usage) == 0 {
		return Binding{}
	}
	sum := 0.0
	for _, u := range run.Usage {
		sum += u.Share
	}
	most := slices.MaxFunc(usage, func(a, b iikanji.Usage) int { return cmpFloat(a.Share, b.Share) })
	if sum < full {
		return Binding{"", most.Who, sum}
	}
	return Binding{"cpu", most.Who, most.Share}
}

// ben101 says that the load generator was the limit, so that nothing else is
// worth being believed.
func ben101(v *view) []iikanji.Finding {
	b := BindingOf(v.in.Run)
	if b.Resource != "generator" {
		return nil
	}
	g := v.in.Run.Load
	f := iikanji.Finding{Code: "BEN101", Where: "generator",
		Claim:    fmt.Sprintf("the load generator used %.0f %% of its cores: the score says how fast it is, not the target", 100*g.CPUShare),
		Evidence: []iikanji.Evidence{{Source: "generator", Text: fmt.Sprintf("CPU share %.2f of %d cores, sending late by %s (p99)", g.CPUShare, g.Cores, g.LagP99)}},
		Remedies: []iikanji.Remedy{{Kind: "topology", Target: "generator", Says: "give the generator more cores or another machine"}},
	}
	if g.Why != "" {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "generator", Text: g.Why})
	}
	return []iikanji.Finding{f}
}

// app101 says that the app's own code takes most of a machine that is full.
func app101(v *view) []iikanji.Finding {
	b := BindingOf(v.in.Run)
	if b.Resource != "cpu" || b.Who != "app" || b.Share < 0.4 {
		return nil
	}
	var out []iikanji.Finding
	for _, u := range v.in.Run.Usage {
		if u.Who != "app" {
			continue
		}
		seconds := (u.User + u.System).Seconds()
		out = append(out, iikanji.Finding{Code: "APP101", Where: "app",
			Claim: fmt.Sprintf("the app's own code uses %.0f %% of the machine, and the machine is full", 100*u.Share),
			Evidence: []iikanji.Evidence{{Source: "usage", Text: fmt.Sprintf("app: %.1f s user, %.1f s system; %.1f of %d cores",
				u.User.Seconds(), u.System.Seconds(), u.Share*float64(v.in.Run.Place.Cores), v.in.Run.Place.Cores)}},
			Gain:     between(seconds, 0.05, 0.5),
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: "app", Says: "profile the app under this load; do less per request"}, {Kind: "topology", Target: "app", Says: "give the app a machine of its own"}},
		})
	}
	return out
}
