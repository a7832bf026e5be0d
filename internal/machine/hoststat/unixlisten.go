package hoststat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A UnixSocket is a listening unix socket of a host.
type UnixSocket struct {
	Path  string // begins with "@" for an abstract socket; "" for one without a name
	Inode uint64
}

// acceptsConnections is __SO_ACCEPTCON of the kernel: the flag of a socket that listens.
const acceptsConnections = 0x10000

// ListeningUnix lists the listening unix sockets of a host.
func ListeningUnix(h host.Host) ([]UnixSocket, error) {
	text, err := h.Read("/proc/net/unix")
	if err != nil {
		return nil, fmt.Errorf("reading the unix sockets: %w", err)
	}
	return parseUnix(string(text)), nil
}

// parseUnix reads /proc/net/unix: Num, RefCount, Protocol, Flags, Type, St, Inode, Path.
func parseUnix(text string) []UnixSocket {
	var out []UnixSocket
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 7 {
			continue
		}
		flags, err1 := strconv.ParseUint(f[3], 16, 64)
		inode, err2 := strconv.ParseUint(f[6], 10, 64)
		if err1 == nil && err2 == nil && flags&acceptsConnections != 0 {
			out = append(out, UnixSocket{Path: strings.Join(f[7:], " "), Inode: inode})
		}
	}
	return out
}
