package discover

import (
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// clients are programs that people and tools use to talk to a database.
var clients = []string{"mysql", "mariadb", "mysqldump", "mariadb-dump", "redis-cli", "mytop", "innotop", "mysqladmin", "mariadb-admin"}

// jobs finds processes that use the same databases and caches and listen at no
// address that is known: the site's background jobs.
func (s *search) jobs() {
	data := map[string]bool{}
	for _, svc := range s.order {
		if svc.Role != iikanji.RoleApp && svc.Role != iikanji.RoleWeb {
			for _, l := range s.m.Of(svc.proc.PID) {
				data[l.Name()] = true
			}
		}
	}
	if len(data) == 0 {
		return
	}
	for _, pid := range s.pids() {
		p := s.m.Processes[pid]
		if s.byPID[s.rootOf(pid)] != nil || pid == s.Self || slices.Contains(clients, p.Name) || s.within(pid, s.Self) {
			continue
		}
		for _, address := range s.connectedBy(p, s.socketsOf(pid)) {
			owner := s.m.Owner(address)
			if owner == nil || s.byPID[owner.PID] == nil || s.byPID[owner.PID].Role == iikanji.RoleApp || s.byPID[owner.PID].Role == iikanji.RoleWeb {
				continue
			}
			top := s.top(p)
			if s.byPID[s.rootOf(top.PID)] != nil {
				break
			}
			svc := s.app(top, "")
			svc.dsns = s.dsnsOf(svc)
			break
		}
	}
}

// top is the first process of a program that has forked, as that of its workers. A
// supervisor has another program, and is no part of the job that it keeps running.
func (s *search) top(p *process.Process) *process.Process {
	for {
		parent := s.m.Processes[p.Parent]
		if parent == nil || parent.Program == "" || parent.Program != p.Program {
			return p
		}
		p = parent
	}
}

// socketsOf are the inodes of the sockets that a process has itself.
func (s *search) socketsOf(pid int) map[uint64]string {
	own := map[uint64]string{}
	for _, inode := range hoststat.SocketsOf(s.host, pid) {
		own[inode] = ""
	}
	return own
}

// pids are all processes, in a stable order.
func (s *search) pids() []int {
	var out []int
	for pid := range s.m.Processes {
		out = append(out, pid)
	}
	slices.Sort(out)
	return out
}

// rootOf is the service's process above a process, or the process itself.
func (s *search) rootOf(pid int) int {
	for p := s.m.Processes[pid]; p != nil; p = s.m.Processes[p.Parent] {
		if s.byPID[p.PID] != nil {
			return p.PID
		}
	}
	return pid
}

// within reports whether a process is another one or one of its ancestors.
func (s *search) within(pid, of int) bool {
	for p := s.m.Processes[of]; p != nil; p = s.m.Processes[p.Parent] {
		if p.PID == pid {
			return true
		}
	}
	return false
}
