package observe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/all"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// startCache starts a server and waits until it answers.
func startCache(t *testing.T, address, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not answer: %v", program, err)
		}
	}
}

// say sends lines over one connection and reads as many lines of answers.
func say(t *testing.T, address string, lines ...string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	for _, line := range lines {
		if _, err := fmt.Fprintf(conn, "%s\r\n", line); err != nil {
			t.Fatal(err)
		}
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
}

// watchCache reads a cache around what do does, and returns the findings about it in
// a run of 1,000 requests.
func watchCache(t *testing.T, s iikanji.Service, do func()) []iikanji.Finding {
	t.Helper()
	target := iikanji.Target{Services: []iikanji.Service{{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo}, s}}
	watches := cacheWatches(Watched{Target: target})
	if len(watches) != 1 {
		t.Fatalf("%d caches are watched", len(watches))
	}
	w := watches[0]
	w.begin(t.Context())
	do()
	w.end(t.Context())
	known, err := w.known()
	if err != nil {
		t.Fatal(err)
	}
	fs, err := cause.Find(cause.Input{Target: target, Facts: known, Run: &iikanji.Run{Outcome: iikanji.Passed, Took: 10 * time.Second, Place: iikanji.Placement{Cores: 2},
		Steps: []iikanji.StepStat{{Count: 1000}}}}, all.Rules())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(fs, func(f iikanji.Finding) bool { return !strings.HasPrefix(string(f.Code), "KV") })
}

func codesOf(fs []iikanji.Finding) (out []string) {
	for _, f := range fs {
		out = append(out, string(f.Code))
	}
	slices.Sort(out)
	return out
}

// TestRedis observes a real Redis: an idle one has no finding, and each cause has
// its own.
func TestRedis(t *testing.T) {
	tier.Slow(t)
	address := servertest.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	startCache(t, address, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "")
	s := iikanji.Service{Name: "sessions", Role: iikanji.RoleCache, Engine: iikanji.EngineRedis, Address: address}
	if fs := watchCache(t, s, func() { say(t, address, "SET a 1 EX 60", "GET a", "PING") }); len(fs) > 0 {
		t.Errorf("an idle Redis: %+v", fs)
	}
	fs := watchCache(t, s, func() {
		say(t, address, "EVAL for_i=0 0") // an error, which is no finding
		fill := make([]string, 0, 20)
		for i := range 20 {
			fill = append(fill, fmt.Sprintf("EVAL \"for i=1,1000 do redis.call('SET','session:%d:'..i,'x') end return 1\" 0", i))
		}
		say(t, address, fill...)
		for range 300 {
			say(t, address, "PING")
		}
		for range 100 {
			say(t, address, "EVAL \"redis.call('KEYS','session:*') return 1\" 0")
		}
	})
	// KEYS inside of a script counts for both commands.
	if got := codesOf(fs); !slices.Contains(got, "KV101") || !slices.Contains(got, "KV102") || !slices.Contains(got, "KV103") || slices.Contains(got, "KV104") {
		t.Errorf("found %v: %+v", got, fs)
	}
	if i := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Where == "sessions: KEYS" }); i < 0 || fs[i].Gain.Hi < 0.05 || len(fs[i].Remedies) != 1 || fs[i].Remedies[0].Target != "app" {
		t.Errorf("KEYS is not found: %+v", fs)
	}
	fs = watchCache(t, s, func() {
		say(t, address, "CONFIG SET maxmemory-policy allkeys-random", "CONFIG SET maxmemory 2500000", "SET b 1", "GET b")
	})
	if got := codesOf(fs); !slices.Equal(got, []string{"KV103"}) || !strings.Contains(fs[0].Claim, "threw out") {
		t.Errorf("a full Redis: %+v", fs)
	}
	fs = watchCache(t, s, func() {
		say(t, address, "CONFIG SET maxmemory 0", "CONFIG SET maxclients 1")
		first, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		say(t, address, "PING") // refused with one line
		if _, err := fmt.Fprint(first, "CONFIG SET maxclients 1000\r\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(first).ReadString('\n'); err != nil || line != "+OK\r\n" {
			t.Fatalf("%q, %v", line, err)
		}
	})
	if got := codesOf(fs); !slices.Contains(got, "KV104") {
		t.Errorf("a refused client: %+v", fs)
	}
	say(t, address, "CONFIG SET requirepass hidden-word")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var refused *facts.CacheError
	if _, err := facts.ReadCache(ctx, host.Local{}, iikanji.EngineRedis, "tcp", address); !errors.As(err, &refused) || !strings.Contains(refused.Says, "NOAUTH") {
		t.Errorf("a Redis with a password: %v", err)
	}
}

// TestMemcached observes a real memcached: a full one throws out values.
func TestMemcached(t *testing.T) {
	address := servertest.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	startCache(t, address, "memcached", "-p", port, "-U", "0", "-l", "127.0.0.1", "-m", "8", "-u", "nobody")
	s := iikanji.Service{Name: "store", Role: iikanji.RoleCache, Engine: iikanji.EngineMemcached, Address: address}
	if fs := watchCache(t, s, func() { say(t, address, "version") }); len(fs) > 0 {
		t.Errorf("an idle memcached: %+v", fs)
	}
	value := strings.Repeat("v", 20000)
	fs := watchCache(t, s, func() {
		for n := range 800 {
			say(t, address, fmt.Sprintf("set key%d 0 0 %d\r\n%s", n, len(value), value))
		}
	})
	if got := codesOf(fs); !slices.Equal(got, []string{"KV102", "KV103"}) {
		t.Errorf("a full memcached with new connections: %v %+v", got, fs)
	}
}
