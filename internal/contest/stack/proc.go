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

// within reports whether a process's working directory is the folder or below it.
func within(pid int, dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	cwd = strings.TrimSuffix(cwd, " (deleted)")
	return err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/"))
}

// marked reports whether a process was started with a variable, as "K=V".
func marked(pid int, variable string) bool {
	env, err := hostproc.Env(host.Local{}, pid)
	return err == nil && slices.Contains(env, variable)
}

// nameOf is a program's short name, empty if the process is gone.
func nameOf(pid int) string {
	s, _ := hostproc.ReadStat(host.Local{}, pid)
	return s.Name
}

// holds reports whether a process has one of the sockets open.
func holds(pid int, inodes map[uint64]bool) bool {
	return slices.ContainsFunc(hoststat.SocketsOf(host.Local{}, pid), func(inode uint64) bool { return inodes[inode] })
}

// listener finds a process that listens on a TCP port of this machine. pid is 0 if no
// such process can be seen, for example another user's.
func listener(port int) (pid int, listens bool) {
	inodes := listening(port)
	if len(inodes) == 0 {
		return 0, false
	}
	all, _ := hostproc.IDs(host.Local{}) // none: the process cannot be seen
	for _, pid := range all {
		if holds(pid, inodes) {
			return pid, true
		}
	}
	return 0, true
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
