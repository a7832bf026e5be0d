package observe

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// Generator is the name of the load generator, this process, among the services.
const Generator = "generator"

// StealLimit is the share of the CPU time of all cores taken by the hypervisor
// from which a run carries a warning. Like the other limits, it is about the size
// of the effects that runs are compared for. It voids no run: see judge.Usual.
const StealLimit = 0.02

// Further limits for warnings.
const (
	otherLimit    = 0.10 // of the machine, by programs that do not belong to the run
	throttleLimit = 0.02 // of the time of all cores, by a CPU quota
)

// diskLeast is the free space of the disk below which a run is void: the database
// may stop at any moment.
const diskLeast = 512 << 20

// A Guard watches the environment of a run on this machine, and on the site's others. It reads the machine's
// counters when the load begins and when it ends, and reports which services used
// the CPU in between and what else the machine did. Set the first group of fields
// before the run; the other fields are results.
type Guard struct {
	Now func() time.Time
	// Host is the machine; nil for this one.
	Host host.Host
	// Groups returns the root processes of each service at this moment; nil if no
	// service runs on this machine. It is called from other goroutines.
	Groups func() map[string][]int
	// Others are the other machines of the site, and HostOf the name of the machine of a
	// service; nil where all services are on this one.
	Others []host.Host
	HostOf func(service string) string
	// GroupsOn are the root processes on one machine, also of instances and spares; nil:
	// those of Groups.
	GroupsOn func(host string) map[string][]int
	// Unseen: the site runs on this machine, as processes that are not known. They count
	// as other programs.
	Unseen bool
	// Disks are folders by the name of their machine, whose free space is checked at the end of
	// the load: those of data and logs. The disk of another machine's root is checked, too.
	Disks map[string][]string
	// Every is the interval between samples of the host during the load; 0 for none.
	Every time.Duration

	Usage   []iikanji.Usage   // CPU time during the load, by service
	Samples []hoststat.Sample // valid after Stop
	// Environment is what else the machine did; nil if the load had no end.
	Environment *iikanji.Environment
	// Err is the reason why the counters could not be read.
	Err error

	far       []*farGuard
	from      *hoststat.Reading
	recorder  *hoststat.Recorder
	unsampled error
}

// Phase is called by the engine at the begin and end of each phase. The sampler
// runs between the two readings, so that its own CPU time is counted.
func (g *Guard) Phase(p scenario.Phase, begins bool) {
	if p != scenario.Load {
		return
	}
	if begins {
		g.far = nil
		for _, h := range g.Others {
			g.far = append(g.far, &farGuard{h: h, disks: append([]string{"/"}, g.Disks[h.Name()]...)})
		}
		g.everywhere(func(f *farGuard) { f.meet(g.Now) })
	} else {
		g.Stop()
	}
	var others sync.WaitGroup
	others.Go(func() {
		g.everywhere(func(f *farGuard) {
			groups := func() map[string][]int { return g.groupsOn(f.h.Name()) }
			if begins {
				f.begin(g.Now, g.Every, groups)
			} else {
				f.end(g.Now, groups)
			}
		})
	})
	g.here(begins)
	others.Wait()
	if !begins {
		g.everywhere(func(f *farGuard) { f.part(g.Now) })
	}
}

// here reads this machine at the begin or the end of the load.
func (g *Guard) here(begins bool) {
	r, err := hoststat.Take(g.host(), g.Now(), g.groups())
	if err != nil {
		g.Err = fmt.Errorf("the CPU use of the services is unknown: %w", err)
		return
	}
	if begins {
		g.from = r
		g.sample()
		return
	}
	if g.from != nil {
		g.measure(r)
	}
}

func (g *Guard) host() host.Host {
	if g.Host == nil {
		return host.Local{}
	}
	return g.Host
}

// groups are this machine's services and the generator. Where the services descend from
// this process, each process belongs to the nearest root above it.
func (g *Guard) groups() map[string][]int {
	all := g.groupsOn("")
	all[Generator] = []int{os.Getpid()}
	return all
}

// servicesIn are groups as services, by name.
func servicesIn(groups map[string][]int) (services []hoststat.Service) {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		services = append(services, hoststat.Service{Name: name, PIDs: groups[name]})
	}
	return services
}

// sample begins to sample the machine, if Every is set.
func (g *Guard) sample() {
	if g.Every == 0 {
		return
	}
	var err error
	g.recorder, err = hoststat.Record(g.host(), g.Now, g.Every, func() []hoststat.Service { return servicesIn(g.groups()) })
	if err != nil {
		g.unsampled = fmt.Errorf("the host could not be sampled: %w", err)
	}
}

// Stop ends the sampling. The end of the load does so too; call Stop for a run that
// was broken off. It may be called twice.
func (g *Guard) Stop() {
	g.everywhere((*farGuard).stop)
	if g.recorder == nil {
		return
	}
	var err error
	if g.Samples, err = g.recorder.Stop(); err != nil {
		g.unsampled = fmt.Errorf("the host was not sampled to the end: %w", err)
	}
	g.recorder = nil
}

// measure fills in the results. It voids a run only for a disk that is nearly
// full: all other numbers need runs to be compared with.
func (g *Guard) measure(r *hoststat.Reading) {
	usage, env := hoststat.Between(g.from, r)
	g.Usage, g.Environment = usage, &env
	env.Timers = busyTimers()
	checkDisks(&env, g.host(), g.Disks[""])
}

// checkDisks voids a run if a disk of one of the folders is nearly full.
func checkDisks(env *iikanji.Environment, h host.Host, folders []string) {
	for _, dir := range folders {
		if free, err := h.FreeSpace(dir); err == nil && free < diskLeast { // an error: it does not exist yet
			env.Disturbance, env.FullDisk = iikanji.DiskFull, dir
			return
		}
	}
}

// FullDisk is the disk that makes a run void, as a reason; "" for none.
func FullDisk(run *iikanji.Run) string {
	say := func(e *iikanji.Environment, on string) string {
		if e == nil || e.Disturbance != iikanji.DiskFull {
			return ""
		}
		return fmt.Sprintf("the disk of %s%s is nearly full: less than %d MiB are left", e.FullDisk, on, diskLeast>>20)
	}
	if why := say(run.Environment, ""); why != "" {
		return why
	}
	for _, h := range run.Hosts {
		if why := say(h.Environment, " on "+h.Name); why != "" {
			return why
		}
	}
	return ""
}

// Results adds what was measured to a run.
func (g *Guard) Results(run *iikanji.Run) {
	if g.Usage != nil { // the engine measures only itself
		run.Usage = g.Usage
	}
	run.Environment = g.Environment
	for _, f := range g.far {
		run.Usage, run.Hosts = append(run.Usage, f.usage...), append(run.Hosts, f.is)
	}
}

// Mark adds the results to a run that is one of many.
func (g *Guard) Mark(run *iikanji.Run) {
	g.Results(run)
	for _, f := range g.far {
		for _, err := range f.errs {
			run.Warnings = append(run.Warnings, err.Error())
		}
	}
	if g.Err != nil {
		run.Warnings = append(run.Warnings, g.Err.Error())
	}
}

// Disturbed reports whether other programs, the hypervisor or a quota took CPU time
// from a run.
func Disturbed(e *iikanji.Environment) bool {
	return e != nil && (e.Steal >= StealLimit || e.Other >= otherLimit || e.Throttled >= throttleLimit)
}

// Doubts are warnings for a single run, which is not repeated: what could not be
// measured, and what took CPU time from the run.
func (g *Guard) Doubts() (says []string) {
	for _, err := range []error{g.unsampled, g.Err} {
		if err != nil {
			says = append(says, err.Error())
		}
	}
	for _, f := range g.far {
		says = append(says, f.doubts()...)
	}
	e := g.Environment
	if e == nil {
		return says
	}
	if e.Steal >= StealLimit {
		says = append(says, fmt.Sprintf(
			"the hypervisor took %.1f %% of the CPU during the load (steal): compare only runs that were interleaved", 100*e.Steal))
	}
	if e.Other >= otherLimit && !g.Unseen {
		says = append(says, fmt.Sprintf(
			"programs that are no part of the run used %.0f %% of the machine's CPU during the load: repeat it on a quiet machine", 100*e.Other))
	}
	if e.Throttled >= throttleLimit {
		says = append(says, fmt.Sprintf(
			"a CPU quota of %.2g cores stopped the run for %.0f %% of the time of the cores: the score is that of the quota", e.Quota, 100*e.Throttled))
	}
	return says
}

// timers are programs that a system starts by itself, by the kernel's short names.
var timers = []string{"apt-get", "apt", "apt.systemd.dai", "unattended-upgr", "dpkg", "packagekitd", "updatedb", "updatedb.mlocat", "mandb", "fstrim", "logrotate", "snapd"}

// busyTimers lists the timers that run now.
func busyTimers() []string {
	var found []string
	h := host.Local{}
	paths, _ := h.Glob(filepath.Join(h.ProcFolder(), "[0-9]*", "comm")) // the pattern is well formed
	for _, p := range paths {
		b, err := h.Read(p)
		name := string(bytes.TrimSpace(b))
		if err == nil && slices.Contains(timers, name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}
