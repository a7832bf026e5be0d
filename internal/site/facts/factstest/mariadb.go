// Package factstest starts a private MariaDB for tests: a data folder of its
// own, a unix socket, no network, no syncing. It is not for anything that has
// to keep its data.
//
//  1. [Start] copies the data folder, starts the server and polls it until it answers.
//  2. [Server.Open] gives a pool to a fresh, empty database.
//  3. [Server.Restart] ends it and starts it again with the same data.
//  4. [Server.Stop] ends it; it also dies with the test's process.
package factstest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// A Server is a running private MariaDB.
type Server struct {
	Socket string
	dir    string
	args   []string
	cmd    *exec.Cmd
	gone   chan struct{}
}

// Start boots a server in a new folder below dir (os.TempDir() when empty).
// Extra arguments go to mariadbd. Socket paths are limited to about 100
// bytes, so dir should be short.
func Start(ctx context.Context, dir string, args ...string) (*Server, error) {
	dir, err := os.MkdirTemp(dir, "ikj")
	if err != nil {
		return nil, fmt.Errorf("making a folder for mariadb: %w", err)
	}
	s := &Server{dir: dir, Socket: filepath.Join(dir, "s"), args: args}
	if err = s.prepare(ctx); err == nil {
		err = s.boot(ctx)
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Restart ends the server and starts it again with the same data. Pools from
// [Server.Open] connect again by themselves.
func (s *Server) Restart(ctx context.Context) error {
	s.end()
	return s.boot(ctx)
}

// prepare makes the folders of the server.
func (s *Server) prepare(ctx context.Context) error {
	// A starting server removes every "#sql…" in its folder for temporary
	// files: in a shared /tmp, those of the servers that run beside it.
	if err := os.Mkdir(s.tmp(), 0o700); err != nil {
		return fmt.Errorf("making a folder for mariadb: %w", err)
	}
	return DataFolder(ctx, s.data())
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }
func (s *Server) tmp() string  { return filepath.Join(s.dir, "tmp") }

func (s *Server) boot(ctx context.Context) error {
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return fmt.Errorf("making the log of mariadb: %w", err)
	}
	defer log.Close()
	s.cmd = exec.Command(mariadbd(), append([]string{"--no-defaults", "--datadir=" + s.data(), "--tmpdir=" + s.tmp(),
		"--socket=" + s.Socket, "--pid-file=" + filepath.Join(s.dir, "pid"), "--user=" + userName(),
		"--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
		"--innodb-flush-method=nosync", "--innodb-buffer-pool-size=128M", "--innodb-log-file-size=64M",
		"--skip-log-bin", "--innodb-buffer-pool-dump-at-shutdown=0", "--innodb-fast-shutdown=2",
	}, s.args...)...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("starting mariadbd: %w", err)
	}
	cmd, gone := s.cmd, make(chan struct{})
	s.gone = gone
	go func() { _ = cmd.Wait(); close(gone) }()
	return s.ready(ctx)
}

// ready polls the server until it answers.
func (s *Server) ready(ctx context.Context) error {
	db, err := sql.Open("mysql", s.dsn(""))
	if err != nil {
		return err
	}
	defer db.Close()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for mariadbd: %w (%w)", ctx.Err(), err)
		case <-s.gone:
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("mariadbd ended at start:\n%s", log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) dsn(db string) string {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "unix", s.Socket, db
	c.InterpolateParams, c.MultiStatements = true, true
	c.Logger = &mysql.NopLogger{}
	return c.FormatDSN()
}

// Open drops and makes the database name and returns a pool to it.
func (s *Server) Open(ctx context.Context, name string) (*sql.DB, error) {
	root, err := sql.Open("mysql", s.dsn(""))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.ExecContext(ctx, "DROP DATABASE IF EXISTS `"+name+"`; CREATE DATABASE `"+name+"` CHARACTER SET utf8mb4"); err != nil {
		return nil, fmt.Errorf("making database %s: %w", name, err)
	}
	return sql.Open("mysql", s.dsn(name))
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() {
	s.end()
	_ = os.RemoveAll(s.dir)
}

// end ends the process of the server, if it was started.
func (s *Server) end() {
	if s.gone == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.gone:
	case <-time.After(5 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.gone
	}
}

func userName() string {
	if u := os.Getenv("USER"); u != "" && os.Getuid() != 0 {
		return u
	}
	return "root"
}

// mariadbd finds the server, which Debian keeps out of a normal user's PATH.
func mariadbd() string {
	for _, p := range []string{"mariadbd", "/usr/sbin/mariadbd", "/usr/local/sbin/mariadbd", "mysqld"} {
		if found, err := exec.LookPath(p); err == nil {
			return found
		}
	}
	return "mariadbd"
}
