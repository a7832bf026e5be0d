package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// Files and folders of the checks. A check removes them when it ends; after a
// crash the next Up removes them.
const (
	// scratchPrefix begins the names of files in conf/ that exist only to be
	// tested, by this package or another one.
	scratchPrefix = ".iikanji-"
	builtForCheck = ".check" // in bin/; no service has this name
	checkDir      = "check"  // in tmp/
)

// Checks reports whether the configuration of a service can be tested.
func (s *Stack) Checks(service string) bool {
	svc := s.arena.Service(service)
	return svc != nil && (process.EngineOf(svc.Engine).Trial != nil || len(svc.Check) > 0)
}

// CheckConfig tests a candidate for a service's configuration. The candidate is the file at
// path: for an engine with a Trial it replaces the drop-in that only iikanji writes, for others
// the main configuration. The error of a bad candidate is a *ConfigError.
func (s *Stack) CheckConfig(ctx context.Context, service, path string) error {
	svc, err := s.find(service)
	if err != nil {
		return fmt.Errorf("testing %w", err)
	}
	if process.EngineOf(svc.Engine).Trial != nil {
		return s.checkDropIn(ctx, svc, path)
	}
	return s.checkFile(ctx, svc, path)
}

// testConfig tests a service's configuration with the service's program.
func (s *Stack) testConfig(ctx context.Context, svc *arena.Service) error {
	if len(svc.Check) == 0 {
		return nil
	}
	return s.runCheck(ctx, svc, s.places.Service(svc.Name).Config)
}

// runCheck runs a service's check command on a configuration file, with the
// user, the folder and the environment of the service.
func (s *Stack) runCheck(ctx context.Context, svc *arena.Service, conf string) error {
	f, v := s.dir, s.view(svc)
	v.Self.Config = conf
	path, args, err := s.command(svc, svc.Check, v)
	if err != nil {
		return err
	}
	dir := s.workingDir(svc)
	if svc.Dir == "" && svc.Data != "" && s.missing(svc.Data) { // before the first start
		dir = f.path(runDir)
	}
	r, err := host.Local{}.Exec(ctx, host.Command{Path: path, Args: args, Env: f.baseEnv(s.programs), Dir: dir, As: f.as.credential()})
	if err != nil {
		return fmt.Errorf("testing the %s config: %w", svc.Name, err)
	}
	if r.Status == 0 {
		return nil
	}
	e := &ConfigError{Service: svc.Name, Path: conf}
	for line := range strings.Lines(string(r.Output)) {
		if line = printable([]byte(strings.TrimPrefix(line, filepath.Base(path)+": "))); line != "" && !strings.HasSuffix(line, "test failed") {
			e.Lines = append(e.Lines, line)
		}
	}
	return f.full(e, string(r.Output))
}

// checkFile tests another main configuration. Relative paths in it are resolved
// from its own folder.
func (s *Stack) checkFile(ctx context.Context, svc *arena.Service, path string) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("testing the %s config: %w", svc.Name, err)
	}
	if !s.dir.as.drop || info.Mode()&0o004 != 0 {
		return s.runCheck(ctx, svc, path)
	}
	// The services' user cannot read the file: test a readable copy beside it.
	body, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("testing the %s config: %w", svc.Name, err)
	}
	copied, err := os.CreateTemp(filepath.Dir(path), scratchPrefix+"check-*"+filepath.Ext(path))
	if err != nil {
		return fmt.Errorf("testing the %s config: %w", svc.Name, err)
	}
	defer func() { err = errors.Join(err, removeFile(copied.Name())) }()
	_, err = copied.Write(body)
	if err = errors.Join(err, copied.Chmod(0o644), copied.Close()); err != nil {
		return fmt.Errorf("testing the %s config: %w", svc.Name, err)
	}
	err = s.runCheck(ctx, svc, copied.Name())
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

const databaseChecker = "check of the database's config" // process name

// checkWait limits the start of a new, empty database.
const checkWait = 60 * time.Second

// checkDropIn starts a second, empty database with the real one's configs, except
// that the file at path replaces the drop-in that only iikanji writes. It stops the
// database as soon as it answers. The second database uses as much memory, and
// as much disk space for logs, as the configs set. The error is a *ConfigError
// if the database does not start, or starts with a value that differs from the
// file at path.
func (s *Stack) checkDropIn(ctx context.Context, svc *arena.Service, path string) (err error) {
	s.checks.Lock()
	defer s.checks.Unlock()
	scratch := s.dir.path(tmpDir, checkDir)
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	conf, err := s.scratchConf(svc, scratch, path)
	if err == nil {
		err = s.dir.emptyLog(checkDatabaseLog)
	}
	if err != nil {
		return s.dir.full(fmt.Errorf("testing the %s config: %w", svc.Name, err), "")
	}
	sp, err := s.scratchSpec(svc, scratch, conf)
	if err != nil {
		return err
	}
	p, err := s.control.Start(s.dropped(sp))
	if err != nil {
		return err
	}
	err = await(ctx, p, checkWait, func(ctx context.Context) error {
		return process.SelectOne(ctx, host.Login{Socket: s.scratchSocketOf(svc), User: "root"}) // without access control
	})
	var slow *NotReadyError
	switch {
	case errors.Is(err, process.ErrEnded):
		lines := s.dir.tail(checkDatabaseLog, 0)
		if len(lines) == 0 {
			lines = []string{p.Status}
		}
		e := &ConfigError{Service: svc.Name, Lines: lines}
		e.renamed(filepath.Join(scratch, svc.DropIns, OwnDropIn(svc)), path)
		err = s.dir.full(e, strings.Join(lines, "\n"))
	case errors.As(err, &slow):
		slow.Log = s.dir.path(logDir, checkDatabaseLog)
	case err == nil:
		err = s.corrected(svc, path)
	}
	// The data is thrown away, so the server is killed without a shutdown.
	return errors.Join(err, s.control.Stop(context.WithoutCancel(ctx), databaseChecker))
}

// corrected reports settings of the config at path that the second database
// changed. Warnings about settings of other files are ignored.
func (s *Stack) corrected(svc *arena.Service, path string) error {
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
	e, adjusted := &ConfigError{Service: svc.Name, Path: path}, process.EngineOf(svc.Engine).Adjusted
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

// OwnDropIn returns the name of the file in a service's folder of drop-ins that
// only iikanji writes.
func OwnDropIn(svc *arena.Service) string { return "iikanji" + filepath.Ext(svc.MainConfig()) }

// scratchConf writes a copy of the database's configs that includes only copies.
func (s *Stack) scratchConf(svc *arena.Service, scratch, candidate string) (conf string, err error) {
	f := s.dir
	included := filepath.Join(scratch, svc.DropIns)
	if err := errors.Join(os.RemoveAll(scratch), os.MkdirAll(included, 0o755), os.MkdirAll(filepath.Join(scratch, "data"), 0o755)); err != nil {
		return "", err
	}
	if err := f.as.own(filepath.Join(scratch, "data")); err != nil {
		return "", err
	}
	main, err := f.read(confDir, svc.MainConfig())
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(string(main), "!includedir "+f.path(confDir, svc.DropIns), "!includedir "+included)
	files, err := filepath.Glob(f.path(confDir, svc.DropIns, "*.cnf"))
	if err != nil {
		return "", err
	}
	from := map[string]string{}
	for _, file := range files {
		from[filepath.Base(file)] = file
	}
	from[OwnDropIn(svc)] = candidate
	for name, file := range from {
		body, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(included, name), body, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	conf = filepath.Join(scratch, "main.cnf")
	return conf, os.WriteFile(conf, []byte(text), 0o644)
}

// scratchSocket is the file name of the second database's socket.
const scratchSocket = "ck.sock"

// scratchSocketOf is in the real socket's folder, whose path is short enough.
func (s *Stack) scratchSocketOf(svc *arena.Service) string {
	return filepath.Join(filepath.Dir(s.places.Service(svc.Name).Socket), scratchSocket)
}

// scratchSpec describes the second database's process.
func (s *Stack) scratchSpec(svc *arena.Service, scratch, conf string) (process.Spec, error) {
	v := s.view(svc)
	v.Self.Config, v.Self.Data, v.Self.Socket = conf, filepath.Join(scratch, "data"), s.scratchSocketOf(svc)
	sp, err := s.specOf(svc)
	if err != nil {
		return sp, err
	}
	_, args, err := s.command(svc, append([]string{sp.Path}, process.EngineOf(svc.Engine).Trial...), v)
	sp.Name, sp.Dir, sp.Log = databaseChecker, v.Self.Data, s.dir.path(logDir, checkDatabaseLog)
	sp.Rank, sp.Stop = process.RankJob, nil
	sp.Sweep, sp.Args = []string{v.Self.Socket}, append([]string{sp.Path}, args...)
	return sp, err
}
