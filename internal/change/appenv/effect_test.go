package appenv

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func TestMain(m *testing.M) {
	stack.MaybeSupervise()
	os.Exit(m.Run())
}

// small returns an arena of one page, see testdata/app.
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
		Name:  "small",
		Files: fstest.MapFS{"go/main.go": file("app/main.go"), "go/go.mod": file("app/go.mod.txt"), "go/go.sum": file("app/go.sum.txt"), "nginx.conf": file("nginx.conf")},
		Services: []arena.Service{
			{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
				Database: arena.Database{Name: "small", User: "small", Password: "s3cret", Conf: "innodb_log_file_size = 8M\ninnodb_buffer_pool_size = 16M\n"}},
			{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "go",
				Env: func(p arena.Places) []string {
					db := p.Service("database")
					return []string{"APP_ADDR=" + p.Service("app").Address, "DB_ADDR=" + db.Address, "DB_USER=" + db.User, "DB_PASS=" + db.Password, "DB_NAME=" + db.Schema}
				}},
			{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []arena.Config{{Template: "nginx.conf"}}},
		},
	}
}

// TestEffect edits a real app, which is built and started on a whole stack, and
// checks each argument's effect in the app's own answer.
func TestEffect(t *testing.T) {
	tier.Slow(t)
	s, url := bringUp(t)
	const before = "prepares true, socket false, pool 7, gogc 100\n"
	if got, err := ask(url); got != before {
		t.Fatalf("%q %v", got, err)
	}
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
		if got, err := ask(url); got != side.want {
			t.Errorf("got %q (%v), want %q", got, err, side.want)
		}
		// The environment is read back from the running process; without the change
		// it has the variable no more, as after a restart that lost it.
		err := s.ReadBack(t.Context(), ch, true)
		if undone := side.want == before; (err == nil) == undone || undone && (!strings.Contains(err.Error(), "GOGC") || strings.Contains(processID.ReplaceAllString(err.Error(), ""), "123")) {
			t.Errorf("read back, undone %v: %v", undone, err)
		}
	}
}

// processID is part of the error, and may have the digits of the value, which is not.
var processID = regexp.MustCompile(`process \d+`)

// bringUp brings the stack up and returns its site.
func bringUp(t *testing.T) (site *change.Site, url string) {
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
	p := s.Places()
	return &change.Site{
		Roots:  []string{p.Conf, p.Webapp},
		Target: iikanji.Target{Services: []iikanji.Service{{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Socket: p.Service("database").Socket}, {Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo}}},
		Services: map[string]change.Service{"app": {EnvFile: s.EnvFile("app"), Env: s.Env("app"), Source: s.Source("app"), Builds: true, Running: changetest.Running{
			PIDs:      func() []int { return s.Groups()["app"] },
			OnBuild:   func(ctx context.Context, dir string) error { return s.TryBuild(ctx, "app", dir) },
			OnRestart: func(ctx context.Context) error { return s.Refresh(ctx, "app") }}}},
	}, p.URL()
}

func ask(url string) (string, error) {
	c := http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
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
