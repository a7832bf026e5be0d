package placement

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

// Observed is what runs of one state of a site have shown.
type Observed struct {
	Target iikanji.Target
	// Runs have the CPU time of the services, the observed run among them.
	Runs []*iikanji.Run
	// Profiles are those of the observed run.
	Profiles []iikanji.Profile
}

// A Site is a model of an observed site with its present placement.
type Site struct {
	Model
	Now   Placement
	Loads []Load // of the hosts
}

// usualError is the standard error of a service's CPU as a part of it where fewer than two
// runs have measured it, and the least one: an observed run logs every statement, which costs
// up to about so much.
const usualError = 0.1

// Of is the model of an observed site. Its unit of work is what the site does in a second, so
// that demands are CPU seconds per second; ratios do not depend on it. ok is false for a site
// on one host, or with more hosts or services than are enumerated, and where the CPU time of
// a service is not known.
func Of(o Observed) (s *Site, ok bool) {
	hosts := hostsOf(o.Target)
	if len(hosts) < 2 || len(hosts) > mostPlaceable || len(o.Target.Services) > mostServices || len(o.Runs) == 0 {
		return nil, false
	}
	s = &Site{}
	for _, name := range hosts {
		h, l := o.host(name)
		s.Hosts, s.Loads = append(s.Hosts, h), append(s.Loads, l)
	}
	for _, svc := range o.Target.Services {
		one, at, known := o.service(svc, hosts)
		if !known {
			return nil, false
		}
		s.Services, s.Now = append(s.Services, one), append(s.Now, at)
	}
	for i := range s.Hosts { // MemLeast is what the services leave
		for k := range s.Services {
			if s.Hosts[i].Memory > 0 && s.Now[k]&On(i) != 0 {
				s.Hosts[i].Memory += s.Services[k].Memory
			}
		}
	}
	s.Calls = o.calls()
	return s, true
}

// hostsOf are the names of a target's hosts: those of its services first.
func hostsOf(t iikanji.Target) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, s := range t.Services {
		add(s.Host)
		for _, name := range s.Instances {
			add(name)
		}
	}
	for _, h := range t.Hosts {
		add(h.Name)
	}
	return names
}

// host is what a host has for the services of the site, and how much of it was used.
func (o *Observed) host(name string) (h Host, l Load) {
	h = Host{Name: name, Roles: o.Target.Roles[name]}
	for _, r := range o.Runs {
		cores, all := r.CapacityOf(name), float64(r.CoresOf(name))
		used, others := 0.0, 0.0
		for _, u := range r.Usage {
			switch {
			case u.Host != name:
			case u.Who == "other" && cores < all: // of the whole machine, of which the site has a quota
			case u.Who == "other" || u.Who == "generator":
				others += u.Share * all
			default:
				used += u.Share * all
			}
		}
		h.Cores += max(0, cores-others) / float64(len(o.Runs))
		l.CPU += (used + others) / cores / float64(len(o.Runs))
	}
	if o.Runs[len(o.Runs)-1].UsedUp(name) {
		l.CPU = max(l.CPU, 1)
	}
	if m := o.machine(name); m != nil {
		if cores, whole := o.capacity(name); cores > 0 && cores < whole {
			l.CPU = max(l.CPU, m.ServicesHalf/cores)
		} else if whole > 0 {
			l.CPU = max(l.CPU, m.BusyHalf/whole)
		}
		h.Memory = float64(m.MemLeast)
		if m.MemTotal > 0 {
			l.Memory = 1 - float64(m.MemLeast)/float64(m.MemTotal)
		}
		l.Disk = m.PressureIO
	}
	return h, l
}

// capacity is how many cores the services of a host may use in the latest run, and how many
// it has.
func (o *Observed) capacity(name string) (cores, whole float64) {
	r := o.Runs[len(o.Runs)-1]
	return r.CapacityOf(name), float64(r.CoresOf(name))
}

// machine is the row of a host in its profile, nil if it was not seen.
func (o *Observed) machine(name string) *iikanji.MachineRow {
	for _, p := range o.Profiles {
		if p.Source != iikanji.Host || p.Target != name && !(name == "" && p.Target == "local") {
			continue
		}
		for _, r := range p.Rows {
			if r.Host != nil && r.Host.Machine != nil {
				return r.Host.Machine
			}
		}
	}
	return nil
}

// service is the demand of a service, and its hosts now.
func (o *Observed) service(svc iikanji.Service, hosts []string) (s Service, at uint8, ok bool) {
	s = Service{Name: svc.Name, Role: svc.Role}
	at = On(slices.Index(hosts, svc.Host))
	for _, name := range svc.Instances {
		at |= On(slices.Index(hosts, name))
	}
	var cpu []float64
	for _, r := range o.Runs {
		seconds, found := 0.0, false
		for _, u := range r.Usage {
			if u.Who == svc.Name && at&On(slices.Index(hosts, u.Host)) != 0 {
				seconds, found = seconds+(u.User+u.System).Seconds(), true
				s.Memory = max(s.Memory, float64(u.PeakRS))
			}
		}
		if found && r.Took > 0 {
			cpu = append(cpu, seconds/r.Took.Seconds())
		}
	}
	if len(cpu) == 0 {
		return s, at, false
	}
	s.CPU, s.Error = mean(cpu)
	s.May = at
	for i, name := range hosts {
		if slices.Contains(svc.Spare, name) && o.Target.Stays(svc, name) == "" {
			s.May |= On(i)
		}
	}
	s.Fixed = s.May == at
	return s, at, true
}

// mean is the mean of measurements, and its standard error as a part of it.
func mean(x []float64) (mid, part float64) {
	n := float64(len(x))
	for _, v := range x {
		mid += v / n
	}
	if len(x) < 2 || mid <= 0 {
		return mid, usualError
	}
	for _, v := range x {
		part += (v - mid) * (v - mid) / (n - 1)
	}
	return mid, max(usualError, math.Sqrt(part/n)/mid)
}

// calls are what the services ask of each other in a second: requests of web servers to apps,
// and statements of apps to databases. Which of several apps sends a statement is not known:
// they share them.
func (o *Observed) calls() (out []Call) {
	seconds := o.Runs[len(o.Runs)-1].Took.Seconds()
	if seconds <= 0 {
		return nil
	}
	counts := map[string]float64{}
	for _, p := range o.Profiles {
		for _, r := range p.Rows {
			if p.Source == iikanji.Access || p.Source == iikanji.Slow {
				counts[p.Target] += float64(r.Count) / seconds
			}
		}
	}
	between := func(from, to iikanji.Role, of func(from, to int) float64) {
		callers := 0
		for _, s := range o.Target.Services {
			if s.Role == from {
				callers++
			}
		}
		for i, a := range o.Target.Services {
			for k, b := range o.Target.Services {
				if n := of(i, k); a.Role == from && b.Role == to && n > 0 {
					out = append(out, Call{From: i, To: k, Count: n / float64(callers)})
				}
			}
		}
	}
	apps := float64(max(1, len(o.Target.WithRole(iikanji.RoleApp))))
	between(iikanji.RoleWeb, iikanji.RoleApp, func(from, _ int) float64 {
		return counts[o.Target.Services[from].Name] * float64(len(o.Target.WithRole(iikanji.RoleWeb))) / apps
	})
	between(iikanji.RoleApp, iikanji.RoleDatabase, func(_, to int) float64 { return counts[o.Target.Services[to].Name] })
	return out
}

// A Move is one service that goes to another host, with what the model predicts of it.
type Move struct {
	Service, To string // names
	Ratio       float64
	Range       iikanji.Range
}

// Placed predicts the ratio if a service runs on these hosts, which share its requests alike.
// ok is false if the model has no such service or host.
func (s *Site) Placed(service string, hosts ...string) (ratio float64, r iikanji.Range, ok bool) {
	i := slices.IndexFunc(s.Services, func(o Service) bool { return o.Name == service })
	if i < 0 || len(hosts) == 0 {
		return 0, r, false
	}
	then := slices.Clone(s.Now)
	then[i] = 0
	for _, name := range hosts {
		h := slices.IndexFunc(s.Hosts, func(o Host) bool { return o.Name == name })
		if h < 0 {
			return 0, r, false
		}
		then[i] |= On(h)
	}
	ratio, r = s.Ratio(s.Now, then)
	return ratio, r, true
}

// Moves are the moves of one service that promise at least least, as a ratio, the best first,
// at most most; nil where no host is the limit, or none has enough left.
func (s *Site) Moves(least float64, most int) (out []Move) {
	if !Asked(s.Loads) {
		return nil
	}
	for _, p := range s.Propose(s.Now, least, spare) {
		if len(p.Moves) == 1 && len(out) < most {
			i := p.Moves[0]
			out = append(out, Move{s.Services[i].Name, s.Hosts[p.Placement.Hosts(i)[0]].Name, p.Ratio, p.Range})
		}
	}
	return out
}
