package app

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// leastOwn is the least share of the cores that the code of the apps uses in a
// finding.
const leastOwn = 0.4

var cpuBound = cause.Declare(cause.PerRun, findCpuBound,
	cause.Cause{Code: "APP101", Title: "app is CPU-bound", Of: iikanji.OfCPU, Relieves: cause.CPU,
		Line:     "the app's own code is the limit; the finding states how many cores it can use",
		Remedies: []cause.Way{cause.Patch, cause.Person}})

// findCpuBound reports apps whose own code uses most of the stack's cores while these
// are full. With several apps, each with a considerable part of that use is
// reported.
func findCpuBound(v *cause.View) []iikanji.Finding {
	if v.Binding.Resource != "cpu" || !appsLead(v) {
		return nil
	}
	run, apps := v.Input.Run, v.Input.Target.WithRole(iikanji.RoleApp)
	all := float64(max(run.Place.Cores, 1))
	cores, pinned := cause.StackCores(run)
	of := "the machine's cores, and all cores are busy"
	if pinned && cores < all {
		of = fmt.Sprintf("the cores that the stack may use (%.0f of %.0f), and all of them are busy", cores, all)
	}
	share := 0.0
	for _, u := range run.Usage {
		if v.Input.Role(u.Who) == iikanji.RoleApp {
			share += u.Share
		}
	}
	if share*all/cores < leastOwn {
		return nil
	}
	var out []iikanji.Finding
	for _, u := range run.Usage {
		if v.Input.Role(u.Who) != iikanji.RoleApp || u.Share*all/cores < leastOwn/float64(len(apps)) {
			continue
		}
		name := v.Input.Called(u.Who)
		seconds := (u.User + u.System).Seconds()
		may, why := mayUse(v, u.Who)
		if may == 0 {
			may, why = cores, "no lower limit is known"
		}
		out = append(out, iikanji.Finding{Code: "APP101", Where: u.Who,
			Claim: fmt.Sprintf("%s's own code uses %.0f %% of %s", name, 100*u.Share*all/cores, of),
			Evidence: []iikanji.Evidence{{Source: "usage", Text: fmt.Sprintf("%s: %.1f s user, %.1f s system; %.1f of %.0f cores",
				u.Who, u.User.Seconds(), u.System.Seconds(), u.Share*all, cores)},
				{Source: "process", Text: fmt.Sprintf("%s can use %s: %s", name, cause.Plural(min(may, cores), "core"), why)}},
			Gain: cause.Between(seconds, 0.05, 0.5),
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: u.Who, Says: "profile the app under this load; do less per request"},
				iikanji.ByPerson(u.Who, "move the app to its own machine")},
		})
	}
	return out
}

// appsLead reports whether the apps together used more of the CPU than the
// services of any other role.
func appsLead(v *cause.View) bool {
	shares := map[iikanji.Role]float64{}
	for _, u := range v.Input.Run.Usage {
		if role := v.Input.Role(u.Who); role != iikanji.RoleUnknown {
			shares[role] += u.Share
		}
	}
	for role, share := range shares {
		if role != iikanji.RoleApp && share >= shares[iikanji.RoleApp] {
			return share == shares[iikanji.RoleApp] && v.Input.Role(v.Binding.Who) == iikanji.RoleApp
		}
	}
	return shares[iikanji.RoleApp] > 0
}
