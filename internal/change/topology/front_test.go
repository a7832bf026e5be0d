package topology

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A divided is a front, a real nginx, and an app on two hosts: addresses of the loopback network.
type divided struct {
	t    *testing.T
	dir  string
	port string
	site *change.Site
}

// newDivided starts both instances; nginx leads to that of the home.
func newDivided(t *testing.T) *divided {
	t.Helper()
	_, err := exec.LookPath("nginx")
	missing := ""
	if err != nil {
		missing = err.Error()
	}
	tier.Needs(t, "nginx", missing)
	d := &divided{t: t, dir: t.TempDir()}
	home, away := d.listenBoth()
	for name, l := range map[string]net.Listener{"home": home, "away": away} {
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) })}}
		s.Start()
		t.Cleanup(s.Close)
	}
	conf := fmt.Sprintf(`worker_processes 1;
daemon off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fast; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	upstream app { server 127.0.0.1:%[2]s; }
	server {
		listen unix:%[1]s/front;
		location / { proxy_pass http://app; }
		location /fixed { return 200 "nginx"; }
	}
}
`, d.dir, d.port)
	path := filepath.Join(d.dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(ctx context.Context, path string) error {
		out, err := exec.CommandContext(ctx, "nginx", "-t", "-q", "-c", path, "-p", d.dir).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	d.site = &change.Site{Hosts: map[string]host.Host{"": host.Local{}}, Roots: []string{d.dir}, Target: iikanji.Target{
		Hosts: []iikanji.HostRef{{Private: "127.0.0.1"}, {Name: "away", Private: "127.0.0.2"}},
		Services: []iikanji.Service{{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Socket: filepath.Join(d.dir, "front")},
			{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Address: "127.0.0.1:" + d.port, Unit: "app.service"}}},
		Services: map[string]change.Service{"nginx": {Config: path, Checks: true, Reloads: true, Running: changetest.Running{OnCheck: check}}, "app": {}}}
	return d
}

// listenBoth listens at one port of two addresses.
func (d *divided) listenBoth() (home, away net.Listener) {
	d.t.Helper()
	for range 20 {
		home, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			d.t.Fatal(err)
		}
		if _, d.port, err = net.SplitHostPort(home.Addr().String()); err != nil {
			d.t.Fatal(err)
		}
		if away, err = net.Listen("tcp", "127.0.0.2:"+d.port); err == nil {
			return home, away
		}
		home.Close()
	}
	d.t.Fatal("no port is free at 127.0.0.1 and 127.0.0.2")
	return nil, nil
}

// front reads the configuration.
func (d *divided) front() *front {
	d.t.Helper()
	task := &task{ctx: d.t.Context(), site: d.site, kind: "topology", target: "app"}
	if err := task.findApp("app"); err != nil {
		d.t.Fatal(err)
	}
	f, err := task.findFront()
	if err != nil {
		d.t.Fatal(err)
	}
	return f
}

// write writes what a front has become.
func (d *divided) write(f *front) {
	d.t.Helper()
	edits, err := f.Finish()
	if err != nil || len(edits) == 0 {
		d.t.Fatalf("%d edits, %v", len(edits), err)
	}
	for _, e := range edits {
		if err := os.WriteFile(e.Path, e.New, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
}

// who asks a new nginx for paths, each as often as said, and counts who answers.
func (d *divided) who(n int, paths ...string) map[string]map[string]int {
	d.t.Helper()
	cmd := exec.Command("nginx", "-c", filepath.Join(d.dir, "nginx.conf"), "-p", d.dir)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
	}()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(d.dir, "front"))
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	defer client.CloseIdleConnections()
	get := func(path string) (string, error) {
		r, err := client.Get("http://front" + path)
		if err != nil {
			return "", err
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		return string(b), err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if got, err := get("/fixed"); err == nil && got == "nginx" {
			break
		} else if time.Now().After(end) {
			d.t.Fatalf("nginx does not answer: %q, %v\n%s", got, err, said.String())
		}
	}
	all := map[string]map[string]int{}
	for _, path := range paths {
		all[path] = map[string]int{}
		for range n {
			got, err := get(path)
			if err != nil {
				d.t.Fatal(err)
			}
			all[path][got]++
		}
	}
	return all
}

// TestFront: a real nginx divides the requests as asked: by path, with weights, and with other
// ones afterwards.
func TestFront(t *testing.T) {
	d := newDivided(t)
	f := d.front()
	if err := f.keepHome([]string{"/image/:id", "/upload/", "/fixed"}); err != nil {
		t.Fatal(err)
	}
	if err := f.divide("", 0, []member{{"127.0.0.2:" + d.port, 0}}); err != nil {
		t.Fatal(err)
	}
	d.write(f)
	paths := []string{"/", "/image/7", "/upload/a/b", "/images", "/fixed"}
	got := d.who(20, paths...)
	for path, home := range map[string]int{"/": 10, "/image/7": 20, "/upload/a/b": 20, "/images": 10} {
		if got[path]["home"] != home || got[path]["away"] != 20-home {
			t.Errorf("%s: %v, want %d from its home", path, got[path], home)
		}
	}
	if got["/fixed"]["nginx"] != 20 {
		t.Errorf("what nginx answers: %v", got["/fixed"])
	}
	c, err := change.Plan(t.Context(), d.site, iikanji.Remedy{Kind: "topology", Target: "app", Args: changetest.Args("act", "weights", "service", "app", "weights", "local=1,away=4")})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(change.Diff(c))
	f = d.front()
	set, err := (&task{ctx: t.Context(), site: d.site, svc: d.site.Target.Services[1]}).setWeights(f, map[string]int{"": 1, "away": 4})
	if err != nil || len(set) != 2 {
		t.Fatalf("weights of %q, %v", set, err)
	}
	d.write(f)
	if got = d.who(20, paths...); got["/"]["home"] != 4 || got["/images"]["away"] != 16 || got["/image/7"]["home"] != 20 {
		t.Errorf("with weights: %v", got)
	}
}
