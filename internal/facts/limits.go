package facts

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
)

// limitRows are the lines of /proc/PID/limits that are told, and their names.
var limitRows = map[string]string{"Max open files": "nofile", "Max processes": "nproc", "Max core file size": "core", "Max locked memory": "memlock"}

// LimitFacts are the soft limits of a service's process, how many cores it may
// use, and, where it is a Go program told so, how many it wants to.
func LimitFacts(service string, pid int) ([]iikanji.Fact, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	text, err := os.ReadFile(filepath.Join(dir, "limits"))
	if err != nil {
		return nil, fmt.Errorf("reading the limits of %s: %w", service, err)
	}
	out := parseLimits(service, string(text))
	if n := coresOf(pid); n > 0 {
		out = append(out, iikanji.Fact{Target: service, Topic: iikanji.TopicProcess, Key: "cores", Value: strconv.FormatFloat(n, 'g', 4, 64)})
	}
	if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil {
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
// by the quota of its control group; 0 where nobody says.
func coresOf(pid int) float64 {
	var set unix.CPUSet
	if unix.SchedGetaffinity(pid, &set) != nil {
		return 0
	}
	n := float64(set.Count())
	group, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return n
	}
	for line := range strings.Lines(string(group)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", path, "cpu.max"))
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

// sysctls are the kernel's parameters that web stacks run into.
var sysctls = []string{"net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog", "net.core.netdev_max_backlog", "net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_tw_reuse", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_max_tw_buckets", "fs.file-max", "fs.nr_open", "vm.swappiness", "vm.overcommit_memory"}

// SysctlFacts are the parameters of this host's kernel that it has.
func SysctlFacts(target string) []iikanji.Fact {
	var out []iikanji.Fact
	for _, name := range sysctls {
		text, err := os.ReadFile(filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/")))
		if err == nil {
			out = append(out, iikanji.Fact{Target: target, Topic: iikanji.TopicSysctl, Key: name, Value: strings.Join(strings.Fields(string(text)), " ")})
		}
	}
	return out
}

// family lists processes and all that descend from them.
func family(roots []int) ([]int, error) {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	children := map[int][]int{}
	for _, p := range procs {
		if st, err := p.Stat(); err == nil {
			children[st.PPID] = append(children[st.PPID], p.PID)
		}
	}
	all := slices.Clone(roots)
	for i := 0; i < len(all); i++ {
		for _, c := range children[all[i]] {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// Busiest is the process, of some and all that descend from them, that has the
// most open descriptors: a worker and not its master. 0 when none is there.
func Busiest(roots []int) int {
	pids, err := family(roots)
	if err != nil {
		return 0
	}
	best, most := 0, -1
	for _, pid := range pids {
		if entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd")); err == nil && len(entries) > most {
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
