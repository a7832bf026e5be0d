package hoststat

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Layout of struct inet_diag_req_v2 and struct inet_diag_msg of
// linux/inet_diag.h: of listening sockets, rqueue is the number of waiting
// connections and wqueue how many may wait.
const (
	sockDiagByFamily = 20
	diagRequest      = 56
	diagAnswer       = 72
	diagSourcePort   = 4
	diagTargetPort   = 6
	diagSource       = 8
	diagTarget       = 24
	diagRQueue       = 56
	diagWQueue       = 60
	diagInode        = 68
)

// netlinkSockets reads the sockets of this machine by netlink, as ss does.
func netlinkSockets(state tcpState) ([]Socket, error) {
	var out []Socket
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		body := make([]byte, diagRequest)
		body[0], body[1] = family, unix.IPPROTO_TCP
		binary.NativeEndian.PutUint32(body[4:], 1<<state)
		err := dumpSockets(body, func(b []byte) {
			if len(b) >= diagAnswer {
				out = append(out, parseSocket(family, b))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func parseSocket(family uint8, b []byte) Socket {
	ne, be, size := binary.NativeEndian, binary.BigEndian, 4
	if family == unix.AF_INET6 {
		size = 16
	}
	local, _ := netip.AddrFromSlice(b[diagSource : diagSource+size])
	remote, _ := netip.AddrFromSlice(b[diagTarget : diagTarget+size])
	return Socket{Local: netip.AddrPortFrom(local.Unmap(), be.Uint16(b[diagSourcePort:])), Remote: netip.AddrPortFrom(remote.Unmap(), be.Uint16(b[diagTargetPort:])),
		Inode: uint64(ne.Uint32(b[diagInode:])), Waiting: int(ne.Uint32(b[diagRQueue:])), Backlog: int(ne.Uint32(b[diagWQueue:]))}
}

// Layout of struct unix_diag_req and struct unix_diag_msg of
// linux/unix_diag.h, and its attributes.
const (
	unixRequest   = 24
	unixAnswer    = 16
	unixShowName  = 1
	unixShowPeer  = 4
	unixAttrName  = 0
	unixAttrPeer  = 2
	unixReqStates = 4
	unixReqShow   = 12
)

// UnixClients lists the inodes of the sockets of the clients that are connected
// to the server that listens on a path.
func UnixClients(h host.Host, path string) ([]uint64, error) {
	if path == "" {
		return nil, nil
	}
	return unixClientsTask().On(context.Background(), h, path)
}

func readUnixClients(_ context.Context, h host.Host, path string) ([]uint64, error) {
	if h.Name() != "" {
		return nil, fmt.Errorf("listing the clients of %s: the kernel of %s cannot be asked from here", path, h.Name())
	}
	var out []uint64
	ne := binary.NativeEndian
	body := make([]byte, unixRequest)
	body[0] = unix.AF_UNIX
	ne.PutUint32(body[unixReqStates:], 1<<established)
	ne.PutUint32(body[unixReqShow:], unixShowName|unixShowPeer)
	err := dumpSockets(body, func(b []byte) {
		if name, peer := parseUnixSocket(b); name == path && peer != 0 {
			out = append(out, uint64(peer))
		}
	})
	return out, err
}

// parseUnixSocket reads the path of a socket and the inode of its peer from an
// answer and its attributes.
func parseUnixSocket(b []byte) (name string, peer uint32) {
	ne := binary.NativeEndian
	if len(b) < unixAnswer {
		return "", 0
	}
	for b = b[unixAnswer:]; len(b) >= unix.SizeofRtAttr; {
		n := int(ne.Uint16(b))
		if n < unix.SizeofRtAttr || n > len(b) {
			break
		}
		value := b[unix.SizeofRtAttr:n]
		switch kind := ne.Uint16(b[2:]); {
		case kind == unixAttrName:
			name = strings.TrimRight(string(value), "\x00")
		case kind == unixAttrPeer && len(value) >= 4:
			peer = ne.Uint32(value)
		}
		b = b[min(len(b), (n+3)&^3):] // attributes begin at multiples of four
	}
	return name, peer
}

var errRefused = errors.New("asking about sockets: refused")

// dumpSockets sends a dump request of the kernel's sock_diag(7) and calls
// fn with each answer.
func dumpSockets(body []byte, fn func([]byte)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return fmt.Errorf("opening a socket to ask about sockets: %w", err)
	}
	defer unix.Close(fd)
	req := make([]byte, unix.NLMSG_HDRLEN, unix.NLMSG_HDRLEN+len(body))
	req = append(req, body...)
	ne := binary.NativeEndian
	ne.PutUint32(req, uint32(len(req)))
	ne.PutUint16(req[4:], sockDiagByFamily)
	ne.PutUint16(req[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	if err := unix.Sendto(fd, req, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("asking about sockets: %w", err)
	}
	// The kernel answers at once. Do not wait for an answer that does not come.
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return fmt.Errorf("asking about sockets: %w", err)
	}
	buf := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading about sockets: %w", err)
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return fmt.Errorf("reading about sockets: %w", err)
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR:
				return errRefused
			}
			fn(m.Data)
		}
	}
}
