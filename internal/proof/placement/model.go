package placement

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

// A Resource is what a host has a limited amount of per second.
type Resource int

// The resources of a host. Memory is none: it is a condition, not a rate.
const (
	CPU  Resource = iota // core seconds
	Disk                 // bytes
	Link                 // bytes
	resources
)

func (r Resource) String() string { return [...]string{"CPU", "disk", "link"}[r] }

// A Host is a machine. A capacity of 0 is unknown, and limits nothing.
type Host struct {
	Name string
	// Cores are the CPU seconds per second, of the speed of the host where demands were
	// measured.
	Cores  float64
	Disk   float64 // bytes per second
	Link   float64 // bytes per second, both ways together
	Memory float64 // bytes
	Roles  []iikanji.Role
}

// A Service is what may be placed. Demands are those of one request to the site.
type Service struct {
	Name string
	Role iikanji.Role
	CPU  float64 // seconds per request
	// Error is the standard error of CPU as a part of it.
	Error  float64
	Disk   float64 // bytes per request
	Memory float64 // bytes, on each of its hosts
	// Fixed: it stays where it is, as the front, or what must not run twice and cannot move.
	Fixed bool
	// Many: it may run on several hosts, which share its requests.
	Many bool
	// May are the hosts that it may run on, as a set of bits like those of a Placement; 0 for
	// all whose roles have its own.
	May uint8
}

// A Call is what one service asks of another one.
type Call struct {
	From, To int     // indexes of services
	Count    float64 // statements or requests per request to the site
	Bytes    float64 // both ways, per request to the site
}

// PerCall is the CPU that a call between two hosts costs at each end more than one on one
// host, in seconds: about 20 µs for the kernel's network stack and interrupts.
const PerCall = 20e-6

// A Model is a site on its hosts, at most 8 of them.
type Model struct {
	Hosts    []Host
	Services []Service
	Calls    []Call
	// PerCall is measured, or 0 for the constant.
	PerCall float64
}

const mostHosts = 8

// A Placement has the hosts of each service, as a set of bits: 1 << index.
type Placement []uint8

// On makes the set of hosts of a service.
func On(hosts ...int) (set uint8) {
	for _, h := range hosts {
		set |= 1 << h
	}
	return set
}

// Hosts are the indexes of the hosts of a service.
func (p Placement) Hosts(service int) (all []int) {
	for h := range mostHosts {
		if p[service]&(1<<h) != 0 {
			all = append(all, h)
		}
	}
	return all
}

// A Limit is what limits the throughput of a placement.
type Limit struct {
	Host     int
	Resource Resource
}

// demand is what each host has to give per request.
type demand [mostHosts][resources]float64

// demandOf adds up a placement, with the CPU of services times scale (nil for 1).
func (m *Model) demandOf(p Placement, scale []float64) (d demand) {
	for i := range m.Services {
		n := float64(count(p[i]))
		cpu := m.Services[i].CPU / n
		if scale != nil {
			cpu *= scale[i]
		}
		for h := range m.Hosts {
			if p[i]&(1<<h) != 0 {
				d[h][CPU] += cpu
				d[h][Disk] += m.Services[i].Disk / n
			}
		}
	}
	each := m.PerCall
	if each == 0 {
		each = PerCall
	}
	for _, c := range m.Calls {
		m.distance(&d, p, c, each)
	}
	return d
}

// distance adds what the calls between different hosts cost. An instance asks any of the
// instances that it may ask, unless one is on its own host.
func (m *Model) distance(d *demand, p Placement, c Call, each float64) {
	from, to := p[c.From], p[c.To]
	far := from &^ to // a caller with an instance beside it asks that one
	if far == 0 {
		return
	}
	part := float64(count(far)) / float64(count(from))
	for h := range m.Hosts {
		bit := uint8(1) << h
		if far&bit != 0 {
			d[h][CPU] += c.Count * each * part / float64(count(far))
			d[h][Link] += c.Bytes * part / float64(count(far))
		}
		if to&bit != 0 {
			d[h][CPU] += c.Count * each * part / float64(count(to))
			d[h][Link] += c.Bytes * part / float64(count(to))
		}
	}
}

func count(set uint8) (n int) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}

func (h *Host) capacity(r Resource) float64 {
	switch r {
	case CPU:
		return h.Cores
	case Disk:
		return h.Disk
	}
	return h.Link
}

// Throughput is the most requests per second of a placement, and what limits it; +Inf if
// nothing does.
func (m *Model) Throughput(p Placement) (float64, Limit) {
	return m.least(m.demandOf(p, nil))
}

func (m *Model) least(d demand) (float64, Limit) {
	most, by := math.Inf(1), Limit{}
	for h := range m.Hosts {
		for r := range resources {
			if have := m.Hosts[h].capacity(r); have > 0 && d[h][r] > 0 && have/d[h][r] < most {
				most, by = have/d[h][r], Limit{h, r}
			}
		}
	}
	return most, by
}

// fits reports whether the memory of each host holds its services.
func (m *Model) fits(p Placement) bool {
	for h := range m.Hosts {
		if m.Hosts[h].Memory == 0 {
			continue
		}
		used := 0.0
		for i := range m.Services {
			if p[i]&(1<<h) != 0 {
				used += m.Services[i].Memory
			}
		}
		if used > m.Hosts[h].Memory {
			return false
		}
	}
	return true
}

// wide is how many standard errors the range of a prediction has to each side: 90 % of a
// normal distribution.
const wide = 1.645

// Ratio is the throughput of a placement over that of another one, with a range from the
// errors of the services' CPU (each alone, added up as independent).
func (m *Model) Ratio(now, then Placement) (mid float64, r iikanji.Range) {
	mid = m.ratio(now, then, nil)
	scale := make([]float64, len(m.Services))
	up, down := 0.0, 0.0
	for i := range m.Services {
		for k := range scale {
			scale[k] = 1
		}
		for _, sign := range []float64{-1, 1} {
			scale[i] = max(0.05, 1+sign*wide*m.Services[i].Error)
			switch by := m.ratio(now, then, scale) - mid; {
			case by > 0:
				up += by * by
			default:
				down += by * by
			}
		}
	}
	return mid, iikanji.Range{Lo: max(0, mid-math.Sqrt(down)), Hi: mid + math.Sqrt(up)}
}

func (m *Model) ratio(now, then Placement, scale []float64) float64 {
	a, _ := m.least(m.demandOf(now, scale))
	b, _ := m.least(m.demandOf(then, scale))
	if math.IsInf(a, 1) || math.IsInf(b, 1) {
		return 1
	}
	return b / a
}

// may reports whether a service may run on a host.
func (m *Model) may(service, host int) bool {
	roles, may := m.Hosts[host].Roles, m.Services[service].May
	if may != 0 && may&On(host) == 0 {
		return false
	}
	return len(roles) == 0 || slices.Contains(roles, m.Services[service].Role)
}
