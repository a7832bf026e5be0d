package facts

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
)

// ClientsOf reports how services of this machine are connected to the server
// now. A connection belongs to the service whose processes hold the client's
// end of it: for TCP the socket with the port that the server's process list
// names, for the unix socket the peer of a socket of that path. A service
// without connections is not in the result.
func (s *Server) ClientsOf(ctx context.Context, socket string, services map[string][]int) (map[string]iikanji.Connections, error) {
	owner, err := socketOwners(services)
	if err != nil {
		return nil, err
	}
	ports, err := s.clientPorts(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]iikanji.Connections{}
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		if len(ports) == 0 {
			break
		}
		err := tcpSockets(family, stateEstablished, func(b []byte) {
			ne, be := binary.NativeEndian, binary.BigEndian
			name, ok := owner[ne.Uint32(b[diagInode:])]
			if ok && ports[[2]uint16{be.Uint16(b[diagSourcePort:]), be.Uint16(b[diagTargetPort:])}] {
				c := out[name]
				c.TCP++
				out[name] = c
			}
		})
		if err != nil {
			return nil, err
		}
	}
	err = unixPeers(socket, func(peer uint32) {
		if name, ok := owner[peer]; ok {
			c := out[name]
			c.Unix++
			out[name] = c
		}
	})
	return out, err
}

// clientPorts are the pairs of the client's and the server's port of all TCP
// connections to the server.
func (s *Server) clientPorts(ctx context.Context) (map[[2]uint16]bool, error) {
	rows, err := s.rows(ctx, "SELECT host, @@port AS port FROM information_schema.processlist WHERE host LIKE '%:%'")
	if err != nil {
		return nil, err
	}
	out := map[[2]uint16]bool{}
	for _, r := range rows {
		from, err1 := strconv.ParseUint(r["host"][strings.LastIndexByte(r["host"], ':')+1:], 10, 16)
		to, err2 := strconv.ParseUint(r["port"], 10, 16)
		if err1 == nil && err2 == nil {
			out[[2]uint16{uint16(from), uint16(to)}] = true
		}
	}
	return out, nil
}

// Layout of struct unix_diag_req and struct unix_diag_msg of
// linux/unix_diag.h, and its attributes.
const (
	unixRequest   = 24
	unixAnswer    = 16
	unixInode     = 4
	unixShowName  = 1
	unixShowPeer  = 4
	unixAttrName  = 0
	unixAttrPeer  = 2
	unixReqStates = 4
	unixReqShow   = 12
)

// unixPeers calls fn with the inode of the peer of each connected socket that
// has a path as its name: the clients of the server that listens on the path.
func unixPeers(path string, fn func(peer uint32)) error {
	if path == "" {
		return nil
	}
	ne := binary.NativeEndian
	body := make([]byte, unixRequest)
	body[0] = unix.AF_UNIX
	ne.PutUint32(body[unixReqStates:], 1<<stateEstablished)
	ne.PutUint32(body[unixReqShow:], unixShowName|unixShowPeer)
	return diagnoseSockets(body, func(b []byte) {
		if len(b) < unixAnswer {
			return
		}
		name, peer := "", uint32(0)
		for b = b[unixAnswer:]; len(b) >= unix.SizeofRtAttr; {
			n := int(ne.Uint16(b))
			if n < unix.SizeofRtAttr || n > len(b) {
				return
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
		if name == path && peer != 0 {
			fn(peer)
		}
	})
}

// tcpSockets calls fn with the struct inet_diag_msg of each TCP socket in a state.
func tcpSockets(family uint8, state int, fn func([]byte)) error {
	body := make([]byte, diagRequest)
	body[0], body[1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(body[4:], 1<<state)
	return diagnoseSockets(body, func(b []byte) {
		if len(b) >= diagAnswer {
			fn(b)
		}
	})
}

// diagnoseSockets sends a dump request of the kernel's sock_diag(7) and calls
// fn with each answer.
func diagnoseSockets(body []byte, fn func([]byte)) error {
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
				return fmt.Errorf("asking about sockets: refused")
			}
			fn(m.Data)
		}
	}
}
