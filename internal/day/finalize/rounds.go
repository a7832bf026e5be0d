package finalize

import (
	"fmt"
	"time"
)

// A Round is one order in which the machines of a site boot.
type Round struct {
	Name  string
	parts []part
}

// A part of a round are the machines that go down together.
type part struct {
	after time.Duration // wait before
	// stop are machines whose servers are ended before; they start with their boot, which is
	// that of a later part.
	stop []string
	down []string // this machine last
	rest bool     // wait for all services afterwards
}

// Gaps are the usual times between the clients and their servers: machines boot in any order,
// and systemd's default gives up after five starts in ten seconds.
func Gaps() []time.Duration { return []time.Duration{0, 20 * time.Second, 60 * time.Second} }

// orderName is the name of an order in which servers start later than their clients.
func orderName(gap time.Duration) string {
	if gap == 0 {
		return "clients first"
	}
	return fmt.Sprintf("servers %.0f s later", gap.Seconds())
}

// RoundsOf are the orders in which machines boot: all at once, one after the other, and the
// machines with clients before those with servers, which come back a gap later. Machines with
// both are among those with servers: there systemd keeps the order.
func RoundsOf(m Machines, gaps []time.Duration) []Round {
	m = append(m.with(func(u *Units) bool { return !u.here() }), m.with((*Units).here)...)
	rounds := []Round{{Name: "all at once", parts: []part{{down: m.labels()}}}}
	if len(m) < 2 {
		return rounds
	}
	server := func(u *Units) bool { return len(u.servers()) > 0 }
	servers, clients := m.with(server), m.with(func(u *Units) bool { return !server(u) })
	one := Round{Name: "one after the other"}
	for _, u := range append(servers.with(func(*Units) bool { return true }), clients...) {
		one.parts = append(one.parts, part{down: []string{u.Label}, rest: true})
	}
	rounds = append(rounds, one)
	if len(servers) == 0 || len(clients) == 0 {
		return rounds
	}
	for _, gap := range gaps {
		rounds = append(rounds, Round{Name: orderName(gap), parts: []part{{stop: servers.labels(), down: clients.labels()}, {after: gap, down: servers.labels()}}})
	}
	return rounds
}

// needs is the time that a round is assumed to take.
func (r Round) needs() (total time.Duration) {
	for _, p := range r.parts {
		total += p.after + bootTime
	}
	return total + proofTime
}

// Times that a boot of machines, and the proof after it, are assumed to take.
const (
	bootTime  = 60 * time.Second
	proofTime = 30 * time.Second
)
