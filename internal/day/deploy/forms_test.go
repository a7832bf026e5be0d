package deploy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A running is an app that a test starts, as a supervisor would.
type running struct {
	t       *testing.T
	dir     string
	port    int
	command []string // $PORT in it is the port
	reload  syscall.Signal
	ask     func(port int) (status int, body string, err error)
	out     lockedBuffer
	cmd     *exec.Cmd
	done    chan struct{}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (r *running) stop() {
	if r.cmd == nil {
		return
	}
	_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	<-r.done
	r.cmd = nil
}

// restart ends and starts the app, or reloads it, and waits until it listens.
func (r *running) restart(ctx context.Context) error {
	if r.reload != 0 && r.cmd != nil {
		if err := r.cmd.Process.Signal(r.reload); err != nil {
			return err
		}
		time.Sleep(300 * time.Millisecond)
		return r.listens(ctx)
	}
	r.stop()
	words := make([]string, len(r.command))
	for i, w := range r.command {
		words[i] = strings.ReplaceAll(w, "$PORT", fmt.Sprint(r.port))
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = r.dir, &r.out, &r.out, append(os.Environ(), fmt.Sprintf("PORT=%d", r.port))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	r.cmd, r.done = cmd, done
	return r.listens(ctx)
}

func (r *running) listens(ctx context.Context) error {
	for {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", r.port), time.Second)
		if err == nil {
			return c.Close()
		}
		select {
		case <-r.done:
			return process.ErrEnded
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (r *running) healthy(context.Context) error {
	status, _, err := r.ask(r.port)
	if err == nil && status >= 500 {
		err = fmt.Errorf("it answers %d", status)
	}
	return err
}

func askHTTP(port int) (int, string, error) {
	c := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// askFPM asks a FastCGI server for the script of a folder.
func askFPM(dir string) func(port int) (int, string, error) {
	return func(port int) (int, string, error) {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), 30*time.Second)
		if err != nil {
			return 0, "", err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		var b bytes.Buffer
		record := func(kind byte, body []byte) {
			head := []byte{1, kind, 0, 1, 0, 0, 0, 0}
			binary.BigEndian.PutUint16(head[4:], uint16(len(body)))
			b.Write(append(head, body...))
		}
		record(1, []byte{0, 1, 0, 0, 0, 0, 0, 0})
		var params bytes.Buffer
		for _, kv := range [][2]string{{"SCRIPT_FILENAME", dir + "/index.php"}, {"REQUEST_METHOD", "GET"}, {"SCRIPT_NAME", "/index.php"}, {"REQUEST_URI", "/"}} {
			params.Write([]byte{byte(len(kv[0])), byte(len(kv[1]))})
			params.WriteString(kv[0] + kv[1])
		}
		record(4, params.Bytes())
		record(4, nil)
		record(5, nil)
		if _, err := c.Write(b.Bytes()); err != nil {
			return 0, "", err
		}
		all, err := io.ReadAll(c)
		if err != nil {
			return 0, "", err
		}
		var out strings.Builder
		for len(all) >= 8 {
			n, pad := int(binary.BigEndian.Uint16(all[4:])), int(all[6])
			if len(all) < 8+n+pad {
				break
			}
			if all[1] == 6 {
				out.Write(all[8 : 8+n])
			}
			all = all[8+n+pad:]
		}
		head, body, _ := strings.Cut(out.String(), "\r\n\r\n")
		status := 200
		if _, text, ok := strings.Cut(head, "Status: "); ok {
			_, _ = fmt.Sscan(text, &status)
		}
		return status, body, nil
	}
}

// A language is one form with the source of its app. VERSION in the source is what the app
// answers; STATUS its status; START runs at the start.
type language struct {
	form    string
	file    string // the source that changes
	text    string
	others  map[string]string
	broken  string // a text that does not build
	dies    string // START of an app that ends at once
	command []string
	program string // relative to the source
	needs   string // a program without which the form cannot be tried
	build   string
}

var languages = []language{
	{form: "go", file: "main.go", needs: "go", program: "bin/app", command: []string{"bin/app"}, broken: "package main\nfunc main() {", dies: `panic("dies at start")`,
		others: map[string]string{"go.mod": "module app\n\ngo 1.21\n", "bin/.keep": ""},
		text: `package main

import ("fmt"; "net/http"; "os")

func main() {
	START
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(STATUS); fmt.Fprint(w, "VERSION") })
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
`},
	{form: "rust", file: "src/main.rs", needs: "cargo", program: "app", command: []string{"./app"}, broken: "fn main() {", dies: `panic!("dies at start");`,
		others: map[string]string{"Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "Cargo.lock": "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"},
		text: `use std::io::{Read, Write};
#[allow(unreachable_code)]
fn main() {
    START
    let l = std::net::TcpListener::bind(format!("127.0.0.1:{}", std::env::var("PORT").unwrap())).unwrap();
    for s in l.incoming() {
        let mut s = s.unwrap();
        let mut b = [0; 1024];
        let _ = s.read(&mut b);
        let _ = s.write_all(b"HTTP/1.1 STATUS x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nVERSION");
    }
}
`},
	{form: "ruby", file: "app.rb", needs: "ruby", command: []string{"ruby", "app.rb"}, broken: "def x(", dies: `raise "dies at start"`, others: map[string]string{"Gemfile": ""},
		text: `require "socket"
START
s = TCPServer.new("127.0.0.1", ENV["PORT"].to_i)
loop { c = s.accept; while (l = c.gets) && l != "\r\n"; end; c.print "HTTP/1.1 STATUS x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nVERSION"; c.close }
`},
	{form: "node", file: "app.js", needs: "node", command: []string{"node", "app.js"}, broken: "const x = (", dies: `throw new Error("dies at start")`, others: map[string]string{"package.json": "{}"},
		text: `START
require("http").createServer((_, r) => { r.writeHead(STATUS); r.end("VERSION") }).listen(+process.env.PORT, "127.0.0.1")
`},
	{form: "python", file: "app.py", needs: "python3", command: []string{"python3", "app.py"}, broken: "def x(:", dies: `raise Exception("dies at start")`, others: map[string]string{"requirements.txt": ""},
		text: pythonApp},
	{form: "php", file: "index.php", needs: "php-fpm8.2", broken: "<?php echo (", dies: `throw new Exception("dies at start");`, others: map[string]string{"composer.json": "{}"},
		text: "<?php\nSTART\nhttp_response_code(STATUS);\necho 'VERSION';\n"},
	{form: "perl", file: "app.psgi", needs: "perl", command: []string{"perl", "app.psgi"}, broken: "sub {", dies: `die "dies at start";`, others: map[string]string{"cpanfile": ""},
		text: `use IO::Socket::INET;
START
my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ENV{PORT}, Listen => 5, ReuseAddr => 1) or die;
while (my $c = $s->accept) { while (my $l = <$c>) { last if $l eq "\r\n" } print $c "HTTP/1.1 STATUS x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nVERSION"; close $c }
`},
	{form: "make", file: "app.py", needs: "make", program: "out/app", command: []string{"out/app"}, broken: "def x(:", dies: `raise Exception("dies at start")`,
		others: map[string]string{"Makefile": "all:\n\tfalse\nbuild: app.py\n\tpython3 -c 'import ast; ast.parse(open(\"app.py\").read())'\n\tmkdir -p out && rm -f out/app && cp app.py out/app && chmod +x out/app\n"},
		text:   "#!/usr/bin/env python3\n" + pythonApp},
	{form: "command", file: "app.py", needs: "python3", program: "app", command: []string{"./app"}, broken: "def x(:", dies: `raise Exception("dies at start")`,
		build: `python3 -c 'import ast; ast.parse(open("app.py").read())' && rm -f app && cp app.py app && chmod +x app`, text: "#!/usr/bin/env python3\n" + pythonApp},
}

const pythonApp = `import http.server, os
START
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(STATUS); self.end_headers(); self.wfile.write(b"VERSION")
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), H).serve_forever()
`

// version is the source of one version.
func (l *language) version(answer, status, start string) string {
	return strings.NewReplacer("VERSION", answer, "STATUS", status, "START", start).Replace(l.text)
}

// TestForms deploys apps in eight languages and by a command: a good version serves; one
// that does not build, ends at its start or answers 500 does not, and the former one does.
func TestForms(t *testing.T) {
	tier.Slow(t)
	for _, l := range languages {
		t.Run(l.form, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			l.try(t, nil)
		})
	}
}

// TestFarForms does the same with apps of another machine: what is kept is on this one, and
// only source and program may be written there. The connection is lost with the new version
// in place; the former one returns over another connection.
func TestFarForms(t *testing.T) {
	tier.Slow(t)
	for _, l := range languages {
		if l.form == "go" || l.form == "python" || l.form == "command" {
			t.Run(l.form, func(t *testing.T) {
				t.Parallel()
				l.try(t, newFarHost)
			})
		}
	}
}

// A farHost is this machine at the far end of a connection that can be lost.
type farHost struct {
	host.Host
	t       *testing.T
	folders []string
	peer    *peer.Peer
	again   int // connections that were made again
}

func newFarHost(t *testing.T, folders ...string) *farHost {
	t.Helper()
	f := &farHost{t: t, folders: folders}
	if err := f.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.again = 0
	return f
}

// Reconnect implements host.Reconnector.
func (f *farHost) Reconnect(ctx context.Context) error {
	if f.peer != nil {
		select {
		case <-f.peer.Lost():
		default:
			return nil
		}
	}
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- peer.Serve(context.Background(), far, host.Local{}, peer.Options{}) }()
	p, err := peer.Connect(ctx, near, peer.Setup{Name: "app2", Folders: f.folders})
	if err != nil {
		return err
	}
	f.t.Cleanup(func() {
		_ = p.Close() // an error: it was lost
		<-served
	})
	f.peer, f.Host = p, p
	f.again++
	return nil
}

func (l *language) try(t *testing.T, on func(t *testing.T, folders ...string) *farHost) {
	if _, err := exec.LookPath(l.needs); err != nil {
		t.Fatalf("%s is not installed", l.needs)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "src")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(source, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range l.others {
		write(name, text)
	}
	write(l.file, l.version("v0", "200", ""))
	r := &running{t: t, dir: source, port: servertest.FreePort(t), command: l.command, ask: askHTTP}
	if l.form == "php" {
		conf := filepath.Join(dir, "fpm.conf")
		text := fmt.Sprintf("[global]\nerror_log=%s/fpm.log\ndaemonize=no\n[www]\nlisten=127.0.0.1:%d\npm=static\npm.max_children=1\nuser=root\ngroup=root\n", dir, r.port)
		if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r.command, r.reload, r.ask = []string{"php-fpm8.2", "-R", "-y", conf, "-d", "opcache.enable=0"}, syscall.SIGUSR2, askFPM(source)
	}
	t.Cleanup(r.stop)
	o := Options{Host: host.Local{}, Dir: filepath.Join(dir, "kept"), As: process.OwnerOf, Restart: r.restart, Healthy: r.healthy, Limit: time.Minute, Now: time.Now,
		Log: func() []string { return LastLines(r.out.String(), 10) }, App: App{Name: "app", Source: source, Build: l.build}}
	if l.program != "" {
		o.App.Program = filepath.Join(source, l.program)
		if err := errors.Join(os.MkdirAll(filepath.Dir(o.App.Program), 0o755), os.WriteFile(o.App.Program, []byte("#!/bin/sh\nexit 1\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	var far *farHost
	if on != nil {
		far = on(t, source)
		o.Keep, o.Host = o.Host, far
	}
	serves := func(want string) {
		t.Helper()
		if status, body, err := r.ask(r.port); err != nil || status != 200 || body != want {
			t.Errorf("it answers %d %q, %v; want %q", status, body, err, want)
		}
	}
	for _, v := range []string{"v1", "v2"} {
		write(l.file, l.version(v, "200", ""))
		res, err := Deploy(t.Context(), o)
		if err != nil {
			t.Fatalf("deploying %s: %v", v, err)
		}
		if res.Form != l.form || res.Healthy > o.Limit {
			t.Errorf("%+v", res)
		}
		serves(v)
	}
	good := read(t, filepath.Join(source, l.file))
	write(l.file, l.broken)
	_, err := Deploy(t.Context(), o)
	var step *StepError
	if !errors.As(err, &step) || len(step.Lines) == 0 {
		t.Errorf("a build error: %v", err)
	}
	serves("v2")
	want := l.broken
	if l.form == "php" { // each request reads the source: a broken one must not stay
		want = good
	}
	if got := read(t, filepath.Join(source, l.file)); got != want {
		t.Errorf("after a build error the source is %q", got)
	}
	o.Limit = 8 * time.Second // a version that answers 500 is waited for as long
	for name, text := range map[string]string{"death at start": l.version("v3", "200", l.dies), "answer 500": l.version("v3", "500", "")} {
		write(l.file, text)
		if name == "answer 500" && far != nil {
			o.Restart = func(ctx context.Context) error {
				if err := r.restart(ctx); err != nil || far.again > 0 {
					return err
				}
				return far.peer.Close()
			}
		}
		_, err := Deploy(t.Context(), o)
		var failed *FailedError
		if !errors.As(err, &failed) || !failed.Returned {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "death at start" && l.form != "php" && !strings.Contains(strings.Join(failed.Log, "\n"), "dies at start") {
			t.Errorf("%s: the log is %q", name, failed.Log)
		}
		serves("v2")
		if far != nil && name == "answer 500" && far.again == 0 {
			t.Error("the connection was not made again")
		}
		if l.program != "" {
			continue
		}
		if got := read(t, filepath.Join(source, l.file)); got != good {
			t.Errorf("%s: the source is not that of the version that serves", name)
		}
		into := filepath.Join(dir, "failed")
		if n, err := Failed(o, into); err != nil || n == 0 || read(t, filepath.Join(into, l.file)) != text {
			t.Errorf("%s: the failed source is not kept: %d, %v", name, n, err)
		}
	}
	write(l.file, l.version("v4", "200", ""))
	o.Limit = time.Minute
	if _, err := Deploy(t.Context(), o); err != nil {
		t.Errorf("v4: %v", err)
	}
	serves("v4")
	l.back(t, o, source, serves)
}

// back takes the last deployment back, and one that was killed.
func (l *language) back(t *testing.T, o Options, source string, serves func(want string)) {
	t.Helper()
	if err := Back(t.Context(), o); err != nil {
		t.Errorf("back: %v", err)
	}
	serves("v2")
	if err := os.WriteFile(filepath.Join(source, l.file), []byte(l.version("v5", "200", "")), 0o644); err != nil {
		t.Fatal(err)
	}
	killed := errors.New("killed")
	o2 := o
	o2.Restart = func(context.Context) error { panic(killed) }
	func() {
		defer func() {
			if recover() != killed {
				t.Error("it was not killed")
			}
		}()
		_, _ = Deploy(t.Context(), o2)
	}()
	if err := Back(t.Context(), o); err != nil {
		t.Errorf("back after a kill: %v", err)
	}
	serves("v2")
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
