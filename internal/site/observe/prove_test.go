package observe

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

func profileOf(lines, bad int64, rows ...iikanji.Row) *iikanji.Profile {
	return &iikanji.Profile{Rows: rows, Intake: iikanji.Intake{Lines: lines, Bad: bad}}
}

// wants checks the state of a sensor; why is part of the reason for red.
func wants(t *testing.T, name string, s Sensor, why string) {
	t.Helper()
	if s.Green != (why == "") || !strings.Contains(s.Why(), why) || s.Green && s.Why() != "" {
		t.Errorf("%s: green %v, %q, want %q", name, s.Green, s.Why(), why)
	}
}

// TestProveAccess breaks the access log's sensor in every way that it can be broken.
func TestProveAccess(t *testing.T) {
	run := &iikanji.Run{Steps: []iikanji.StepStat{{Count: 900, Cached: 23_000}, {Count: 100, Cut: 7, Timeouts: 5}}, Load: iikanji.Generator{PeakConns: 15, DialFaults: 5}}
	row := func(n int64) iikanji.Row { return iikanji.Row{Count: n} }
	for _, c := range []struct {
		name string
		p    *iikanji.Profile
		err  error
		why  string
	}{
		{"exact", profileOf(1000, 0, row(900), row(100)), nil, ""},
		{"in flight and 1 %", profileOf(1030, 0, row(1030)), nil, ""},
		{"requests of another client", profileOf(1031, 0, row(1031)), nil, "requests: 1031 in the log, 1000 sent"},
		{"lines lost", profileOf(964, 0, row(964)), nil, "a difference of 30 or less"},
		{"1 % of the lines unreadable", profileOf(1000, 10, row(990)), nil, ""},
		{"more of them", profileOf(1000, 11, row(989)), nil, "98.90 % of 1000 entries"},
		{"timeouts are missing", profileOf(966, 0, row(966)), nil, ""},
		{"nothing in it", profileOf(0, 0), nil, "0 in the log"},
		{"rotated away", nil, errors.New("skipping to byte 9: it has only 3"), "skipping to byte 9"},
		{"read, but the window is wrong", profileOf(1000, 0, row(1000)), errors.New("no offset"), "no offset"},
	} {
		wants(t, c.name, proveAccess(c.p, run, c.err), c.why)
	}
	if proveAccess(nil, run, nil).Green || proveSlow(nil, counters{}, 0, nil).Green {
		t.Error("a sensor that read nothing is green")
	}
}

// TestProveSlow breaks the slow log's sensor.
func TestProveSlow(t *testing.T) {
	rows := func(n int64, took time.Duration) []iikanji.Row {
		return []iikanji.Row{{Key: "select ?", Count: n, Total: took}, {Key: "administrator command: Prepare", Count: 500}, {Key: "administrator command: Quit", Count: 10}}
	}
	const wall = 10 * time.Second
	c := counters{questions: 1010, threads: 4, closed: 10}
	for _, x := range []struct {
		name string
		p    *iikanji.Profile
		c    counters
		err  error
		why  string
	}{
		{"exact", profileOf(1500, 0, rows(990, 39*time.Second)...), c, nil, ""},
		{"some connections were not logged", profileOf(1300, 0, rows(800, time.Second)...), c, nil, "statements: 800 in the log, 1000 counted by the server"},
		{"another run's statements", profileOf(1600, 0, rows(1100, time.Second)...), c, nil, "1100 in the log"},
		{"more time than there was", profileOf(1500, 0, rows(990, 41*time.Second)...), c, nil, "statements took 41.0 s (wanted: 40.0 s or less, all that 4 connections had)"},
		{"unreadable", profileOf(1000, 20, rows(990, time.Second)...), c, nil, "98.00 %"},
		{"Quit commands, which no log has, are not missing statements", profileOf(1000, 0, rows(995, time.Second)...), counters{questions: 1400, threads: 4, closed: 400}, nil, ""},
		{"a third of the statements is not in the log", profileOf(1000, 0, rows(700, time.Second)...), counters{questions: 1400, threads: 4, closed: 400}, nil, "1000 counted by the server"},
		{"the counters could not be read", profileOf(1500, 0, rows(990, time.Second)...), counters{}, nil, "0 counted by the server"},
		{"the log stayed off", nil, c, errors.New("observed-slow.log is empty"), "is empty"},
		{"the disk was full", profileOf(1500, 0, rows(990, time.Second)...), c, errors.New("setting log_output of the database: disk full"), "disk full"},
	} {
		wants(t, x.name, proveSlow(x.p, x.c, wall, x.err), x.why)
	}
}

// TestProveHost requires samples for nearly all of the time, and services that do not
// use more CPU time than the machine has.
func TestProveHost(t *testing.T) {
	samples := func(n int, app float64) *iikanji.Profile {
		var all []hoststat.Sample
		for i := range n {
			all = append(all, hoststat.Sample{At: time.Unix(int64(i), 0), Over: time.Second, Cores: 2, User: 1.5,
				Services: []hoststat.ServiceSample{{Name: "app", User: app}, {Name: "other", System: 0.25}}})
		}
		return hostProfile(all)
	}
	wants(t, "all", proveHost(samples(10, 1), 10*time.Second, nil), "")
	wants(t, "the last is on its way", proveHost(samples(3, 1), 4200*time.Millisecond, nil), "")
	wants(t, "half", proveHost(samples(5, 1), 10*time.Second, nil), "5 samples in 10 s")
	wants(t, "none", proveHost(samples(0, 1), 10*time.Second, nil), "0 samples")
	wants(t, "none of a second", proveHost(samples(0, 1), time.Second, nil), "0 samples")
	wants(t, "broken", proveHost(samples(10, 1), 10*time.Second, errors.New("opening /proc")), "opening /proc")
	wants(t, "more than there was", proveHost(samples(10, 1.6), 10*time.Second, nil), "services used 18.5 s of CPU")
}

// TestProveErrors breaks the sensor of an error log.
func TestProveErrors(t *testing.T) {
	for _, c := range []struct {
		name       string
		lines, bad int64
		read       iikanji.Bytes
		written    int64
		err        error
		why        string
	}{
		{"nothing was written", 0, 0, 0, 0, nil, ""},
		{"all", 100, 0, 9000, 9000, nil, ""},
		{"the last line is being written", 100, 1, 9000, 9100, nil, ""},
		{"another program's log", 100, 2, 9000, 9000, nil, "98.00 % of 100 entries"},
		{"a part was not read", 100, 0, 9000, 90000, nil, "9000 bytes of nginx read (wanted: the 90000 that it wrote)"},
		{"more than was written", 100, 0, 9000, 8000, nil, "the 8000 that it wrote"},
		{"truncated", 0, 0, 0, 0, errors.New("skipping to byte 9"), "skipping to byte 9"},
	} {
		p := &iikanji.Profile{Target: "nginx", Intake: iikanji.Intake{Lines: c.lines, Bad: c.bad, Bytes: c.read}}
		s := Sensor{Proofs: proveErrors(p, c.written)}
		wants(t, c.name, s.settle(c.err), c.why)
	}
}

// TestHostProfile checks sums, means and extremes of two different intervals.
func TestHostProfile(t *testing.T) {
	p := hostProfile([]hoststat.Sample{
		{At: time.Unix(1, 0), Over: time.Second, Cores: 2, User: 1, Steal: 0.5, DiskFlushes: 10, FlushTook: time.Millisecond, ListenDrops: 3, ListenOverflows: 2, SwapOut: 2, MemAvailable: 100, PressureCPU: 0.2,
			Services: []hoststat.ServiceSample{{Name: "app", User: 0.5, FDs: 10, FDLimit: 1024, RSS: 7}, {Name: "db", User: 0.25}}},
		{At: time.Unix(4, 0), Over: 3 * time.Second, Cores: 2, User: 2, IOWait: 0.1, DiskFlushes: 10, FlushTook: 3 * time.Millisecond, MemAvailable: 60, PressureCPU: 0.6,
			Services: []hoststat.ServiceSample{{Name: "app", User: 1.5, System: 0.1, FDs: 900, FDLimit: 1024, RSS: 5}}},
	})
	if len(p.Rows) != 3 || p.Rows[0].Key != "host" || p.Rows[1].Key != "app" || p.Rows[0].Total != 7*time.Second || p.Rows[0].Share != 0.875 {
		t.Fatalf("%+v", p.Rows)
	}
	m, app := p.Rows[0].Host.Machine, p.Rows[1].Host
	if m.Wall != 4*time.Second || m.Steal != 500*time.Millisecond || m.IOWait != 300*time.Millisecond || m.DiskFlushes != 40 || m.FlushTook != 2500*time.Microsecond ||
		m.ListenDrops != 3 || m.ListenOverflows != 2 || m.SwapOut != 2*pageSize || m.MemLeast != 60 || m.PressureCPU < 0.49 || m.PressureCPU > 0.51 {
		t.Errorf("%+v", m)
	}
	if app.User != 5*time.Second || app.FDs != 900 || app.PeakRSS != 7 || app.Peak != 1.6 || p.Intake.Lines != 2 {
		t.Errorf("%+v", app)
	}
}

// TestHostProfileNames checks the sums by name of the programs of others, and the time
// of the busiest thread.
func TestHostProfileNames(t *testing.T) {
	sample := func(at int64, busiest float64, others ...hoststat.Program) hoststat.Sample {
		return hoststat.Sample{At: time.Unix(at, 0), Over: time.Second, Cores: 2, User: 1, Others: others,
			Services: []hoststat.ServiceSample{{Name: "app", User: 1, Busiest: busiest}, {Name: hoststat.Other, User: 0.5}}}
	}
	p := hostProfile([]hoststat.Sample{
		sample(1, 0.75, hoststat.Program{Name: "cc1", User: 0.5, System: 0.25}, hoststat.Program{Name: "cron", User: 0.25}),
		sample(2, 0.5, hoststat.Program{Name: "apt", User: 1}, hoststat.Program{Name: "a", User: 0.01}, hoststat.Program{Name: "b", User: 0.02}, hoststat.Program{Name: "cc1", User: 0.5}, hoststat.Program{Name: "c", User: 0.03}),
	})
	var names []string
	for _, r := range p.Rows {
		for _, u := range r.Host.Programs {
			names = append(names, u.Who)
		}
		switch {
		case r.Key == "app" && r.Host.Busiest != 1250*time.Millisecond:
			t.Errorf("the busiest thread: %v", r.Host.Busiest)
		case r.Key == hoststat.Other && (r.Host.Programs[0].User != time.Second || r.Host.Programs[0].System != 250*time.Millisecond || r.Host.Programs[0].Share != 0.3125):
			t.Errorf("the heaviest of the others: %+v", r.Host.Programs[0])
		}
	}
	if got := strings.Join(names, " "); got != "cc1 apt cron c b" {
		t.Errorf("others: %s", got)
	}
}

func TestCountersOf(t *testing.T) {
	c := countersOf(map[string]string{"questions": "100"}, map[string]string{"questions": "350", "max_used_connections": "7"})
	if c.questions != 250 || c.threads != 7 {
		t.Errorf("%+v", c)
	}
}

// TestBusiestHalf: the half counts whose use is greatest, of the services alone or of all, and
// that of a few samples is unknown.
func TestBusiestHalf(t *testing.T) {
	var all []hoststat.Sample
	for i, cores := range []float64{0, 0.1, 0.9, 1, 1, 0.9, 1, 0} {
		all = append(all, hoststat.Sample{At: time.Unix(int64(i+1), 0), Over: time.Second, Cores: 2, User: cores + 0.5, System: 0.2, Services: []hoststat.ServiceSample{
			{Name: "app", User: cores / 2, System: cores / 2}, {Name: Generator, User: 0.3}, {Name: hoststat.Other, User: 0.4}}})
	}
	of := func(all []hoststat.Sample) *iikanji.MachineRow {
		for _, r := range hostProfile(all).Rows {
			if r.Host.Machine != nil {
				return r.Host.Machine
			}
		}
		t.Fatal("no row of the machine")
		return nil
	}
	if m := of(all); math.Abs(m.ServicesHalf-0.975) > 1e-9 || math.Abs(m.BusyHalf-1.675) > 1e-9 {
		t.Errorf("%+v", m)
	}
	if m := of(all[:4]); m.ServicesHalf != 0 || m.BusyHalf != 0 {
		t.Errorf("of four samples: %+v", m)
	}
}

// TestCounted: statements that an app still sends between the last reading of the counters and the
// end of a log that goes on are no doubt about the log.
func TestCounted(t *testing.T) {
	at := func(n string) map[string]string {
		return map[string]string{"questions": n, "max_used_connections": "4"}
	}
	d := &databaseWatch{before: at("1000"), logged: at("1003"), after: at("7000"), closed: at("7169")}
	if c := d.counted(); c.questions != 6000 || c.between != 172 {
		t.Errorf("%+v", c)
	}
	if d.closed = nil; d.counted().between != 3 {
		t.Errorf("a log that was turned off: %+v", d.counted())
	}
}
