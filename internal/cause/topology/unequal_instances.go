package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// unequal is how many times as full one machine must be as another one, by one service.
	unequal = 1.5
	// leastBusy is how full the fuller machine must be: idle machines need no balance.
	leastBusy = 0.6
)

var unequalInstances = cause.Declare(cause.PerRun, findUnequalInstances,
	cause.Cause{Code: "TOP103", Title: "instances loaded unequally", Of: iikanji.OfCPU, Relieves: cause.CPU,
		Line:     "one machine of a service is full while another one of it has cores left",
		Remedies: []cause.Way{cause.Plan("topology", "weights", iikanji.RoleApp), cause.Person}})

// findUnequalInstances reports services on several machines whose shares do not fit what the
// machines have left.
func findUnequalInstances(v *cause.View) []iikanji.Finding {
	all := machines(v)
	var out []iikanji.Finding
	for _, s := range v.Input.Target.Services {
		if len(s.Instances) == 0 {
			continue
		}
		var on []machine
		for _, m := range all {
			if runsOn(s, m.name) {
				on = append(on, m)
			}
		}
		if len(on) < 2 {
			continue
		}
		slices.SortFunc(on, func(a, b machine) int { return cmp.Compare(b.used, a.used) })
		most, least := on[0], on[len(on)-1]
		if most.used < leastBusy || most.used < unequal*least.used {
			continue
		}
		f := iikanji.Finding{Code: "TOP103", Where: s.Name,
			Claim: fmt.Sprintf("the instances of %s are loaded unequally: %s is %.0f %% full, %s %.0f %%", s.Name, called(most.name), 100*most.used, called(least.name), 100*least.used)}
		var words, shares []string
		for _, m := range on {
			u := m.of[s.Name]
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "usage", Text: fmt.Sprintf("%s on %s: %.1f s of CPU; the machine is %.0f %% full, of %.2g cores",
				s.Name, called(m.name), (u.User + u.System).Seconds(), 100*m.used, m.cores)})
			words = append(words, fmt.Sprintf("%s %d", called(m.name), weightOf(m, s.Name)))
			shares = append(shares, fmt.Sprintf("%s=%d", called(m.name), weightOf(m, s.Name)))
		}
		u := most.of[s.Name]
		f.Gain = cause.Between((u.User+u.System).Seconds()*(1-least.used/most.used)/2, 0.3, 1)
		says := "set the weights in the front's upstream: " + strings.Join(words, ", ")
		switch {
		case s.Role != iikanji.RoleApp:
			f.Remedies = []iikanji.Remedy{iikanji.ByPerson(s.Name, says+"; iikanji does not: it is no app")}
		case s.Unit == "":
			f.Remedies = []iikanji.Remedy{iikanji.ByPerson(s.Name, says+"; iikanji does not: it has no systemd unit")}
		default:
			f.Remedies = []iikanji.Remedy{{Kind: "topology", Target: s.Name, Says: says,
				Args: map[string]string{"act": "weights", "service": s.Name, "weights": strings.Join(shares, ",")}}}
		}
		out = append(out, f)
	}
	return out
}

// weightOf is the weight of an instance, 1 to 100: what its machine has for it, in tenths of
// a core.
func weightOf(m machine, service string) int {
	left := m.cores * (1 - m.used + m.of[service].Share)
	return min(max(int(10*left+0.5), 1), 100)
}
