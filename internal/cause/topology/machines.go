package topology

import (
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A machine is one host of the site in a run.
type machine struct {
	name  string // "" for the one that sends the load
	cores float64
	used  float64                  // share of its cores, 0..1, by everything on it
	peak  float64                  // the same of the half of the time in which it was greatest
	of    map[string]iikanji.Usage // with shares of these cores
}

// machines are the hosts of the site whose CPU time is known, in the order of the target. The
// machine that sends the load is one of them only if a service runs there.
func machines(v *cause.View) []machine {
	run := v.Input.Run
	if run == nil {
		return nil
	}
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, s := range v.Input.Target.Services {
		add(s.Host)
	}
	for _, h := range run.Hosts {
		add(h.Name)
	}
	var out []machine
	for _, name := range names {
		m := machine{name: name, cores: coresOf(run, name), of: map[string]iikanji.Usage{}}
		part := 1.0
		if quota := run.CapacityOf(name); quota < m.cores { // what others use of the machine is not the services'
			part, m.cores = m.cores/quota, quota
		}
		for _, u := range run.Usage {
			if u.Host != name {
				continue
			}
			if u.Share *= part; u.Who == "other" && part > 1 {
				u.Share = 0
			}
			m.used += u.Share
			m.of[u.Who] = u
		}
		if m.peak = m.used; m.cores > 0 {
			m.peak = max(m.peak, busyHalf(v, name, part > 1)/m.cores)
		}
		if run.UsedUp(name) {
			m.peak = max(m.peak, 1)
		}
		if len(m.of) > 0 && m.cores > 0 {
			out = append(out, m)
		}
	}
	return out
}

// busyHalf is the CPU use of a machine, in cores, in the half of the time in which it was
// greatest, 0 where it was not sampled; under a quota that of the services.
func busyHalf(v *cause.View, name string, quota bool) float64 {
	m := v.Input.MachineOf(name)
	switch {
	case m == nil:
		return 0
	case quota:
		return m.ServicesHalf
	}
	return m.BusyHalf
}

func coresOf(run *iikanji.Run, name string) float64 {
	if h, ok := run.Host(name); ok && h.Machine != nil {
		return float64(h.Machine.Cores)
	}
	if name == "" {
		return float64(run.Place.Cores)
	}
	return 0
}

// called is how a sentence names a machine.
func called(name string) string {
	if name == "" {
		return cause.ThisMachine
	}
	return name
}

// runsOn reports whether a service is to run on a machine: its own, or that of an instance.
func runsOn(s iikanji.Service, name string) bool {
	return s.Host == name || slices.Contains(s.Instances, name)
}

// trips are the connections between services of two machines, by client and server.
func trips(v *cause.View) (out []trip) {
	for f, t := range fact.TopicTrip.In(v.Input.Facts) {
		out = append(out, trip{f.Target, f.Key, t})
	}
	return out
}

type trip struct {
	client, server string
	fact.Trip
}

// statements are how many statements a database executed in the run, 0 if unknown.
func statements(v *cause.View, database string) (n float64) {
	for _, p := range v.Input.Profiles {
		if p.Source != iikanji.Slow || p.Target != database || !v.Input.Seen(p) {
			continue
		}
		for _, r := range p.Rows {
			n += float64(r.Count)
		}
	}
	return n
}
