package stack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// fixed is an arena whose server is a part of this binary, and whose client is started by its
// benchmarker. It is registered for the process of its server.
var fixed = arena.Arena{
	Name: "fixed",
	Files: fstest.MapFS{
		"client/main.sh": {Data: []byte("echo $GREETING\n"), Mode: 0o444},
	},
	Services: []arena.Service{
		{Name: "server", Serve: serveUser},
		{Name: "client", Role: iikanji.RoleApp, Engine: "sh", Source: "client", PerRun: true,
			Build: []string{"sh", "-n", "main.sh"}, Start: []string{"sh", "{{.Webapp}}/client/main.sh"},
			Env: func(arena.Places) []string { return []string{"GREETING=hello"} }},
	},
	Entry: "server",
}

func init() { arena.Register(&fixed) }

// serveUser answers with the id of its user.
func serveUser(ctx context.Context, p arena.Places) error {
	l, err := net.Listen("tcp", p.Service("server").Address)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getuid()) })}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	_ = s.Serve(l) // ends with Close
	return nil
}

// TestServe: a service that is a part of this program runs as the services' account, can be
// restarted, and its end is reported as of any other. A program per run is built and not
// started, and has its present environment.
func TestServe(t *testing.T) {
	tier.Slow(t)
	dir := openDir(t)
	s := bring(t, &fixed, Options{Dir: dir})
	if got, want := page(t, s.Places().URL()), fmt.Sprint(serviceAccount().uid); got != want {
		t.Errorf("the server runs as the user %s, want %s", got, want)
	}
	if groups := s.Groups(); len(groups["server"]) != 1 || len(groups["client"]) != 0 {
		t.Errorf("processes: %v", groups)
	}
	if err := s.Restart(context.Background(), "server"); err != nil {
		t.Error(err)
	}
	if got := run(t, s); got != "hello" {
		t.Errorf("the client printed %q", got)
	}
	if err := os.WriteFile(s.EnvFile("client"), []byte("GREETING=welcome\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(context.Background(), "client"); err != nil {
		t.Error(err)
	}
	if got := run(t, s); got != "welcome" {
		t.Errorf("the client printed %q, with another environment", got)
	}
	if err := os.WriteFile(filepath.Join(s.Source("client"), "main.sh"), []byte("if\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(context.Background(), "client"); err == nil {
		t.Error("a client that cannot be built")
	}
	down(t, s)
}

// run runs the client.
func run(t *testing.T, s *Stack) string {
	t.Helper()
	p, err := s.Program("client")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestServesNothing(t *testing.T) {
	for told, says := range map[string]string{"{": "unexpected end", `{"arena":"none"}`: "no arena", `{"arena":"fixed","service":"client"}`: `serves no "client"`} {
		if err := serve(told); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", told, err)
		}
	}
}

// TestForAll: a program in a folder of root alone is searched further on.
func TestForAll(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "iikanji-reach-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	closed, open := filepath.Join(dir, "closed"), filepath.Join(dir, "open")
	for _, d := range []string{closed, open} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "tool"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	of := func(d string) string { return filepath.Join(d, "tool") }
	for _, c := range []struct {
		dirs       []string
		path, want string
	}{
		{[]string{closed, open}, of(closed), of(open)},
		{[]string{closed}, of(closed), of(closed)},
		{[]string{closed, open}, of(open), of(open)},
	} {
		if got := forAll(c.dirs, c.path); got != c.want {
			t.Errorf("%s in %q: %s, want %s", c.path, c.dirs, got, c.want)
		}
	}
}
