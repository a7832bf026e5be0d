// Package freeport tells which TCP ports of this machine a server can listen on.
package freeport

import (
	"net"
	"os"
	"strconv"
	"strings"
)

const lowest = 10240

// Range is the range to search for a free port: below the kernel's ephemeral ports for
// outgoing connections. A load generator opens thousands of these, and one of
// them could take a server's port before the server listens, or while it restarts.
func Range() (low, high int) {
	low, high = lowest, 32767
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if f := strings.Fields(string(b)); err == nil && len(f) == 2 {
		if n, err := strconv.Atoi(f[0]); err == nil && n > lowest+1000 {
			high = n - 1
		}
	}
	return low, high
}

// Free tests a port by listening, on all addresses too, as a server may do.
func Free(port int) bool {
	for _, addr := range []string{"127.0.0.1", ""} {
		l, err := net.Listen("tcp", net.JoinHostPort(addr, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}
