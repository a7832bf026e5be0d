package hoststat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// tick is the kernel's USER_HZ, the unit of CPU times in /proc: 100 a second
// on every architecture that Go runs on under Linux.
const tick = time.Second / 100

// Other is the name for the processes that belong to no group.
const Other = "other"

// A Reading is the CPU counters of one host at one instant, with the counters of
// what else may disturb a run.
type Reading struct {
	At      time.Time
	Groups  map[string]Spent
	Busy    time.Duration // of the whole host: user, nice, system, irq, softirq
	Steal   time.Duration
	Cores   int
	MHz     float64 // mean of the cores; 0 if unknown
	Disk    time.Duration
	Swapped uint64 // pages, in and out
	Quotas  map[string]Quota
}

// Spent is the CPU time of one group.
type Spent struct {
	User, System time.Duration
	Children     time.Duration // of these, of processes that ended
	RSS          iikanji.Bytes // sum of the peaks of the live processes
}

// A taking is what Take is asked for.
type taking struct {
	Now    time.Time
	Groups map[string][]int
}

// Take reads a host's /proc. groups maps a service to its root process ids; each group
// covers their descendants too, and a process belongs to the nearest root
// above it. Processes that have ended do not count.
func Take(h host.Host, now time.Time, groups map[string][]int) (*Reading, error) {
	r, err := takeTask().On(context.Background(), h, taking{now, groups})
	if err != nil {
		return nil, err
	}
	return &r, nil
}

func take(_ context.Context, h host.Host, of taking) (r Reading, err error) {
	r = Reading{At: of.Now, Groups: map[string]Spent{}}
	fs, mount, err := procOf(h)
	if err != nil {
		return r, err
	}
	if err := r.readHost(fs); err != nil {
		return r, err
	}
	r.readRest(h, fs, mount)
	var roots []int
	for _, pids := range of.Groups {
		roots = append(roots, pids...)
	}
	r.Quotas = readQuotas(h, fs, roots)
	procs, err := fs.AllProcs()
	if err != nil {
		return r, fmt.Errorf("listing processes: %w", err)
	}
	r.readProcs(procs, of.Groups)
	return r, nil
}

func (r *Reading) readHost(fs procfs.FS) error {
	st, err := fs.Stat()
	if err != nil {
		return fmt.Errorf("reading /proc/stat: %w", err)
	}
	c := st.CPUTotal
	r.Busy = time.Duration((c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ) * float64(time.Second))
	r.Steal = time.Duration(c.Steal * float64(time.Second))
	r.Cores = len(st.CPU)
	return nil
}

// readRest reads the counters that a kernel may lack; they stay 0 then.
func (r *Reading) readRest(h host.Host, fs procfs.FS, mount string) {
	var c counters
	c.readDisks(mount)
	r.Disk = c.disk.busy
	in, out := Swapped(h)
	r.Swapped = in + out
	cpus, err := fs.CPUInfo()
	if err != nil || len(cpus) == 0 {
		return
	}
	for i := range cpus {
		r.MHz += cpus[i].CPUMHz / float64(len(cpus))
	}
}

// readProcs sums up user and system time, including the time of children that were
// waited for. The sum over the live processes of a tree then includes the time of
// processes that ended in between.
func (r *Reading) readProcs(procs procfs.Procs, groups map[string][]int) {
	root := map[int]string{}
	for name, pids := range groups {
		r.Groups[name] = Spent{}
		for _, pid := range pids {
			root[pid] = name
		}
	}
	stats := map[int]procfs.ProcStat{}
	for _, p := range procs {
		if st, err := p.Stat(); err == nil {
			stats[p.PID] = st
		}
	}
	for _, p := range procs {
		st, ok := stats[p.PID]
		name := groupOf(p.PID, stats, root)
		if !ok || name == "" {
			continue
		}
		s := r.Groups[name]
		s.User += time.Duration(st.UTime+uint(max(st.CUTime, 0))) * tick
		s.System += time.Duration(st.STime+uint(max(st.CSTime, 0))) * tick
		s.Children += time.Duration(max(st.CUTime, 0)+max(st.CSTime, 0)) * tick
		if status, err := p.NewStatus(); err == nil {
			s.RSS += iikanji.Bytes(status.VmHWM)
		}
		r.Groups[name] = s
	}
}

// groupOf follows the parents up to the nearest root.
func groupOf(pid int, stats map[int]procfs.ProcStat, root map[int]string) string {
	for range 64 { // no service has a deeper tree
		if name, ok := root[pid]; ok {
			return name
		}
		st, ok := stats[pid]
		if !ok || st.PPID == 0 {
			return ""
		}
		pid = st.PPID
	}
	return ""
}

// Between is the use of the CPU from one reading to a later one by group, the
// heaviest first; "other" are all processes of the host that belong to no group.
// Shares are of all cores. The environment is what else the host did.
func Between(from, to *Reading) (usage []iikanji.Usage, env iikanji.Environment) {
	wall := to.At.Sub(from.At) * time.Duration(max(to.Cores, 1))
	if wall <= 0 {
		return nil, env
	}
	var known time.Duration
	for name, b := range to.Groups {
		a := from.Groups[name]
		u := iikanji.Usage{Who: name, User: max(b.User-a.User, 0), System: max(b.System-a.System, 0), PeakRS: b.RSS}
		u.Children = min(max(b.Children-a.Children, 0), u.User+u.System)
		u.Share = float64(u.User+u.System) / float64(wall)
		known += u.User + u.System
		usage = append(usage, u)
	}
	slices.SortFunc(usage, func(a, b iikanji.Usage) int {
		return cmp.Or(cmp.Compare(b.User+b.System, a.User+a.System), cmp.Compare(a.Who, b.Who))
	})
	other := max(to.Busy-from.Busy-known, 0)
	usage = append(usage, iikanji.Usage{Who: Other, User: other, Share: float64(other) / float64(wall)})
	env = environment(from, to, wall)
	env.Used, env.Other = float64(known)/float64(wall), float64(other)/float64(wall)
	return usage, env
}

// environment is the numbers that do not need the groups. wall is the time of all
// cores.
func environment(from, to *Reading, wall time.Duration) iikanji.Environment {
	throttled, cores := throttledBetween(from.Quotas, to.Quotas)
	return iikanji.Environment{
		Steal:     float64(max(to.Steal-from.Steal, 0)) / float64(wall),
		Throttled: float64(throttled) / float64(wall), Quota: cores, Shared: sharedQuota(to.Quotas),
		MHz:      to.MHz,
		DiskBusy: float64(max(to.Disk-from.Disk, 0)) / float64(to.At.Sub(from.At)),
		Swapped:  int64(max(to.Swapped, from.Swapped) - from.Swapped),
	}
}
