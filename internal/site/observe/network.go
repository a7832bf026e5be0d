package observe

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A networkWatch counts what goes over the network interfaces of the machines during the
// load, and looks at the connections between services at its end. With one machine it does
// nothing.
type networkWatch struct {
	hosts  []host.Host
	before map[string][]hoststat.Link // by machine
	began  time.Time
}

func newNetworkWatch(hosts []*hostWatch) *networkWatch {
	w := &networkWatch{}
	if len(hosts) > 1 {
		for _, h := range hosts {
			w.hosts = append(w.hosts, h.h)
		}
	}
	return w
}

// links reads the interfaces of all machines. One that cannot be read has none.
func (w *networkWatch) links() map[string][]hoststat.Link {
	out := map[string][]hoststat.Link{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, h := range w.hosts {
		all.Go(func() {
			links, err := hoststat.Links(h)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out[h.Name()] = links
		})
	}
	all.Wait()
	return out
}

func (w *networkWatch) begin(now time.Time) {
	w.before, w.began = w.links(), now
}

// end returns what went over the interfaces, and the connections between services.
func (w *networkWatch) end(now time.Time, watched Watched) (out []iikanji.Fact) {
	if len(w.hosts) == 0 {
		return nil
	}
	after := w.links()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		for _, l := range after[name] {
			i := slices.IndexFunc(w.before[name], func(b hoststat.Link) bool { return b.Name == l.Name })
			if i < 0 {
				continue
			}
			f := fact.TopicLink.Fact(orLocal(name), l.Name, grownLink(w.before[name][i], l, now.Sub(w.began)), true)
			f.Host = name
			out = append(out, f)
		}
	}
	found := map[[2]string]*fact.Trip{} // by client and server
	for _, h := range w.hosts {
		trips(h, watched, after, found)
	}
	return append(out, tripFacts(found)...)
}

func orLocal(name string) string {
	if name == "" {
		return thisMachine
	}
	return name
}

// grownLink is the growth of an interface's counters.
func grownLink(a, b hoststat.Link, wall time.Duration) fact.Link {
	grew := func(from, to uint64) int64 { return int64(max(to, from) - from) }
	return fact.Link{In: iikanji.Bytes(grew(a.In, b.In)), Out: iikanji.Bytes(grew(a.Out, b.Out)), InPackets: grew(a.InPackets, b.InPackets),
		OutPackets: grew(a.OutPackets, b.OutPackets), Drops: grew(a.Drops, b.Drops), Errors: grew(a.Errors, b.Errors), Speed: b.Speed, Wall: wall,
		Retransmits: grew(a.Retransmits, b.Retransmits), Opened: grew(a.ConnectionsOpened, b.ConnectionsOpened)}
}

// trips adds the connections of the services of a machine to those of others, by client and
// server. Those of several instances of a client are one trip: each request goes once.
func trips(h host.Host, watched Watched, links map[string][]hoststat.Link, found map[[2]string]*fact.Trip) {
	groups := watched.groupsOn(h)
	if len(groups) == 0 {
		return
	}
	owners, err := hoststat.Owners(h, groups)
	if err != nil {
		return
	}
	all, err := hoststat.Connections(h)
	if err != nil {
		return
	}
	for _, c := range all {
		from := owners[c.Inode]
		to, on := serviceAt(watched.Target, c.Remote, h.Name(), links)
		if from == "" || to == "" || to == from {
			continue
		}
		key := [2]string{from, to}
		t := found[key]
		if t == nil {
			t = &fact.Trip{From: h.Name(), To: on}
			found[key] = t
		}
		t.Connections++
		t.RoundTrip += c.RoundTrip
		if c.Least > 0 && (t.Least == 0 || c.Least < t.Least) {
			t.Least = c.Least
		}
		t.Segments, t.Retransmits = t.Segments+int64(c.Segments), t.Retransmits+int64(c.Retransmits)
		t.Sent, t.Received = t.Sent+iikanji.Bytes(c.Sent), t.Received+iikanji.Bytes(c.Received)
	}
}

// tripFacts are the facts of trips whose round trips are sums.
func tripFacts(found map[[2]string]*fact.Trip) (out []iikanji.Fact) {
	for key, t := range found {
		t.RoundTrip /= time.Duration(t.Connections)
		f := fact.TopicTrip.Fact(key[0], key[1], *t, true)
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b iikanji.Fact) int {
		return cmp.Or(strings.Compare(a.Target, b.Target), strings.Compare(a.Key, b.Key))
	})
	return out
}

// serviceAt is the service on another machine that listens where a connection leads to, and
// its machine: its home, or that of an instance.
func serviceAt(t iikanji.Target, remote netip.AddrPort, from string, links map[string][]hoststat.Link) (service, on string) {
	for _, s := range t.Services {
		_, port, err := net.SplitHostPort(s.Address)
		if err != nil || port != strconv.Itoa(int(remote.Port())) {
			continue
		}
		for _, on := range append([]string{s.Host}, s.Instances...) {
			if on != from && slices.ContainsFunc(links[on], func(l hoststat.Link) bool { return slices.Contains(l.Addresses, remote.Addr().Unmap()) }) {
				return s.Name, on
			}
		}
	}
	return "", ""
}
