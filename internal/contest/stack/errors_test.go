package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

var _ = []interface{ Hints() []string }{&BusyError{}, &MissingError{}, &PortError{}, &DiskFullError{}, &process.BuildError{},
	&DiedError{}, &NotReadyError{}, &ConfigError{}, &ReachError{}, &ForeignDirError{}}

// take listens on a port that a service is going to use.
func take(t *testing.T, port int) int {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestPortWished(t *testing.T) {
	port := take(t, 0)
	_, err := Up(t.Context(), tiny(), Options{Dir: shared(t), Port: port})
	var p *PortError
	if !errors.As(err, &p) || p.Port != port || p.Service != nginx || p.PID != os.Getpid() || p.Program == "" {
		t.Fatalf("error: %v", err)
	}
	if !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("the error does not say who: %v", err)
	}
}

// TestPortMoves occupies two ports of the last start. Other ports must be found
// and the configs must follow, also for a service that loses its port while the
// stack is up.
func TestPortMoves(t *testing.T) {
	tier.Slow(t)
	s := bring(t, tiny(), Options{Dir: shared(t)})
	was := s.Places()
	down(t, s)
	take(t, was.Service(app).Port)
	take(t, was.Service(database).Port)
	s = bring(t, tiny(), Options{Dir: s.dir.root})
	now := s.Places()
	if now.Service(app).Port == was.Service(app).Port || now.Service(database).Port == was.Service(database).Port || now.Service(nginx).Port != was.Service(nginx).Port {
		t.Errorf("ports: %+v, were %+v", now, was)
	}
	page(t, now.URL())

	must(t, s.control.Stop(t.Context(), app))
	take(t, now.Service(app).Port)
	var p *PortError
	if err := s.Restart(t.Context(), app); !errors.As(err, &p) || p.Service != app || p.PID != os.Getpid() {
		t.Errorf("an app without its port: %v", err)
	}
	must(t, s.control.Stop(t.Context(), database))
	take(t, now.Service(database).Port)
	if err := s.Restart(t.Context(), database); !errors.As(err, &p) || p.Service != database {
		t.Errorf("a database without its port: %v", err)
	}
	must(t, s.control.Stop(t.Context(), nginx))
	take(t, now.Service(nginx).Port)
	if err := s.Restart(t.Context(), nginx); !errors.As(err, &p) || p.Service != nginx {
		t.Errorf("nginx without its port: %v", err)
	}
}

// TestPortEdited asserts that ports in an edited config are kept or reported, but
// never changed.
func TestPortEdited(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	p := s.Places()
	down(t, s)
	conf := filepath.Join(p.Conf, nginxConf)
	appendTo(t, conf, "# mine\n")
	t.Cleanup(func() { must(t, os.Remove(conf)) })
	var port *PortError
	if _, err := Up(t.Context(), tiny(), Options{Dir: s.dir.root, Port: p.Service(nginx).Port + 1}); !errors.As(err, &port) || port.Edited == "" {
		t.Errorf("error: %v", err)
	}
	take(t, p.Service(nginx).Port)
	if _, err := Up(t.Context(), tiny(), Options{Dir: s.dir.root}); !errors.As(err, &port) || port.Port != p.Service(nginx).Port {
		t.Errorf("error: %v", err)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(b, text...), 0o644))
}

func TestBuildFails(t *testing.T) {
	tier.Slow(t)
	s := bring(t, tiny(), Options{Dir: openDir(t)})
	main := filepath.Join(s.Source(app), "main.go")
	good, err := os.ReadFile(main)
	must(t, err)
	must(t, os.WriteFile(main, []byte(strings.Replace(string(good), `"hello"`, `hello`, 1)), 0o644))
	var b *process.BuildError
	if err := s.Rebuild(t.Context(), app); !errors.As(err, &b) || !strings.Contains(err.Error(), "main.go:18:18: undefined: hello") || b.Network {
		t.Fatalf("error: %v", err)
	}
	if got := page(t, s.Places().URL()); got != "hello 3" {
		t.Errorf("page while the source is broken: %q", got)
	}
	down(t, s)
	if _, err := Up(t.Context(), tiny(), Options{Dir: s.dir.root}); !errors.As(err, &b) {
		t.Errorf("error: %v", err)
	}
	nothingRuns(t, s.dir.root)

	must(t, os.WriteFile(main, []byte(strings.Replace(string(good), `"hello"`, `"good day"`, 1)), 0o644))
	l := &lines{}
	s = bring(t, tiny(), Options{Dir: s.dir.root, Progress: l.say})
	if got := page(t, s.Places().URL()); got != "good day 3" || !l.has("keeping your edits of webapp/go/main.go") {
		t.Errorf("page of the edited source: %q %v", got, l.all)
	}
	must(t, os.WriteFile(main, []byte(strings.Replace(string(good), `"hello"`, `"good evening"`, 1)), 0o644))
	must(t, s.Rebuild(t.Context(), app))
	if got := page(t, s.Places().URL()); got != "good evening 3" {
		t.Errorf("page after a rebuild: %q", got)
	}
	down(t, s)
	l = &lines{}
	s = bring(t, tiny(), Options{Dir: s.dir.root, Progress: l.say, Fresh: true})
	if got := page(t, s.Places().URL()); got != "hello 3" {
		t.Errorf("page after --fresh: %q", got)
	}
	old, err := os.ReadFile(s.dir.path(oldDir, "1", "webapp", "go", "main.go"))
	if err != nil || !strings.Contains(string(old), "good evening") || !l.has(oldDir+"/1") {
		t.Errorf("the edited source is gone: %v %v", err, l.all)
	}
}

// TestBuildOffline builds with an empty module cache and no network.
func TestBuildOffline(t *testing.T) {
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -modcacherw"))
	_, err := Up(t.Context(), tiny(), Options{Dir: openDir(t)})
	var b *process.BuildError
	if !errors.As(err, &b) || !b.Network || !strings.Contains(b.Hints()[0], "go mod download") {
		t.Errorf("error: %v", err)
	}
}

// TestBuildOldGo has a source that requires a newer toolchain. No other toolchain
// may be fetched, whatever the caller's environment sets.
func TestBuildOldGo(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the module proxy was asked for %s", r.URL)
	}))
	defer proxy.Close()
	t.Setenv("GOTOOLCHAIN", "auto")
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GOSUMDB", "off")
	a := tiny()
	a.Files.(fstest.MapFS)["go/go.mod"] = &fstest.MapFile{Data: []byte("module tiny\n\ngo 1.999.0\n")}
	_, err := Up(t.Context(), a, Options{Dir: openDir(t)})
	var b *process.BuildError
	if !errors.As(err, &b) || !b.Toolchain || !strings.Contains(b.Hints()[0], "newer") {
		t.Errorf("error: %v", err)
	}
}

// TestLoadFails has data that the database rejects. The next start has other data
// and must load again.
func TestLoadFails(t *testing.T) {
	a := tiny()
	a.GeneratedVersion = "broken"
	a.Generate = func(_ context.Context, webapp, data string) error {
		if err := os.Mkdir(filepath.Join(webapp, "sql"), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(webapp, "sql", "data.sql"), []byte("INSERT INTO chairs VALUES (1);\n"), 0o644)
	}
	_, err := Up(t.Context(), a, Options{Dir: shared(t)})
	var d *DiedError
	if !errors.As(err, &d) || d.Service != loader || !strings.Contains(err.Error(), "chairs' doesn't exist") {
		t.Errorf("error: %v", err)
	}
	s := bring(t, tiny(), Options{Dir: shared(t)})
	if got := page(t, s.Places().URL()); got != "hello 3" {
		t.Errorf("page: %q", got)
	}
}

func TestAppDies(t *testing.T) {
	_, err := Up(t.Context(), tiny(), Options{Dir: shared(t), Env: []string{"APP_PANIC=no chairs"}})
	var d *DiedError
	if !errors.As(err, &d) || d.Service != app || d.Status != "exit status 2" || !strings.HasPrefix(d.Tail[0], "panic: no chairs") {
		t.Fatalf("error: %v", err)
	}
	s := bring(t, tiny(), Options{Dir: shared(t)})
	go func() {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Places().Service(app).Port)); err == nil {
			fmt.Fprintf(c, "GET /exit HTTP/1.0\r\n\r\n")
			_ = c.Close()
		}
	}()
	if err := <-s.Died(); !errors.As(err, &d) || d.Status != "exit status 3" || !slices.Equal(d.Tail, []string{"exiting on request"}) {
		t.Errorf("died: %+v", err)
	}
	if g := s.Groups(); len(g) != 2 || g[app] != nil {
		t.Errorf("groups: %v", g)
	}
	must(t, s.Restart(t.Context(), app))
	page(t, s.Places().URL())
	must(t, unix.Kill(s.Groups()[nginx][0], unix.SIGKILL))
	if err := <-s.Died(); !errors.As(err, &d) || d.Service != nginx || d.Status != "signal: killed" {
		t.Errorf("died: %v", err)
	}
	must(t, s.Restart(t.Context(), nginx)) // nginx's workers must have ended too, or the port would be in use
	page(t, s.Places().URL())
}

func TestDatabaseDies(t *testing.T) {
	tier.Slow(t)
	dir := shared(t)
	s := bring(t, tiny(), Options{Dir: dir})
	down(t, s)
	bad := filepath.Join(s.Places().Conf, "mariadb.d", "bad.cnf")
	must(t, os.WriteFile(bad, []byte("[mariadbd]\nno_such_thing = 1\n"), 0o644))
	t.Cleanup(func() { must(t, removeFile(bad)) })
	_, err := Up(t.Context(), tiny(), Options{Dir: dir})
	var d *DiedError
	if !errors.As(err, &d) || d.Service != database || !strings.Contains(err.Error(), "no-such-thing") && !strings.Contains(err.Error(), "no_such_thing") {
		t.Errorf("error: %v", err)
	}
	must(t, os.WriteFile(bad, []byte("[mariadbd]\nmax_connections = 77\n"), 0o644))
	s = bring(t, tiny(), Options{Dir: dir})
	if got := value(t, s, "max_connections"); got != "77" {
		t.Errorf("max_connections = %s: the drop-in file was not read", got)
	}
	if got := value(t, s, "innodb_buffer_pool_size"); got != "16777216" {
		t.Errorf("innodb_buffer_pool_size = %s: the arena's lines were not read", got)
	}
	must(t, os.Remove(bad))
	must(t, s.Restart(t.Context(), database))
	if got := value(t, s, "max_connections"); got != "151" {
		t.Errorf("max_connections = %s after a restart", got)
	}
}

// TestNotReady has an app that never listens.
func TestNotReady(t *testing.T) {
	p := &process.Child{Name: app, Done: make(chan struct{})}
	err := await(t.Context(), p, 30*time.Millisecond, func(ctx context.Context) error { return process.Ready{URL: "http://127.0.0.1:1/"}.Once(ctx) })
	var slow *NotReadyError
	if !errors.As(err, &slow) || !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("error: %v", err)
	}
}

func TestNginxInvalid(t *testing.T) {
	tier.Slow(t)
	s := bring(t, tiny(), Options{Dir: shared(t)})
	conf := filepath.Join(s.Places().Conf, nginxConf)
	appendTo(t, conf, "no_such_directive on;\n")
	var c *ConfigError
	if err := s.Restart(t.Context(), nginx); !errors.As(err, &c) || c.Path != conf || !strings.Contains(err.Error(), `unknown directive "no_such_directive" in `+conf+":") {
		t.Fatalf("error: %v", err)
	}
	page(t, s.Places().URL()) // the old nginx still runs
	down(t, s)
	if _, err := Up(t.Context(), tiny(), Options{Dir: s.dir.root}); !errors.As(err, &c) || c.Service != nginx {
		t.Errorf("error: %v", err)
	}
	nothingRuns(t, s.dir.root)
	must(t, os.Remove(conf))
	s = bring(t, tiny(), Options{Dir: s.dir.root})
	page(t, s.Places().URL())
}

// small creates a folder with little space: on a tmpfs of its own for root, and
// for other users with a limit on the size of any file.
func small(t *testing.T, mib int) string {
	t.Helper()
	dir := openDir(t)
	must(t, os.Mkdir(dir, 0o755))
	if os.Geteuid() == 0 {
		must(t, unix.Mount("iikanji", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=755", mib)))
		t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
		return dir
	}
	var was unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &was))
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 4 << 20, Max: was.Max}))
	t.Cleanup(func() { must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &was)) })
	return dir
}

// TestDiskFull fills the disk at three points of a first start.
func TestDiskFull(t *testing.T) {
	tier.Slow(t)
	fill := func(mib int) *arena.Arena {
		a := tiny()
		generate := a.Generate
		a.Generate = func(ctx context.Context, webapp, data string) error {
			if err := os.WriteFile(filepath.Join(data, "large"), make([]byte, mib<<20), 0o644); err != nil {
				return fmt.Errorf("writing what is large: %w", err)
			}
			return generate(ctx, webapp, data)
		}
		return a
	}
	for _, c := range []struct {
		name      string
		disk, mib int
		asked     bool // the space is checked before anything is written
	}{
		{"in advance", 64, 0, true},
		{"generating", 310, 330, false},
		{"database", 310, 290, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.asked && os.Geteuid() != 0 {
				f := folder{root: t.TempDir()}
				if err := f.room(1 << 62); err == nil {
					t.Error("four exabytes are free")
				}
				return
			}
			dir := small(t, c.disk)
			a := fill(c.mib)
			_, err := Up(t.Context(), a, Options{Dir: dir})
			var full *DiskFullError
			if !errors.As(err, &full) || full.Path != dir || (full.Err == nil) != c.asked {
				t.Fatalf("error: %v", err)
			}
			t.Log(err)
			nothingRuns(t, dir)
		})
	}
}

// TestConfigTemplate asserts that a broken template of an arena is an error.
func TestConfigTemplate(t *testing.T) {
	a := tiny()
	a.Files.(fstest.MapFS)["etc/nginx.conf"] = &fstest.MapFile{Data: []byte("{{.NoSuchPlace}}")}
	if _, err := Up(t.Context(), a, Options{Dir: shared(t)}); err == nil || !strings.Contains(err.Error(), "NoSuchPlace") {
		t.Errorf("error: %v", err)
	}
}
