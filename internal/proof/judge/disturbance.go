package judge

import (
	"fmt"
	"math"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A run is void when its environment differs grossly from the one that is usual on
// its machine. A high but steady level of steal or of other programs voids
// nothing: it hits both arms alike, and what it adds to the noise is measured with
// the noise.
const (
	// usualRuns is how many runs define what is usual. When the machine changes for
	// good, half as many runs are void until the new level is the usual one.
	usualRuns = 9
	// leastUsual is how many runs are needed to know what is usual.
	leastUsual = 4
	// grossTimes is how many robust standard deviations above the median are gross.
	grossTimes = 5
	// madToSD makes the median absolute deviation of normal numbers their standard
	// deviation.
	madToSD = 1.4826
	// mateFloor is the factor on the floor for two runs of a pair: both may be off
	// their median.
	mateFloor = 1.5
	// leastLeft is the share of the CPU time that a measurement needs.
	leastLeft = 0.05
)

// An aspect is one number of an environment that can void a run.
type aspect struct {
	cause iikanji.Disturbance
	level func(e *iikanji.Environment) float64
	// relative is the level as a share of what the run left or asked for. Both must
	// be gross: a program that takes all idle time takes more beside a run that uses
	// less, and a run that uses more CPU time meets more steal. nil for none.
	relative func(e *iikanji.Environment) float64
	floor    float64 // differences up to it never void a run
	spread   func(e *iikanji.Environment) *float64
}

var aspects = []aspect{
	{iikanji.Stolen, func(e *iikanji.Environment) float64 { return e.Steal },
		func(e *iikanji.Environment) float64 { return share(e.Steal, e.Used+e.Other+e.Steal) }, 0.05,
		func(e *iikanji.Environment) *float64 { return &e.StealSpread }},
	{iikanji.OtherPrograms, func(e *iikanji.Environment) float64 { return e.Other },
		func(e *iikanji.Environment) float64 { return share(e.Other, 1-e.Used-e.Steal) }, 0.10,
		func(e *iikanji.Environment) *float64 { return &e.OtherSpread }},
	// A run that needs more CPU time under a quota is throttled more. Only another
	// program under the same quota, which may be invisible from a container, makes a
	// run be throttled more and use less.
	{iikanji.Throttled, func(e *iikanji.Environment) float64 { return e.Throttled },
		func(e *iikanji.Environment) float64 { return -e.Used }, 0.15,
		func(e *iikanji.Environment) *float64 { return &e.ThrottledSpread }},
	{iikanji.SlowClock, func(e *iikanji.Environment) float64 { return -math.Log(max(e.MHz, 1)) }, nil, 0.25, nil},
	{iikanji.BusyDisk, func(e *iikanji.Environment) float64 { return e.DiskBusy }, nil, 0.5, nil},
	{iikanji.Swapping, func(e *iikanji.Environment) float64 { return float64(e.Swapped) }, nil, 256, nil},
}

func share(part, whole float64) float64 { return min(1, part/max(whole, 1e-9)) }

// A Usual is what the latest runs on one machine looked like.
type Usual struct{ runs []*iikanji.Environment }

// Check sets the disturbance of a run's environment and its spreads, and returns
// the disturbance in words, "" if the run counts. The run belongs to what is usual
// from then on, void or not.
func (u *Usual) Check(e *iikanji.Environment) string {
	why := ""
	for _, a := range aspects {
		level, sd := u.of(a.level)
		if a.spread != nil {
			*a.spread(e) = sd
		}
		if e.Disturbance == iikanji.Undisturbed && len(u.runs) >= leastUsual && u.gross(a, e) {
			e.Disturbance, why = a.cause, a.say(e, level)
		}
	}
	if left := 1 - e.Other - e.Steal; e.Disturbance == iikanji.Undisturbed && left < leastLeft {
		e.Disturbance = iikanji.OtherPrograms
		if e.Steal > e.Other {
			e.Disturbance = iikanji.Stolen
		}
		why = fmt.Sprintf("other programs and the hypervisor left %.0f %% of the machine's CPU", 100*max(left, 0))
	}
	u.runs = append(u.runs, e)
	u.runs = u.runs[max(0, len(u.runs)-usualRuns):]
	return why
}

// of is the median of a number over the usual runs, and its robust standard
// deviation.
func (u *Usual) of(level func(*iikanji.Environment) float64) (mid, sd float64) {
	if len(u.runs) == 0 {
		return 0, 0
	}
	var all []float64
	for _, e := range u.runs {
		all = append(all, level(e))
	}
	mid = stats.Median(all)
	for i := range all {
		all[i] = math.Abs(all[i] - mid)
	}
	return mid, madToSD * stats.Median(all)
}

func (u *Usual) gross(a aspect, e *iikanji.Environment) bool {
	for _, number := range []func(*iikanji.Environment) float64{a.level, a.relative} {
		if number == nil {
			continue
		}
		if mid, sd := u.of(number); number(e)-mid <= max(a.floor, grossTimes*sd) {
			return false
		}
	}
	return true
}

// say describes a disturbance; usual is the median of its number.
func (a aspect) say(e *iikanji.Environment, usual float64) string {
	timers := ""
	if len(e.Timers) > 0 {
		timers = " (" + strings.Join(e.Timers, ", ") + " ran)"
	}
	switch a.cause {
	case iikanji.Stolen:
		return fmt.Sprintf("the hypervisor took %.0f %% of the CPU (steal), usually %.0f %%", 100*e.Steal, 100*usual)
	case iikanji.OtherPrograms:
		return fmt.Sprintf("other programs used %.0f %% of the machine's CPU, usually %.0f %%%s", 100*e.Other, 100*usual, timers)
	case iikanji.Throttled:
		return fmt.Sprintf("a CPU quota stopped the run for %.0f %% of the time of the cores, usually %.0f %%", 100*e.Throttled, 100*usual)
	case iikanji.SlowClock:
		return fmt.Sprintf("the CPU ran at %.0f MHz, usually at %.0f MHz", e.MHz, math.Exp(-usual))
	case iikanji.BusyDisk:
		return fmt.Sprintf("the disk was busy for %.0f %% of the time, usually for %.0f %%%s", 100*e.DiskBusy, 100*usual, timers)
	}
	return fmt.Sprintf("the machine swapped %d pages, usually %.0f", e.Swapped, usual)
}

// unequal voids a pair whose two runs had grossly different environments. The run
// with more of the disturbance is the one that is void.
func (p *Pair) unequal() {
	if p.Void != "" || p.A == nil || p.B == nil || p.A.Environment == nil || p.B.Environment == nil {
		return
	}
	a, b := p.A.Environment, p.B.Environment
	if a.Accepted || b.Accepted {
		return
	}
	for _, x := range aspects {
		if x.spread == nil {
			continue
		}
		limit := max(mateFloor*x.floor, grossTimes*math.Sqrt2*max(*x.spread(a), *x.spread(b)))
		d, r := x.level(b)-x.level(a), x.relative(b)-x.relative(a)
		switch {
		case d > limit && r > limit:
			p.Void, p.VoidArm = fmt.Sprintf("run %d: %s", p.B.ID, x.say(b, x.level(a))), ArmCandidate
		case -d > limit && -r > limit:
			p.Void, p.VoidArm = fmt.Sprintf("run %d: %s", p.A.ID, x.say(a, x.level(b))), ArmIncumbent
		default:
			continue
		}
		p.Void = strings.Replace(p.Void, "usually", "in the other run of the pair", 1)
		return
	}
}

// sayVoids is a warning about the void runs of both arms; "" if there are none.
func sayVoids(pairs []Pair) string {
	a, b := Voids(pairs)
	if a+b == 0 {
		return ""
	}
	return fmt.Sprintf("void runs: %d without the change, %d with it", a, b)
}
