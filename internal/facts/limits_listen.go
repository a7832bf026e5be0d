package facts

import (
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
)

// ListenFacts are the TCP sockets on which the processes of services take
// connections, with the length of their queues: what the kernel allows, which
// is the smaller of what the program asked for and net.core.somaxconn, and
// what waited in it when it was asked.
func ListenFacts(services map[string][]int) ([]iikanji.Fact, error) {
	owner, err := socketOwners(services)
	if err != nil {
		return nil, err
	}
	var out []iikanji.Fact
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		list, err := listeners(family)
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			if name, ok := owner[l.inode]; ok {
				out = append(out, pack(name, iikanji.TopicListen, l.address.String(), l.Listener, true))
			}
		}
	}
	return out, nil
}

// socketOwners maps the inode of each socket of services to the service.
func socketOwners(services map[string][]int) (map[uint32]string, error) {
	owner := map[uint32]string{}
	for name, roots := range services {
		pids, err := family(roots)
		if err != nil {
			return nil, err
		}
		for _, pid := range pids {
			dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
			entries, err := os.ReadDir(dir)
			if err != nil { // gone, or another user's
				continue
			}
			for _, e := range entries {
				to, _ := os.Readlink(filepath.Join(dir, e.Name()))
				text := strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")
				if n, err := strconv.ParseUint(text, 10, 32); err == nil && len(text) < len(to) {
					owner[uint32(n)] = name
				}
			}
		}
	}
	return owner, nil
}

// A listener is what the kernel says of a listening socket.
type listener struct {
	iikanji.Listener
	address netip.AddrPort
	inode   uint32
}

// Layout of struct inet_diag_req_v2 and struct inet_diag_msg of
// linux/inet_diag.h: of listening sockets, rqueue is the number of waiting
// connections and wqueue how many may wait.
const (
	sockDiagByFamily = 20
	diagRequest      = 56
	diagAnswer       = 72
	stateListen      = 10
	stateEstablished = 1
	diagSourcePort   = 4
	diagTargetPort   = 6
	diagSource       = 8
	diagRQueue       = 56
	diagWQueue       = 60
	diagInode        = 68
)

// listeners asks the kernel by netlink, as ss does: /proc/net/tcp does not
// contain how long a queue may be.
func listeners(family uint8) ([]listener, error) {
	var out []listener
	err := tcpSockets(family, stateListen, func(b []byte) { out = append(out, parseListener(family, b)) })
	return out, err
}

func parseListener(family uint8, b []byte) listener {
	ne := binary.NativeEndian
	ip, _ := netip.AddrFromSlice(b[diagSource : diagSource+4])
	if family == unix.AF_INET6 {
		ip, _ = netip.AddrFromSlice(b[diagSource : diagSource+16])
	}
	return listener{address: netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(b[diagSourcePort:])), inode: ne.Uint32(b[diagInode:]),
		Listener: iikanji.Listener{Waiting: int(ne.Uint32(b[diagRQueue:])), Backlog: int(ne.Uint32(b[diagWQueue:]))}}
}
