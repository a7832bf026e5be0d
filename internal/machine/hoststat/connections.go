package hoststat

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Connection is an established TCP connection of a host, as its kernel has measured it.
type Connection struct {
	Local, Remote netip.AddrPort
	Inode         uint64
	RoundTrip     time.Duration // smoothed
	Least         time.Duration // the least round trip of the last minutes; 0 if unknown
	Retransmits   uint32        // segments sent again since its begin
	Segments      uint32        // sent
	Sent          uint64        // bytes that the other end has acknowledged
	Received      uint64        // bytes
}

// Connections lists the established TCP connections of a host with what its kernel knows of
// them.
func Connections(h host.Host) ([]Connection, error) {
	return connectionsTask().On(context.Background(), h, nothing{})
}

func connectionsTask() host.Task[nothing, []Connection] {
	return host.Task[nothing, []Connection]{Name: "connections", Do: func(context.Context, host.Host, nothing) ([]Connection, error) { return diagConnections() }}
}

// Layout of struct tcp_info of linux/tcp.h, which comes as the attribute diagInfo.
const (
	diagInfo        = 2 // INET_DIAG_INFO
	infoRTT         = 68
	infoRetransmits = 100
	infoAcked       = 120
	infoReceived    = 128
	infoSegments    = 136
	infoLeast       = 148
)

// diagConnections asks the kernel of this machine by sock_diag(7), as ss -ti does.
func diagConnections() ([]Connection, error) {
	var out []Connection
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		body := make([]byte, diagRequest)
		body[0], body[1], body[2] = family, unix.IPPROTO_TCP, 1<<(diagInfo-1)
		binary.NativeEndian.PutUint32(body[4:], 1<<established)
		err := dumpSockets(body, func(b []byte) {
			if len(b) >= diagAnswer {
				out = append(out, parseConnection(family, b))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// parseConnection reads an answer and its attributes. A kernel that knows less has a
// shorter tcp_info; what is missing stays 0.
func parseConnection(family uint8, b []byte) Connection {
	s := parseSocket(family, b)
	c := Connection{Local: s.Local, Remote: s.Remote, Inode: s.Inode}
	ne := binary.NativeEndian
	for b = b[diagAnswer:]; len(b) >= unix.SizeofRtAttr; {
		n := int(ne.Uint16(b))
		if n < unix.SizeofRtAttr || n > len(b) {
			break
		}
		if ne.Uint16(b[2:]) == diagInfo {
			c.info(b[unix.SizeofRtAttr:n])
		}
		b = b[min(len(b), (n+3)&^3):]
	}
	return c
}

// info reads a tcp_info.
func (c *Connection) info(b []byte) {
	ne := binary.NativeEndian
	short := func(at int) uint32 {
		if len(b) < at+4 {
			return 0
		}
		return ne.Uint32(b[at:])
	}
	long := func(at int) uint64 {
		if len(b) < at+8 {
			return 0
		}
		return ne.Uint64(b[at:])
	}
	c.RoundTrip, c.Retransmits, c.Segments = time.Duration(short(infoRTT))*time.Microsecond, short(infoRetransmits), short(infoSegments)
	c.Sent, c.Received = long(infoAcked), long(infoReceived)
	if least := short(infoLeast); least != ^uint32(0) { // which is unknown
		c.Least = time.Duration(least) * time.Microsecond
	}
}

// A Link is a network interface of a host with its counters since the boot.
type Link struct {
	Name              string
	Addresses         []netip.Addr
	Speed             float64 // bytes a second in one direction; 0 if unknown, as of virtual ones
	In, Out           uint64  // bytes
	InPackets         uint64
	OutPackets        uint64
	Drops             uint64 // of both directions
	Errors            uint64 // of both directions
	Retransmits       uint64 // of the whole host: it is the same in all its links
	ConnectionsOpened uint64 // by the whole host, as a client
}

// Links lists the network interfaces of a host without the loopback.
func Links(h host.Host) ([]Link, error) {
	return linksTask().On(context.Background(), h, nothing{})
}

func linksTask() host.Task[nothing, []Link] {
	return host.Task[nothing, []Link]{Name: "links", Do: func(_ context.Context, h host.Host, _ nothing) ([]Link, error) { return readLinks(h) }}
}

func readLinks(h host.Host) ([]Link, error) {
	proc, _, err := procOf(h)
	if err != nil {
		return nil, err
	}
	dev, err := proc.NetDev()
	if err != nil {
		return nil, fmt.Errorf("reading the network interfaces: %w", err)
	}
	var again, opened uint64
	if self, err := proc.Self(); err == nil {
		if n, err := self.Snmp(); err == nil && n.RetransSegs != nil && n.ActiveOpens != nil {
			again, opened = uint64(*n.RetransSegs), uint64(*n.ActiveOpens)
		}
	}
	var out []Link
	for name, d := range dev {
		if name == "lo" {
			continue
		}
		l := Link{Name: name, Speed: speedOf(name), In: d.RxBytes, Out: d.TxBytes, InPackets: d.RxPackets, OutPackets: d.TxPackets,
			Drops: d.RxDropped + d.TxDropped, Errors: d.RxErrors + d.TxErrors, Retransmits: again, ConnectionsOpened: opened}
		l.Addresses = addressesOf(name)
		out = append(out, l)
	}
	return out, nil
}

// speedOf is the speed that the driver reports, in bytes a second; 0 for none.
func speedOf(name string) float64 {
	b, err := os.ReadFile(filepath.Join("/sys/class/net", filepath.Base(name), "speed"))
	mbit, err2 := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	if err != nil || err2 != nil || mbit <= 0 {
		return 0
	}
	return mbit * 1e6 / 8
}

// addressesOf are the addresses of an interface of this machine.
func addressesOf(name string) (out []netip.Addr) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil
	}
	all, err := i.Addrs()
	if err != nil {
		return nil
	}
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, prefix.Addr().Unmap())
		}
	}
	return out
}
