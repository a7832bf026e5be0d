package facts

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/host"
	"github.com/iikanji/iikanji/internal/hoststat"
)

// limitRows are the lines of /proc/PID/limits that are told, and their names.
var limitRows = map[string]string{"Max open files": "nofile", "Max processes": "nproc", "Max core file size": "core", "Max locked memory": "memlock"}

// LimitFacts are the soft limits of a service's process, how many cores it may
// use, and, where it is a Go program told so, how many it wants to.
func LimitFacts(h host.Host, service string, pid int) ([]iikanji.Fact, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	text, err := h.Read(filepath.Join(dir, "limits"))
	if err != nil {
		return nil, fmt.Errorf("reading the limits of %s: %w", service, err)
	}
	out := parseLimits(service, string(text))
	if n := coresOf(h, pid); n > 0 {
		out = append(out, iikanji.Fact{Target: service, Topic: iikanji.TopicProcess, Key: "cores", Value: strconv.FormatFloat(n, 'g', 4, 64)})
	}
	if env, err := h.Read(filepath.Join(dir, "environ")); err == nil {
		for kv := range bytes.SplitSeq(env, []byte{0}) {
			if v, ok := bytes.CutPrefix(kv, []byte("GOMAXPROCS=")); ok {
				out = append(out, iikanji.Fact{Target: service, Topic: iikanji.TopicProcess, Key: "gomaxprocs", Value: string(v)})
			}
		}
	}
	return out, nil
}

// parseLimits reads /proc/PID/limits: name, soft and hard limit, unit, with at
// least two spaces between the columns.
func parseLimits(service, text string) []iikanji.Fact {
	var out []iikanji.Fact
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, "  ")
		columns := strings.Fields(rest)
		if key := limitRows[name]; ok && key != "" && len(columns) > 0 {
			out = append(out, iikanji.Fact{Target: service, Topic: iikanji.TopicLimit, Key: key, Value: columns[0]})
		}
	}
	return out
}

// coresOf is how many cores a process may use: those of its affinity, or fewer
// by the quota of its control group; 0 where that is not known.
func coresOf(h host.Host, pid int) float64 {
	n := float64(allowedCPUs(h, pid))
	if n == 0 {
		return 0
	}
	group, err := h.Read(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return n
	}
	for line := range strings.Lines(string(group)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		text, err := h.Read(filepath.Join("/sys/fs/cgroup", path, "cpu.max"))
		if f := strings.Fields(string(text)); err == nil && len(f) == 2 {
			quota, err1 := strconv.ParseFloat(f[0], 64)
			period, err2 := strconv.ParseFloat(f[1], 64)
			if err1 == nil && err2 == nil && period > 0 {
				n = min(n, quota/period)
			}
		}
	}
	return n
}

// allowedCPUs counts the CPUs that a process may run on and that are online; 0
// where that is not known.
func allowedCPUs(h host.Host, pid int) int {
	status, err := h.Read(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var allowed map[int]bool
	for line := range strings.Lines(string(status)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			allowed = parseCPUs(list)
		}
	}
	if online, err := h.Read("/sys/devices/system/cpu/online"); err == nil {
		there := parseCPUs(string(online))
		maps.DeleteFunc(allowed, func(cpu int, _ bool) bool { return !there[cpu] })
	}
	return len(allowed)
}

// mostCPUs bounds the numbers of CPUs: the kernel has at most 8192.
const mostCPUs = 1 << 14

// parseCPUs reads the kernel's lists of CPUs, as in "0-3,7".
func parseCPUs(list string) map[int]bool {
	out := map[int]bool{}
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 0 || last >= mostCPUs {
			continue
		}
		for cpu := first; cpu <= last; cpu++ {
			out[cpu] = true
		}
	}
	return out
}

// sysctls are the kernel's parameters that web stacks run into.
var sysctls = []string{"net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog", "net.core.netdev_max_backlog", "net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_tw_reuse", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_max_tw_buckets", "fs.file-max", "fs.nr_open", "vm.swappiness", "vm.overcommit_memory"}

// SysctlFacts are the parameters of a host's kernel that it has.
func SysctlFacts(h host.Host, target string) []iikanji.Fact {
	var out []iikanji.Fact
	for _, name := range sysctls {
		text, err := h.Read(filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/")))
		if err == nil {
			out = append(out, iikanji.Fact{Target: target, Topic: iikanji.TopicSysctl, Key: name, Value: strings.Join(strings.Fields(string(text)), " ")})
		}
	}
	return out
}

// Busiest is the process, of some and all that descend from them, that has the
// most open descriptors: a worker and not its master. 0 when none is there.
func Busiest(h host.Host, roots []int) int {
	pids, err := hoststat.Family(h, roots)
	if err != nil {
		return 0
	}
	best, most := 0, -1
	for _, pid := range pids {
		if entries, err := h.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd")); err == nil && len(entries) > most {
			best, most = pid, len(entries)
		}
	}
	return best
}

// Clients says how everybody but the user of this connection is connected to
// the server now.
func (s *Server) Clients(ctx context.Context) (iikanji.Connections, error) {
	rows, err := s.rows(ctx, "SELECT host, COUNT(*) AS n FROM information_schema.processlist"+
		" WHERE command NOT IN ('Daemon', 'Binlog Dump') AND user NOT IN ('system user', 'event_scheduler', SUBSTRING_INDEX(USER(), '@', 1)) GROUP BY host")
	var c iikanji.Connections
	if err != nil {
		return c, err
	}
	for _, r := range rows {
		n, err := strconv.Atoi(r["n"])
		switch {
		case err != nil:
			return c, fmt.Errorf("counting connections: %w", err)
		case strings.Contains(r["host"], ":"): // its port
			c.TCP += n
		default:
			c.Unix += n
		}
	}
	return c, nil
}

// ConnectionFact is the fact of how one service was connected to another.
func ConnectionFact(from, to string, c iikanji.Connections) iikanji.Fact {
	return pack(from, iikanji.TopicConnection, to, c, true)
}
