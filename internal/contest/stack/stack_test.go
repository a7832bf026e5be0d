package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

func TestMain(m *testing.M) {
	MaybeSupervise()
	beSomething()
	// Copies of this binary built with -race would sleep for a second at exit.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	// Nothing reads the symbols of the apps, which are linked dozens of times.
	_ = os.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-s"))
	code := m.Run()
	_ = os.RemoveAll(sharedDir)
	os.Exit(code)
}

func testFile(name string) *fstest.MapFile {
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return &fstest.MapFile{Data: b, Mode: 0o444}
}

// Names of the tiny arena.
const (
	database   = "database"
	app        = "app"
	nginx      = "nginx"
	mariadbDir = "mariadb"
	myCnf      = "my.cnf"
	nginxConf  = "nginx.conf"
	accessLog  = "access.log"
)

// tiny is the smallest arena: one table, one page, one line of generated data.
func tiny() *arena.Arena {
	return &arena.Arena{
		Name: "tiny",
		Files: fstest.MapFS{
			"go/main.go":     testFile("app/main.go"),
			"go/go.mod":      testFile("app/go.mod.txt"),
			"go/go.sum":      testFile("app/go.sum.txt"),
			"sql/init.sh":    testFile("init.sh"),
			"sql/schema.sql": testFile("schema.sql"),
			"etc/nginx.conf": testFile("nginx.conf"),
		},
		Generate: func(ctx context.Context, webapp, data string) error {
			if err := os.MkdirAll(filepath.Join(webapp, "sql"), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(webapp, "sql", "data.sql"), []byte("INSERT INTO thing VALUES (1), (2), (3);\n"), 0o644); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(data, "things.json"), []byte("[1,2,3]\n"), 0o644)
		},
		GeneratedVersion: "1",
		Services: []arena.Service{
			{
				Name: database, Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
				Database: arena.Database{Name: "tiny", User: "tiny", Password: `t'i\ny`, Conf: "innodb_log_file_size = 8M\ninnodb_buffer_pool_size = 16M\n"},
				Configs:  []arena.Config{{File: myCnf}}, DropIns: "mariadb.d", Data: mariadbDir,
			},
			{
				Name: app, Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "go", Load: "sql/init.sh", Programs: []string{"mariadb"},
				Env: func(p arena.Places) []string {
					db := p.Service(database)
					return []string{
						"APP_ADDR=" + p.Service(app).Address,
						fmt.Sprintf("APP_DSN=%s:%s@tcp(%s)/%s", db.User, db.Password, db.Address, db.Schema),
						"DB_SOCKET=" + db.Socket, "DB_USER=" + db.User, "DB_PASS=" + db.Password, "DB_NAME=" + db.Schema,
					}
				},
			},
			{
				Name: nginx, Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []arena.Config{{Template: "etc/nginx.conf"}},
				Logs: []arena.Log{{Kind: "access", File: accessLog}, {Kind: "error", File: "error.log"}},
			},
		},
	}
}

// openDir returns a temporary folder that the services' user can enter. The
// folders of package testing are closed to other users.
func openDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "stack")
}

// sharedDir is reused by many tests, as a user's folder is by many starts: a new
// database for each test would take most of the time.
var sharedDir string

func shared(t testing.TB) string {
	t.Helper()
	if sharedDir == "" {
		dir, err := os.MkdirTemp("", "iikanji-stack-test-")
		if err == nil {
			err = os.Chmod(dir, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		sharedDir = dir
	}
	return filepath.Join(sharedDir, "stack")
}

// lines collects progress lines.
type lines struct{ all []string }

func (l *lines) say(line string) { l.all = append(l.all, line) }

func (l *lines) has(text string) bool { return strings.Contains(strings.Join(l.all, "\n"), text) }

// bring brings an arena up and takes it down at the test's end.
func bring(t testing.TB, a *arena.Arena, o Options) *Stack {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := Up(ctx, a, o)
	if err != nil {
		t.Fatalf("up: %v", err)
	}
	t.Cleanup(func() { down(t, s) })
	return s
}

func down(t testing.TB, s *Stack) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Down(ctx); err != nil {
		t.Errorf("down: %v", err)
	}
	nothingRuns(t, s.dir.root)
}

// nothingRuns asserts that no process works in a folder, names it in its
// arguments or has its executable there.
func nothingRuns(t testing.TB, dir string) {
	t.Helper()
	all, err := hostproc.Stats(host.Local{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID))
		if p.State != 'Z' && p.PID != os.Getpid() && (within(p.PID, dir) || strings.Contains(string(args), dir) || strings.HasPrefix(exe, dir)) {
			t.Errorf("process %d (%s) is left: %q", p.PID, p.Name, args)
		}
	}
}

func page(t testing.TB, url string) string {
	t.Helper()
	status, body := ask(t, url)
	if status != 200 {
		t.Fatalf("%s: status %d: %s", url, status, body)
	}
	return body
}

func ask(t testing.TB, url string) (int, string) {
	t.Helper()
	c := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func mustExist(t testing.TB, path string, want bool) {
	t.Helper()
	if _, err := os.Lstat(path); (err == nil) != want {
		t.Errorf("%s: exists = %v, want %v", path, err == nil, want)
	}
}

// value reads a variable of the running database, as the app's user.
func value(t testing.TB, s *Stack, variable string) string {
	t.Helper()
	client, ok := find(systemDirs, "mariadb")
	if !ok {
		t.Fatal("the client is not here")
	}
	p := s.Places().Service(database)
	out, err := exec.Command(client, "--no-defaults", "-S", p.Socket, "-u"+p.User, "-p"+p.Password, "-BNe", "SELECT @@"+variable).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}
