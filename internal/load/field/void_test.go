package field

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestVoid checks which runs of a search do not count, and that they count with a
// warning where disturbed runs are accepted.
func TestVoid(t *testing.T) {
	run := func(other float64) *iikanji.Run {
		return &iikanji.Run{Outcome: iikanji.Passed, Score: 1000, Environment: &iikanji.Environment{Used: 0.5, Other: other}}
	}
	usual := func(level float64) *Field {
		f := &Field{Dir: "/data"}
		for range 5 {
			if why := f.void(run(level), false); why != "" {
				t.Fatalf("a usual run: %s", why)
			}
		}
		return f
	}
	full := run(0.02)
	full.Environment.Disturbance, full.Environment.FullDisk = iikanji.DiskFull, "/data"
	far := run(0.02)
	far.Hosts = []iikanji.RunHost{{Name: "web"}, {Name: "db", Environment: &iikanji.Environment{Disturbance: iikanji.DiskFull, FullDisk: "/"}}}
	limited := run(0.02)
	limited.Outcome, limited.Load = iikanji.Void, iikanji.Generator{Void: true, Why: "it used 97 % of its cores"}
	bound := run(0.02)
	bound.Outcome, bound.Load = iikanji.Void, iikanji.Generator{Void: true, Busy: true, Why: "it used 97 % of its cores"}
	if why := usual(0.02).void(bound, false); why != "" || !bound.Clean() || bound.Load.Void || len(bound.Warnings) != 1 {
		t.Errorf("a generator without CPU time: %q, %+v", why, bound)
	}
	unmeasured := run(0)
	unmeasured.Environment = nil
	for _, c := range []struct {
		name  string
		level float64 // of the runs before
		run   *iikanji.Run
		says  string
	}{
		{"as usual", 0.02, run(0.03), ""},
		{"busy as usual", 0.45, run(0.44), ""},
		{"busier than usual", 0.02, run(0.45), "other programs used 45 % of the machine's CPU, usually 2 %"},
		{"a full disk", 0.02, full, "the disk of /data is nearly full: less than 512 MiB are left"},
		{"a full disk of another machine", 0.02, far, "the disk of / on db is nearly full: less than 512 MiB are left"},
		{"the generator was the limit", 0.02, limited, "it used 97 % of its cores"},
		{"not measured", 0.02, unmeasured, ""},
	} {
		accepted := *c.run
		if c.run.Environment != nil {
			e := *c.run.Environment
			accepted.Environment = &e
		}
		if why := usual(c.level).void(c.run, false); why != c.says {
			t.Errorf("%s: %q, want %q", c.name, why, c.says)
		}
		why := usual(c.level).void(&accepted, true)
		warned := slices.Contains(accepted.Warnings, c.says)
		if why != "" || !accepted.Clean() || warned != (c.says != "") || accepted.Environment != nil && accepted.Environment.Accepted != (c.says != "") {
			t.Errorf("%s, accepted: %q, %+v", c.name, why, accepted)
		}
	}
	noisy := usual(0.02)
	noisy.Noisy = true
	if why := noisy.void(run(0.6), false); why != "" {
		t.Errorf("--noisy: %s", why)
	}
}

// TestFullDisk: a single run beside a nearly full disk is void, whether it passed or failed. One
// that waits for its score still waits, and does not count.
func TestFullDisk(t *testing.T) {
	for outcome, want := range map[iikanji.Outcome]iikanji.Outcome{iikanji.Passed: iikanji.Void, iikanji.Failed: iikanji.Void, iikanji.Pending: iikanji.Pending} {
		r := &iikanji.Run{Outcome: outcome, Score: 5, Environment: &iikanji.Environment{Disturbance: iikanji.DiskFull, FullDisk: "/var/log"}}
		fullDisk(r)
		if r.Outcome != want || !r.Load.Void || r.Clean() || !strings.Contains(r.Load.Why, "/var/log is nearly full") {
			t.Errorf("%s becomes %s: %+v", outcome, r.Outcome, r.Load)
		}
		r.Outcome = iikanji.Passed // its score was given later
		if r.Clean() {
			t.Errorf("a run of %s counts when its score is given", outcome)
		}
	}
	r := &iikanji.Run{Outcome: iikanji.Passed, Environment: &iikanji.Environment{}}
	if fullDisk(r); !r.Clean() {
		t.Errorf("with room: %+v", r)
	}
}

// TestShareMachine checks that a starved generator voids a run on a quiet machine
// only: on a busy one, generator and site are slow alike.
func TestShareMachine(t *testing.T) {
	for _, c := range []struct {
		name    string
		starved bool
		env     *iikanji.Environment
		score   float64
		want    iikanji.Outcome
	}{
		{"under a quota", true, &iikanji.Environment{Throttled: 0.2}, 100, iikanji.Passed},
		{"beside other programs", true, &iikanji.Environment{Other: 0.4}, 100, iikanji.Passed},
		{"beside other guests", true, &iikanji.Environment{Steal: 0.1}, 100, iikanji.Passed},
		{"on a quiet machine", true, &iikanji.Environment{Other: 0.02}, 100, iikanji.Void},
		{"not measured", true, nil, 100, iikanji.Void},
		{"by its own work", false, &iikanji.Environment{Throttled: 0.2}, 100, iikanji.Void},
		{"without a score", true, &iikanji.Environment{Throttled: 0.2}, 0, iikanji.Void},
	} {
		run := &iikanji.Run{Outcome: iikanji.Void, Score: c.score, Load: iikanji.Generator{Void: true, Starved: c.starved, Why: "it woke up late"}}
		shareMachine(run, c.env)
		if run.Outcome != c.want || run.Load.Void != (c.want == iikanji.Void) || (len(run.Warnings) == 1) != (c.want == iikanji.Passed) {
			t.Errorf("%s: %v, %+v, %q", c.name, run.Outcome, run.Load, run.Warnings)
		}
	}
}
