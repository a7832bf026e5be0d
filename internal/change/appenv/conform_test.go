package appenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/stack"
)

func TestMain(m *testing.M) {
	stack.MaybeSupervise()
	os.Exit(m.Run())
}

// small is an arena of one page, see testdata/app.go.txt.
func small(t *testing.T) *arena.Arena {
	t.Helper()
	file := func(name string) *fstest.MapFile {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return &fstest.MapFile{Data: b, Mode: 0o444}
	}
	return &arena.Arena{
		Name:     "small",
		Files:    fstest.MapFS{"go/main.go": file("app.go.txt"), "nginx.conf": file("nginx.conf")},
		Database: arena.Database{Name: "small", User: "small", Password: "s3cret", Conf: "innodb_log_file_size = 8M\ninnodb_buffer_pool_size = 16M\n"},
		App: arena.App{Source: "go", Dir: "go", Ready: "/",
			Env: func(p arena.Places) []string {
				return []string{fmt.Sprintf("APP_ADDR=127.0.0.1:%d", p.AppPort), fmt.Sprintf("DB_ADDR=127.0.0.1:%d", p.DBPort),
					"DB_USER=" + p.DBUser, "DB_PASS=" + p.DBPassword, "DB_NAME=" + p.DBName}
			}},
		NginxConf: "nginx.conf",
	}
}

// places are what the child needs to know of the stack that its parent runs.
type places struct {
	EnvFile, Source, URL, DBSocket string
	Env, Roots                     []string
}

// TestConformance holds the kind to the suite on a whole stack: a real app is
// edited, built, started and asked what it makes of it.
func TestConformance(t *testing.T) {
	dir := changetest.ChildDir()
	if dir == "" {
		dir = bringUp(t)
	}
	var p places
	b, err := os.ReadFile(filepath.Join(dir, "places.json"))
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	changetest.Run(t, changetest.Case{
		Dir: dir,
		Open: func(dir string) *change.Site {
			s := p.site(dir)
			app := s.Services[stack.App]
			// Each restart compiles it; TestEffect has a copy compiled before.
			app.Build = func(context.Context, string) error { return nil }
			s.Services[stack.App] = app
			return s
		},
		Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Observability}},
		Remedies: map[string]iikanji.Remedy{
			// One for all: each of its steps is a build and two restarts.
			"all": remedy(map[string]string{"dsn": "interpolateParams=true&socket", "pool": "9", "env.GOGC": "321"}),
		},
		State: p.state,
		Serves: func() error {
			_, err := ask(p.URL)
			return err
		},
		Disturb: func(c *iikanji.Change) (func() error, error) {
			path := c.Do[0].Place
			old, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			calm := func() error { return os.WriteFile(path, old, 0o644) }
			if err != nil {
				calm = func() error { return os.Remove(path) }
			}
			return calm, os.WriteFile(path, append(bytes.Clone(old), "# mine\n"...), 0o644)
		},
	})
}

// TestEffect wants the app itself to say that each argument has its effect.
func TestEffect(t *testing.T) {
	dir := bringUp(t)
	var p places
	b, err := os.ReadFile(filepath.Join(dir, "places.json"))
	if err != nil || json.Unmarshal(b, &p) != nil {
		t.Fatal(err)
	}
	const before = "prepares true, socket false, pool 7, gogc 100\n"
	if got, err := ask(p.URL); got != before {
		t.Fatalf("%q %v", got, err)
	}
	s := p.site(dir)
	ch, err := change.Plan(t.Context(), s, remedy(map[string]string{"dsn": "interpolateParams=true&socket", "pool": "9", "env.GOGC": "123"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []struct {
		ops  []iikanji.Op
		want string
	}{{ch.Do, "prepares false, socket true, pool 9, gogc 123\n"}, {ch.Undo, before}} {
		for _, op := range side.ops {
			if err := s.Perform(t.Context(), op); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := ask(p.URL); got != side.want {
			t.Errorf("got %q (%v), want %q", got, err, side.want)
		}
	}
}

// bringUp brings the stack up in this process, and lets others have it restart
// the app and compile copies of its source, by a socket.
func bringUp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "iikanji-appenv-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // the services run as another user
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// Linking is most of the test's time.
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-s"))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s, err := stack.Up(ctx, small(t), stack.Options{Dir: filepath.Join(dir, "stack")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	serveControl(t, s, filepath.Join(dir, "control"))
	pl := s.Places()
	b, err := json.Marshal(places{EnvFile: s.EnvFile(), Source: s.Source(), URL: pl.URL(), DBSocket: pl.DBSocket, Env: s.AppEnv(), Roots: []string{pl.Conf, pl.Webapp}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "places.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func serveControl(t *testing.T, s *stack.Stack, socket string) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(do func(context.Context, string) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			// What a killed process has asked for goes on, as a restart would.
			if err := do(context.WithoutCancel(r.Context()), r.FormValue("of")); err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
			}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/restart", answer(s.RestartFor))
	mux.HandleFunc("/build", answer(s.BuildIn))
	server := &http.Server{Handler: mux}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Shutdown(context.Background())
		<-done
	})
}

// tell asks whoever runs the stack to do something.
func tell(ctx context.Context, dir, what, of string) error {
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(dir, "control"))
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://stack/"+what+"?of="+url.QueryEscape(of), nil)
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.New(string(b))
	}
	return err
}

func (p places) site(dir string) *change.Site {
	return &change.Site{
		Roots:  p.Roots,
		Target: iikanji.Target{Services: []iikanji.Service{{Name: stack.Database, Kind: "mariadb", Socket: p.DBSocket}, {Name: stack.App, Kind: "go"}}},
		Services: map[string]change.Service{stack.App: {EnvFile: p.EnvFile, Env: p.Env, Source: p.Source,
			Build:   func(ctx context.Context, in string) error { return tell(ctx, dir, "build", in) },
			Restart: func(ctx context.Context) error { return tell(ctx, dir, "restart", stack.App) }}},
	}
}

// state is the bytes of what the kind may touch, and what runs of it.
func (p places) state() (string, error) {
	var b strings.Builder
	for _, path := range []string{p.EnvFile, filepath.Join(p.Source, "main.go")} {
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s: %v\n%s\n", filepath.Base(path), err, text)
	}
	said, err := ask(p.URL)
	return b.String() + said, err
}

func ask(url string) (string, error) {
	c := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Get(url)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, b)
	}
	return string(b), err
}
