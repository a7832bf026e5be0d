package facts

import (
	"maps"
	"net"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestEnvoyAdmin: the address is found in both styles of YAML, below admin only.
func TestEnvoyAdmin(t *testing.T) {
	for config, want := range map[string]string{
		"admin:\n  address: { socket_address: { address: 127.0.0.1, port_value: 9901 } }\n":                                             "127.0.0.1:9901",
		"admin:\n  address:\n    socket_address:\n      address: 0.0.0.0\n      port_value: 8001\n":                                     "127.0.0.1:8001",
		"admin:\n  address:\n    socket_address: { address: \"::1\", port_value: 1 }\n":                                                 "[::1]:1",
		"admin:\n  access_log_path: /dev/null\n  # address: 10.0.0.1\n  address: {socket_address: {address: localhost, port_value: 2}}": "127.0.0.1:2",
		"static_resources:\n  listeners:\n    - address: { socket_address: { address: 127.0.0.1, port_value: 8080 } }\n":                "",
		"admin:\n  address: { pipe: { path: /run/envoy.sock } }\nstatic_resources:\n  x: { address: 127.0.0.1, port_value: 8080 }\n":    "",
		"admin:\n  address: { socket_address: { address: 127.0.0.1, port_value: 70000 } }\n":                                            "",
		"": "",
	} {
		if got := EnvoyAdmin(config); got != want {
			t.Errorf("%q: %q, want %q", config, got, want)
		}
	}
}

// TestEnvoyFacts: what grew is a fact; histograms and texts are no counters.
func TestEnvoyFacts(t *testing.T) {
	before := EnvoyCounters("cluster.web.upstream_rq_total: 5\ncluster.web.upstream_cx_active: 9\n")
	after := EnvoyCounters("cluster.web.upstream_rq_total: 12\ncluster.web.upstream_cx_active: 3\ncluster.web.upstream_cx_total: 4\n" +
		"cluster.web.upstream_rq_time: P0(nan,1) P25(nan,1.05)\nserver.version: \"a\"\nx: -1\n: 3\n")
	got := map[string]float64{}
	for f, n := range fact.TopicProxyCounter.In(EnvoyFacts("edge", before, after)) {
		if f.Target != "edge" || !f.Moves {
			t.Errorf("%+v", f)
		}
		got[f.Key] = n
	}
	if want := map[string]float64{"cluster.web.upstream_rq_total": 7, "cluster.web.upstream_cx_total": 4}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func FuzzEnvoy(f *testing.F) {
	f.Add("admin:\n  address: { socket_address: { address: 127.0.0.1, port_value: 9901 } }\n")
	f.Fuzz(func(t *testing.T, text string) {
		if at := EnvoyAdmin(text); at != "" {
			if host, _, err := net.SplitHostPort(at); err != nil || host == "" || host == "0.0.0.0" {
				t.Errorf("%q: %q, %v", text, at, err)
			}
		}
		for name, n := range EnvoyCounters(text) {
			if name == "" || n < 0 || strings.Contains(name, "\n") {
				t.Errorf("%q: %g", name, n)
			}
		}
	})
}
