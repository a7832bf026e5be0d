package facts

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// LimitFacts are the soft limits of a service's process, the number of cores that
// it may use, and GOMAXPROCS, if it is set in the environment of the process.
func LimitFacts(h host.Host, service string, pid int) ([]iikanji.Fact, error) {
	limits, err := hostproc.Limits(h, pid)
	if err != nil {
		return nil, fmt.Errorf("reading the limits of %s: %w", service, err)
	}
	var out []iikanji.Fact
	for _, l := range limits {
		out = append(out, fact.TopicLimit.Fact(service, l.Name, l.Soft, false))
	}
	if n := coresOf(h, pid); n > 0 {
		out = append(out, fact.TopicProcess.Fact(service, "cores", significant(n, 4), false))
	}
	if env, err := hostproc.Env(h, pid); err == nil {
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, "GOMAXPROCS="); ok {
				if n, err := strconv.Atoi(v); err == nil { // else Go ignores it
					out = append(out, fact.TopicProcess.Fact(service, "gomaxprocs", float64(n), false))
				}
			}
		}
	}
	return out, nil
}

// coresOf is the number of cores that a process may use: the smaller of its CPU
// affinity and the quota of its control group; 0 if unknown.
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

// allowedCPUs counts the online CPUs that a process may run on; 0 if unknown.
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

// mostCPUs limits CPU numbers: the kernel supports at most 8192 CPUs.
const mostCPUs = 1 << 14

// parseCPUs parses a CPU list of the kernel, as in "0-3,7".
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

// sysctls are the kernel parameters that can limit a web stack.
var sysctls = []string{"net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog", "net.core.netdev_max_backlog", "net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_tw_reuse", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_max_tw_buckets", "fs.file-max", "fs.nr_open", "vm.swappiness", "vm.overcommit_memory"}

// SysctlFacts are the values of sysctls on a host. A parameter that its kernel does
// not have has no fact.
func SysctlFacts(h host.Host, target string) []iikanji.Fact {
	var out []iikanji.Fact
	for _, name := range sysctls {
		text, err := h.Read(filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/")))
		if err == nil {
			out = append(out, fact.TopicSysctl.Fact(target, name, strings.Join(strings.Fields(string(text)), " "), false))
		}
	}
	return out
}

// Busiest is the process with the most open descriptors among the roots and their
// descendants. This selects a worker rather than its master. 0 if no process
// exists.
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

// Clients counts the current connections to the server, without those of the
// user of this connection.
func (s *Server) Clients(ctx context.Context) (fact.Connections, error) {
	rows, err := s.rows(ctx, "SELECT host, COUNT(*) AS n FROM information_schema.processlist"+
		" WHERE command NOT IN ('Daemon', 'Binlog Dump') AND user NOT IN ('system user', 'event_scheduler', SUBSTRING_INDEX(USER(), '@', 1)) GROUP BY host")
	var c fact.Connections
	if err != nil {
		return c, err
	}
	for _, r := range rows {
		n, err := strconv.Atoi(r["n"])
		switch {
		case err != nil:
			return c, fmt.Errorf("counting connections: %w", err)
		case strings.Contains(r["host"], ":"): // the host has a port
			c.TCP += n
		default:
			c.Unix += n
		}
	}
	return c, nil
}

// ConnectionFact is the fact of how one service was connected to another.
func ConnectionFact(from, to string, c fact.Connections) iikanji.Fact {
	return fact.TopicConnection.Fact(from, to, c, true)
}
