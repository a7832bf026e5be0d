package stack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// caches is an arena whose caches, store and front proxy are declared in one line
// each. The app is behind Varnish.
func caches() *arena.Arena {
	return &arena.Arena{
		Name:  "caches",
		Files: fstest.MapFS{"shop/waiter.pl": testFile("toy/waiter.pl")},
		Services: []arena.Service{
			{Name: "pages", Role: iikanji.RoleCache, Engine: iikanji.EngineMemcached, Memory: 8 << 20},
			{Name: "spare", Role: iikanji.RoleCache, Engine: iikanji.EngineMemcached, OnDemand: true},
			{Name: "parts", Role: iikanji.RoleCache, Engine: iikanji.EngineMemcached, Socket: "parts.sock"},
			{Name: "sessions", Role: iikanji.RoleCache, Engine: iikanji.EngineRedis, Socket: "sessions.sock"},
			{Name: "orders", Role: iikanji.RoleDatabase, Engine: iikanji.EngineRedis},
			{Name: "shop", Role: iikanji.RoleApp, Engine: "perl", Source: "shop", Start: []string{"perl", "waiter.pl"}, Ports: []string{"side"},
				Env: func(p arena.Places) []string {
					return []string{"ADDRESS=" + p.Service("shop").Address, "GREETING=fresh", "LEDGER=" + p.Tmp, fmt.Sprintf("SIDE=%d", p.Service("shop").Ports["side"])}
				}},
			{Name: "front", Role: iikanji.RoleWeb, Engine: iikanji.EngineVarnish, Memory: 16 << 20, Backend: "shop"},
		},
	}
}

// say sends a text to a service and returns the reply up to a line that ends it.
func say(t *testing.T, network, address, text, last string) string {
	t.Helper()
	c, err := net.DialTimeout(network, address, 2*time.Minute)
	must(t, err)
	defer c.Close()
	must(t, c.SetDeadline(time.Now().Add(2*time.Minute)))
	_, err = io.WriteString(c, text)
	must(t, err)
	var reply strings.Builder
	for lines := bufio.NewScanner(c); lines.Scan(); {
		reply.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), last) {
			return reply.String()
		}
	}
	t.Fatalf("%s: no line %q in the reply %q", address, last, reply.String())
	return ""
}

// TestCaches starts, restarts and kills real servers that have only the defaults
// of their engines.
func TestCaches(t *testing.T) {
	tier.Slow(t)
	s := bring(t, caches(), Options{Dir: openDir(t)})
	p := s.Places()
	pages, parts, sessions, orders := p.Service("pages"), p.Service("parts"), p.Service("sessions"), p.Service("orders")

	if got := say(t, "tcp", pages.Address, "stats settings\r\n", "END"); !strings.Contains(got, "STAT maxbytes 8388608\n") || !strings.Contains(got, "STAT inter 127.0.0.1\n") {
		t.Errorf("the declared limit of memcached:\n%s", got)
	}
	if got := say(t, "unix", parts.Socket, "stats settings\r\n", "END"); parts.Port != 0 || !strings.Contains(got, "STAT maxbytes 67108864\n") {
		t.Errorf("memcached on a socket, port %d:\n%s", parts.Port, got)
	}
	for _, c := range []struct{ network, address, want string }{
		{"tcp", sessions.Address, "67108864"}, {"unix", sessions.Socket, "67108864"}, {"tcp", orders.Address, "0"},
	} {
		if got := say(t, c.network, c.address, "CONFIG GET maxmemory\r\n", c.want); !strings.Contains(got, "maxmemory\n") {
			t.Errorf("the limit of redis at %s: %q", c.address, got)
		}
	}
	if got := page(t, p.URL()+"/table/1"); got != "fresh /table/1" {
		t.Errorf("through varnish: %q", got)
	}
	for _, name := range []string{"pages", "sessions", "orders", "front"} {
		mustExist(t, p.Service(name).Log("output"), true)
	}
	checkUsers(t, s)

	t.Run("restarted", func(t *testing.T) { cachesRestart(t, s) })
	t.Run("on demand", func(t *testing.T) { cacheOnDemand(t, s) })
	t.Run("killed", func(t *testing.T) {
		for _, name := range []string{"pages", "parts", "sessions", "orders", "front"} {
			must(t, unix.Kill(s.Groups()[name][0], unix.SIGKILL))
			var died *DiedError
			if err := <-s.Died(); !errors.As(err, &died) || died.Service != name {
				t.Fatalf("died: %v, want %s", err, name)
			}
			must(t, s.Restart(t.Context(), name))
		}
		if got := page(t, p.URL()+"/table/2"); got != "fresh /table/2" {
			t.Errorf("through varnish: %q", got)
		}
	})
	t.Run("bad configuration", func(t *testing.T) {
		bad := filepath.Join(p.Conf, scratchPrefix+"bad.vcl")
		must(t, os.WriteFile(bad, []byte("vcl 4.1;\nbackend default none of it;\n"), 0o644))
		defer os.Remove(bad)
		var refused *ConfigError
		if err := s.CheckConfig(t.Context(), "front", bad); !errors.As(err, &refused) || !strings.Contains(strings.Join(refused.Lines, "\n"), "none") {
			t.Errorf("error: %v", err)
		}
		must(t, s.CheckConfig(t.Context(), "front", p.Service("front").Config))
	})
}

// cachesRestart asserts that a restart empties the caches and keeps what the store
// has.
func cachesRestart(t *testing.T, s *Stack) {
	p := s.Places()
	pages, sessions, orders := p.Service("pages").Address, p.Service("sessions").Address, p.Service("orders").Address
	say(t, "tcp", pages, "set k 0 0 1\r\nx\r\n", "STORED")
	say(t, "tcp", sessions, "SET k x\r\n", "+OK")
	say(t, "tcp", orders, "SET k x\r\n", "+OK")
	for _, name := range []string{"pages", "parts", "sessions", "orders", "front"} {
		must(t, s.Refresh(t.Context(), name))
	}
	if got := say(t, "tcp", pages, "get k\r\n", "END"); got != "END\n" {
		t.Errorf("memcached after a restart: %q", got)
	}
	if got := say(t, "tcp", sessions, "GET k\r\n", "$"); got != "$-1\n" {
		t.Errorf("a cache in redis after a restart: %q", got)
	}
	if got := say(t, "tcp", orders, "GET k\r\n", "x"); got != "$1\nx\n" {
		t.Errorf("a store in redis after a restart: %q", got)
	}
}

// cacheOnDemand asserts that the file that starts a cache may limit its data.
func cacheOnDemand(t *testing.T, s *Stack) {
	file, address := s.EnableFile("spare"), s.Places().Service("spare").Address
	for text, want := range map[string]string{"": "67108864", "mebibytes = 32\n": "33554432"} {
		writeForTest(t, file, text)
		must(t, s.Refresh(t.Context(), "spare"))
		if got := say(t, "tcp", address, "stats settings\r\n", "END"); !strings.Contains(got, "STAT maxbytes "+want+"\n") {
			t.Errorf("%q: the limit of memcached:\n%s", text, got)
		}
	}
	for _, bad := range []string{"mebibytes = 0\n", "mebibytes = 1 -l 0.0.0.0\n", "mebibytes = 99999999999\n"} {
		writeForTest(t, file, bad)
		if err := s.Refresh(t.Context(), "spare"); err == nil || !strings.Contains(err.Error(), file+":1: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if len(s.Groups()["spare"]) != 1 {
		t.Error("a bad line took the running cache down")
	}
	must(t, os.Remove(file))
	must(t, s.Refresh(t.Context(), "spare"))
	if len(s.Groups()["spare"]) != 0 {
		t.Error("without the file the cache still runs")
	}
}
