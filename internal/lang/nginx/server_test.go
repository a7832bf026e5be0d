package nginx

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// FuzzSplitHostPort compares splitHostPort with net.SplitHostPort, which is in a
// package that this one must not import.
func FuzzSplitHostPort(f *testing.F) {
	for _, s := range []string{"127.0.0.1:80", "[::]:80", "[::1]", "localhost", "localhost:8080", ":80", "", "::1", "a:b:c", "[a]b:1", "unix:/run/x.sock", "[::1]:", "a]:1", "a[:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, ok := splitHostPort(s)
		wantHost, wantPort, err := net.SplitHostPort(s)
		if ok != (err == nil) || ok && (host != wantHost || port != wantPort) {
			t.Errorf("%q: %q, %q, %v; want %q, %q, %v", s, host, port, ok, wantHost, wantPort, err)
		}
	})
}

// TestServersAsNginx compares which server is selected with a real nginx.
func TestServersAsNginx(t *testing.T) {
	rounds := 40
	if tier.Soaking() {
		rounds = 1000
	}
	for seed := range rounds {
		compareServers(t, uint64(seed))
	}
}

// FuzzServersAsNginx does the same with more configurations.
func FuzzServersAsNginx(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed)
	}
	f.Fuzz(compareServers)
}

// compareServers makes servers that listen at several addresses, each of which answers
// with its own number, and asks for many names at each address.
func compareServers(t *testing.T, seed uint64) {
	dir := t.TempDir()
	g := &generator{rand.New(rand.NewPCG(seed, 2)), 0, nil}
	port := strconv.Itoa(servertest.FreePort(t))
	var http strings.Builder
	explicit := map[string]bool{} // the addresses that have a default server
	for i := range 2 + g.IntN(10) {
		fmt.Fprintf(&http, "\tserver { %sreturn 200 %d; }\n", g.listens(port, explicit)+g.names(), i)
	}
	text := strings.NewReplacer("SERVERS", http.String()+"\tserver { listen unix:DIR/s default_server; return 200 unix; }", "MERGE", "on").Replace(answersSkeleton)
	text = strings.ReplaceAll(text, "DIR", dir)
	start(t, dir, text)
	conf, err := Load("nginx.conf", oneText(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"tcp 127.0.0.1:" + port, "tcp 127.0.0.2:" + port, "unix " + dir + "/s"} {
		network, address, _ := strings.Cut(to, " ")
		conn, err := net.Dial(network, address)
		if err != nil {
			continue // no server listens there
		}
		client := &rawClient{t: t, path: address, conn: conn, in: bufio.NewReader(conn)}
		if network == "unix" {
			address = "unix:" + address
		}
		for range 20 {
			r := Request{Address: address, Host: g.one(hosts...), Method: "GET", URI: "/"}
			_, _, want := client.ask(r)
			a, err := conf.Answer(r)
			if err != nil || a.Text != want {
				t.Fatalf("Host %q at %s: server %s, %v; nginx has %s\n%s", r.Host, address, a.Text, err, want, &http)
			}
			if client.conn == nil {
				break
			}
		}
		conn.Close()
	}
}

// hosts are names of requests, and serverNames of servers.
var hosts = []string{"a.test", "A.Test:80", "b.test", "x.a.test", "y.x.a.test", "a.b.test", "www.a.test", "www.b", "www.x.y", "test", "127.0.0.1", "a.test.", "[::1]:80", "none"}
var serverNames = []string{"a.test", "b.test", "*.a.test", ".a.test", "*.x.a.test", ".test", "*.test", "www.*", "www.x.*", "a.*", "~^a", "~^(?<n>.+)\\.a\\.test$", "~B", "~\\.y$", "_", "\"\"", "A.TEST", "127.0.0.1"}

func (g *generator) names() string {
	if g.chance(15) {
		return ""
	}
	text := "server_name"
	for range 1 + g.IntN(3) {
		text += " " + g.one(serverNames...)
	}
	return text + "; "
}

// listens are one or two addresses, of which each has one explicit default server at most.
func (g *generator) listens(port string, explicit map[string]bool) string {
	text, seen := "", map[string]bool{}
	for range 1 + g.IntN(2) {
		key := g.one("127.0.0.1:", "*:", "127.0.0.2:", "unix")
		address := key + port
		if key == "*:" {
			address = g.one("*:", "0.0.0.0:", "") + port
		}
		if key == "127.0.0.1:" {
			address = g.one("127.0.0.1:", "localhost:") + port
		}
		if key == "unix" {
			address = "unix:DIR/s"
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		text += "listen " + address
		if !explicit[key] && key != "unix" && g.chance(25) {
			explicit[key] = true
			text += " default_server"
		}
		text += "; "
	}
	return text
}
