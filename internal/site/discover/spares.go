package discover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A Site is what was found of a site on several machines.
type Site struct {
	*Found
	Machines []MachineFound `json:"machines"`
	// Keep are units that are neither the site's nor a package's.
	Keep []string `json:"keep,omitempty"`
	// Races are enabled units that would take the port of one of the site at a boot.
	Races []Race `json:"races,omitempty"`
	// Reaches are the ports of services as other machines reach them.
	Reaches []PortReach `json:"reaches,omitempty"`
	// Least and Most are the round trips between two machines.
	Least time.Duration `json:"least_trip_ns"`
	Most  time.Duration `json:"most_trip_ns"`
}

// A MachineFound is one machine of a site.
type MachineFound struct {
	Name     string   `json:"name"`
	Address  string   `json:"address,omitempty"` // for the other machines
	Cores    int      `json:"cores"`
	Memory   int64    `json:"memory"` // bytes
	Services []string `json:"services,omitempty"`
	Spares   []string `json:"spares,omitempty"`
	// Twins are the spares whose program and configuration are those of the service.
	Twins []string `json:"twins,omitempty"`
	Front bool     `json:"front,omitempty"`
}

// A Race is a unit that a boot would start beside one of the site, for one port.
type Race struct {
	Unit    string `json:"unit"`
	Service string `json:"service"`
	Port    int    `json:"port"`
	Machine string `json:"machine"`
}

// A PortReach is the port of a service as other machines reach it.
type PortReach struct {
	Service string `json:"service"`
	Port    int    `json:"port"`
	State   string `json:"state"`
	Listens string `json:"listens"` // address
}

// shown is the name of a service to people: its unit.
func shown(svc *target.Service) string {
	if svc.Unit != "" {
		return svc.Unit
	}
	return svc.Name
}

// spares finds on which machines the units of the site are installed and not used.
func (s *sites) spares(ctx context.Context) error {
	var asked []UnitQuestion
	for _, svc := range s.out.File.Services {
		if svc.Unit != "" && !slices.ContainsFunc(asked, func(q UnitQuestion) bool { return q.Unit == svc.Unit }) {
			asked = append(asked, UnitQuestion{svc.Unit, svc.Engine})
		}
	}
	answers := map[*placed][]UnitAnswer{}
	for _, p := range s.places {
		answers[p] = nil
	}
	results := make([][]UnitAnswer, len(s.places))
	err := s.each(func(p *placed) (err error) {
		results[slices.Index(s.places, p)], err = unitsTask().On(ctx, p.Host, asked)
		return err
	})
	if err != nil {
		return err
	}
	of := func(p *placed, unit string) (UnitAnswer, bool) {
		list := results[slices.Index(s.places, p)]
		i := slices.IndexFunc(list, func(a UnitAnswer) bool { return a.Unit == unit })
		if i < 0 {
			return UnitAnswer{}, false
		}
		return list[i], list[i].Installed
	}
	for _, p := range s.places {
		m := MachineFound{Name: p.As.Name, Address: p.As.Private, Cores: p.Cores, Memory: p.Memory, Front: p == s.home}
		for i := range s.out.File.Services {
			svc := &s.out.File.Services[i]
			if s.onMachine(svc, p) || slices.Contains(svc.Instances, p.As.Name) {
				m.Services = append(m.Services, shown(svc))
				continue
			}
			there, installed := of(p, svc.Unit)
			if !installed || slices.Contains(m.Services, svc.Unit) || slices.Contains(m.Spares, svc.Unit) || s.uses(p, svc.Unit) {
				continue
			}
			m.Spares = append(m.Spares, svc.Unit)
			svc.Spare = append(svc.Spare, p.As.Name)
			if home, ok := of(s.machine(svc.Host), svc.Unit); ok && home.Sum != "" && home.Sum == there.Sum && home.Config == there.Config {
				m.Twins = append(m.Twins, svc.Unit)
			}
		}
		s.out.Machines = append(s.out.Machines, m)
	}
	return nil
}

// onMachine reports whether a service's home is a machine.
func (s *sites) onMachine(svc *target.Service, p *placed) bool {
	return svc.Host == p.As.Name || svc.Host == "" && p.As.Here()
}

// uses reports whether the site has a service by a unit on a machine.
func (s *sites) uses(p *placed, unit string) bool {
	return slices.ContainsFunc(s.out.File.Services, func(o target.Service) bool {
		return o.Unit == unit && (s.onMachine(&o, p) || slices.Contains(o.Instances, p.As.Name))
	})
}

// machine is the one of a name.
func (s *sites) machine(name string) *placed {
	for _, p := range s.places {
		if p.As.Name == name || name == "" && p.As.Here() {
			return p
		}
	}
	return s.home
}

// keep finds the units that are neither the site's nor a package's, and those that would
// race for a port at a boot.
func (s *sites) keep() {
	ours := func(unit string) bool {
		return slices.ContainsFunc(s.out.File.Services, func(svc target.Service) bool { return svc.Unit == unit })
	}
	racing := map[string]bool{}
	for _, p := range s.places {
		for _, u := range p.Units {
			if !u.Boots || u.Active == "active" || !strings.HasSuffix(u.Name, ".service") || ours(u.Name) {
				continue
			}
			for i := range s.out.File.Services {
				svc := &s.out.File.Services[i]
				port := portOf(svc)
				if s.onMachine(svc, p) && port > 0 && slices.Contains(u.Ports, port) {
					racing[u.Name] = true
					s.out.Races = append(s.out.Races, Race{u.Name, svc.Name, port, p.As.Name})
				}
			}
		}
	}
	for _, p := range s.places {
		for _, u := range p.Units {
			if u.Local && strings.HasSuffix(u.Name, ".service") && (u.Boots || u.Active == "active") && !ours(u.Name) && !racing[u.Name] && !slices.Contains(s.out.Keep, u.Name) {
				s.out.Keep = append(s.out.Keep, u.Name)
			}
		}
	}
	slices.Sort(s.out.Keep)
	s.out.File.Policy.Keep = s.out.Keep
}

// portOf is the TCP port of a service, 0 for none.
func portOf(svc *target.Service) int {
	_, port, err := net.SplitHostPort(svc.Listen)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port) // 0 for a name
	return n
}

// sshPort is one that every machine answers at, in one way or another.
const sshPort = "22"

// reach tries the ports of services from the other machines, and takes the round trips.
func (s *sites) reach(ctx context.Context) error {
	if len(s.places) < 2 {
		return nil
	}
	results := make([][]Reach, len(s.places))
	err := s.each(func(p *placed) (err error) {
		var addresses []string
		for _, other := range s.places {
			if other == p || other.As.Private == "" {
				continue
			}
			addresses = append(addresses, net.JoinHostPort(other.As.Private, sshPort))
			for i := range s.out.File.Services {
				svc := &s.out.File.Services[i]
				if port := portOf(svc); port > 0 && s.onMachine(svc, other) {
					addresses = append(addresses, net.JoinHostPort(other.As.Private, strconv.Itoa(port)))
				}
			}
		}
		results[slices.Index(s.places, p)], err = reachTask().On(ctx, p.Host, addresses)
		return err
	})
	if err != nil {
		return err
	}
	states := map[string]string{}
	for _, list := range results {
		trips := map[netip.Addr]time.Duration{}
		for _, r := range list {
			if states[r.Address] == "" || states[r.Address] == ReachOpen { // the worst of all machines
				states[r.Address] = r.State
			}
			a, err := netip.ParseAddrPort(r.Address)
			if err == nil && r.Trip > 0 && (trips[a.Addr()] == 0 || r.Trip < trips[a.Addr()]) {
				trips[a.Addr()] = r.Trip
			}
		}
		for _, trip := range trips {
			if s.out.Least == 0 || trip < s.out.Least {
				s.out.Least = trip
			}
			s.out.Most = max(s.out.Most, trip)
		}
	}
	for i := range s.out.File.Services {
		svc := &s.out.File.Services[i]
		at := s.machine(svc.Host)
		if port := portOf(svc); port > 0 && (isData(svc.Role) || at != s.home || svc.Role != iikanji.RoleWeb) {
			if state := states[net.JoinHostPort(at.As.Private, strconv.Itoa(port))]; state != "" {
				s.out.Reaches = append(s.out.Reaches, PortReach{svc.Name, port, state, svc.Listen})
			}
		}
	}
	return nil
}

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded)
}

// finish fills in what the machines cannot know.
func (s *sites) finish(ctx context.Context) {
	one := &search{Options: s.Options, host: host.Local{}, out: s.out.Found}
	one.finish(ctx)
	for i, svc := range s.out.File.Services {
		if len(svc.Spare) > 0 {
			s.out.Notes[fmt.Sprintf("service.%d.spare", i+1)] = "Installed there, too, and not used."
		}
	}
	s.out.Notes["policy.keep"] = "Never edited, stopped or disabled."
	s.mayMove()
	s.out.Limits = append(s.out.Limits, s.out.File.Limits()...)
}
