package livesite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A snapshot puts the rows of one database server back as they were when the
// snapshot was made. Definitions of tables that a change has made since stay: a
// copy of the data folder is put back only while the definitions are those of
// the copy; for other definitions the rows are loaded from a dump, and the
// result is copied for the next time.
type snapshot struct {
	s      *Subject
	r      *running
	db     *sql.DB
	dir    string // of the snapshot, in the work folder
	data   string // the server's data folder
	method target.Method
}

// snapshots are those of all databases of the site.
func (s *Subject) snapshots(ctx context.Context) ([]*snapshot, error) {
	var out []*snapshot
	for _, name := range s.names {
		r := s.running()[name]
		if !r.Engine.MySQLFamily() {
			continue
		}
		n := &snapshot{s: s, r: r, db: s.site.Services[name].DB(), dir: filepath.Join(s.options.Dir, "snapshot", name), method: s.File().Bench.Reset.Method}
		if err := n.db.QueryRowContext(ctx, "SELECT @@datadir").Scan(&n.data); err != nil {
			return nil, fmt.Errorf("finding the data folder of service %s: %w", name, err)
		}
		n.data = filepath.Clean(n.data)
		if (r.Method() != target.ByProcess || r.mayEnd() != nil) && n.method != target.MethodDump {
			n.method = target.MethodDump // only a server that iikanji starts itself can be held for a copy
		}
		if r.far() {
			return nil, fmt.Errorf("service %s: a snapshot of a database on another machine is not made: reset its data by a command", name)
		}
		if r.Database.Schema == "" {
			return nil, fmt.Errorf("service %s: a snapshot needs database.schema", name)
		}
		out = append(out, n)
	}
	return out, nil
}

// reset makes the snapshot at the first time, and puts it back at later times.
func (n *snapshot) reset(ctx context.Context) error {
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return fmt.Errorf("making the snapshot: %w", err)
	}
	if _, err := os.Stat(n.rows()); errors.Is(err, os.ErrNotExist) {
		return n.make(ctx)
	}
	defined, err := n.definitions(ctx)
	if err != nil {
		return err
	}
	chosen, err := n.chosen()
	if err != nil {
		return err
	}
	if chosen == target.MethodDump {
		return n.load(ctx)
	}
	if _, err := os.Stat(n.copyFor(defined)); err == nil {
		return n.putBack(ctx, n.copyFor(defined))
	}
	if err := n.load(ctx); err != nil {
		return err
	}
	return n.copyAway(ctx, defined)
}

func (n *snapshot) rows() string { return filepath.Join(n.dir, "rows.sql") }

func (n *snapshot) copyFor(definitions string) string {
	return filepath.Join(n.dir, "data-"+definitions)
}

// make dumps the rows, copies the data folder, and measures which of the two is
// put back faster.
func (n *snapshot) make(ctx context.Context) error {
	n.s.options.Progress("making a snapshot of " + n.r.Name)
	if err := n.dump(ctx); err != nil {
		return err
	}
	if n.method == target.MethodDump {
		return n.choose(target.MethodDump)
	}
	defined, err := n.definitions(ctx)
	if err != nil {
		return err
	}
	if err := n.copyAway(ctx, defined); err != nil {
		return err
	}
	if n.method == target.MethodCopy {
		return n.choose(target.MethodCopy)
	}
	began := time.Now()
	if err := n.load(ctx); err != nil {
		return err
	}
	loading := time.Since(began)
	began = time.Now()
	if err := n.putBack(ctx, n.copyFor(defined)); err != nil {
		return err
	}
	if copying := time.Since(began); loading < copying {
		return n.choose(target.MethodDump)
	}
	return n.choose(target.MethodCopy)
}

// choose notes the method; chosen reads it.
func (n *snapshot) choose(m target.Method) error {
	n.s.options.Progress(fmt.Sprintf("the data of %s are put back by %s", n.r.Name, m))
	if err := os.WriteFile(filepath.Join(n.dir, "method"), []byte(m), 0o600); err != nil {
		return fmt.Errorf("making the snapshot: %w", err)
	}
	return nil
}

func (n *snapshot) chosen() (target.Method, error) {
	b, err := os.ReadFile(filepath.Join(n.dir, "method"))
	if errors.Is(err, os.ErrNotExist) { // killed while it was measured
		return target.MethodDump, nil
	}
	return target.Method(b), err
}

// tables lists the base tables of the schema.
func (n *snapshot) tables(ctx context.Context) ([]string, error) {
	rows, err := n.db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_type = 'BASE TABLE' ORDER BY 1", n.r.Database.Schema)
	if err != nil {
		return nil, fmt.Errorf("listing the tables of %s: %w", n.r.Name, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, rows.Err()
}

func ident(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (n *snapshot) table(name string) string {
	return ident(n.r.Database.Schema) + "." + ident(name)
}

// definitions is a digest of the definitions of all tables, without counters.
func (n *snapshot) definitions(ctx context.Context) (string, error) {
	tables, err := n.tables(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, t := range tables {
		var name, text string
		if err := n.db.QueryRowContext(ctx, "SHOW CREATE TABLE "+n.table(t)).Scan(&name, &text); err != nil {
			return "", fmt.Errorf("reading the definition of %s: %w", t, err)
		}
		fmt.Fprintf(h, "%s\x00%s\x00", name, autoIncrement.ReplaceAllString(text, ""))
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// dump writes the rows of all tables into a file. The file is complete when it
// has its name.
func (n *snapshot) dump(ctx context.Context) error {
	tables, err := n.tables(ctx)
	if err != nil {
		return err
	}
	args := append([]string{"--single-transaction", "--quick", "--no-create-info", "--complete-insert", "--skip-triggers", "--skip-add-locks", "--hex-blob",
		"--default-character-set=utf8mb4", n.r.Database.Schema}, tables...)
	tmp := n.rows() + ".new"
	out, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("dumping %s: %w", n.r.Name, err)
	}
	err = n.client(ctx, []string{"mariadb-dump", "mysqldump"}, args, func(c *exec.Cmd) { c.Stdout = out })
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(tmp, n.rows())
	}
	if err != nil {
		return fmt.Errorf("dumping %s: %w", n.r.Name, err)
	}
	return nil
}

// load empties the tables and loads the rows of the dump. Definitions stay.
func (n *snapshot) load(ctx context.Context) error {
	tables, err := n.tables(ctx)
	if err != nil {
		return err
	}
	in, err := os.Open(n.rows())
	if err != nil {
		return fmt.Errorf("loading the rows of %s: %w", n.r.Name, err)
	}
	defer in.Close()
	empty := "SET FOREIGN_KEY_CHECKS=0; SET UNIQUE_CHECKS=0; SET sql_mode='NO_AUTO_VALUE_ON_ZERO';\n"
	for _, t := range tables {
		empty += "TRUNCATE TABLE " + n.table(t) + ";\n"
	}
	args := []string{"--default-character-set=utf8mb4", "--binary-mode", n.r.Database.Schema}
	err = n.client(ctx, []string{"mariadb", "mysql"}, args, func(c *exec.Cmd) { c.Stdin = multiReader(empty, in) })
	if err != nil {
		return fmt.Errorf("loading the rows of %s: %w", n.r.Name, err)
	}
	return nil
}

// client runs a client program of the database. The password is in a file that
// only this user can read, and not among the arguments.
func (n *snapshot) client(ctx context.Context, programs, args []string, with func(*exec.Cmd)) error {
	login, err := n.s.login(n.r.Service)
	if err != nil {
		return err
	}
	program := ""
	for _, p := range programs {
		if found, err := exec.LookPath(p); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		return fmt.Errorf("%s is not in PATH: install the database's client programs", programs[0])
	}
	defaults := filepath.Join(n.dir, ".login.cnf")
	text := "[client]\n"
	if login.User != "" {
		text += fmt.Sprintf("user=%q\npassword=%q\n", login.User, login.Password)
	}
	if login.Socket != "" {
		text += fmt.Sprintf("socket=%q\n", login.Socket)
	} else {
		address, port, _ := strings.Cut(login.Address, ":")
		text += fmt.Sprintf("host=%q\nport=%s\nprotocol=tcp\n", address, port)
	}
	if err := os.WriteFile(defaults, []byte(text), 0o600); err != nil {
		return err
	}
	defer os.Remove(defaults)
	var failed strings.Builder
	c := exec.CommandContext(ctx, program, append([]string{"--defaults-file=" + defaults}, args...)...)
	c.Stderr = &failed
	with(c)
	if err := c.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, firstLines([]byte(failed.String())))
	}
	return nil
}

// copyAway stops the server, copies its data folder and starts it.
func (n *snapshot) copyAway(ctx context.Context, definitions string) error {
	to := n.copyFor(definitions)
	return n.stopped(ctx, func() error {
		tmp := to + ".new"
		if err := os.RemoveAll(tmp); err != nil {
			return err
		}
		if err := copyTree(ctx, n.data, tmp); err != nil {
			return err
		}
		return os.Rename(tmp, to)
	})
}

// putBack stops the server, puts a copy in the place of its data folder and
// starts it. The two folders change places in one step, so that the server finds
// a whole one at any time.
func (n *snapshot) putBack(ctx context.Context, from string) error {
	fresh := filepath.Join(filepath.Dir(n.data), "."+filepath.Base(n.data)+".iikanji")
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := copyTree(ctx, from, fresh); err != nil { // while the server still runs
		return errors.Join(err, os.RemoveAll(fresh))
	}
	err := n.stopped(ctx, func() error {
		return unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, n.data, unix.RENAME_EXCHANGE)
	})
	return errors.Join(err, os.RemoveAll(fresh))
}

// stopped ends the server, calls do, and starts the server again, also if
// iikanji is killed meanwhile.
func (n *snapshot) stopped(ctx context.Context, do func() error) error {
	return n.s.whileDown(ctx, n.r, func() error { return n.stoppedAlone(ctx, do) })
}

func (n *snapshot) stoppedAlone(ctx context.Context, do func() error) error {
	r := n.r
	r.act.Lock()
	defer r.act.Unlock()
	r.expect(true)
	defer r.expect(false)
	spec, err := n.s.specOf(r)
	if err != nil {
		return err
	}
	e := r.endOf(syscall.SIGTERM)
	if e == nil {
		return &NotRunningError{Service: r.Name, By: "its process, which has ended"}
	}
	e.Steps[0].Wait = waitOf(r.Service)
	held, err := process.Hold(ctx, e, spec, r.origin.Files)
	if err != nil {
		return fmt.Errorf("stopping service %s: %w", r.Name, err)
	}
	done := do()
	err = r.start(held, spec)
	if err == nil {
		err = n.s.await(context.WithoutCancel(ctx), r)
		n.s.watch(r)
	}
	if done != nil {
		done = fmt.Errorf("copying the data of service %s: %w", r.Name, done)
	}
	return errors.Join(done, err)
}
