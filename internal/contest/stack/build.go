package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

const builder = "build of the source" // process name; a space keeps it apart from services

// sourceSum is a digest of a service's source folder.
func (f folder) sourceSum(svc *arena.Service) (string, error) {
	return process.SourceSum(f.path(webappDir, svc.Source))
}

// build builds a service from its current source, whose hash is sum. A rename replaces
// the program of the running service, and only after the whole build succeeded.
func (s *Stack) build(ctx context.Context, svc *arena.Service, sum string) error {
	f := s.dir
	dir, out := f.path(webappDir, svc.Source), f.path(binDir, svc.Name+unfinished)
	if err := f.seal(svc.Source); err != nil {
		return err
	}
	sp, err := s.buildSpec(svc, builder, dir, out, buildLog)
	if err != nil {
		return err
	}
	if err := f.emptyLog(buildLog); err != nil {
		return f.full(fmt.Errorf("building the %s: %w", svc.Name, err), "")
	}
	_, byGo := process.CompileOnly(sp.Args, out)
	if byGo {
		f.kept().Take(svc.Name, sum, out)
	}
	p, err := s.control.Run(ctx, sp)
	if err != nil {
		return fmt.Errorf("building the %s: %w", svc.Name, err)
	}
	if !p.OK {
		return errors.Join(f.buildError(svc.Name, dir, buildLog, p.Status), removeFile(out))
	}
	if _, err := os.Lstat(out); errors.Is(err, fs.ErrNotExist) {
		return nil // the build makes no program, as a check of a script's syntax
	}
	if err := process.Install(out, f.path(binDir, svc.Name)); err != nil {
		return fmt.Errorf("building the %s: %w", svc.Name, err)
	}
	if byGo { // a program that cannot be kept only costs the time of a link later
		_ = f.kept().Keep(svc.Name, sum, f.path(binDir, svc.Name))
	}
	return nil
}

// buildSpec describes the process of a service's build command in a source folder.
func (s *Stack) buildSpec(svc *arena.Service, name, dir, out, log string) (process.Spec, error) {
	v := s.view(svc)
	v.Out = out
	path, args, err := s.command(svc, svc.Build, v)
	return process.Spec{Name: name, Path: path, Args: append([]string{path}, args...), Dir: dir,
		Log: s.dir.path(logDir, log), Rank: process.RankJob, Env: s.dir.buildEnv(dir)}, err
}

// buildEnv is the caller's environment, which has the module cache and the proxy
// settings. Variables that would make the folder's location matter are overridden.
// GOTOOLCHAIN=local keeps the installed toolchain: a patch may have edited
// go.mod, and such a line must not make the go command fetch and run another one.
func (f folder) buildEnv(dir string) []string {
	env := append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "PWD="+dir, "GOTMPDIR="+f.path(binDir))
	if os.Getenv("CGO_ENABLED") == "" {
		env = append(env, "CGO_ENABLED=0") // the same binary with and without a C compiler
	}
	return env
}

// buildError makes a *process.BuildError from the compiler's log.
func (f folder) buildError(service, dir, log, status string) error {
	b, _ := f.read(logDir, log)
	text := string(b)
	e := process.NewBuildError(service, dir, text, status, func(line string) string { return printable([]byte(line)) })
	e.Log, e.Layable = f.path(logDir, log), true
	return f.full(e, text)
}

// buildChanged builds the services whose source differs from that of their last
// build. It returns the hashes of all sources.
func (s *Stack) buildChanged(ctx context.Context, built map[string]string) (sums map[string]string, err error) {
	sums = map[string]string{}
	for _, svc := range s.Services() {
		if len(svc.Build) == 0 {
			continue
		}
		if err := s.dir.seal(svc.Source); err != nil {
			return nil, err
		}
		sum, err := s.dir.sourceSum(&svc)
		if err != nil {
			return nil, err
		}
		sums[svc.Name] = sum
		if sum == built[svc.Name] && !s.programMissing(&svc) {
			continue
		}
		s.progress("building the " + svc.Name)
		if err := s.build(ctx, &svc, sum); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// programMissing reports whether a service's start command is its built program
// and that program is missing.
func (s *Stack) programMissing(svc *arena.Service) bool {
	path, _, err := s.command(svc, svc.Start, s.view(svc))
	return err == nil && path == s.places.Service(svc.Name).Binary && s.missing(filepath.Join(binDir, svc.Name))
}

// Builds reports whether a service has a build command.
func (s *Stack) Builds(service string) bool {
	svc := s.arena.Service(service)
	return svc != nil && len(svc.Build) > 0
}

// TryBuild compiles a copy of a service's source in dir with the settings of the real
// build. A Go program is not linked, which takes as long as compiling an app: what only the
// linker sees, as a missing main, fails the real build, which leaves the running service as
// it is. Another build command runs as it is, and its program is deleted. If the source
// does not build, the error is a *process.BuildError.
func (s *Stack) TryBuild(ctx context.Context, service, dir string) error {
	svc, err := s.find(service)
	if err != nil {
		return fmt.Errorf("trying to build %w", err)
	}
	s.checks.Lock()
	defer s.checks.Unlock()
	f := s.dir
	out := f.path(binDir, builtForCheck)
	if err := f.seal(svc.Source); err != nil { // dir is a copy of it
		return err
	}
	sp, err := s.buildSpec(svc, "check of the source", dir, out, checkBuildLog)
	if err != nil {
		return err
	}
	if compile, ok := process.CompileOnly(sp.Args, out); ok {
		sp.Args = compile
	}
	if err := f.emptyLog(checkBuildLog); err != nil {
		return f.full(fmt.Errorf("trying to build the %s: %w", svc.Name, err), "")
	}
	p, err := s.control.Run(ctx, sp)
	if err == nil && !p.OK {
		err = f.buildError(svc.Name, dir, checkBuildLog, p.Status)
	} else if err != nil {
		err = fmt.Errorf("trying to build the %s: %w", svc.Name, err)
	}
	return errors.Join(err, removeFile(out))
}
