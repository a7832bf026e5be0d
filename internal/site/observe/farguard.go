package observe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/clock"
	"github.com/iikanji/iikanji/internal/machine/fleet"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// A farGuard watches another machine of the site during one run: its clock, the CPU time of
// the site's services there, and what else it did.
type farGuard struct {
	h        host.Host
	disks    []string // folders whose free space is checked
	from     *hoststat.Reading
	recorder *hoststat.Recorder
	is       iikanji.RunHost
	usage    []iikanji.Usage
	samples  []hoststat.Sample
	errs     []error // what is not known of the machine
	compared bool    // the clock was read before the load
}

func (f *farGuard) fail(what string, err error) {
	if err != nil {
		f.errs = append(f.errs, fmt.Errorf("%s of machine %s: %w", what, f.h.Name(), err))
	}
}

// clockLimit bounds the time of one comparison of clocks.
const clockLimit = 5 * time.Second

// meet reads what is known of the machine before a load, and compares the clocks.
func (f *farGuard) meet(now func() time.Time) {
	f.is = iikanji.RunHost{Name: f.h.Name(), Machine: hoststat.Machine(f.h, "")}
	id, err := fleet.IdentityOf(f.h)
	f.fail("the identity", err)
	f.is.Identity, f.is.Boot = id.ID, id.Boot
	ctx, cancel := context.WithTimeout(context.Background(), clockLimit)
	defer cancel()
	before, err := clock.Read(ctx, f.h, now)
	f.fail("the clock", err)
	if f.compared = err == nil; f.compared {
		f.is.Clock = &iikanji.Clock{Before: before}
	}
}

// part compares the clocks after a load.
func (f *farGuard) part(now func() time.Time) {
	if !f.compared {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), clockLimit)
	defer cancel()
	var err error
	if f.is.Clock.After, err = clock.Read(ctx, f.h, now); err != nil {
		f.fail("the clock", err)
		f.is.Clock = nil
	}
}

// begin takes the counters at the begin of the load, and begins to sample the machine once
// an interval; 0 does not sample.
func (f *farGuard) begin(now func() time.Time, every time.Duration, groups func() map[string][]int) {
	var err error
	f.from, err = hoststat.Take(f.h, now(), groups())
	f.fail("the CPU use of the services", err)
	if every == 0 || err != nil {
		return
	}
	f.recorder, err = hoststat.Record(f.h, now, every, func() []hoststat.Service { return servicesIn(groups()) })
	f.fail("the samples", err)
}

// end takes the counters at the end of the load.
func (f *farGuard) end(now func() time.Time, groups func() map[string][]int) {
	f.stop()
	if f.from == nil {
		return
	}
	to, err := hoststat.Take(f.h, now(), groups())
	if err != nil {
		f.fail("the CPU use of the services", err)
		return
	}
	usage, env := hoststat.Between(f.from, to)
	for i := range usage {
		usage[i].Host = f.h.Name()
	}
	checkDisks(&env, f.h, f.disks)
	f.usage, f.is.Environment = usage, &env
}

func (f *farGuard) stop() {
	if f.recorder == nil {
		return
	}
	var err error
	f.samples, err = f.recorder.Stop()
	f.fail("the samples", err)
	f.recorder = nil
}

// doubts are warnings for the run.
func (f *farGuard) doubts() (says []string) {
	for _, err := range f.errs {
		says = append(says, err.Error())
	}
	e := f.is.Environment
	if e == nil {
		return says
	}
	if e.Steal >= StealLimit {
		says = append(says, fmt.Sprintf("the hypervisor took %.1f %% of the CPU of machine %s during the load (steal)", 100*e.Steal, f.h.Name()))
	}
	if e.Other >= otherLimit {
		says = append(says, fmt.Sprintf("programs that are no part of the run used %.0f %% of the CPU of machine %s", 100*e.Other, f.h.Name()))
	}
	if e.Throttled >= throttleLimit {
		says = append(says, fmt.Sprintf("a CPU quota of %.2g cores stopped the services of machine %s for %.0f %% of the time of its cores", e.Quota, f.h.Name(), 100*e.Throttled))
	}
	return says
}

// everywhere calls do for each other machine, all at once: what they do begins within one
// round trip.
func (g *Guard) everywhere(do func(f *farGuard)) {
	var all sync.WaitGroup
	for _, f := range g.far {
		all.Go(func() { do(f) })
	}
	all.Wait()
}

// groupsOn are the root processes of the services of one machine.
func (g *Guard) groupsOn(name string) map[string][]int {
	if g.GroupsOn != nil {
		return g.GroupsOn(name)
	}
	out := map[string][]int{}
	if g.Groups == nil {
		return out
	}
	for service, pids := range g.Groups() {
		if g.HostOf == nil && name == "" || g.HostOf != nil && g.HostOf(service) == name {
			out[service] = pids
		}
	}
	return out
}

// Far are the samples of the other machines, by name, in the times of this machine's clock.
func (g *Guard) Far() map[string][]hoststat.Sample {
	out := map[string][]hoststat.Sample{}
	for _, f := range g.far {
		if len(f.samples) > 0 {
			out[f.h.Name()] = shiftedSamples(f.samples, f.is.Clock)
		}
	}
	return out
}

// shiftedSamples are samples in the times of this machine's clock.
func shiftedSamples(in []hoststat.Sample, c *iikanji.Clock) []hoststat.Sample {
	if c == nil {
		return in
	}
	out := make([]hoststat.Sample, len(in))
	for i, s := range in {
		s.At = c.Shift(s.At)
		out[i] = s
	}
	return out
}

var errNoClock = errors.New("its clock was not compared with this machine's before and after the load")
