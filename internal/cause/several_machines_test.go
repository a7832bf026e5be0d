package cause_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A park is a site on machines of two cores: front and app on web, MariaDB there too or on
// db, and an idle machine, for 10 s.
type park struct{ cause.Input }

func newPark() *park {
	run := &iikanji.Run{Took: 10 * time.Second, Place: iikanji.Placement{Cores: 8}, Steps: []iikanji.StepStat{{Count: 1000}}}
	for _, name := range []string{"web", "db"} {
		run.Hosts = append(run.Hosts, iikanji.RunHost{Name: name, Machine: &iikanji.Machine{Cores: 2},
			Clock: &iikanji.Clock{Before: iikanji.ClockReading{At: time.Unix(100, 0), Trip: time.Millisecond}, After: iikanji.ClockReading{At: time.Unix(110, 0), Trip: time.Millisecond}}})
	}
	p := &park{cause.Input{Run: run, Target: iikanji.Target{Services: []iikanji.Service{
		{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Host: "web"},
		{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Host: "web"},
		{Name: "mariadb", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Host: "web", Unit: "mariadb.service", Spare: []string{"db"}}}}}}
	p.use("", "generator", 0.2)
	for name, share := range map[string]float64{"nginx": 0.2, "app": 0.3, "mariadb": 0.41, "other": 0.04} {
		p.use("web", name, share)
	}
	p.use("db", "other", 0.02)
	p.Profiles = []iikanji.Profile{hostOf("local", iikanji.MachineRow{}), hostOf("web", iikanji.MachineRow{MemLeast: 1 << 30}, "nginx", "app", "mariadb"), hostOf("db", iikanji.MachineRow{MemTotal: 4 << 30, MemLeast: 3 << 30})}
	return p
}

// use has a service use a share of a machine's two cores.
func (p *park) use(host, who string, share float64) {
	u := iikanji.Usage{Who: who, Host: host, Share: share, User: time.Duration(share * 20 * float64(time.Second))}
	p.Run.Usage = slices.DeleteFunc(p.Run.Usage, func(o iikanji.Usage) bool { return o.Who == who && o.Host == host })
	p.Run.Usage = append(p.Run.Usage, u)
}

// far puts MariaDB on db, with statements and connections from web.
func (p *park) far(statements, opened float64) {
	p.Target.Services[2].Host, p.Target.Services[2].Spare = "db", []string{"web"}
	p.Facts = append(p.Facts, fact.TopicTrip.Fact("app", "mariadb", fact.Trip{From: "web", To: "db", Connections: 10, RoundTrip: 400 * time.Microsecond, Least: 300 * time.Microsecond}, true),
		fact.TopicStatus.Fact("mariadb", "Connections", opened, true), fact.TopicVariable.Fact("mariadb", "skip_name_resolve", "OFF", false))
	p.Profiles = append(p.Profiles, iikanji.Profile{Source: iikanji.Slow, Target: "mariadb",
		Rows: []iikanji.Row{{Key: "commit", Count: int64(statements), Query: &iikanji.SQLRow{Digest: "a", Fingerprint: "commit"}}}})
}

func (p *park) host(name string) *iikanji.RunHost {
	for i := range p.Run.Hosts {
		if p.Run.Hosts[i].Name == name {
			return &p.Run.Hosts[i]
		}
	}
	panic("BUG: no host " + name)
}

// row is the row of a service in the Host profile of a machine.
func (p *park) row(host, service string) *iikanji.HostRow {
	for i := range p.Profiles {
		if p.Profiles[i].Target != host || p.Profiles[i].Source != iikanji.Host {
			continue
		}
		for _, r := range p.Profiles[i].Rows {
			if r.Key == service {
				return r.Host
			}
		}
		p.Profiles[i].Rows = append(p.Profiles[i].Rows, iikanji.Row{Key: service, Host: &iikanji.HostRow{}})
		return p.Profiles[i].Rows[len(p.Profiles[i].Rows)-1].Host
	}
	panic("BUG: no host " + host)
}

// TestSeveralMachines has a case in which each rule fires, with its remedy, and one for each
// reason why it must not.
func TestSeveralMachines(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*park)
		want string // code, place, the begin of the first remedy; "-" before a code that must be missing
	}{
		{"one full, one idle", func(*park) {}, "TOP101 mariadb topology mariadb move mariadb with its data to db"},
		{"one full, nothing installed", func(p *park) { p.Target.Services[2].Spare = nil }, "TOP101 mariadb person mariadb run it on db: its data, the address in the settings of its clients, and an account for their addresses; iikanji does not: mariadb.service is not installed on db"},
		{"one full, the heavy one is an app", func(p *park) { p.use("web", "app", 0.6); p.use("web", "mariadb", 0.05) }, "TOP101 app person app run it on db: its data, the address in the settings of its clients, and an account for their addresses; iikanji does not: app is neither MariaDB nor MySQL"},
		{"one full, the database beside a heavy app", func(p *park) { p.use("web", "app", 0.5); p.use("web", "mariadb", 0.3) }, "TOP101 mariadb topology mariadb move mariadb with its data to db"},
		{"one full by its quota", (*park).quotas, "TOP101 mariadb topology mariadb move mariadb with its data to db"},
		{"one full for half of the time", (*park).prepared, "TOP101 mariadb topology mariadb move mariadb with its data to db"},
		{"one full by its quota for half of the time", func(p *park) { p.quotas(); p.prepared() }, "TOP101 mariadb topology mariadb move mariadb with its data to db"},
		{"one stopped by its quota", func(p *park) { p.stopped("web", 0.3) }, "TOP101 mariadb topology mariadb move mariadb with its data to db"},
		{"one stopped a little", func(p *park) { p.stopped("web", 0.05) }, "-TOP101"},
		{"one stopped, and it is others", func(p *park) {
			p.stopped("web", 0.3)
			for _, who := range []string{"nginx", "app", "mariadb"} {
				p.use("web", who, 0.02)
			}
		}, "-TOP101"},
		{"the other one stopped", func(p *park) { p.quotas(); p.host("db").Environment.Throttled = 0.3 }, "-TOP101"},
		{"the other one full for half of the time", func(p *park) { p.sampled("db", 1.8) }, "-TOP101"},
		{"both full", func(p *park) { p.use("db", "other", 0.8) }, "-TOP101"},
		{"nothing is full", func(p *park) { p.use("web", "mariadb", 0.1) }, "-TOP101"},
		{"only the front is heavy", func(p *park) { p.use("web", "nginx", 0.9); p.use("web", "mariadb", 0.01); p.use("web", "app", 0.01) }, "-TOP101"},
		{"one machine", func(p *park) { p.Run.Hosts = p.Run.Hosts[:1]; p.Profiles = p.Profiles[:2] }, "-TOP101"},
		{"no memory there", func(p *park) { p.row("web", "mariadb").PeakRSS = 5 << 30; p.row("db", "host") }, "-TOP101 mariadb"},
		{"a spare with memory", func(p *park) { p.row("db", "mariadb").PeakRSS = 512 << 20 }, "TOP102 mariadb on db unit host:db end mariadb.service"},
		{"a small spare", func(p *park) { p.row("db", "mariadb").PeakRSS = 12 << 20 }, "-TOP102"},
		{"not a spare", func(p *park) { p.row("db", "mariadb").PeakRSS = 512 << 20; p.Target.Services[2].Spare = nil }, "-TOP102"},
		{"unequal", func(p *park) {
			p.Target.Services[1].Instances, p.Target.Services[1].Unit = []string{"db"}, "app.service"
			p.use("db", "app", 0.2)
		}, "TOP103 app topology app set the weights in the front's upstream: web 7, db 20"},
		{"unequal, without a unit", func(p *park) { p.Target.Services[1].Instances = []string{"db"}; p.use("db", "app", 0.2) },
			"TOP103 app person app set the weights in the front's upstream: web 7, db 20; iikanji does not: it has no systemd unit"},
		{"equal", func(p *park) { p.Target.Services[1].Instances = []string{"db"}; p.use("db", "app", 0.8) }, "-TOP103"},
		{"an app that could run twice", func(p *park) { p.ties() }, "TOP104 app topology app run it on db too"},
		{"an app beside two machines", func(p *park) {
			p.ties()
			p.Run.Hosts = append(p.Run.Hosts, iikanji.RunHost{Name: "idle", Machine: &iikanji.Machine{Cores: 2}})
			p.use("idle", "other", 0.01)
			p.use("db", "other", 0.4)
		}, "TOP104 app topology app run it on idle too"},
		{"an app with files", func(p *park) { p.ties(tied("pinned", "POST /image")) }, "TOP104 app topology app run it on db too, without POST /image"},
		{"an app with sessions", func(p *park) { p.ties(tied("refused")) }, "TOP104 app person app cure (main.go:1)"},
		{"an app with SQLite", func(p *park) { p.ties(tied("by host")) }, "TOP104 app person app cure (main.go:1)"},
		{"an app whose source is not read", func(p *park) {}, "-TOP104"},
		{"an app that is small", func(p *park) { p.ties(); p.use("web", "app", 0.05); p.use("web", "mariadb", 0.7) }, "-TOP104"},
		{"an app on both already", func(p *park) { p.ties(); p.Target.Services[1].Instances = []string{"db"}; p.use("db", "app", 0.02) }, "-TOP104"},
		{"an app where no machine is idle", func(p *park) { p.ties(); p.use("db", "other", 0.8) }, "-TOP104"},
		{"an app that may not run there", func(p *park) {
			p.ties()
			p.Target.Roles = map[string][]iikanji.Role{"db": {iikanji.RoleDatabase}}
		}, "-TOP104"},
		{"a full link", func(p *park) { p.link(fact.Link{Out: 1 << 30, Speed: 125e6, Wall: 10 * time.Second}) }, "NET101 eth0 on web person host:web send less"},
		{"a lossy link", func(p *park) {
			p.link(fact.Link{Out: 1 << 20, OutPackets: 10000, Retransmits: 400, Wall: 10 * time.Second})
		}, "NET101 eth0 on web person host:web send less"},
		{"a link of unknown speed", func(p *park) { p.link(fact.Link{Out: 1 << 30, OutPackets: 1e6, Wall: 10 * time.Second}) }, "-NET101"},
		{"many statements", func(p *park) { p.far(143000, 10) }, "NET102 app patch app send fewer statements"},
		{"few statements", func(p *park) { p.far(3000, 10) }, "-NET102"},
		{"many connections", func(p *park) { p.far(3000, 1000) }, "NET103 app patch app keep its connections"},
		{"kept connections", func(p *park) { p.far(3000, 10) }, "-NET103"},
		{"a clock ahead", func(p *park) { p.clock(1700*time.Millisecond, 1700*time.Millisecond, time.Millisecond) }, "CLK101 host db person host:db have one time server"},
		{"a clock that moves", func(p *park) { p.clock(0, 60*time.Millisecond, time.Millisecond) }, "CLK101 host db person host:db have one time server"},
		{"a clock far away", func(p *park) { p.clock(0, 0, 50*time.Millisecond) }, "CLK101 host db person host:db have one time server"},
		{"a good clock", func(p *park) { p.clock(-9*time.Millisecond, -8*time.Millisecond, 2*time.Millisecond) }, "-CLK101"},
		{"descriptors of a unit", func(p *park) { p.unit(750, 1000, 0, 0) }, "UNIT101 app unit app allow app.service 65536 descriptors"},
		{"enough descriptors", func(p *park) { p.unit(600, 1000, 0, 0) }, "-UNIT101"},
		{"not OS101 for a unit", func(p *park) { p.unit(990, 1000, 0, 0) }, "-OS101"},
		{"tasks of a unit", func(p *park) { p.unit(1, 1000, 85, 100) }, "UNIT102 app unit app allow app.service 400 processes"},
		{"enough tasks", func(p *park) { p.unit(1, 1000, 60, 100) }, "-UNIT102"},
		{"tasks without limit", func(p *park) { p.unit(1, 1000, 85, 0) }, "-UNIT102"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPark()
			c.edit(p)
			fs, err := findAll(p.Input)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range fs {
				line := string(f.Code) + " " + f.Where
				if len(f.Remedies) > 0 {
					line += fmt.Sprintf(" %s %s %s", f.Remedies[0].Kind, f.Remedies[0].Target, f.Remedies[0].Says)
				}
				got = append(got, line)
			}
			without, none := strings.CutPrefix(c.want, "-")
			has := slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, without) })
			if has == none {
				t.Errorf("want %q in:\n%s", c.want, strings.Join(got, "\n"))
			}
		})
	}
}

// quotas gives each machine half a core of two, and other programs the rest.
func (p *park) quotas() {
	for _, u := range slices.Clone(p.Run.Usage) {
		switch {
		case u.Who == "other":
			p.use(u.Host, "other", 0.7)
		case u.Host != "":
			p.use(u.Host, u.Who, u.Share/4)
		}
	}
	for i := range p.Run.Hosts {
		p.Run.Hosts[i].Environment = &iikanji.Environment{Shared: 0.5}
	}
}

// prepared has the benchmarker prepare and check for a third of the run, in which the site is
// idle.
func (p *park) prepared() {
	for _, u := range slices.Clone(p.Run.Usage) {
		if u.Host == "web" && u.Who != "other" {
			p.use(u.Host, u.Who, u.Share*2/3)
		}
	}
	cores := 1.9
	if p.host("web").Environment != nil {
		cores = 0.46
	}
	p.sampled("web", cores)
}

// stopped gives the machines quotas. On one host the quota stops the machine for a share of the
// time, and the services have used less than the quota, because other programs count, too.
func (p *park) stopped(host string, share float64) {
	p.quotas()
	for _, u := range slices.Clone(p.Run.Usage) {
		if u.Host == host && u.Who != "other" {
			p.use(u.Host, u.Who, u.Share*0.85)
		}
	}
	p.host(host).Environment.Throttled = share
}

// sampled has a machine use so many cores in the busier half of the run.
func (p *park) sampled(host string, cores float64) {
	for _, f := range p.Profiles {
		if f.Source != iikanji.Host || f.Target != host {
			continue
		}
		for _, r := range f.Rows {
			if r.Host != nil && r.Host.Machine != nil {
				r.Host.Machine.BusyHalf, r.Host.Machine.ServicesHalf = cores, cores
			}
		}
	}
}

// ties gives the app what ties it to its host.
func (p *park) ties(all ...fact.Tie) {
	p.Facts = append(p.Facts, fact.TopicTies.Fact("app", "", fact.Ties{Known: true, All: all}, false))
}

// tied is one place with a verdict.
func tied(verdict string, routes ...string) fact.Tie {
	return fact.Tie{Kind: "kind", Place: "main.go:1", Name: "x", Routes: routes, Spread: verdict, Breaks: "it breaks", Cure: "cure"}
}

func (p *park) link(l fact.Link) {
	f := fact.TopicLink.Fact("web", "eth0", l, true)
	f.Host = "web"
	p.Facts = append(p.Facts, f)
}

func (p *park) clock(before, after, trip time.Duration) {
	c := p.host("db").Clock
	c.Before.Offset, c.Before.Trip, c.After.Offset, c.After.Trip = before, trip, after, trip
}

// unit has the app run as a unit of systemd.
func (p *park) unit(files, limit int, tasks, most int64) {
	row := p.row("web", "app")
	row.FDs, row.FDLimit = files, int64(limit)
	f := fact.TopicUnit.Fact("app", "app.service", fact.Unit{Name: "app.service"}, false)
	f.Host = "web"
	b := fact.TopicBoot.Fact("web", "", fact.Boot{Units: []fact.BootUnit{{Name: "app.service", Load: "loaded", Active: "active", State: "enabled", Boots: true, Tasks: tasks, TasksMax: most}},
		Services: []fact.BootService{{Name: "app", Unit: "app.service", PIDs: []int{7}}}}, true)
	b.Host = "web"
	p.Facts = append(p.Facts, f, b)
}

// TestBindingNamesTheMachine: the limit is that of the fullest machine, and findings about the
// CPU of another one come last.
func TestBindingNamesTheMachine(t *testing.T) {
	p := newPark()
	if b := p.Binding(); b.Resource != "cpu" || b.Who != "mariadb" || b.Host != "web" || b.String() != "cpu (mariadb on web)" {
		t.Errorf("%+v", b)
	}
	p.use("web", "mariadb", 0.1)
	if b := p.Binding(); b.Resource == "cpu" {
		t.Errorf("with idle cores: %+v", b)
	}
	p.use("db", "mariadb", 0.97)
	if b := p.Binding(); b.Host != "db" || b.Who != "mariadb" {
		t.Errorf("on the other one: %+v", b)
	}
	p.use("", "nginx", 1)
	p.Run.Place.Cores = 2
	if b := p.Binding(); b.Host != "" || b.String() != "cpu (nginx)" {
		t.Errorf("on this one: %+v", b)
	}
}
