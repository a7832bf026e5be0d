package stack

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// What is tried here before it is done leaves nothing behind: what a crash
// leaves is swept by the next Up.
const (
	// scratchPrefix begins the names of files in conf/ that are only there to
	// be tested, ours and those of others.
	scratchPrefix = ".iikanji-"
	checkedApp    = "app.check" // in bin/
	checkDir      = "check"     // in tmp/
)

// CheckNginx has nginx read another main config, as the user, with the prefix
// and in the environment with which it would run. The error is a *ConfigError.
// Relative paths in it are as if it stood in its own folder.
func (s *Stack) CheckNginx(ctx context.Context, path string) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("testing nginx's config: %w", err)
	}
	if !s.dir.as.drop || info.Mode()&0o004 != 0 {
		return s.checkNginx(ctx, path)
	}
	// Only we may read it: nginx gets a copy beside it.
	body, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("testing nginx's config: %w", err)
	}
	copied, err := os.CreateTemp(filepath.Dir(path), scratchPrefix+"check-*.conf")
	if err != nil {
		return fmt.Errorf("testing nginx's config: %w", err)
	}
	defer func() { err = errors.Join(err, removeFile(copied.Name())) }()
	_, err = copied.Write(body)
	if err = errors.Join(err, copied.Chmod(0o644), copied.Close()); err != nil {
		return fmt.Errorf("testing nginx's config: %w", err)
	}
	err = s.checkNginx(ctx, copied.Name())
	if e, ok := err.(*ConfigError); ok {
		e.renamed(copied.Name(), path)
	}
	return err
}

// renamed says the real name of a file where the server knew a copy.
func (e *ConfigError) renamed(copied, real string) {
	e.Path = real
	for i := range e.Lines {
		e.Lines[i] = strings.ReplaceAll(e.Lines[i], copied, real)
	}
}

// BuildIn compiles a copy of the app's source that lies in dir, as the app
// itself is compiled, and throws the result away. When it does not compile,
// the error is a *BuildError.
func (s *Stack) BuildIn(ctx context.Context, dir string) error {
	s.checks.Lock()
	defer s.checks.Unlock()
	f := s.dir
	gobin, ok := find(searchPath(s.options), "go")
	if !ok {
		return &MissingError{Program: "the Go toolchain (go)"}
	}
	if err := f.emptyLog(checkBuildLog); err != nil {
		return f.full(fmt.Errorf("trying to build the app: %w", err), "")
	}
	out := f.path(binDir, checkedApp)
	p, err := s.control.run(ctx, f.buildSpec("check of the source", gobin, dir, out, checkBuildLog))
	if err == nil && !p.ok {
		err = f.buildError(dir, checkBuildLog, p.status)
	} else if err != nil {
		err = fmt.Errorf("trying to build the app: %w", err)
	}
	return errors.Join(err, removeFile(out))
}

const databaseChecker = "check of the database's config" // the process's name

// checkWait is how long a new, empty database may take to come up.
const checkWait = 60 * time.Second

// CheckDatabase starts a second, empty database with the configs of the real
// one, where the file at path takes the place of conf/mariadb.d/iikanji.cnf,
// and ends it as soon as it answers. It takes the memory that it is told to
// take, and its logs their disk space. The error is a *ConfigError when it does
// not come up, or comes up with another value than the file at path says.
//
// Note: the server makes an empty data folder usable by itself, but for the
// grant tables, which only mysql_install_db makes; without these it takes a
// second and not half a minute, and every setting is judged but for accounts.
func (s *Stack) CheckDatabase(ctx context.Context, path string) (err error) {
	s.checks.Lock()
	defer s.checks.Unlock()
	scratch := s.dir.path(tmpDir, checkDir)
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	conf, err := s.scratchConf(scratch, path)
	if err == nil {
		err = s.dir.emptyLog(checkDatabaseLog)
	}
	if err != nil {
		return s.dir.full(fmt.Errorf("testing the database's config: %w", err), "")
	}
	sp := s.scratchSpec(scratch, conf)
	if sp.Limits, err = s.dir.limits(Database); err != nil {
		return err
	}
	p, err := s.control.start(s.dropped(sp))
	if err != nil {
		return err
	}
	err = await(ctx, p, checkWait, func(ctx context.Context) error { return pingScratch(ctx, s.scratchSocket()) })
	var slow *NotReadyError
	switch {
	case errors.Is(err, errDied):
		lines := s.dir.tail(checkDatabaseLog, 0)
		if len(lines) == 0 {
			lines = []string{p.status}
		}
		e := &ConfigError{Service: Database, Lines: lines}
		e.renamed(filepath.Join(scratch, "mariadb.d", dropInCnf), path)
		err = s.dir.full(e, strings.Join(lines, "\n"))
	case errors.As(err, &slow):
		slow.Log = s.dir.path(logDir, checkDatabaseLog)
	case err == nil:
		err = s.corrected(path)
	}
	// Its data are nobody's: it is killed, and nothing waits for a shutdown.
	return errors.Join(err, s.control.stop(context.WithoutCancel(ctx), databaseChecker))
}

// adjusted is how the server says that a value is out of bounds, and that it
// took another one.
var adjusted = regexp.MustCompile(`\[Warning\] .*option '([a-z0-9_-]+)'.* adjusted to `)

// corrected finds settings of a config that the second database did not take
// as they are. Those of other files are not this one's fault.
func (s *Stack) corrected(path string) error {
	log, err := s.dir.read(logDir, checkDatabaseLog)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sets := map[string]bool{} // the server takes "-" for "_" in names
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, "=")
		sets[strings.ReplaceAll(strings.TrimSpace(name), "-", "_")] = true
	}
	e := &ConfigError{Service: Database, Path: path}
	for line := range strings.Lines(string(log)) {
		if m := adjusted.FindStringSubmatch(line); m != nil && sets[strings.ReplaceAll(m[1], "-", "_")] {
			e.Lines = append(e.Lines, printable([]byte(line)))
		}
	}
	if e.Lines == nil {
		return nil
	}
	return e
}

// dropInCnf is the file of mariadb.d that is iikanji's alone.
const dropInCnf = "iikanji.cnf"

// scratchConf writes copies of the database's configs that include each other.
func (s *Stack) scratchConf(scratch, candidate string) (conf string, err error) {
	f := s.dir
	included := filepath.Join(scratch, "mariadb.d")
	if err := errors.Join(os.RemoveAll(scratch), os.MkdirAll(included, 0o755), os.MkdirAll(filepath.Join(scratch, "data"), 0o755)); err != nil {
		return "", err
	}
	if err := f.as.own(filepath.Join(scratch, "data")); err != nil {
		return "", err
	}
	main, err := f.read(confDir, myCnf)
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(string(main), "!includedir "+f.path(confDir, "mariadb.d"), "!includedir "+included)
	files, err := filepath.Glob(f.path(confDir, "mariadb.d", "*.cnf"))
	if err != nil {
		return "", err
	}
	from := map[string]string{}
	for _, file := range files {
		from[filepath.Base(file)] = file
	}
	from[dropInCnf] = candidate
	for name, file := range from {
		body, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(included, name), body, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	conf = filepath.Join(scratch, myCnf)
	return conf, os.WriteFile(conf, []byte(text), 0o644)
}

// scratchSocket is as long as the real one's path, and in the same folder.
func (s *Stack) scratchSocket() string {
	return filepath.Join(filepath.Dir(s.places.DBSocket), "ck.sock")
}

// scratchSpec is the second database as a process. Whatever the configs say,
// no file of the real one is opened and no port taken: what names a place
// stands on the command line, which wins.
func (s *Stack) scratchSpec(scratch, conf string) spec {
	data := filepath.Join(scratch, "data")
	sp := s.databaseSpec()
	sp.Name, sp.Dir, sp.Log, sp.Rank, sp.Stop = databaseChecker, data, s.dir.path(logDir, checkDatabaseLog), rankJob, nil
	sp.Sweep = []string{s.scratchSocket()}
	sp.Args = slices.Concat([]string{"--defaults-file=" + conf, "--socket=" + s.scratchSocket(), "--pid-file=" + filepath.Join(data, "pid"),
		"--skip-networking", "--skip-grant-tables", "--skip-log-bin", "--skip-slave-start", "--init-file=", "--disable-log-error", "--skip-log-basename",
		"--debug-no-sync", "--innodb-buffer-pool-load-at-startup=0", "--event-scheduler=OFF",
		"--slow-query-log-file=" + filepath.Join(data, "slow.log"), "--general-log-file=" + filepath.Join(data, "general.log")},
		at(data, "datadir", "tmpdir", "innodb-data-home-dir", "innodb-log-group-home-dir", "innodb-undo-directory", "innodb-tmpdir", "aria-log-dir-path"))
	return sp
}

// at puts options that name a folder there.
func at(dir string, options ...string) []string {
	var args []string
	for _, o := range options {
		args = append(args, "--"+o+"="+dir)
	}
	return args
}

// pingScratch asks a server that lets everybody in.
func pingScratch(ctx context.Context, socket string) error {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Logger = "unix", socket, "root", &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	return db.PingContext(ctx)
}
