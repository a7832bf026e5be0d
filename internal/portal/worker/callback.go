package worker

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// callback reserves a port of the problem at which a run takes connections of the hosts that it
// loads: a worker's runs at one time have different ones. It is the address of this machine as the
// target sees it; "" for a problem without callbacks.
func (w *Worker) callback(a *api.Assignment) (address string, release func(), err error) {
	if len(a.Problem.Callbacks) == 0 {
		return "", func() {}, nil
	}
	target, err := addressOf(a.Target)
	if err != nil {
		return "", nil, err
	}
	own, err := towards(target)
	if err != nil {
		return "", nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, port := range a.Problem.Callbacks {
		if w.taken[port] {
			continue
		}
		w.taken[port] = true
		return netip.AddrPortFrom(own, uint16(port)).String(), func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.taken, port)
		}, nil
	}
	return "", nil, fmt.Errorf("each of the %d ports for callbacks is in use: a worker has at most as many slots", len(a.Problem.Callbacks))
}

// towards is the address from which this machine sends to a target. Nothing is sent.
func towards(target netip.AddrPort) (netip.Addr, error) {
	conn, err := net.Dial("udp", target.String())
	if err != nil {
		return netip.Addr{}, fmt.Errorf("finding the address for callbacks: %w", err)
	}
	defer conn.Close()
	own, err := netip.ParseAddrPort(conn.LocalAddr().String())
	return own.Addr().Unmap(), err
}
