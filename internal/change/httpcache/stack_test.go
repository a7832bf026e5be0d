package httpcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

// TestMain: this program is its stack's supervisor, too.
func TestMain(m *testing.M) {
	stack.MaybeSupervise()
	os.Exit(m.Run())
}

// shopProgram answers each request with another number.
const shopProgram = `use strict; use IO::Socket::INET;
$SIG{TERM} = sub { exit 0 };
my $l = IO::Socket::INET->new(LocalAddr => $ENV{ADDRESS}, Listen => 64, ReuseAddr => 1) or die $@;
my $n = 0;
while (my $c = $l->accept) {
    while (defined(my $line = <$c>)) { last if $line =~ /^\r?\n$/ }
    my $body = "answer " . ++$n;
    print $c "HTTP/1.1 200 OK\r\nContent-Length: " . length($body) . "\r\nConnection: close\r\n\r\n$body";
    close $c;
}
`

const shopNginx = `pid {{.Run}}/{{.Self.Name}}.pid;
error_log {{.Self.Log "error"}} error;
events { worker_connections 64; }
http {
    access_log {{.Self.Log "access"}};
    client_body_temp_path {{.Run}}/body; proxy_temp_path {{.Run}}/proxy;
    fastcgi_temp_path {{.Run}}/fastcgi; uwsgi_temp_path {{.Run}}/uwsgi; scgi_temp_path {{.Run}}/scgi;
    server {
        listen {{.Self.Address}};
        location / { proxy_pass http://{{(.Service "shop").Address}}; }
    }
}
`

// shop is an arena whose Varnish only a change starts. It compiles without optimization.
func shop(t *testing.T) *arena.Arena {
	t.Helper()
	a, err := (&arena.Arena{
		Name:  "shop",
		Files: fstest.MapFS{"shop/shop.pl": {Data: []byte(shopProgram)}, "door.conf": {Data: []byte(shopNginx)}},
		Services: []arena.Service{
			{Name: "shop", Role: iikanji.RoleApp, Engine: "perl", Source: "shop", Start: []string{"perl", "shop.pl"},
				Env: func(p arena.Places) []string { return []string{"ADDRESS=" + p.Service("shop").Address} }},
			{Name: "pages", Role: iikanji.RoleCache, Engine: iikanji.EngineVarnish, Backend: "shop", OnDemand: true},
			{Name: "door", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []arena.Config{{Template: "door.conf"}}},
		},
		Entry: "door",
	}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	pages := a.Service("pages")
	pages.Start, pages.Check = append(pages.Start, quick()...), append(pages.Check, quick()...)
	return a
}

// TestRestarted: a Varnish that a change started runs again after the whole site was
// stopped and started, and it is gone after the undo.
func TestRestarted(t *testing.T) {
	tier.Slow(t)
	if changetest.ChildDir() != "" {
		return
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	x, id := startedByChange(t, dir)
	s := up(t, dir)
	sized(t, s)
	if _, listed := s.Target().Service("pages"); !listed || len(s.Groups()["pages"]) != 1 || !again(t, s) {
		t.Error("after a restart of the site, Varnish does not answer")
	}
	wired, closeSite, err := arenasite.Of(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	x.Hands = wired
	if err := x.Revert(t.Context(), id, "test"); err != nil {
		t.Fatal(err)
	}
	if len(s.Groups()["pages"]) != 0 || again(t, s) {
		t.Error("after the undo, Varnish still runs")
	}
	if err := errors.Join(closeSite(), s.Down(t.Context())); err != nil {
		t.Error(err)
	}
}

// sized checks that the limit of Varnish's storage is a quarter of the memory that was
// available when the change was planned, in its bounds.
func sized(t *testing.T, s *stack.Stack) {
	t.Helper()
	text, err := os.ReadFile(s.EnableFile("pages"))
	if err != nil {
		t.Fatal(err)
	}
	var n, total int64
	if _, err := fmt.Sscanf(string(text), "mebibytes = %d\n", &n); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	memory, err := os.ReadFile("/proc/meminfo")
	if err == nil {
		_, err = fmt.Sscanf(string(memory), "MemTotal: %d kB", &total)
	}
	if err != nil || n < leastMiB || n > max(leastMiB, min(mostMiB, total>>10/4)) {
		t.Errorf("%d MiB of %d KiB: %v", n, total, err)
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.Groups()["pages"][0]))
	if want := fmt.Sprintf("\x00malloc,%dm\x00", n); err != nil || !strings.Contains(string(args)+"\x00", want) {
		t.Errorf("Varnish runs as %q, want %q: %v", args, want, err)
	}
}

// startedByChange applies a change, keeps it, and stops the site.
func startedByChange(t *testing.T, dir string) (*change.Executor, iikanji.ChangeID) {
	t.Helper()
	s := up(t, dir)
	if len(s.Groups()["pages"]) != 0 || again(t, s) {
		t.Fatal("Varnish runs before the change")
	}
	wired, closeSite, err := arenasite.Of(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(dir + "/history")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	r := remedy("varnish", "path", "/page/:id", "valid", "100s", "writes", "purge")
	r.Target = "door"
	c, err := change.Plan(t.Context(), wired, r)
	if err == nil {
		err = h.AddChange(c, change.Diff(c))
	}
	if err != nil {
		t.Fatal(err)
	}
	x := &change.Executor{Hands: wired, Journal: h, Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Freshness, iikanji.TestedOnly, iikanji.Privacy}}}
	if err := errors.Join(x.Apply(t.Context(), c.ID), x.Keep(c.ID, "test")); err != nil {
		t.Fatal(err)
	}
	if len(s.Groups()["pages"]) != 1 || !again(t, s) {
		t.Error("Varnish does not answer after the change")
	}
	if err := errors.Join(closeSite(), s.Down(t.Context())); err != nil {
		t.Fatal(err)
	}
	return x, c.ID
}

// up starts the site; it is ended after the test at the latest.
func up(t *testing.T, dir string) *stack.Stack {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := stack.Up(ctx, shop(t), stack.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = s.Down(ctx)
	})
	return s
}

// again reports whether a page is the same twice, that is, comes from Varnish.
func again(t *testing.T, s *stack.Stack) bool {
	t.Helper()
	var bodies []string
	for range 2 {
		resp, err := http.Get(s.Places().URL() + "/page/1")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v %s", err, resp.Status)
		}
		bodies = append(bodies, string(body))
	}
	return bodies[0] == bodies[1]
}
