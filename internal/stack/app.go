package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"syscall"
)

// appSpec describes the app's process.
func (s *Stack) appSpec() (spec, error) {
	env, err := s.appEnv()
	return spec{Name: App, Path: s.dir.path(binDir, "app"), Dir: s.dir.path(webappDir, s.arena.App.Dir),
		Log: s.dir.path(logDir, appLog), Env: env, CPUs: s.options.StackCPUs, Rank: rankApp,
		Stop: []stopStep{{syscall.SIGTERM, 3000}}}, err
}

// baseEnv is the environment that every service gets. It is small and the same
// for all, so that a run does not depend on the caller's shell.
func (f folder) baseEnv(p programs) []string {
	env := []string{"PATH=" + p.path, "HOME=" + f.path(tmpDir), "TMPDIR=" + f.path(tmpDir), "LANG=C.UTF-8", "USER=" + f.as.name}
	if tz := os.Getenv("TZ"); tz != "" {
		env = append(env, "TZ="+tz)
	}
	return env
}

const loader = "data loader" // process name

// load fills the database with the arena's load command if the database is new
// or was filled from other data.
func (s *Stack) load(ctx context.Context, st *state) error {
	want := "loaded " + s.arena.GeneratedVersion
	if s.arena.App.Load == "" || st.Loaded == want {
		return nil
	}
	s.progress("loading the initial data")
	st.Loaded = "" // the database may be partly filled from here on
	if err := errors.Join(s.dir.writeState(*st), s.dir.emptyLog(loadLog)); err != nil {
		return s.dir.full(err, "")
	}
	env, err := s.appEnv()
	if err != nil {
		return err
	}
	command := s.dir.path(webappDir, s.arena.App.Load)
	p, err := s.control.run(ctx, s.dropped(spec{Name: loader, Path: command, Dir: path.Dir(command), Log: s.dir.path(logDir, loadLog),
		Env: env, CPUs: s.options.StackCPUs, Rank: rankJob}))
	if err != nil {
		return fmt.Errorf("loading the initial data: %w", err)
	}
	if !p.ok {
		return s.died(loader, loadLog, 0, p.status)
	}
	st.Loaded = want
	return s.dir.writeState(*st)
}
