package placement

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
)

// contest is a front, an app and a database on one of three equal hosts of 2 cores.
func contest() (*Model, Placement) {
	host := Host{Cores: 2, Memory: 4 << 30}
	m := &Model{Hosts: []Host{host, host, host},
		Services: []Service{{Name: "nginx", Role: iikanji.RoleWeb, CPU: 0.0002, Error: 0.05, Fixed: true},
			{Name: "app", Role: iikanji.RoleApp, CPU: 0.0010, Error: 0.05, Many: true}, {Name: "db", Role: iikanji.RoleDatabase, CPU: 0.0008, Error: 0.05}},
		Calls: []Call{{From: 0, To: 1, Count: 1, Bytes: 2000}, {From: 1, To: 2, Count: 3, Bytes: 1000}}}
	return m, Placement{On(0), On(0), On(0)}
}

// TestThroughput: the demand of each host is that of its services and of the calls that leave
// it, worked out by hand.
func TestThroughput(t *testing.T) {
	m, now := contest()
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9*want }
	if got, by := m.Throughput(now); !near(got, 2/0.0020) || by != (Limit{0, CPU}) {
		t.Errorf("all on one: %g by %v", got, by)
	}
	moved := Placement{On(0), On(0), On(1)}
	if got, by := m.Throughput(moved); !near(got, 2/(0.0012+3*PerCall)) || by != (Limit{0, CPU}) {
		t.Errorf("the database on 1: %g by %v", got, by)
	}
	if got, by := m.Throughput(Placement{On(0), On(0, 2), On(1)}); !near(got, 2/(0.0008+3*PerCall)) || by != (Limit{1, CPU}) {
		t.Errorf("the app on 0 and 2: %g by %v", got, by)
	}
	m.Hosts[1].Link = 1000 * 100
	if got, by := m.Throughput(moved); !near(got, 100) || by != (Limit{1, Link}) {
		t.Errorf("with a slow link: %g by %v", got, by)
	}
}

// TestPropose: the best placement of the contest's site spreads it, the first step of one move
// is that of the database, and a move gains at most 1 ÷ (1 − f).
func TestPropose(t *testing.T) {
	m, now := contest()
	all := m.Propose(now, 1.05, 100)
	if len(all) == 0 {
		t.Fatal("nothing is proposed")
	}
	if best := all[0]; best.Ratio < 2 || count(best.Placement[1]) < 2 || best.Placement[2]&1 != 0 {
		t.Errorf("the best is %v, %g", best.Placement, best.Ratio)
	}
	i := slices.IndexFunc(all, func(p Proposal) bool { return slices.Equal(p.Placement, Placement{On(0), On(0), On(1)}) })
	if i < 0 {
		t.Fatal("the move of the database is not proposed")
	}
	move := all[i]
	if bound := 1 / (1 - 0.4); move.Ratio >= bound || move.Ratio < 1.5 || move.Range.Lo >= move.Ratio || move.Range.Hi <= move.Ratio || move.Range.Hi-move.Range.Lo > 0.4 {
		t.Errorf("the move: %g in %v, bound %g", move.Ratio, move.Range, bound)
	}
	for _, p := range all { // host 2 is equal to host 1, and stays unused while that one is
		used := uint8(0)
		for _, set := range p.Placement {
			used |= set
		}
		if used&On(2) != 0 && used&On(1) == 0 {
			t.Errorf("%v is listed for equal hosts twice", p.Placement)
		}
		if p.Placement[0] != On(0) || count(p.Placement[2]) != 1 {
			t.Errorf("%v moves what stays, or has the database twice", p.Placement)
		}
	}
}

// TestExcluded: roles and memory leave placements out, and a site whose hosts are not the limit
// has none.
func TestExcluded(t *testing.T) {
	m, now := contest()
	m.Services[1].Many = false
	m.Hosts[1].Roles, m.Hosts[2].Roles = []iikanji.Role{iikanji.RoleApp}, []iikanji.Role{iikanji.RoleApp}
	for _, p := range m.Propose(now, 1.01, 100) {
		if p.Placement[2] != On(0) {
			t.Errorf("the database is on a host for apps: %v", p.Placement)
		}
	}
	m.Services[1].Memory = 8 << 30
	if all := m.Propose(now, 1.01, 100); len(all) > 0 {
		t.Errorf("an app of 8 GiB on hosts of 4: %v", all)
	}
	idle := &Model{Hosts: make([]Host, 3), Services: m.Services}
	if all := idle.Propose(now, 1.01, 100); all != nil {
		t.Errorf("hosts without limits: %v", all)
	}
}

// TestAsked: placements are looked at where one host is full and another one has room.
func TestAsked(t *testing.T) {
	for _, c := range []struct {
		loads []Load
		want  bool
	}{
		{[]Load{{CPU: 0.98}, {CPU: 0.05}}, true},
		{[]Load{{CPU: 0.5, Memory: 0.9}, {CPU: 0.5}}, true},
		{[]Load{{CPU: 0.98}, {CPU: 0.65}}, false},
		{[]Load{{CPU: 0.98}, {CPU: 0.1, Memory: 0.7}}, false},
		{[]Load{{CPU: 0.6}, {CPU: 0.05}}, false},
		{[]Load{{CPU: 0.98}}, false},
		{nil, false},
	} {
		if got := Asked(c.loads); got != c.want {
			t.Errorf("%v: %v", c.loads, got)
		}
	}
}

// TestRange: with errors drawn from their distribution, 90 % of the true ratios are in the
// range.
func TestRange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	within, all := 0, 0
	for range 2000 {
		truth, now := contest()
		then := Placement{On(0), On(0), On(1)}
		measured := *truth
		measured.Services = slices.Clone(truth.Services)
		for i := range measured.Services {
			s := &measured.Services[i]
			s.CPU *= 1 + s.Error*r.NormFloat64()
		}
		want, _ := truth.Ratio(now, then)
		_, got := measured.Ratio(now, then)
		if all++; got.Lo <= want && want <= got.Hi {
			within++
		}
	}
	if share := float64(within) / float64(all); share < 0.86 || share > 0.94 {
		t.Errorf("%.3f of the ranges have the true ratio", share)
	}
}

func BenchmarkPropose(b *testing.B) {
	m, _ := contest()
	m.Hosts = append(m.Hosts, Host{Cores: 4}, Host{Cores: 1})
	m.Services = append(m.Services, Service{Name: "app2", Role: iikanji.RoleApp, CPU: 0.0003, Many: true}, Service{Name: "redis", Role: iikanji.RoleCache, CPU: 0.0001})
	now := Placement{On(0), On(0), On(0), On(0), On(0)}
	for b.Loop() {
		m.Propose(now, 1.05, 3)
	}
}
