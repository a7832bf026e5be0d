package nginxconf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/servertest"
)

const program = "/usr/sbin/nginx"

// siteConf is a main file, and serverConf a server that it includes.
// %[1]s is the folder, %[2]d nginx's port, %[3]s the app's address.
const siteConf = `# the test's server
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log error;

events {
    worker_connections 64; # few
}

http {
    default_type application/octet-stream;
    access_log %[1]s/access.log combined;
    client_body_temp_path %[1]s/tmp;
    proxy_temp_path %[1]s/tmp;
    fastcgi_temp_path %[1]s/tmp;
    uwsgi_temp_path %[1]s/tmp;
    scgi_temp_path %[1]s/tmp;
    include sites/*.conf;
}
`

const serverConf = `server {
	listen 127.0.0.1:%[2]d;

	# everything is the app's
	location / {
		proxy_set_header Host $http_host;
		proxy_pass http://%[3]s;
	}
	location /ready/ {
		root %[1]s/public; # from disk already
	}
}
`

// A testSite is a real nginx in front of an app that answers with the request.
type testSite struct {
	dir  string
	port int
	// dials counts the connections that the app accepted.
	dials atomic.Int64
}

// newTestSite starts the servers with the plain configuration. In the child
// process that the conformance suite kills, it uses those of the parent.
func newTestSite(t *testing.T) *testSite {
	t.Helper()
	if dir := changetest.ChildDir(); dir != "" {
		return &testSite{dir: dir}
	}
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "app %s %s conn=%s %s", r.Host, r.URL.Path, r.Header.Get("Connection"), strings.Repeat("x", 2000))
	})
	return startSite(t, app, map[string]string{"conf/nginx.conf": siteConf, "conf/sites/a.conf": serverConf, "public/assets/a.txt": "from disk",
		"public/ready/words.txt": strings.Repeat("words that compress well\n", 200)})
}

// startSite writes files and starts nginx and an app. In those under conf/,
// %[1]s is the folder, %[2]d nginx's port, %[3]s the app's address.
func startSite(t *testing.T, handler http.Handler, files map[string]string) *testSite {
	t.Helper()
	s := &testSite{dir: t.TempDir()}
	app := httptest.NewUnstartedServer(handler)
	app.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.dials.Add(1)
		}
	}
	app.Start()
	t.Cleanup(app.Close)
	s.port = servertest.FreePort(t)
	for path, text := range files {
		if strings.HasPrefix(path, "conf/") {
			text = fmt.Sprintf(text+"%[4]s", s.dir, s.port, app.Listener.Addr(), "")
		}
		path = filepath.Join(s.dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dir := s.dir; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		_ = os.Chmod(dir, 0o755) // nginx's workers do not run as root
	}
	cmd := exec.Command(program, append(s.args("conf/nginx.conf"), "-g", "daemon off;")...)
	servertest.Start(t, cmd, s.address())
	return s
}

// address is where nginx listens.
func (s *testSite) address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

func (s *testSite) args(conf string) []string {
	if !filepath.IsAbs(conf) {
		conf = filepath.Join(s.dir, conf)
	}
	return []string{"-p", s.dir, "-c", conf, "-e", filepath.Join(s.dir, "error.log")}
}

// open is the site in dir.
func (s *testSite) open(dir string) *change.Site {
	run := func(ctx context.Context, args ...string) error {
		out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	svc := change.Service{
		Public: filepath.Join(dir, "public"), Config: filepath.Join(dir, "conf/nginx.conf"), Checks: true, Reloads: true}
	svc.Running = changetest.Running{PIDs: s.masters,
		OnCheck: func(ctx context.Context, path string) error {
			return run(ctx, append([]string{"-t", "-q"}, s.args(path)...)...)
		},
		OnReload: func(ctx context.Context) error {
			before, err := s.workers()
			if err != nil {
				return err
			}
			if err := run(ctx, append([]string{"-s", "reload"}, s.args("conf/nginx.conf")...)...); err != nil {
				return err
			}
			return servertest.Eventually(func() error { return s.replaced(before) })
		},
	}
	target := iikanji.Target{Services: []iikanji.Service{{Name: "app", Socket: filepath.Join(dir, "app.sock")}}}
	return &change.Site{Target: target, Roots: []string{filepath.Join(dir, "conf"), filepath.Join(dir, "public")}, Services: map[string]change.Service{"nginx": svc}}
}

// masters is nginx's root process, as changetest.Running.PIDs.
func (s *testSite) masters() []int {
	text, err := os.ReadFile(filepath.Join(s.dir, "nginx.pid"))
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil
	}
	return []int{pid}
}

// workers are the process ids of nginx's workers.
func (s *testSite) workers() ([]string, error) {
	pid, err := os.ReadFile(filepath.Join(s.dir, "nginx.pid"))
	if err != nil {
		return nil, err
	}
	p := strings.TrimSpace(string(pid))
	children, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", p, p))
	return strings.Fields(string(children)), err
}

// replaced returns an error until there are new workers and the old ones no longer accept.
func (s *testSite) replaced(before []string) error {
	now, err := s.workers()
	if err != nil {
		return err
	}
	fresh := 0
	for _, pid := range now {
		if !slices.Contains(before, pid) {
			fresh++
			continue
		}
		if title, _ := os.ReadFile("/proc/" + pid + "/cmdline"); !strings.Contains(string(title), "shutting down") {
			return errors.New("an old worker still accepts")
		}
	}
	if fresh == 0 {
		return errors.New("no new worker yet")
	}
	return nil
}

// get requests a path on a connection of its own.
func (s *testSite) get(path string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequest("GET", "http://127.0.0.1:"+strconv.Itoa(s.port)+path, nil)
	if err != nil {
		return nil, err
	}
	req.Close = true
	for k, v := range header {
		req.Header[k] = v
	}
	c := &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	if err == nil && resp.StatusCode != 200 {
		err = fmt.Errorf("%s: %s", path, resp.Status)
	}
	return resp, err
}

func (s *testSite) body(t *testing.T, path string) string {
	t.Helper()
	resp, err := s.get(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}

// state is all files of the configuration and all public ones, with names and
// modes.
func (s *testSite) state() (string, error) {
	conf, err := changetest.Tree(filepath.Join(s.dir, "conf"))
	if err != nil {
		return "", err
	}
	public, err := changetest.Tree(filepath.Join(s.dir, "public"))
	return conf + public, err
}
