package livesite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A phpSite is a real nginx before a real php-fpm and an app that sets its title, all
// started with options that their titles do not show.
type phpSite struct {
	dir, address, app string
	subject           *Subject
	work              string
}

const fpmConf = `[global]
error_log = DIR/fpm.log
[www]
user = root
listen = DIR/fpm.sock
pm = static
pm.max_children = 2
`

const nginxOfPHP = `pid DIR/nginx.pid;
user root;
events {}
http {
	access_log off;
	client_body_temp_path DIR; proxy_temp_path DIR; fastcgi_temp_path DIR; uwsgi_temp_path DIR; scgi_temp_path DIR;
	server {
		listen ADDRESS;
		location / {
			fastcgi_param SCRIPT_FILENAME DIR/index.php;
			fastcgi_param REQUEST_METHOD GET;
			fastcgi_pass unix:DIR/fpm.sock;
		}
	}
}
`

func startPHP(t *testing.T) *phpSite {
	t.Helper()
	tier.Slow(t)
	s := &phpSite{dir: t.TempDir(), address: servertest.FreeAddress(t), app: servertest.FreeAddress(t), work: t.TempDir()}
	s.write(t, "fpm.conf", fpmConf)
	s.write(t, "nginx.conf", nginxOfPHP)
	s.write(t, "index.php", "<?php echo getmypid(), ' ', ini_get('memory_limit');")
	s.write(t, "app.js", `process.title = "shop";
const [host, port] = process.argv[2].split(":");
require("http").createServer((q, r) => r.end("app")).listen(port, host);`)
	fpm, err := filepath.Glob("/usr/sbin/php-fpm[0-9]*") // Debian's name has the version
	if err != nil || len(fpm) == 0 {
		t.Fatalf("no php-fpm: scripts/setup.sh check installs it (%v)", err)
	}
	s.start(t, fpm[0], "-R", "-F", "-d", "memory_limit=77M", "-y", filepath.Join(s.dir, "fpm.conf"))
	s.start(t, "/usr/sbin/nginx", "-p", s.dir, "-c", "nginx.conf", "-e", filepath.Join(s.dir, "error.log"), "-g", "daemon off;")
	s.start(t, "node", filepath.Join(s.dir, "app.js"), s.app)
	for _, address := range []string{s.address, s.app} {
		for end := time.Now().Add(time.Minute); s.page(address) == "" && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	f := &target.File{Path: filepath.Join(s.dir, target.Name), URL: "http://" + s.address, Services: []target.Service{
		{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Listen: s.address, Config: filepath.Join(s.dir, "nginx.conf")},
		{Name: "fpm", Role: iikanji.RoleApp, Engine: "php", Socket: filepath.Join(s.dir, "fpm.sock")},
		{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineNode, Listen: s.app},
	}}
	if s.subject, err = Open(t.Context(), Options{File: f, Dir: s.work, Progress: func(line string) { t.Log(line) }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pids := range s.subject.Groups() {
			if p, err := process.ReadProcess(host.Local{}, pids[0]); err == nil {
				_ = (process.End{ID: p.ID(), Steps: []process.Step{{Signal: syscall.SIGTERM, Wait: time.Minute}}}).Do(context.Background())
			}
		}
		if err := s.subject.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *phpSite) write(t *testing.T, name, text string) {
	t.Helper()
	text = strings.NewReplacer("DIR", s.dir, "ADDRESS", s.address).Replace(text)
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// start starts a server of the site; iikanji did not start it.
func (s *phpSite) start(t *testing.T, path string, args ...string) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/setup.sh check installs it", err)
	}
	go func() { _ = cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
}

// page is what answers at an address with status 200; "" if nothing does.
func (s *phpSite) page(address string) string {
	c := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Get("http://" + address)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err == nil && res.StatusCode == http.StatusOK {
		return string(b)
	}
	return ""
}

// answers requires that all services of the site answer, php-fpm with its own options.
func (s *phpSite) answers(t *testing.T) (worker string) {
	t.Helper()
	worker, limit, _ := strings.Cut(s.page(s.address), " ")
	if limit != "77M" || s.page(s.app) != "app" {
		t.Fatalf("php answers %q, the app %q", limit, s.page(s.app))
	}
	return worker
}

// TestWays: a restart never takes a title for a command line. Of each service, the way by
// which it can be restarted is told, and no service is ended that could not come back.
func TestWays(t *testing.T) {
	s := startPHP(t)
	for name, want := range map[string]string{"nginx": "in its title", "fpm": "SIGUSR2", "app": ""} {
		says, err := s.subject.Way(name)
		if want == "" && !errors.Is(err, field.ErrNoRestart) || !strings.Contains(says, want) || want != "" && err != nil {
			t.Errorf("%s: %q, %v", name, says, err)
		}
	}
	before, groups := s.answers(t), s.subject.Groups()
	for _, name := range []string{"fpm", "nginx", "fpm"} {
		if err := s.subject.Restart(t.Context(), name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.answers(t)
	}
	if s.answers(t) == before {
		t.Error("php-fpm has the workers that it had")
	}
	now := s.subject.Groups()
	if slices.Equal(now["nginx"], groups["nginx"]) {
		t.Error("nginx was not restarted")
	}
	for name, refused := range map[string]func() error{
		"a restart of the app": func() error { return s.subject.Restart(t.Context(), "app") },
		"the end of all":       func() error { return s.subject.Kill(t.Context()) },
	} {
		if err := refused(); !errors.Is(err, field.ErrNoRestart) {
			t.Errorf("%s: %v", name, err)
		}
		s.answers(t)
	}
	if after := s.subject.Groups(); fmt.Sprint(after) != fmt.Sprint(now) {
		t.Errorf("processes %v, before %v", after, now)
	}
}

// TestRefusedStart: a configuration that a program refuses, and a program that is gone, end
// no service.
func TestRefusedStart(t *testing.T) {
	s := startPHP(t)
	for name, file := range map[string]string{"fpm": "fpm.conf", "nginx": "nginx.conf"} {
		old, err := os.ReadFile(filepath.Join(s.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		s.write(t, file, "no such line\n")
		var refused *ConfigError
		if err := s.subject.Restart(t.Context(), name); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
		s.answers(t)
		s.write(t, file, string(old))
		if err := s.subject.Restart(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.answers(t)
	}
	s.subject.running()["nginx"].origin.Spec.Path += ".gone"
	if err := s.subject.Restart(t.Context(), "nginx"); !errors.Is(err, field.ErrNoRestart) {
		t.Errorf("without its program: %v", err)
	}
	s.answers(t)
	if out, err := Outages(nil, s.subject.File(), s.work); err != nil || len(out) > 0 {
		t.Errorf("outages %v, %v", out, err)
	}
}

// TestComeBack: an nginx whose address another program has during its restart is started
// again, and the other program is left alone.
func TestComeBack(t *testing.T) {
	s := startPHP(t)
	if err := s.subject.running()["nginx"].endOf(syscall.SIGTERM).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0
	s.subject.options.Progress = func(line string) {
		if t.Log(line); strings.Contains(line, "is started again: attempt") {
			attempts++
			_ = taken.Close() // twice is an error of the second
		}
	}
	if err := s.subject.Restart(t.Context(), "nginx"); err != nil || attempts != 1 {
		t.Errorf("%v after %d attempts", err, attempts)
	}
	s.answers(t)
	if out, err := Outages(nil, s.subject.File(), s.work); err != nil || len(out) > 0 {
		t.Errorf("outages %v, %v", out, err)
	}
}

// TestOutage: a service that does not come back, however often it is started, is named, with
// the command that starts it, until it runs again.
func TestOutage(t *testing.T) {
	s := startPHP(t)
	r := s.subject.running()["nginx"]
	path, env := r.origin.Spec.Path, filepath.Join(s.dir, "broken")
	if err := os.WriteFile(env, []byte("#!/bin/sh\n[ \"$1\" = -t ] && exit\necho x >> "+s.dir+"/starts\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.origin.Spec.Path = env
	if err := s.subject.Restart(t.Context(), "nginx"); err == nil {
		t.Fatal("a program that ends at once came back")
	}
	if starts, err := os.ReadFile(filepath.Join(s.dir, "starts")); err != nil || len(starts) != len("x\n")*(1+len(comebacks)) {
		t.Errorf("starts %q, %v", starts, err)
	}
	out, err := Outages(nil, s.subject.File(), s.work)
	if err != nil || len(out) != 1 || out[0].Service != "nginx" || !strings.Contains(out[0].Hints()[0], "'-g' 'daemon off;'") && !strings.Contains(out[0].Hints()[0], "-g 'daemon off;'") {
		t.Errorf("%v, %v", out, err)
	}
	r.origin.Spec.Path = path
	if err := s.subject.Restart(t.Context(), "nginx"); err != nil {
		t.Fatal(err)
	}
	s.answers(t)
	if out, err := Outages(nil, s.subject.File(), s.work); err != nil || len(out) > 0 {
		t.Errorf("outages %v, %v", out, err)
	}
	if _, err := os.Stat(outageFile(s.work, "nginx")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestDaemonAgain: a php-fpm in the background goes into the background again when it executes
// its program again. Its new process is the service's, and nothing has died.
func TestDaemonAgain(t *testing.T) {
	tier.Slow(t)
	s := &phpSite{dir: t.TempDir(), work: t.TempDir()}
	s.write(t, "fpm.conf", strings.Replace(fpmConf, "[global]", "[global]\npid = DIR/fpm.pid", 1))
	fpm, err := filepath.Glob("/usr/sbin/php-fpm[0-9]*")
	if err != nil || len(fpm) == 0 {
		t.Fatalf("no php-fpm: scripts/setup.sh check installs it (%v)", err)
	}
	if out, err := exec.Command(fpm[0], "-R", "-y", filepath.Join(s.dir, "fpm.conf")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	socket := filepath.Join(s.dir, "fpm.sock")
	master := func() *process.Process {
		m, err := process.ReadMachine(host.Local{})
		if err != nil {
			t.Fatal(err)
		}
		return m.Owner(socket)
	}
	for end := time.Now().Add(time.Minute); master() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("php-fpm does not listen")
		}
	}
	t.Cleanup(func() {
		if p := master(); p != nil {
			_ = (process.End{ID: p.ID(), Steps: []process.Step{{Signal: syscall.SIGTERM, Wait: time.Minute}}}).Do(context.Background())
		}
	})
	f := &target.File{Path: filepath.Join(s.dir, target.Name), URL: "http://127.0.0.1:1", Services: []target.Service{
		{Name: "fpm", Role: iikanji.RoleApp, Engine: "php", Socket: socket, PIDFile: filepath.Join(s.dir, "fpm.pid")}}}
	err = Use(t.Context(), Options{File: f, Dir: s.work, Progress: func(line string) { t.Log(line) }}, func(ctx context.Context, subject *Subject) error {
		for range 3 {
			before := master()
			if err := subject.Restart(ctx, "fpm"); err != nil {
				return err
			}
			if err := process.AwaitEndOn(ctx, host.Local{}, before.PID); err != nil { // it has gone into the background
				return err
			}
			is := func() bool {
				p, now := subject.running()["fpm"].process(), master()
				return p != nil && now != nil && p.ID() == now.ID()
			}
			for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
				if ctx.Err() != nil || time.Now().After(end) {
					return errors.New("the new process is not the service's")
				}
			}
		}
		return context.Cause(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
