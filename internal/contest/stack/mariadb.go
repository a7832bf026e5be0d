package stack

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/machine/process"
)

const installer = "database setup" // process name

// installDB is the program that fills a new data folder.
const installDB = "mariadb-install-db"

// setUpMariaDB creates a data folder once. It creates it under another name and
// renames it when it is complete, so a crash in between costs only time.
//
// The installer calls fsync some thousand times, which takes half a minute on a
// slow disk. This is switched off; the result is synced once instead. The
// installer's --user is not used: it would give system folders to that user.
func (s *Stack) setUpMariaDB(ctx context.Context, svc *arena.Service) (err error) {
	f := s.dir
	dir := f.path(svc.Data)
	if info, err := os.Stat(dir); err == nil {
		return f.reown(dir, info)
	}
	s.progress("setting up the " + svc.Name + " (once)")
	program, ok := find(searchPath(s.options), installDB)
	if !ok {
		return missing(installDB)
	}
	tmp := dir + unfinished
	err = errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o700))
	if err == nil {
		err = f.as.own(tmp)
	}
	if err == nil {
		err = f.emptyLog(initLog)
	}
	if err != nil {
		return f.full(fmt.Errorf("setting up the %s: %w", svc.Name, err), "")
	}
	p, err := s.control.Run(ctx, s.dropped(process.Spec{Name: installer, Path: program, Dir: tmp, Log: f.path(logDir, initLog), Rank: process.RankJob,
		Env: f.baseEnv(s.programs), Args: []string{program, "--no-defaults", "--datadir=" + tmp, "--tmpdir=" + f.path(tmpDir), "--skip-test-db", "--skip-name-resolve",
			"--auth-root-authentication-method=socket", "--auth-root-socket-user=root", "--debug-no-sync"}}))
	if err != nil {
		return fmt.Errorf("setting up the %s: %w", svc.Name, err)
	}
	if !p.OK {
		return errors.Join(s.died(installer, initLog, 0, p.Status), os.RemoveAll(tmp))
	}
	if err = syncTree(tmp); err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		return f.full(fmt.Errorf("setting up the %s: %w", svc.Name, err), "")
	}
	return nil
}

// reown gives a data folder to the account if another user owns it, as in a folder
// that was copied from another machine.
func (f folder) reown(dir string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !f.as.drop || int(st.Uid) == f.as.uid {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, f.as.own(path))
	})
}

// writeInitSQL writes the SQL that the server executes at each start, before it
// accepts connections. It creates the arena's database and user, and an account
// for the calling user, who logs in by the socket without a password.
func (s *Stack) writeInitSQL(svc *arena.Service) error {
	d := svc.Database
	me := userName(os.Geteuid())
	text := fmt.Sprintf("CREATE DATABASE IF NOT EXISTS %s;\n", sqltext.MySQL.Quote(d.Name)) +
		fmt.Sprintf("CREATE USER IF NOT EXISTS %s@'%%' IDENTIFIED BY %s;\n", quoteText(d.User), quoteText(d.Password)) +
		fmt.Sprintf("GRANT ALL PRIVILEGES ON %s.* TO %s@'%%';\n", sqltext.MySQL.Quote(d.Name), quoteText(d.User))
	if me != d.User {
		text += fmt.Sprintf("CREATE USER IF NOT EXISTS %s@localhost IDENTIFIED VIA unix_socket;\n", quoteText(me)) +
			fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO %s@localhost WITH GRANT OPTION;\n", quoteText(me))
	}
	if err := s.dir.write([]byte(text), 0o640, confDir, svc.InitSQL()); err != nil {
		return err
	}
	return s.dir.as.share(s.dir.path(confDir, svc.InitSQL()))
}

func quoteText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(text) + "'"
}

// pingMariaDB queries the database with the app's user and password.
func pingMariaDB(ctx context.Context, at arena.Place) error {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "unix", at.Socket, at.Schema
	c.User, c.Passwd = at.User, at.Password
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
