package hoststat

import (
	"cmp"
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
	at      time.Time
	groups  map[string]spent
	busy    time.Duration // of the whole host: user, nice, system, irq, softirq
	steal   time.Duration
	cores   int
	mhz     float64 // mean of the cores; 0 if unknown
	disk    time.Duration
	swapped uint64 // pages, in and out
	quotas  map[string]quota
}

type spent struct {
	user, system time.Duration
	rss          iikanji.Bytes // sum of the peaks of the live processes
}

// Take reads a host's /proc. groups maps a service to its root process ids; each group
// covers their descendants too, and a process belongs to the nearest root
// above it. Processes that have ended do not count.
func Take(h host.Host, now time.Time, groups map[string][]int) (*Reading, error) {
	fs, mount, err := procOf(h)
	if err != nil {
		return nil, err
	}
	r := &Reading{at: now, groups: map[string]spent{}}
	if err := r.readHost(fs); err != nil {
		return nil, err
	}
	r.readRest(h, fs, mount)
	var roots []int
	for _, pids := range groups {
		roots = append(roots, pids...)
	}
	r.quotas = readQuotas(h, fs, roots)
	procs, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	r.readProcs(procs, groups)
	return r, nil
}

func (r *Reading) readHost(fs procfs.FS) error {
	st, err := fs.Stat()
	if err != nil {
		return fmt.Errorf("reading /proc/stat: %w", err)
	}
	c := st.CPUTotal
	r.busy = time.Duration((c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ) * float64(time.Second))
	r.steal = time.Duration(c.Steal * float64(time.Second))
	r.cores = len(st.CPU)
	return nil
}

// readRest reads the counters that a kernel may lack; they stay 0 then.
func (r *Reading) readRest(h host.Host, fs procfs.FS, mount string) {
	var c counters
	c.readDisks(mount)
	r.disk = c.disk.busy
	in, out := Swapped(h)
	r.swapped = in + out
	cpus, err := fs.CPUInfo()
	if err != nil || len(cpus) == 0 {
		return
	}
	for i := range cpus {
		r.mhz += cpus[i].CPUMHz / float64(len(cpus))
	}
}

// readProcs sums up user and system time, including the time of children that were
// waited for. The sum over the live processes of a tree then includes the time of
// processes that ended in between.
func (r *Reading) readProcs(procs procfs.Procs, groups map[string][]int) {
	root := map[int]string{}
	for name, pids := range groups {
		r.groups[name] = spent{}
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
		s := r.groups[name]
		s.user += time.Duration(st.UTime+uint(max(st.CUTime, 0))) * tick
		s.system += time.Duration(st.STime+uint(max(st.CSTime, 0))) * tick
		if status, err := p.NewStatus(); err == nil {
			s.rss += iikanji.Bytes(status.VmHWM)
		}
		r.groups[name] = s
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
	wall := to.at.Sub(from.at) * time.Duration(max(to.cores, 1))
	if wall <= 0 {
		return nil, env
	}
	var known time.Duration
	for name, b := range to.groups {
		a := from.groups[name]
		u := iikanji.Usage{Who: name, User: max(b.user-a.user, 0), System: max(b.system-a.system, 0), PeakRS: b.rss}
		u.Share = float64(u.User+u.System) / float64(wall)
		known += u.User + u.System
		usage = append(usage, u)
	}
	slices.SortFunc(usage, func(a, b iikanji.Usage) int {
		return cmp.Or(cmp.Compare(b.User+b.System, a.User+a.System), cmp.Compare(a.Who, b.Who))
	})
	other := max(to.busy-from.busy-known, 0)
	usage = append(usage, iikanji.Usage{Who: Other, User: other, Share: float64(other) / float64(wall)})
	env = environment(from, to, wall)
	env.Used, env.Other = float64(known)/float64(wall), float64(other)/float64(wall)
	return usage, env
}

// environment is the numbers that do not need the groups. wall is the time of all
// cores.
func environment(from, to *Reading, wall time.Duration) iikanji.Environment {
	throttled, cores := throttledBetween(from.quotas, to.quotas)
	return iikanji.Environment{
		Steal:     float64(max(to.steal-from.steal, 0)) / float64(wall),
		Throttled: float64(throttled) / float64(wall), Quota: cores,
		MHz:      to.mhz,
		DiskBusy: float64(max(to.disk-from.disk, 0)) / float64(to.at.Sub(from.at)),
		Swapped:  int64(max(to.swapped, from.swapped) - from.swapped),
	}
}
