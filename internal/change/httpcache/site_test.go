package httpcache

import (
	"bufio"
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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/servertest"
)

// siteConf is nginx's configuration: %[1]s is the folder, %[2]d nginx's port, %[3]s
// the app's address.
const siteConf = `worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log error;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path %[1]s/tmp; proxy_temp_path %[1]s/tmp;
    fastcgi_temp_path %[1]s/tmp; uwsgi_temp_path %[1]s/tmp; scgi_temp_path %[1]s/tmp;
    server {
        listen 127.0.0.1:%[2]d;
        location / {
            proxy_set_header Host $http_host;
            proxy_set_header X-Who $http_x_who;
            proxy_pass http://%[3]s;
        }
        location /guarded { auth_basic who; auth_basic_user_file %[1]s/none; proxy_pass http://%[3]s; }
        location /file { root %[1]s; }
    }
}
`

// noApp is the VCL of an arena before any change.
const noApp = "vcl 4.1;\n\nbackend default none;\n"

// quick has Varnish compile in a tenth of the time, with tcc or at least without
// optimization, and remove the objects of bans after 1 s instead of 60.
func quick() []string {
	compiler := "tcc -w -shared"
	if _, err := exec.LookPath("tcc"); err != nil {
		compiler = "cc -O0 -w -pthread -fpic -shared"
	}
	return []string{"-p", "cc_command=exec " + compiler + " -o %o %s", "-p", "ban_lurker_age=1"}
}

// A testSite is a real nginx in front of an app, and a Varnish that runs while its
// enable file exists.
type testSite struct {
	dir     string
	port    int // of nginx
	cache   int // port of Varnish
	storage string
	options []string // of varnishd, for starting and checking

	command func() *exec.Cmd // of the cache

	mu  sync.Mutex
	run *exec.Cmd // the cache

	asked atomic.Int64 // requests that reached the app
	wrote atomic.Int64 // POSTs that reached the app
	slow  atomic.Int64 // nanoseconds that an answer takes after it was read
}

func newTestSite(t *testing.T) *testSite {
	t.Helper()
	if dir := changetest.ChildDir(); dir != "" {
		s := &testSite{dir: dir}
		s.read(t)
		return s
	}
	s := &testSite{storage: "malloc,16m", options: quick(), port: servertest.FreePort(t), cache: servertest.FreePort(t)}
	s.command = s.varnishd
	var err error
	if s.dir, err = os.MkdirTemp("", "cache"); err != nil { // short, because of the socket in it
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	app := httptest.NewServer(http.HandlerFunc(s.app))
	t.Cleanup(app.Close)
	if err := os.Mkdir(filepath.Join(s.dir, "varnish"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.lay(t, fmt.Sprintf(siteConf, s.dir, s.port, app.Listener.Addr()))
	return s
}

// lay writes the site's files and starts nginx and the supervisor of the cache.
func (s *testSite) lay(t *testing.T, conf string) {
	t.Helper()
	for path, text := range map[string]string{
		"conf/nginx.conf": conf, "conf/pages.vcl": noApp,
		"ports": fmt.Sprintf("%d %d", s.port, s.cache), "conf/enabled/other": "", "none": "", "file": "on disk"} {
		path = filepath.Join(s.dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(s.dir, 0o755); err != nil { // nginx's workers do not run as root
		t.Fatal(err)
	}
	s.startNginx(t)
	s.supervise(t)
}

func (s *testSite) read(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "ports"))
	if err == nil {
		_, err = fmt.Sscan(string(text), &s.port, &s.cache)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.options = quick()
}

// startNginx starts nginx.
func (s *testSite) startNginx(t *testing.T) {
	t.Helper()
	cmd := exec.Command("nginx", append(s.args("conf/nginx.conf"), "-g", "daemon off;")...)
	servertest.Start(t, cmd, s.address())
}

// address is where nginx listens.
func (s *testSite) address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// cacheAddress is where the cache listens.
func (s *testSite) cacheAddress() string { return "127.0.0.1:" + strconv.Itoa(s.cache) }

// control is the socket of the supervisor of the cache.
func (s *testSite) control() string { return filepath.Join(s.dir, "cache-control") }

// supervise starts the supervisor of the cache.
func (s *testSite) supervise(t *testing.T) {
	t.Helper()
	l, err := net.Listen("unix", s.control())
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answer := "ok"
			if err := s.restartCache(); err != nil {
				answer = err.Error()
			}
			fmt.Fprintln(c, strings.ReplaceAll(answer, "\n", " "))
			c.Close()
		}
	})
	t.Cleanup(func() { l.Close(); serving.Wait(); s.stopCache() })
}

// enableFile is the file that starts the cache.
func (s *testSite) enableFile() string { return filepath.Join(s.dir, "conf/enabled/pages") }

// restartCache is what a stack does with a service on demand.
func (s *testSite) restartCache() error {
	s.stopCache()
	if _, err := os.Stat(s.enableFile()); err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.Create(filepath.Join(s.dir, "cache.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.run = s.command()
	s.run.SysProcAttr, s.run.Stdout, s.run.Stderr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}, log, log
	if err := s.run.Start(); err != nil {
		return err
	}
	return servertest.Eventually(func() error { return servertest.Accepts(s.cacheAddress()) })
}

func (s *testSite) varnishd() *exec.Cmd {
	return exec.Command("varnishd", append([]string{"-F", "-j", "none", "-T", "none", "-n", filepath.Join(s.dir, "varnish"), "-a", s.cacheAddress(),
		"-s", s.storage, "-f", filepath.Join(s.dir, "conf/pages.vcl")}, s.options...)...)
}

func (s *testSite) stopCache() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return
	}
	_ = s.run.Process.Signal(syscall.SIGTERM)
	_ = s.run.Wait()
	s.run = nil
}

// askRestart has the supervisor restart the cache.
func (s *testSite) askRestart(context.Context) error {
	c, err := net.Dial("unix", s.control())
	if err != nil {
		return err
	}
	defer c.Close()
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && answer != "ok\n" {
		err = errors.New(answer)
	}
	return err
}

func (s *testSite) args(conf string) []string {
	if !filepath.IsAbs(conf) {
		conf = filepath.Join(s.dir, conf)
	}
	return []string{"-p", s.dir, "-c", conf, "-e", filepath.Join(s.dir, "error.log")}
}

// open is the site in dir. The Varnish is on demand, so the target does not list it.
func (s *testSite) open(dir string) *change.Site {
	run := func(ctx context.Context, program string, args ...string) error {
		out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	return &change.Site{Roots: []string{filepath.Join(dir, "conf")}, Services: map[string]change.Service{
		"nginx": {Config: filepath.Join(dir, "conf/nginx.conf"), Checks: true, Reloads: true, Running: changetest.Running{PIDs: s.masters,
			OnCheck: func(ctx context.Context, path string) error {
				return run(ctx, "nginx", append([]string{"-t", "-q"}, s.args(path)...)...)
			},
			OnReload: func(ctx context.Context) error {
				before, err := s.workers()
				if err == nil {
					err = run(ctx, "nginx", append([]string{"-s", "reload"}, s.args("conf/nginx.conf")...)...)
				}
				if err != nil {
					return err
				}
				return servertest.Eventually(func() error { return s.replaced(before) })
			}}},
		"pages": {Engine: iikanji.EngineVarnish, Address: s.cacheAddress(), Memory: 16 << 20,
			Config: filepath.Join(dir, "conf/pages.vcl"), EnableFile: s.enableFile(), Checks: true, Running: changetest.Running{OnRestart: s.askRestart,
				OnCheck: func(ctx context.Context, path string) error {
					return run(ctx, "varnishd", append([]string{"-C", "-j", "none", "-f", path}, s.options...)...)
				}}},
	}}
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

// replaced returns an error until there are new workers and the old ones no longer
// accept.
func (s *testSite) replaced(before []string) error {
	now, err := s.workers()
	if err != nil {
		return err
	}
	fresh := 0
	for _, pid := range now {
		if !slices.Contains(before, pid) {
			fresh++
		} else if title, _ := os.ReadFile("/proc/" + pid + "/cmdline"); !strings.Contains(string(title), "shutting down") {
			return errors.New("an old worker still accepts")
		}
	}
	if fresh == 0 {
		return errors.New("no new worker yet")
	}
	return nil
}

// app answers with a number of its own for each request, so that an answer that is
// sent again is seen.
func (s *testSite) app(w http.ResponseWriter, r *http.Request) {
	n := s.asked.Add(1)
	w.Header().Set("Content-Type", "text/html")
	if r.Method != "GET" && r.Method != "HEAD" {
		_, _ = io.Copy(io.Discard, r.Body)
		s.wrote.Add(1)
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, "wrote %d", s.wrote.Load())
		return
	}
	switch wrote := s.wrote.Load(); r.URL.Path { // what the app read
	case "/article/cookie":
		http.SetCookie(w, &http.Cookie{Name: "a", Value: strconv.FormatInt(n, 10)})
	case "/article/private":
		w.Header().Set("Cache-Control", "private")
	case "/article/vary":
		w.Header().Set("Vary", "X-Other")
		fmt.Fprintf(w, "answer %d for %s", n, r.Header.Get("X-Other"))
		return
	case "/article/short":
		w.Header().Set("Cache-Control", "max-age=0")
	case "/article/missing":
		w.WriteHeader(http.StatusNotFound)
	case "/article/page":
		_, _ = io.WriteString(w, `<html><esi:include src="/article/sidebar"/></html>`)
		return
	case "/article/large", "/article/chunked":
		if strings.HasSuffix(r.URL.Path, "large") {
			w.Header().Set("Content-Length", strconv.Itoa(24<<20))
		}
		_, _ = w.Write(make([]byte, 24<<20))
		return
	case "/article/full":
		fmt.Fprintf(w, "%d %s", n, strings.Repeat("x", 1<<20))
		return
	case "/sent":
		_ = r.Header.Write(w)
		return
	default:
		time.Sleep(time.Duration(s.slow.Load()))
		fmt.Fprintf(w, "answer %d, wrote %d, %s", n, wrote, r.Header.Get("X-Who"))
		return
	}
	fmt.Fprintf(w, "answer %d", n)
}

// get requests a path of nginx.
func (s *testSite) get(path string, header ...string) (*http.Response, string, error) {
	return s.send("GET", path, header...)
}

func (s *testSite) send(method, path string, header ...string) (*http.Response, string, error) {
	req, err := http.NewRequest(method, fmt.Sprintf("http://127.0.0.1:%d%s", s.port, path), nil)
	if err != nil {
		return nil, "", err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.Close = true
	client := &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// body is the body of an answer of status 200.
func (s *testSite) body(t *testing.T, path string, header ...string) string {
	t.Helper()
	resp, body, err := s.get(path, header...)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %v %v", path, resp, err)
	}
	return body
}

// apply plans and performs a remedy.
func (s *testSite) apply(t *testing.T, r iikanji.Remedy) *iikanji.Change {
	t.Helper()
	site := s.open(s.dir)
	c, err := change.Plan(t.Context(), site, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range c.Do {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatalf("%v\n%s", err, change.Diff(c))
		}
	}
	return c
}

// undo undoes a change.
func (s *testSite) undo(t *testing.T, c *iikanji.Change) {
	t.Helper()
	site := s.open(s.dir)
	for _, op := range c.Undo {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
}

func remedy(act string, args ...string) iikanji.Remedy {
	all := changetest.Args(args...)
	all["act"] = act
	return iikanji.Remedy{Kind: "httpcache", Target: "nginx", Args: all}
}
