package stack

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// A proc is one process as in /proc. Start (clock ticks since boot) makes the pid
// unique within one boot: the kernel may have given the same pid to another
// process by the time it is read.
type proc struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`

	parent, session int
	state           byte
}

// readProc reads one process. The error wraps os.ErrNotExist if there is none.
func readProc(pid int) (proc, error) {
	s, err := hostproc.ReadStat(host.Local{}, pid)
	if err != nil {
		return proc{}, err
	}
	return procOf(s), nil
}

func procOf(s hostproc.Stat) proc {
	return proc{PID: s.PID, Start: s.Started, parent: s.Parent, session: s.Session, state: s.State}
}

// alive reports whether exactly this process still runs. A zombie does not count.
func (p proc) alive() bool {
	return hostproc.Stat{PID: p.PID, Started: p.Start}.Alive(host.Local{})
}

// within reports whether the process's working directory is the folder or below it.
func (p proc) within(dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.PID))
	cwd = strings.TrimSuffix(cwd, " (deleted)")
	return err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/"))
}

// marked reports whether the process was started with a variable, as "K=V".
func (p proc) marked(variable string) bool {
	env, err := hostproc.Env(host.Local{}, p.PID)
	return err == nil && slices.Contains(env, variable)
}

// name returns the program's short name, empty if the process is gone.
func (p proc) name() string {
	s, _ := hostproc.ReadStat(host.Local{}, p.PID)
	return s.Name
}

// allProcs lists the visible processes of the machine.
func allProcs() ([]proc, error) {
	stats, err := hostproc.Stats(host.Local{})
	if err != nil {
		return nil, err
	}
	all := make([]proc, 0, len(stats))
	for _, s := range stats {
		all = append(all, procOf(s))
	}
	return all, nil
}

// descendants lists the processes below the roots, without the roots.
func descendants(roots ...int) []proc {
	all, err := allProcs()
	if err != nil {
		return nil
	}
	below := map[int]bool{}
	for _, r := range roots {
		below[r] = true
	}
	var found []proc
	for grew := true; grew; { // parents may have larger pids than children
		grew = false
		for _, p := range all {
			if below[p.parent] && !below[p.PID] {
				below[p.PID], grew = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// bootID identifies one boot of the machine. Start times are only valid within it.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// listener finds a process that listens on a TCP port of this machine. PID is 0 if no
// such process can be seen, for example another user's.
func listener(port int) (p proc, listens bool) {
	inodes := listening(port)
	if len(inodes) == 0 {
		return proc{}, false
	}
	all, _ := allProcs() // none: the process cannot be seen
	for _, p := range all {
		if p.holds(inodes) {
			return p, true
		}
	}
	return proc{}, true
}

// listening returns the inodes of the sockets that listen on a TCP port.
func listening(port int) map[uint64]bool {
	inodes := map[uint64]bool{}
	list, _ := hoststat.Listening(host.Local{}) // none: no socket can be seen
	for _, s := range list {
		if int(s.Local.Port()) == port {
			inodes[s.Inode] = true
		}
	}
	return inodes
}
