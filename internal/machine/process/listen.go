package process

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// A Listen is a listening socket with the processes that hold it.
type Listen struct {
	Address netip.AddrPort // of TCP; not valid for a unix socket
	Path    string         // of a unix socket
	PIDs    []int          // sorted; empty where the holders cannot be seen
	inode   uint64
}

// Name is the address in the form of the key listen, or the path.
func (l Listen) Name() string {
	if l.Path != "" {
		return l.Path
	}
	return l.Address.String()
}

// listen reads the listening sockets and the processes that hold them.
func (m *Machine) listen() error {
	tcp, err := hoststat.Listening(m.Host)
	if err != nil {
		return err
	}
	for _, s := range tcp {
		m.Listens = append(m.Listens, Listen{Address: s.Local, inode: s.Inode})
	}
	unix, _ := hoststat.ListeningUnix(m.Host) // none where the kernel has none
	for _, s := range unix {
		if strings.HasPrefix(s.Path, "/") {
			m.Listens = append(m.Listens, Listen{Path: s.Path, inode: s.Inode})
		}
	}
	holders := map[uint64][]int{}
	for pid := range m.Processes {
		for _, inode := range hoststat.SocketsOf(m.Host, pid) {
			holders[inode] = append(holders[inode], pid)
		}
	}
	for i := range m.Listens {
		m.Listens[i].PIDs = holders[m.Listens[i].inode]
		slices.Sort(m.Listens[i].PIDs)
	}
	return nil
}

// Of lists the listening sockets that a process or one of its descendants holds.
func (m *Machine) Of(pid int) []Listen {
	family := map[int]bool{pid: true}
	for _, p := range m.Family(pid) {
		family[p.PID] = true
	}
	var out []Listen
	for _, l := range m.Listens {
		if slices.ContainsFunc(l.PIDs, func(holder int) bool { return family[holder] }) {
			out = append(out, l)
		}
	}
	return out
}

// Family lists a process and all its descendants.
func (m *Machine) Family(pid int) []*Process {
	p := m.Processes[pid]
	if p == nil {
		return nil
	}
	out := []*Process{p}
	for i := 0; i < len(out); i++ {
		out = append(out, m.Children(out[i].PID)...)
	}
	return out
}

// Owner is the root process that listens at an address, in the form HOST:PORT,
// or at the path of a unix socket; nil if there is none. A server that listens
// on all interfaces owns each address with its port.
func (m *Machine) Owner(address string) *Process {
	for _, l := range m.Listens {
		if len(l.PIDs) > 0 && l.at(address) {
			return m.holder(l)
		}
	}
	return nil
}

// holder is the topmost holder of a socket: workers inherit it from their master.
func (m *Machine) holder(l Listen) *Process {
	for _, pid := range l.PIDs {
		p := m.Processes[pid]
		if p != nil && !slices.Contains(l.PIDs, p.Parent) {
			return p
		}
	}
	return nil
}

// at reports whether connections to an address reach the socket.
func (l Listen) at(address string) bool {
	if l.Path != "" {
		return l.Path == address
	}
	i := strings.LastIndexByte(address, ':')
	if i < 0 || address[i+1:] != strconv.Itoa(int(l.Address.Port())) {
		return false
	}
	name := strings.Trim(address[:i], "[]")
	ip, err := netip.ParseAddr(name)
	own := l.Address.Addr().Unmap()
	switch {
	case own.IsUnspecified():
		return true
	case name == "" || name == "*" || err == nil && ip.IsUnspecified():
		return true // the service listens on some interface now
	case name == "localhost":
		return own.IsLoopback()
	}
	return err == nil && ip.Unmap() == own
}

// listeners are the inodes of all listening sockets of a host.
func listeners(h host.Host) (map[uint64]bool, error) {
	tcp, err := hoststat.Listening(h)
	local, err2 := hoststat.ListeningUnix(h)
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("listing the sockets that listen: %w", err)
	}
	inodes := map[uint64]bool{}
	for _, s := range tcp {
		inodes[s.Inode] = true
	}
	for _, s := range local {
		inodes[s.Inode] = true
	}
	return inodes, nil
}

// holds reports whether a process has one of the sockets open.
func holds(h host.Host, pid int, inodes map[uint64]bool) bool {
	return slices.ContainsFunc(hoststat.SocketsOf(h, pid), func(inode uint64) bool { return inodes[inode] })
}

// Listener finds a process that listens on a TCP port of this machine. pid is 0 if no such
// process can be seen, for example another user's; name is its short name.
func Listener(port int) (pid int, name string, listens bool) {
	inodes := map[uint64]bool{}
	list, _ := hoststat.Listening(host.Local{}) // none: no socket can be seen
	for _, s := range list {
		if int(s.Local.Port()) == port {
			inodes[s.Inode] = true
		}
	}
	if len(inodes) == 0 {
		return 0, "", false
	}
	all, _ := hostproc.Stats(host.Local{}) // none: the process cannot be seen
	for _, p := range all {
		if holds(host.Local{}, p.PID, inodes) {
			return p.PID, p.Name, true
		}
	}
	return 0, "", true
}
