package hoststat

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Discover names the services of this machine by asking it: every process
// that holds a listening TCP socket is a service, under its program's name;
// the workers of a master belong to the master. Sockets of other users are
// visible to root only.
func Discover() ([]Service, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("opening /proc: %w", err)
	}
	listening, err := listeningInodes()
	if err != nil {
		return nil, err
	}
	procs, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	stats, holds := map[int]procfs.ProcStat{}, map[int]bool{}
	for _, p := range procs {
		if st, err := p.Stat(); err == nil {
			stats[p.PID], holds[p.PID] = st, holdsAny(p.PID, listening)
		}
	}
	byName := map[string][]int{}
	for pid, st := range stats {
		// A worker that inherited its master's socket is part of the master.
		if parent, ok := stats[st.PPID]; holds[pid] && !(ok && holds[st.PPID] && parent.Comm == st.Comm) {
			byName[st.Comm] = append(byName[st.Comm], pid)
		}
	}
	var out []Service
	for name, pids := range byName {
		slices.Sort(pids)
		out = append(out, Service{Name: name, PIDs: pids})
	}
	slices.SortFunc(out, func(a, b Service) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// tcpListen is TCP_LISTEN of include/net/tcp_states.h, as /proc/net/tcp prints it.
const tcpListen = "0A"

// listeningInodes reads the inodes of listening sockets from /proc/net/tcp and
// tcp6 (proc_pid_net(5)); a kernel without IPv6 has no tcp6.
func listeningInodes() (map[uint64]bool, error) {
	inodes := map[uint64]bool{}
	for _, name := range []string{"tcp", "tcp6"} {
		data, err := os.ReadFile(filepath.Join(procfs.DefaultMountPoint, "net", name))
		if err != nil {
			if name == "tcp6" {
				continue
			}
			return nil, fmt.Errorf("reading the TCP sockets: %w", err)
		}
		for line := range strings.Lines(string(data)) {
			f := strings.Fields(line) // sl local remote st queues timer retransmits uid timeout inode …
			if len(f) < 10 || f[3] != tcpListen {
				continue
			}
			if inode, err := strconv.ParseUint(f[9], 10, 64); err == nil {
				inodes[inode] = true
			}
		}
	}
	return inodes, nil
}

// holdsAny says whether a process has one of the sockets open.
func holdsAny(pid int, inodes map[uint64]bool) bool {
	dir := filepath.Join(procfs.DefaultMountPoint, strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		number, ok := strings.CutPrefix(to, "socket:[")
		inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
		if ok && err == nil && inodes[inode] {
			return true
		}
	}
	return false
}
