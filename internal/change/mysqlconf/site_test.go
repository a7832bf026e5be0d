package mysqlconf

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

const program = "/usr/sbin/mariadbd"

const myCnf = `[mariadbd]
user = root
datadir = %[1]s/data
tmpdir = %[1]s/tmp
socket = %[1]s/s
pid-file = %[1]s/pid
skip-networking
innodb_buffer_pool_size = 16M
innodb_log_file_size = 8M
innodb_flush_method = nosync
innodb_fast_shutdown = 2
innodb_buffer_pool_dump_at_shutdown = OFF
max_connections = 50
!includedir %[1]s/conf.d
`

// A testSite is a real MariaDB that the test starts again after each end, as a
// service manager does, so that any process can restart it.
type testSite struct {
	dir string
	db  *sql.DB
}

func newTestSite(t *testing.T) *testSite {
	t.Helper()
	s := &testSite{dir: changetest.ChildDir()}
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "ikj") // short, because of the limit of a socket's path
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		s.dir = dir
		for _, sub := range []string{"conf.d", "tmp"} { // servers delete files in a /tmp that they share
			if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "my.cnf"), fmt.Appendf(nil, myCnf, dir), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := factstest.DataFolder(t.Context(), filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		s.supervise(t)
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.Logger = "root", "unix", filepath.Join(s.dir, "s"), &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	s.db = sql.OpenDB(connector)
	t.Cleanup(func() { s.db.Close() })
	if err := s.answers(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// supervise starts the server again and again until the test ends.
func (s *testSite) supervise(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, program, "--defaults-file="+filepath.Join(s.dir, "my.cnf"))
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			_ = cmd.Run()
			time.Sleep(20 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { stop(); <-gone })
}

// answers waits until a server with a process id other than old answers.
func (s *testSite) answers(ctx context.Context, old int) error {
	err := errors.New("never asked")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if pid := s.pid(); pid == 0 || pid == old {
			err = fmt.Errorf("the server has process id %d, and had %d", pid, old)
		} else if err = s.db.PingContext(ctx); err == nil {
			return nil
		}
	}
	return err
}

func (s *testSite) pid() int {
	text, _ := os.ReadFile(filepath.Join(s.dir, "pid"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

func (s *testSite) open(dir string) *change.Site {
	conf := filepath.Join(dir, "conf.d")
	svc := change.Service{
		Config: filepath.Join(dir, "my.cnf"), DropIn: filepath.Join(conf, "zz-iikanji.cnf"), Checks: true}
	svc.Running = changetest.Running{Pool: s.db,
		OnCheck: func(ctx context.Context, path string) error {
			out, err := exec.CommandContext(ctx, program, "--defaults-file="+path, "--user=root", "--datadir="+dir+"/data", "--tmpdir="+dir+"/tmp", "--help", "--verbose").CombinedOutput()
			if i := strings.Index(string(out), "[ERROR]"); i >= 0 {
				line, _, _ := strings.Cut(string(out[i:]), "\n")
				return errors.New(line)
			}
			return err
		},
		OnRestart: func(ctx context.Context) error {
			pid := s.pid()
			if pid > 0 {
				if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
					return err
				}
			}
			return s.answers(ctx, pid)
		},
	}
	return &change.Site{Roots: []string{conf}, Services: map[string]change.Service{"database": svc}}
}

// state returns the drop-in folder and the running server's variables.
func (s *testSite) state() (string, error) {
	text, err := changetest.Tree(filepath.Join(s.dir, "conf.d"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(text + "\n")
	vars, err := variables(context.Background(), s.db)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"innodb_flush_log_at_trx_commit", "innodb_buffer_pool_size", "max_connections", "sort_buffer_size", "innodb_adaptive_hash_index"} {
		fmt.Fprintf(&b, "%s is %s\n", name, vars[name])
	}
	return b.String(), nil
}
