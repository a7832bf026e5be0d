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

// Files and folders of the checks. A check removes them when it ends; after a
// crash the next Up removes them.
const (
	// scratchPrefix begins the names of files in conf/ that exist only to be
	// tested, by this package or another one.
	scratchPrefix = ".iikanji-"
	checkedApp    = "app.check" // in bin/
	checkDir      = "check"     // in tmp/
)

// CheckNginx tests another main config with nginx, with the user, the prefix
// and the environment of the real server. The error is a *ConfigError. Relative
// paths in the config are resolved from the config's own folder.
func (s *Stack) CheckNginx(ctx context.Context, path string) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("testing nginx's config: %w", err)
	}
	if !s.dir.as.drop || info.Mode()&0o004 != 0 {
		return s.checkNginx(ctx, path)
	}
	// The services' user cannot read the file: test a readable copy beside it.
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

// renamed replaces the path of a copy in the server's messages by the real path.
func (e *ConfigError) renamed(copied, real string) {
	e.Path = real
	for i := range e.Lines {
		e.Lines[i] = strings.ReplaceAll(e.Lines[i], copied, real)
	}
}

// BuildIn compiles a copy of the app's source in dir, with the settings of the
// real build, and deletes the binary. If the source does not compile, the error
// is a *BuildError.
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

const databaseChecker = "check of the database's config" // process name

// checkWait limits the start of a new, empty database.
const checkWait = 60 * time.Second

// CheckDatabase starts a second, empty database with the real one's configs,
// except that the file at path replaces conf/mariadb.d/iikanji.cnf. It stops the
// database as soon as it answers. The second database uses as much memory, and
// as much disk space for logs, as the configs set. The error is a *ConfigError
// if the database does not start, or starts with a value that differs from the
// file at path.
//
// The server initialises an empty data folder by itself, except for the grant
// tables, which only mysql_install_db creates. Without them the check takes a
// second instead of half a minute, and covers every setting except accounts.
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
	// The data is thrown away, so the server is killed without a shutdown.
	return errors.Join(err, s.control.stop(context.WithoutCancel(ctx), databaseChecker))
}

// adjusted matches the server's warning that a value is out of bounds and was
// replaced by another one.
var adjusted = regexp.MustCompile(`\[Warning\] .*option '([a-z0-9_-]+)'.* adjusted to `)

// corrected reports settings of the config at path that the second database
// changed. Warnings about settings of other files are ignored.
func (s *Stack) corrected(path string) error {
	log, err := s.dir.read(logDir, checkDatabaseLog)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sets := map[string]bool{} // the server treats "-" and "_" in option names alike
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

// dropInCnf is the file in mariadb.d that only iikanji writes.
const dropInCnf = "iikanji.cnf"

// scratchConf writes a copy of the database's configs that includes only copies.
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

// scratchSocket is in the real socket's folder and not longer than its path,
// so it never exceeds the limit of a socket address.
func (s *Stack) scratchSocket() string {
	return filepath.Join(filepath.Dir(s.places.DBSocket), "ck.sock")
}

// scratchSpec describes the second database's process. Every option that names a
// place is set on the command line, which overrides the configs. So no config can
// make the process open a file or take a port of the real database.
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

// at sets each option to the folder.
func at(dir string, options ...string) []string {
	var args []string
	for _, o := range options {
		args = append(args, "--"+o+"="+dir)
	}
	return args
}

// pingScratch pings the second database, which runs without access control.
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
