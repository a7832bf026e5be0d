package facts

import (
	"context"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// ClientsOf counts the current connections of services of a host to the server. A
// connection belongs to the service whose processes have its client socket open:
// for TCP, the socket with the port in the server's process list; for the unix
// socket, the peer of a socket with that path. A service without connections is
// not in the result.
func (s *Server) ClientsOf(ctx context.Context, h host.Host, socket string, services map[string][]int) (map[string]fact.Connections, error) {
	owner, err := hoststat.Owners(h, services)
	if err != nil {
		return nil, err
	}
	ports, err := s.clientPorts(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]fact.Connections{}
	if len(ports) > 0 {
		all, err := hoststat.Established(h)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			name, ok := owner[c.Inode]
			if ok && ports[portPair{c.Local.Port(), c.Remote.Port()}] {
				out[name] = fact.Connections{TCP: out[name].TCP + 1}
			}
		}
	}
	clients, err := hoststat.UnixClients(h, socket)
	for _, inode := range clients {
		if name, ok := owner[inode]; ok {
			out[name] = fact.Connections{TCP: out[name].TCP, Unix: out[name].Unix + 1}
		}
	}
	return out, err
}

// A portPair is the client's and the server's port of a connection.
type portPair [2]uint16

// clientPorts are the ports of all TCP connections to the server.
func (s *Server) clientPorts(ctx context.Context) (map[portPair]bool, error) {
	rows, err := s.rows(ctx, "SELECT host, @@port AS port FROM information_schema.processlist WHERE host LIKE '%:%'")
	if err != nil {
		return nil, err
	}
	out := map[portPair]bool{}
	for _, r := range rows {
		from, err1 := strconv.ParseUint(r["host"][strings.LastIndexByte(r["host"], ':')+1:], 10, 16)
		to, err2 := strconv.ParseUint(r["port"], 10, 16)
		if err1 == nil && err2 == nil {
			out[portPair{uint16(from), uint16(to)}] = true
		}
	}
	return out, nil
}
