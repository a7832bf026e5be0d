package hoststat

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Quota is the CPU quota of one control group, with its use.
type Quota struct {
	Cores     float64       // 0 for no quota
	Throttled time.Duration // since the group was made, summed over the cores
	// All: every process that was asked for is in the group, so that its quota is that of the
	// machine for them.
	All bool
}

// readQuotas reads the control groups of processes and all groups above them, by
// the folder of the group. A group that cannot be read is left out: most
// machines have no quota.
func readQuotas(h host.Host, fs procfs.FS, pids []int) map[string]Quota {
	all, in, alive := map[string]Quota{}, map[string]int{}, 0
	for _, pid := range pids {
		p, err := fs.Proc(pid)
		if err != nil {
			continue
		}
		alive++
		for _, dir := range groupFolders(p) {
			if in[dir]++; in[dir] > 1 {
				continue
			}
			if q, ok := readQuota(h, dir); ok {
				all[dir] = q
			}
		}
	}
	for dir, q := range all {
		q.All = in[dir] == alive
		all[dir] = q
	}
	return all
}

// groupFolders lists the folders of the control groups that limit the CPU time of
// a process: its own and those above it, up to the mount.
func groupFolders(p procfs.Proc) []string {
	groups, err := p.Cgroups()
	if err != nil {
		return nil
	}
	mounts, err := p.MountInfo()
	if err != nil {
		return nil
	}
	var dirs []string
	for _, m := range mounts {
		for _, g := range groups {
			if !limitsCPU(g, m) {
				continue
			}
			below, ok := within(g.Path, m.Root)
			for dir := below; ok; dir = path.Dir(dir) {
				dirs = append(dirs, path.Join(m.MountPoint, dir))
				if dir == "/" {
					break
				}
			}
		}
	}
	return dirs
}

// limitsCPU reports whether a mount is the hierarchy of a group and has the CPU
// controller. In version 2 there is one hierarchy, number 0, for all controllers.
func limitsCPU(g procfs.Cgroup, m *procfs.MountInfo) bool {
	if m.FSType == "cgroup2" {
		return g.HierarchyID == 0
	}
	_, cpu := m.SuperOptions["cpu"]
	return m.FSType == "cgroup" && cpu && slices.Contains(g.Controllers, "cpu")
}

// within returns the path of a group below the root of a mount. In a container
// the mount begins at the container's own group.
func within(group, root string) (string, bool) {
	if strings.HasPrefix(group, "/..") { // outside of this process's view
		return "", false
	}
	if root == "/" {
		return path.Clean("/" + group), true
	}
	if below, ok := strings.CutPrefix(group, root); ok && (below == "" || below[0] == '/') {
		return path.Clean("/" + below), true
	}
	return "/", true // the group's path is relative to its own namespace
}

// readQuota reads the quota of the group in a folder, of version 2 or 1. The root
// group has neither.
func readQuota(h host.Host, dir string) (Quota, bool) {
	stat, err := h.Read(path.Join(dir, "cpu.stat"))
	if err != nil {
		return Quota{}, false
	}
	use := keyed(stat)
	if micros, ok := use["throttled_usec"]; ok {
		return Quota{Cores: maxCores(h, dir), Throttled: time.Duration(micros) * time.Microsecond}, true
	}
	nanos, ok := use["throttled_time"]
	return Quota{Cores: quotaCores(h, dir), Throttled: time.Duration(nanos)}, ok
}

// keyed parses lines of a name and a number.
func keyed(b []byte) map[string]int64 {
	all := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			all[name] = n
		}
	}
	return all
}

// maxCores is the quota of a group of version 2: "150000 100000" is 1.5 cores,
// "max 100000" is none.
func maxCores(h host.Host, dir string) float64 {
	b, err := h.Read(path.Join(dir, "cpu.max"))
	f := strings.Fields(string(b))
	if err != nil || len(f) != 2 {
		return 0
	}
	return coresOf(f[0], f[1])
}

// quotaCores is the quota of a group of version 1; -1 is none.
func quotaCores(h host.Host, dir string) float64 {
	q, err := h.Read(path.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0
	}
	period, err := h.Read(path.Join(dir, "cpu.cfs_period_us"))
	if err != nil {
		return 0
	}
	return coresOf(strings.TrimSpace(string(q)), strings.TrimSpace(string(period)))
}

func coresOf(quota, period string) float64 {
	q, err := strconv.ParseInt(quota, 10, 64)
	if err != nil || q <= 0 {
		return 0
	}
	p, err := strconv.ParseInt(period, 10, 64)
	if err != nil || p <= 0 {
		return 0
	}
	return float64(q) / float64(p)
}

// throttledBetween is the longest time by which a group was throttled between two
// readings, and the smallest quota. A group and the groups above it may be
// throttled at the same moment, so their times are not added.
func throttledBetween(from, to map[string]Quota) (throttled time.Duration, cores float64) {
	for dir, b := range to {
		a, known := from[dir]
		if known {
			throttled = max(throttled, b.Throttled-a.Throttled)
		}
		if b.Cores > 0 && (cores == 0 || b.Cores < cores) {
			cores = b.Cores
		}
	}
	return throttled, cores
}

// sharedQuota is the smallest quota that all processes share; 0 for none.
func sharedQuota(all map[string]Quota) (cores float64) {
	for _, q := range all {
		if q.All && q.Cores > 0 && (cores == 0 || q.Cores < cores) {
			cores = q.Cores
		}
	}
	return cores
}

// Autogroup reports whether the kernel shares the CPU between sessions before it
// looks at nice values (sched_autogroup). Then nice only weighs processes of one
// session against each other. It does not apply to processes in a control group
// with a weight of its own.
func Autogroup(h host.Host, pid int) bool {
	b, err := h.Read("/proc/sys/kernel/sched_autogroup_enabled")
	if err != nil || strings.TrimSpace(string(b)) != "1" {
		return false
	}
	fs, _, err := procOf(h)
	if err != nil {
		return false
	}
	p, err := fs.Proc(pid)
	if err != nil {
		return false
	}
	groups, err := p.Cgroups()
	if err != nil {
		return false
	}
	for _, g := range groups { // version 1
		if slices.Contains(g.Controllers, "cpu") && g.Path != "/" {
			return false
		}
	}
	for _, dir := range groupFolders(p) { // version 2; its root has no weight
		if _, err := h.Stat(path.Join(dir, "cpu.weight")); err == nil {
			return false
		}
	}
	return true
}
