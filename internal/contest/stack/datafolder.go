package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/machine/process"
)

const installer = "database setup" // process name

// setUp makes a service's data folder if it is missing. A folder that its engine fills is
// filled under another name and renamed when it is complete, so a crash in between costs
// only time.
func (s *Stack) setUp(ctx context.Context, svc *arena.Service) error {
	if svc.Data == "" {
		return nil
	}
	f := s.dir
	dir := f.path(svc.Data)
	if info, err := os.Stat(dir); err == nil {
		return f.reown(dir, info)
	}
	words := process.EngineOf(svc.Engine).SetUp
	if words != nil {
		s.progress("setting up the " + svc.Name + " (once)")
		if err := s.fill(ctx, svc, words, dir); err != nil {
			return f.full(fmt.Errorf("setting up the %s: %w", svc.Name, err), "")
		}
		return nil
	}
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755), f.as.own(dir)); err != nil {
		return fmt.Errorf("making the data folder of the %s: %w", svc.Name, err)
	}
	return nil
}

// fill runs the command that fills a new data folder.
func (s *Stack) fill(ctx context.Context, svc *arena.Service, words []string, dir string) error {
	f, v := s.dir, s.view(svc)
	tmp := dir + unfinished
	v.Self.Data = tmp
	path, args, err := s.command(svc, words, v)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o700), f.as.own(tmp), f.emptyLog(initLog)); err != nil {
		return err
	}
	p, err := s.control.Run(ctx, s.dropped(process.Spec{Name: installer, Path: path, Args: append([]string{path}, args...),
		Dir: tmp, Log: f.path(logDir, initLog), Rank: process.RankJob, Env: f.baseEnv(s.programs)}))
	if err != nil {
		return err
	}
	if !p.OK {
		return errors.Join(s.died(installer, initLog, 0, p.Status), os.RemoveAll(tmp))
	}
	if err := syncTree(tmp); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
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
