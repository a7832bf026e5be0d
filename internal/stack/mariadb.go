package stack

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

const installer = "database setup" // process name

// initDatabase creates the data folder once. It creates it under another name and
// renames it when it is complete, so a crash in between costs only time.
//
// The installer calls fsync some thousand times, which takes half a minute on a
// slow disk. This is switched off; the result is synced once instead. The
// installer's --user is not used: it would give system folders to that user.
func (s *Stack) initDatabase(ctx context.Context) (err error) {
	f := s.dir
	if info, err := os.Stat(f.path(mariadbDir)); err == nil {
		return f.reown(f.path(mariadbDir), info)
	}
	s.progress("setting up the database (once)")
	tmp := f.path(mariadbDir + ".new")
	err = errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o700))
	if err == nil {
		err = f.as.own(tmp)
	}
	if err == nil {
		err = f.emptyLog(initLog)
	}
	if err != nil {
		return f.full(fmt.Errorf("setting up the database: %w", err), "")
	}
	p, err := s.control.run(ctx, s.dropped(spec{Name: installer, Path: s.programs.installDB, Dir: tmp, Log: f.path(logDir, initLog), Rank: rankJob,
		Env: f.baseEnv(s.programs), Args: []string{"--no-defaults", "--datadir=" + tmp, "--tmpdir=" + f.path(tmpDir), "--skip-test-db", "--skip-name-resolve",
			"--auth-root-authentication-method=socket", "--auth-root-socket-user=root", "--debug-no-sync"}}))
	if err != nil {
		return fmt.Errorf("setting up the database: %w", err)
	}
	if !p.ok {
		return errors.Join(s.died(installer, initLog, 0, p.status), os.RemoveAll(tmp))
	}
	if err = syncTree(tmp); err == nil {
		err = os.Rename(tmp, f.path(mariadbDir))
	}
	if err != nil {
		return f.full(fmt.Errorf("setting up the database: %w", err), "")
	}
	return nil
}

// reown gives the data folder to the account if another user owns it, as in a
// folder that was copied from another machine.
func (f folder) reown(dir string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !f.as.drop || int(st.Uid) == f.as.uid {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, f.as.own(path))
	})
}

// socketLimit is the maximum length of a unix socket's path (108 bytes with a NUL).
const socketLimit = 107

// databaseSocket returns run/db.sock. If that path is too long for a socket, it
// returns a path in a short folder outside, and that folder too; outside is
// otherwise empty.
func (f folder) databaseSocket() (socket, outside string) {
	socket = f.path(runDir, "db.sock")
	if len(socket) <= socketLimit {
		return socket, ""
	}
	h := fnv.New64a()
	h.Write([]byte(f.root))
	base := "/tmp"
	if x := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(x) && len(x) < 60 && !f.as.drop && !strings.ContainsAny(x, unfit) {
		base = x
	}
	outside = filepath.Join(base, fmt.Sprintf("iikanji-%d-%x", f.as.uid, h.Sum64()))
	return filepath.Join(outside, "db.sock"), outside
}

// claimOutside creates the short folder. Every user may create folders in /tmp:
// an existing one must belong to the account and be writable for it alone.
func (f folder) claimOutside(dir string) error {
	if dir == "" {
		return nil
	}
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		return errors.Join(os.Chmod(dir, 0o755), f.as.own(dir))
	}
	if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making a folder for the socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("making a folder for the socket: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != f.as.uid || info.Mode().Perm() != 0o755 {
		return fmt.Errorf("making a folder for the socket: %s is there and is not ours", dir)
	}
	return nil
}

// databaseConf renders my.cnf: first the places, then the contest's settings.
func (s *Stack) databaseConf() []byte {
	f, p := s.dir, s.places
	var b strings.Builder
	fmt.Fprintf(&b, `# Written by iikanji up. Edit it as you like: once edited it is kept as it is.
# Delete it to have it written again. Files in mariadb.d are read after it.
[mariadbd]
datadir = %s
socket = %s
bind-address = 127.0.0.1
port = %d
pid-file = %s
tmpdir = %s
init-file = %s
slow-query-log-file = %s

# The contest's.
`, f.path(mariadbDir), p.DBSocket, p.DBPort, f.path(runDir, "mariadb.pid"), f.path(tmpDir), f.path(confDir, initSQL), f.path(logDir, slowLog))
	b.WriteString(strings.TrimRight(s.arena.Database.Conf, "\n"))
	fmt.Fprintf(&b, "\n\n!includedir %s\n", f.path(confDir, "mariadb.d"))
	return []byte(b.String())
}

const initSQL = "init.sql"

// writeInitSQL writes the SQL that the server executes at each start, before it
// accepts connections. It creates the arena's database and user, and an account
// for the calling user, who logs in by the socket without a password.
func (s *Stack) writeInitSQL() error {
	d := s.arena.Database
	me := userName(os.Geteuid())
	text := fmt.Sprintf("CREATE DATABASE IF NOT EXISTS %s;\n", quoteName(d.Name)) +
		fmt.Sprintf("CREATE USER IF NOT EXISTS %s@'%%' IDENTIFIED BY %s;\n", quoteText(d.User), quoteText(d.Password)) +
		fmt.Sprintf("GRANT ALL PRIVILEGES ON %s.* TO %s@'%%';\n", quoteName(d.Name), quoteText(d.User))
	if me != d.User {
		text += fmt.Sprintf("CREATE USER IF NOT EXISTS %s@localhost IDENTIFIED VIA unix_socket;\n", quoteText(me)) +
			fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO %s@localhost WITH GRANT OPTION;\n", quoteText(me))
	}
	if err := s.dir.write([]byte(text), 0o640, confDir, initSQL); err != nil {
		return err
	}
	return s.dir.as.share(s.dir.path(confDir, initSQL))
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoteText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(text) + "'"
}

// databaseSpec describes MariaDB's process.
func (s *Stack) databaseSpec() spec {
	f := s.dir
	sp := spec{Name: Database, Path: s.programs.mariadbd, Args: []string{"--defaults-file=" + f.path(confDir, myCnf)}, Dir: f.path(mariadbDir),
		Log: f.path(logDir, databaseLog), Env: f.baseEnv(s.programs), CPUs: s.options.StackCPUs, Rank: rankDatabase,
		Stop: []stopStep{{syscall.SIGTERM, 20000}}}
	if s.outside != "" {
		sp.Sweep = []string{s.places.DBSocket, s.outside}
	}
	return sp
}

const myCnf = "my.cnf"

// pingDatabase queries the database with the app's user and password.
func (s *Stack) pingDatabase(ctx context.Context) error {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "unix", s.places.DBSocket, s.places.DBName
	c.User, c.Passwd = s.places.DBUser, s.places.DBPassword
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var one int
	return db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}
