package observe

import (
	"net/netip"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestServiceAt: a connection to another machine leads to the home of a service or to one of
// its instances; one to this machine, or to another port, is none.
func TestServiceAt(t *testing.T) {
	site := iikanji.Target{Services: []iikanji.Service{
		{Name: "app", Host: "web", Address: "127.0.0.1:8000", Instances: []string{"app2"}},
		{Name: "mariadb", Host: "db", Address: "127.0.0.1:3306"}}}
	links := map[string][]hoststat.Link{}
	for name, address := range map[string]string{"web": "10.0.0.11", "app2": "10.0.0.12", "db": "10.0.0.13"} {
		links[name] = []hoststat.Link{{Name: "eth0", Addresses: []netip.Addr{netip.MustParseAddr(address)}}}
	}
	for _, c := range []struct{ from, to, service, on string }{
		{"web", "10.0.0.12:8000", "app", "app2"},
		{"app2", "10.0.0.11:8000", "app", "web"},
		{"web", "[::ffff:10.0.0.13]:3306", "mariadb", "db"},
		{"web", "10.0.0.11:8000", "", ""},
		{"web", "10.0.0.12:3306", "", ""},
		{"web", "10.0.0.99:8000", "", ""},
	} {
		if service, on := serviceAt(site, netip.MustParseAddrPort(c.to), c.from, links); service != c.service || on != c.on {
			t.Errorf("%s to %s: %q on %q", c.from, c.to, service, on)
		}
	}
}

// TestTripFacts: the connections of two instances are one trip with the mean of their round
// trips.
func TestTripFacts(t *testing.T) {
	all := tripFacts(map[[2]string]*fact.Trip{
		{"nginx", "app"}:   {From: "web", To: "app2", Connections: 1, RoundTrip: time.Millisecond},
		{"app", "mariadb"}: {From: "web", To: "db", Connections: 4, RoundTrip: 2 * time.Millisecond}})
	if len(all) != 2 || all[0].Target != "app" || all[1].Target != "nginx" {
		t.Fatalf("%+v", all)
	}
	if trip, err := fact.TopicTrip.Value(all[0]); err != nil || trip.RoundTrip != 500*time.Microsecond {
		t.Errorf("%+v, %v", trip, err)
	}
}
