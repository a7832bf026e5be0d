package judge

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestUsual checks that differences void runs, and levels do not.
func TestUsual(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	for _, c := range []struct {
		name string
		env  func(run int) iikanji.Environment
		void int // of 40 runs, at most
	}{
		{"quiet", func(int) iikanji.Environment { return iikanji.Environment{Used: 0.8, Other: 0.01} }, 0},
		{"steal of 0 to 15 %", func(int) iikanji.Environment {
			return iikanji.Environment{Used: 0.7, Other: 0.02, Steal: between(0, 0.15)}
		}, 1},
		{"one of two cores is busy", func(int) iikanji.Environment {
			return iikanji.Environment{Used: 0.5, Other: between(0.44, 0.5)}
		}, 0},
		{"a busy program takes what each arm leaves", func(run int) iikanji.Environment {
			used := []float64{0.75, 0.5}[run%2]
			return iikanji.Environment{Used: used, Other: 1 - used}
		}, 0},
		{"a better site leaves a busy program less", func(run int) iikanji.Environment {
			used := 0.45
			if run >= 20 {
				used = 0.75
			}
			return iikanji.Environment{Used: used, Other: 0.98 - used}
		}, 0},
		{"more load meets more steal", func(run int) iikanji.Environment {
			used := 0.3
			if run >= 20 {
				used = 0.8
			}
			return iikanji.Environment{Used: used, Steal: 0.2 * used}
		}, 0},
		{"a quota, and more load", func(run int) iikanji.Environment {
			used := 0.35
			if run >= 20 {
				used = 0.5
			}
			return iikanji.Environment{Used: used, Throttled: 2 * (used - 0.3), Quota: 1}
		}, 0},
		{"a quota, and more threads", func(run int) iikanji.Environment {
			return iikanji.Environment{Used: 0.5, Throttled: []float64{0.2, 0.6}[run/20], Quota: 1}
		}, 0},
		{"a machine that becomes busy for good", func(run int) iikanji.Environment {
			if run < 20 {
				return iikanji.Environment{Used: 0.8, Other: 0.01}
			}
			return iikanji.Environment{Used: 0.5, Other: 0.45}
		}, (usualRuns + 1) / 2},
	} {
		var u Usual
		void := 0
		for i := range 40 {
			e := c.env(i)
			if why := u.Check(&e); why != "" {
				void++
			}
		}
		if void > c.void {
			t.Errorf("%s: %d runs are void, want %d", c.name, void, c.void)
		}
	}
}

// TestUsualVoids checks that every kind of gross difference voids its run, with its
// type and in words.
func TestUsualVoids(t *testing.T) {
	quiet := iikanji.Environment{Used: 0.6, Other: 0.02, MHz: 2600, DiskBusy: 0.1}
	with := func(f func(*iikanji.Environment)) iikanji.Environment {
		e := quiet
		f(&e)
		return e
	}
	for _, c := range []struct {
		env  iikanji.Environment
		want iikanji.Disturbance
		says string
	}{
		{quiet, iikanji.Undisturbed, ""},
		{with(func(e *iikanji.Environment) { e.Other, e.Timers = 0.3, []string{"apt-get"} }), iikanji.OtherPrograms, "other programs used 30 % of the machine's CPU, usually 2 % (apt-get ran)"},
		{with(func(e *iikanji.Environment) { e.Steal = 0.12 }), iikanji.Stolen, "the hypervisor took 12 % of the CPU (steal), usually 0 %"},
		{with(func(e *iikanji.Environment) { e.Throttled, e.Used = 0.4, 0.3 }), iikanji.Throttled, "a CPU quota stopped the run for 40 %"},
		{with(func(e *iikanji.Environment) { e.MHz = 1300 }), iikanji.SlowClock, "the CPU ran at 1300 MHz, usually at 2600 MHz"},
		{with(func(e *iikanji.Environment) { e.DiskBusy = 0.9 }), iikanji.BusyDisk, "the disk was busy for 90 %"},
		{with(func(e *iikanji.Environment) { e.Swapped = 5000 }), iikanji.Swapping, "the machine swapped 5000 pages"},
	} {
		var u Usual
		for range 2 * leastUsual {
			e := quiet
			if why := u.Check(&e); why != "" {
				t.Fatalf("a quiet run: %s", why)
			}
		}
		if why := u.Check(&c.env); c.env.Disturbance != c.want || !strings.HasPrefix(why, c.says) {
			t.Errorf("%v: %q, want %v: %q", c.env.Disturbance, why, c.want, c.says)
		}
	}
	var u Usual // the first run already
	e := iikanji.Environment{Used: 0.03, Other: 0.96}
	if why := u.Check(&e); e.Disturbance != iikanji.OtherPrograms || !strings.Contains(why, "left 4 %") {
		t.Errorf("no CPU left: %v %q", e.Disturbance, why)
	}
}

// TestUnequal checks that a pair is void when one run was disturbed much more, by the
// measure of what is usual, and that the void runs of each arm are counted.
func TestUnequal(t *testing.T) {
	run := func(id iikanji.RunID, e iikanji.Environment) *iikanji.Run {
		return &iikanji.Run{ID: id, Outcome: iikanji.Passed, Score: 1000, Environment: &e}
	}
	busy := iikanji.Environment{Used: 0.5, Other: 0.45}
	spread := busy
	spread.OtherSpread = 0.1
	quiet := iikanji.Environment{Used: 0.9, Other: 0.01}
	accepted := busy
	accepted.Accepted = true
	for _, c := range []struct {
		name string
		a, b iikanji.Environment
		arm  Arm
		says string
	}{
		{"alike", busy, busy, ArmUnknown, ""},
		{"the candidate's run was disturbed", quiet, busy, ArmCandidate, "run 2: other programs used 45 % of the machine's CPU, in the other run of the pair 1 %"},
		{"the incumbent's", busy, quiet, ArmIncumbent, "run 1: other programs"},
		{"usual on this machine", spread, quiet, ArmUnknown, ""},
		{"disturbed runs count", quiet, accepted, ArmUnknown, ""},
	} {
		var p Pair
		p.Put(false, run(1, c.a), "")
		p.Put(true, run(2, c.b), "")
		if p.VoidArm != c.arm || !strings.HasPrefix(p.Void, c.says) || (p.Void == "") != (c.arm == ArmUnknown) {
			t.Errorf("%s: arm %d, %q", c.name, p.VoidArm, p.Void)
		}
	}
	var swaps, fine Pair
	swaps.Put(true, run(2, quiet), "the machine swapped 5000 pages")
	fine.Put(true, run(4, quiet), "")
	fine.Put(false, run(3, quiet), "")
	ps := []Pair{swaps, fine, swaps, {Void: "the environment has shifted"}}
	if a, b := Voids(ps); a != 0 || b != 2 {
		t.Errorf("%d and %d void runs, want 0 and 2", a, b)
	}
	v := NewJudge(known).Decide(Case{Pairs: ps})
	if !strings.Contains(strings.Join(v.Warnings, "\n"), "void runs: 0 without the change, 2 with it") {
		t.Errorf("warnings %q", v.Warnings)
	}
}
