package hoststat

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/prometheus/procfs"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Discover names the services of a host: every process that holds a listening TCP socket is a service, under its program's name;
// the workers of a master belong to the master. Only root sees the sockets of other users'
// processes.
func Discover(h host.Host) ([]Service, error) {
	fs, _, err := procOf(h)
	if err != nil {
		return nil, err
	}
	list, err := Listening(h)
	if err != nil {
		return nil, err
	}
	inodes := map[uint64]bool{}
	for _, l := range list {
		inodes[l.Inode] = true
	}
	procs, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	stats, holds := map[int]procfs.ProcStat{}, map[int]bool{}
	for _, p := range procs {
		if st, err := p.Stat(); err == nil {
			stats[p.PID], holds[p.PID] = st, slices.ContainsFunc(SocketsOf(h, p.PID), func(inode uint64) bool { return inodes[inode] })
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
