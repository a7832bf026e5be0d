package observe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestMachineDown: a machine that is not reached leaves a run with what is known of the
// others: it has no usage, a red clock, and a warning that names it.
func TestMachineDown(t *testing.T) {
	db := host.Down{Host: "db", Err: os.ErrDeadlineExceeded}
	g := &Guard{Now: time.Now, Every: time.Hour, Others: []host.Host{db}, HostOf: func(service string) string { return map[string]string{"mariadb": "db"}[service] },
		Groups: func() map[string][]int { return map[string][]int{"app": {os.Getpid()}} }}
	g.Phase(scenario.Load, true)
	g.Phase(scenario.Load, false)
	run := &iikanji.Run{}
	g.Results(run)
	if is, ok := run.Host("db"); !ok || is.Clock != nil || is.Environment != nil {
		t.Errorf("the machine in the run: %+v", run.Hosts)
	}
	if len(run.Usage) == 0 || run.Usage[0].Host != "" {
		t.Errorf("the usage: %+v", run.Usage)
	}
	if says := strings.Join(g.Doubts(), "\n"); !strings.Contains(says, "the CPU use of the services of machine db") || !strings.Contains(says, "the clock of machine db") {
		t.Errorf("the warnings: %s", says)
	}
	o := &Observer{hosts: []*hostWatch{{h: host.Local{}}, {h: db}}}
	if s := o.clockSensors(run); len(s) != 1 || s[0].Green || s[0].Target != "db" || s[0].Source != iikanji.Clocks {
		t.Errorf("the sensors: %+v", s)
	}
	o.hosts[1].begin(Watched{Now: time.Now})
	o.hosts[1].end()
	if o.hosts[1].err == nil {
		t.Error("the samples of a machine that is down have no error")
	}
}

// TestFullDisks: a run is void if less than 512 MiB are left on a disk of its data or logs, on
// whichever machine; a folder that does not exist yet says nothing.
func TestFullDisks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "var/log"), 0o755); err != nil {
		t.Fatal(err)
	}
	for space, want := range map[int64]string{diskLeast: "", diskLeast - 1: "/var/log"} {
		var env iikanji.Environment
		checkDisks(&env, &host.Fake{Root: root, Space: space}, []string{"/var/none", "/var/log"})
		if env.FullDisk != want || (env.Disturbance == iikanji.DiskFull) != (want != "") {
			t.Errorf("with %d bytes: %+v", space, env)
		}
		run := &iikanji.Run{Environment: &iikanji.Environment{}, Hosts: []iikanji.RunHost{{Name: "web"}, {Name: "db", Environment: &env}}}
		says := ""
		if want != "" {
			says = "the disk of /var/log on db is nearly full: less than 512 MiB are left"
		}
		if got := FullDisk(run); got != says {
			t.Errorf("%q, want %q", got, says)
		}
	}
}

// TestProveClock: an offset must be known within 20 ms, and move by less than 50 ms.
func TestProveClock(t *testing.T) {
	for _, c := range []struct {
		trip, drift time.Duration
		green       bool
	}{{time.Millisecond, 0, true}, {39 * time.Millisecond, 49 * time.Millisecond, true}, {41 * time.Millisecond, 0, false}, {time.Millisecond, -51 * time.Millisecond, false}} {
		clock := iikanji.Clock{Before: iikanji.ClockReading{Offset: time.Second, Trip: c.trip}, After: iikanji.ClockReading{Offset: time.Second + c.drift, Trip: c.trip}}
		if s := proveClock(Sensor{Source: iikanji.Clocks}, clock); s.Green != c.green {
			t.Errorf("round trip %v, drift %v: %+v", c.trip, c.drift, s)
		}
	}
}

// TestShift moves times of another clock along the line between both readings.
func TestShift(t *testing.T) {
	at := time.Unix(1000, 0)
	c := iikanji.Clock{Before: iikanji.ClockReading{At: at, Offset: 2 * time.Second}, After: iikanji.ClockReading{At: at.Add(10 * time.Second), Offset: 3 * time.Second}}
	for ahead, want := range map[time.Duration]time.Duration{0: 2 * time.Second, 5 * time.Second: 2500 * time.Millisecond, 10 * time.Second: 3 * time.Second} {
		if got := c.OffsetAt(at.Add(ahead)); got != want {
			t.Errorf("after %v: %v, want %v", ahead, got, want)
		}
		if off := c.Shift(at.Add(ahead).Add(want)).Sub(at.Add(ahead)).Abs(); off > time.Microsecond {
			t.Errorf("after %v: shifted to %v off", ahead, off)
		}
	}
	p := &iikanji.Profile{First: at, Rows: []iikanji.Row{{Ticks: &iikanji.Ticks{From: at}, PerSecond: &iikanji.PerSecond{From: 1000}}}}
	unshift(p, 1700*time.Millisecond)
	if !p.First.Equal(at.Add(-1700*time.Millisecond)) || !p.Rows[0].Ticks.From.Equal(p.First) || p.Rows[0].PerSecond.From != 998 || !p.Last.IsZero() {
		t.Errorf("%+v", p)
	}
}
