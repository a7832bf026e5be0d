package topology

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// leastIdle is the share of its cores that a machine must have left to take a service.
	leastIdle = 0.4
	// leastMoved is the least share of the full machine that a service is moved for.
	leastMoved = 0.1
	// leastRatio is the least ratio of throughput, at best, that a move is proposed for: each
	// of its trials costs a copy and several switches.
	leastRatio = 1.1
)

var oneHostFull = cause.Declare(cause.PerRun, findOneHostFull,
	cause.Cause{Code: "TOP101", Title: "one host full, another idle", Of: iikanji.OfCPU, Relieves: cause.CPU,
		Line:     "a service of the full machine would fit on another one",
		Remedies: []cause.Way{cause.Plan("topology", "move", iikanji.RoleDatabase), cause.Person}})

// fullOf is the machine whose CPU is the limit; nil without one.
func fullOf(v *cause.View, all []machine) *machine {
	i := slices.IndexFunc(all, func(m machine) bool { return m.name == v.Binding.Host })
	if v.Binding.Resource != "cpu" || i < 0 || all[i].used <= 0 {
		return nil
	}
	return &all[i]
}

// findOneHostFull reports the service of the machine that is the limit which an idle machine
// could take with most gain, and besides the one that iikanji can move, if that is another
// one. The front stays: clients know its address.
func findOneHostFull(v *cause.View) []iikanji.Finding {
	all := machines(v)
	full := fullOf(v, all)
	if full == nil {
		return nil
	}
	var best, movable *iikanji.Finding
	most, mostMovable := leastRatio, leastRatio
	for _, s := range v.Input.Target.Services {
		u, runs := full.of[s.Name]
		share := u.Share / full.used
		if s.Host != full.name || !runs || s.Role == iikanji.RoleWeb || share < leastMoved {
			continue
		}
		for _, to := range all {
			if to.name == full.name || 1-to.peak < leastIdle || !fits(v, s, to.name) {
				continue
			}
			ratio := moved(share, to.cores*(1-to.peak)/full.cores)
			f := moveFinding(v, s, u, *full, to, share, ratio)
			if ratio > most {
				best, most = &f, ratio
			}
			if ratio > mostMovable && !f.Remedies[0].ForPerson() {
				movable, mostMovable = &f, ratio
			}
		}
	}
	var out []iikanji.Finding
	for _, f := range []*iikanji.Finding{movable, best} {
		if f != nil && (len(out) == 0 || out[0].Where != f.Where) {
			out = append(out, *f)
		}
	}
	return out
}

// moved is by how much the throughput can grow at most, if a service with a share of a full
// machine moves to one with so many times as many cores left: both are limits then.
func moved(share, size float64) float64 { return min(1/(1-min(share, 0.95)), size/share) }

// fits reports whether the memory of a service is left on a machine, as far as both are known.
func fits(v *cause.View, s iikanji.Service, name string) bool {
	row := v.Host(s.Name)
	for _, p := range v.Input.Profiles {
		if p.Source != iikanji.Host || p.Target != called(name) || !v.Input.Seen(p) {
			continue
		}
		for _, r := range p.Rows {
			if r.Host != nil && r.Host.Machine != nil && row != nil {
				return row.PeakRSS < r.Host.Machine.MemLeast
			}
		}
	}
	return true
}

func moveFinding(v *cause.View, s iikanji.Service, u iikanji.Usage, full, to machine, share, ratio float64) iikanji.Finding {
	seconds := (u.User + u.System).Seconds()
	remedy := iikanji.Remedy{Kind: "topology", Target: s.Name, Says: fmt.Sprintf("move %s with its data to %s", s.Name, called(to.name)),
		Args: map[string]string{"act": "move", "service": s.Name, "to": called(to.name)}}
	if why := stays(v, s, to.name); why != "" {
		remedy = iikanji.ByPerson(s.Name, fmt.Sprintf("run it on %s: its data, the address in the settings of its clients, and an account for their addresses; "+
			"iikanji does not: %s", called(to.name), why))
	}
	f := iikanji.Finding{Code: "TOP101", Where: s.Name,
		Claim: fmt.Sprintf("%s is full and %s is not: %s is %.0f %% of it, and on %s the site could do up to ×%.1f",
			called(full.name), called(to.name), v.Input.Called(s.Name), 100*share, called(to.name), ratio),
		Evidence: []iikanji.Evidence{
			{Source: "usage", Text: fmt.Sprintf("%s: %.0f %% of %.2g cores; %s: %.1f s of CPU", called(full.name), 100*full.peak, full.cores, s.Name, seconds)},
			{Source: "usage", Text: fmt.Sprintf("%s: %.0f %% of %.2g cores", called(to.name), 100*to.peak, to.cores)}},
		Gain:     cause.Between(seconds, 0.5, 1),
		Remedies: []iikanji.Remedy{remedy}}
	if n, requests := statements(v, s.Name), v.Requests(); n > 0 && requests > 0 {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "distance", Text: fmt.Sprintf("%.1f statements a request would go over the network then (NET102)", n/requests)})
	}
	return f
}

// stays is why iikanji cannot move a service to a machine, as far as the target shows it; ""
// if nothing does. A move makes a unit of the same name the service's there.
func stays(v *cause.View, s iikanji.Service, to string) string {
	if why := v.Input.Target.Stays(s, to); why != "" {
		return why
	}
	if !slices.Contains(s.Spare, to) {
		return fmt.Sprintf("%s is not installed on %s (spare of its [[service]])", s.Unit, called(to))
	}
	return ""
}
