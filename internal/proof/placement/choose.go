package placement

import (
	"cmp"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

// A Load is how much of a host was used, as parts of its capacities.
type Load struct{ CPU, Memory, Disk float64 }

// Full is the use from which a resource limits a host, and left what another one must have
// left so that moving there can help.
const (
	full = 0.85
	left = 0.40
)

// Asked reports whether placements are worth looking at: one host's CPU, memory or disk is
// the limit, and another has at least 40 % of all of them left.
func Asked(loads []Load) bool {
	limit := slices.ContainsFunc(loads, func(l Load) bool { return l.CPU >= full || l.Memory >= full || l.Disk >= full })
	idle := slices.ContainsFunc(loads, func(l Load) bool { return 1-max(l.CPU, l.Memory, l.Disk) >= left })
	return limit && idle
}

// A Proposal is a placement with its prediction.
type Proposal struct {
	Placement Placement
	Ratio     float64 // of its throughput over the present one
	Range     iikanji.Range
	Limit     Limit // what limits it then
	Moves     []int // services whose hosts differ from the present ones
}

// Most bounds of a search: more services or hosts than these are not enumerated.
const (
	mostServices  = 5
	mostPlaceable = 5
	mostMany      = 2 // services on several hosts
)

// Propose lists the placements that are predicted to be better than the present one by at
// least least (as a ratio, 1.05 for 5 %), the best first, at most most of them. Of placements
// that differ only by the names of equal hosts one is listed. It is nil for a site of more
// services or hosts than are enumerated.
func (m *Model) Propose(now Placement, least float64, most int) []Proposal {
	if len(m.Services) > mostServices || len(m.Hosts) > mostPlaceable || len(now) != len(m.Services) {
		return nil
	}
	s := &enumeration{m: m, now: now, at: make(Placement, len(now)), twins: m.twins(now)}
	s.base, _ = m.Throughput(now)
	if math.IsInf(s.base, 1) {
		return nil
	}
	s.least, s.most = least, most
	s.place(0)
	out := s.best()
	for i := range out {
		out[i].Ratio, out[i].Range = m.Ratio(now, out[i].Placement)
		_, out[i].Limit = m.Throughput(out[i].Placement)
	}
	return out
}

// steps are those of 1 that no measurement tells apart.
const steps = 50

// round makes ratios equal that no measurement tells apart.
func round(ratio float64) float64 { return math.Round(ratio * steps) }

// order is the order of placements whose predictions are equal: the database on the host of
// most memory first.
func (m *Model) order(a, b Placement) int {
	memory := func(p Placement) float64 {
		for i := range m.Services {
			if m.Services[i].Role == iikanji.RoleDatabase {
				return m.Hosts[p.Hosts(i)[0]].Memory
			}
		}
		return 0
	}
	return -cmp.Compare(memory(a), memory(b))
}

// An enumeration goes through all placements.
type enumeration struct {
	m     *Model
	now   Placement
	at    Placement
	twins []int // the lowest host that is equal, and unused as it is
	base  float64
	least float64
	most  int
	found []Proposal
}

// best are the best of those that were found.
func (s *enumeration) best() []Proposal {
	slices.SortStableFunc(s.found, func(a, b Proposal) int {
		return cmp.Or(-cmp.Compare(round(a.Ratio), round(b.Ratio)), cmp.Compare(len(a.Moves), len(b.Moves)), s.m.order(a.Placement, b.Placement))
	})
	return s.found[:min(len(s.found), s.most)]
}

// spare is how many placements are kept besides the best ones before the others are left out.
const spare = 100

// twins are, for each host, the lowest one that is equal to it where both run nothing.
func (m *Model) twins(now Placement) []int {
	used := uint8(0)
	for _, set := range now {
		used |= set
	}
	out := make([]int, len(m.Hosts))
	for h := range m.Hosts {
		out[h] = h
		for o := range h {
			a, b := m.Hosts[h], m.Hosts[o]
			if used&(1<<h|1<<o) == 0 && a.Cores == b.Cores && a.Disk == b.Disk && a.Link == b.Link && a.Memory == b.Memory && m.alike(h, o) {
				out[h] = o
				break
			}
		}
	}
	return out
}

// alike reports whether the same services may run on two hosts.
func (m *Model) alike(a, b int) bool {
	for i := range m.Services {
		if m.may(i, a) != m.may(i, b) {
			return false
		}
	}
	return true
}

// place tries all hosts of the services from i on.
func (s *enumeration) place(i int) {
	if i == len(s.at) {
		s.judge()
		return
	}
	if s.m.Services[i].Fixed {
		s.at[i] = s.now[i]
		s.place(i + 1)
		return
	}
	used := uint8(0)
	for _, set := range s.at[:i] {
		used |= set
	}
	for set := uint8(1); set < 1<<len(s.m.Hosts); set++ {
		if s.allowed(i, set, used) {
			s.at[i] = set
			s.place(i + 1)
		}
	}
}

// allowed reports whether a service may have a set of hosts. Of equal hosts that nothing uses
// yet, the lower ones come first.
func (s *enumeration) allowed(i int, set, used uint8) bool {
	n := count(set)
	if n > 1 && (!s.m.Services[i].Many || s.manyBefore(i) >= mostMany) {
		return false
	}
	for h := range s.m.Hosts {
		bit := uint8(1) << h
		if set&bit == 0 {
			continue
		}
		if !s.m.may(i, h) {
			return false
		}
		for o := s.twins[h]; o < h; o++ {
			if s.twins[o] == s.twins[h] && (set|used)&(1<<o) == 0 {
				return false
			}
		}
	}
	return true
}

func (s *enumeration) manyBefore(i int) (n int) {
	for _, set := range s.at[:i] {
		if count(set) > 1 {
			n++
		}
	}
	return n
}

func (s *enumeration) judge() {
	if slices.Equal(s.at, s.now) || !s.m.fits(s.at) {
		return
	}
	then, _ := s.m.Throughput(s.at)
	if then < s.base*s.least {
		return
	}
	if len(s.found) == s.most+spare {
		s.found = s.best()
		if s.least = max(s.least, (round(s.found[len(s.found)-1].Ratio)-0.5)/steps); then < s.base*s.least {
			return
		}
	}
	p := Proposal{Placement: slices.Clone(s.at), Ratio: then / s.base}
	for i := range s.at {
		if s.at[i] != s.now[i] {
			p.Moves = append(p.Moves, i)
		}
	}
	s.found = append(s.found, p)
}
