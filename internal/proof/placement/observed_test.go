package placement

import (
	"math"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// observed is a site on web, with app2 and db idle, for 10 s at 98 % of web's two cores.
func observed() Observed {
	run := &iikanji.Run{Took: 10 * time.Second}
	for _, name := range []string{"web", "app2", "db"} {
		run.Hosts = append(run.Hosts, iikanji.RunHost{Name: name, Machine: &iikanji.Machine{Cores: 2}})
		run.Usage = append(run.Usage, iikanji.Usage{Who: "other", Host: name, Share: 0.02})
	}
	for who, share := range map[string]float64{"nginx": 0.16, "app": 0.4, "mariadb": 0.4} {
		run.Usage = append(run.Usage, iikanji.Usage{Who: who, Host: "web", Share: share, User: time.Duration(share * 20 * float64(time.Second)), PeakRS: 1 << 28})
	}
	return Observed{Runs: []*iikanji.Run{run}, Target: iikanji.Target{Services: []iikanji.Service{
		{Name: "nginx", Role: iikanji.RoleWeb, Host: "web"}, {Name: "app", Role: iikanji.RoleApp, Host: "web"},
		{Name: "mariadb", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Host: "web", Unit: "mariadb.service", Spare: []string{"db"}}},
		Hosts: []iikanji.HostRef{{Name: "web", Private: "10.0.0.1"}, {Name: "app2", Private: "10.0.0.2"}, {Name: "db", Private: "10.0.0.3"}}},
		Profiles: []iikanji.Profile{{Source: iikanji.Slow, Target: "mariadb", Rows: []iikanji.Row{{Count: 2000}}},
			{Source: iikanji.Host, Target: "db", Rows: []iikanji.Row{{Key: "host", Host: &iikanji.HostRow{Machine: &iikanji.MachineRow{MemTotal: 4 << 30, MemLeast: 3 << 30}}}}}}}
}

// TestOf: demands, capacities, loads and calls are those of the run, and the move is predicted
// as worked out by hand.
func TestOf(t *testing.T) {
	s, ok := Of(observed())
	if !ok {
		t.Fatal("no model")
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-6 }
	if len(s.Hosts) != 3 || !near(s.Hosts[0].Cores, 1.96) || !near(s.Loads[0].CPU, 0.98) || !near(s.Loads[2].CPU, 0.02) || !near(s.Loads[2].Memory, 0.25) || s.Hosts[2].Memory != 3<<30 {
		t.Errorf("hosts %+v, loads %+v", s.Hosts, s.Loads)
	}
	if db := s.Services[2]; !near(db.CPU, 0.8) || db.Fixed || db.May != On(0, 2) || !s.Services[0].Fixed || !s.Services[1].Fixed || db.Memory != 1<<28 {
		t.Errorf("services %+v", s.Services)
	}
	if len(s.Calls) != 1 || s.Calls[0] != (Call{From: 1, To: 2, Count: 200}) {
		t.Errorf("calls %+v", s.Calls)
	}
	moves := s.Moves(1, 3)
	if len(moves) != 1 || moves[0].Service != "mariadb" || moves[0].To != "db" {
		t.Fatalf("%+v", moves)
	}
	want := 1.92 / (1.12 + 200*PerCall)
	if ratio, r, ok := s.Placed("mariadb", "db"); !ok || !near(ratio, want) || ratio != moves[0].Ratio || r != moves[0].Range {
		t.Errorf("%g in %+v, want %g", ratio, r, want)
	}
	if ratio, _, ok := s.Placed("app", "web", "app2"); !ok || !near(ratio, 1.92/(1.52+100*PerCall)) { // half of the statements are from app2
		t.Errorf("spread: %g", ratio)
	}
	for _, hosts := range [][]string{{"nowhere"}, {}, {"web", "nowhere"}} {
		if _, _, ok := s.Placed("mariadb", hosts...); ok {
			t.Errorf("hosts %q", hosts)
		}
	}
	if _, _, ok := s.Placed("redis", "db"); ok {
		t.Error("a service that is not there")
	}
}

// TestOfNothing: there is no model of one host, of a service that was not seen, or without a
// run; and no move where no host is full, the others are as full, or nothing is installed.
func TestOfNothing(t *testing.T) {
	for name, edit := range map[string]func(*Observed){
		"one host": func(o *Observed) { o.Target.Hosts = o.Target.Hosts[:1] },
		"unseen": func(o *Observed) {
			o.Target.Services = append(o.Target.Services, iikanji.Service{Name: "x", Host: "web"})
		},
		"no run": func(o *Observed) { o.Runs = nil },
	} {
		o := observed()
		if edit(&o); true {
			if _, ok := Of(o); ok {
				t.Errorf("%s: there is a model", name)
			}
		}
	}
	for name, edit := range map[string]func(*Observed){
		"nothing is full": func(o *Observed) {
			for i := range o.Runs[0].Usage {
				o.Runs[0].Usage[i].Share /= 2
			}
		},
		"all are full": func(o *Observed) {
			for i := range o.Runs[0].Usage {
				if u := &o.Runs[0].Usage[i]; u.Host != "web" {
					u.Share = 0.9
				}
			}
		},
		"not installed": func(o *Observed) { o.Target.Services[2].Spare = nil },
		"no address":    func(o *Observed) { o.Target.Hosts[2].Private = "" },
		"roles":         func(o *Observed) { o.Target.Roles = map[string][]iikanji.Role{"db": {iikanji.RoleApp}} },
		"no memory":     func(o *Observed) { o.Profiles[1].Rows[0].Host.Machine.MemLeast = 1 << 20 },
	} {
		o := observed()
		edit(&o)
		s, ok := Of(o)
		if !ok {
			t.Errorf("%s: no model", name)
			continue
		}
		if moves := s.Moves(1, 3); len(moves) > 0 {
			t.Errorf("%s: %+v", name, moves)
		}
	}
}

// TestOfQuota: where the services of a host share a quota, that is its size, and what other
// programs use of the machine does not count.
func TestOfQuota(t *testing.T) {
	o := observed()
	for i := range o.Runs[0].Usage {
		if u := &o.Runs[0].Usage[i]; u.Who == "other" {
			u.Share = 0.7
		} else {
			u.Share, u.User = u.Share/4, u.User/4
		}
	}
	for i := range o.Runs[0].Hosts {
		o.Runs[0].Hosts[i].Environment = &iikanji.Environment{Shared: 0.5}
	}
	s, ok := Of(o)
	if !ok || s.Hosts[0].Cores != 0.5 || math.Abs(s.Loads[0].CPU-0.96) > 1e-9 || s.Loads[1].CPU != 0 {
		t.Fatalf("%+v", s)
	}
	if moves := s.Moves(1, 3); len(moves) != 1 || moves[0].Ratio < 1.5 {
		t.Errorf("%+v", moves)
	}
	for i := range o.Runs[0].Usage {
		o.Runs[0].Usage[i].Share *= 0.8
	}
	if s, ok = Of(o); !ok || len(s.Moves(1, 3)) > 0 {
		t.Error("a host is full of 77 %")
	}
	o.Runs[0].Hosts[0].Environment.Throttled = 0.3
	if s, ok = Of(o); !ok || len(s.Moves(1, 3)) != 1 {
		t.Error("a host that its quota stopped is not full")
	}
}

// TestOfPreparation: a host that is full in the busier half of a run only is full.
func TestOfPreparation(t *testing.T) {
	o := observed()
	for i := range o.Runs[0].Usage {
		o.Runs[0].Usage[i].Share *= 0.75
	}
	full := func(cores float64) []Move {
		o.Profiles = append(o.Profiles[:2:2], iikanji.Profile{Source: iikanji.Host, Target: "web", Rows: []iikanji.Row{{Key: "host",
			Host: &iikanji.HostRow{Machine: &iikanji.MachineRow{MemTotal: 4 << 30, MemLeast: 3 << 30, BusyHalf: cores}}}}})
		s, ok := Of(o)
		if !ok {
			t.Fatal("no model")
		}
		return s.Moves(1, 3)
	}
	if moves := full(1.9); len(moves) != 1 || moves[0].Service != "mariadb" {
		t.Errorf("full for half of the time: %+v", moves)
	}
	if moves := full(1.6); len(moves) > 0 {
		t.Errorf("with idle cores: %+v", moves)
	}
}

// TestMean: the standard error of several runs counts where it is larger than the usual one.
func TestMean(t *testing.T) {
	if mid, part := mean([]float64{1, 2, 3}); mid != 2 || math.Abs(part-1/math.Sqrt(3)/2) > 1e-9 {
		t.Errorf("%g %g", mid, part)
	}
	for _, x := range [][]float64{{2}, {2, 2}} {
		if mid, part := mean(x); mid != 2 || part != usualError {
			t.Errorf("%v: %g %g", x, mid, part)
		}
	}
}
