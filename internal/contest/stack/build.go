package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

const builder = "build of the source" // process name; a space keeps it apart from services

// sourceSum is a digest of a service's source folder.
func (f folder) sourceSum(svc *arena.Service) (string, error) {
	return process.SourceSum(f.path(webappDir, svc.Source), "")
}

// build builds a service from its current source, whose hash is sum.
func (s *Stack) build(ctx context.Context, svc *arena.Service, sum string) error {
	f := s.dir
	b, err := s.buildOf(svc, builder, f.path(webappDir, svc.Source), f.path(binDir, svc.Name+unfinished), buildLog)
	if err != nil {
		return err
	}
	_, byGo := process.CompileOnly(b.Words, b.Out)
	if !byGo || !f.kept().Take(svc.Name, sum, b.Out) {
		s.progress("building the " + svc.Name)
	}
	if err := b.Make(ctx); err != nil {
		return err
	}
	if byGo { // a program that cannot be kept only costs the time of a link later
		_ = f.kept().Keep(svc.Name, sum, b.Program)
	}
	return nil
}

// buildOf is the build of a service in a folder with its source. Its output is in log.
func (s *Stack) buildOf(svc *arena.Service, name, dir, out, log string) (process.Build, error) {
	f, v := s.dir, s.view(svc)
	v.Out = out
	if err := f.seal(svc.Source); err != nil { // dir may be a copy of it
		return process.Build{}, err
	}
	path, args, err := s.command(svc, svc.Build, v)
	run := func(ctx context.Context, words []string) error {
		if err := f.emptyLog(log); err != nil {
			return f.full(fmt.Errorf("%s of the %s: %w", name, svc.Name, err), "")
		}
		p, err := s.control.Run(ctx, process.Spec{Name: name, Path: path, Args: words, Dir: dir,
			Log: f.path(logDir, log), Rank: process.RankJob, Env: f.buildEnv(dir)})
		if err == nil && !p.OK {
			return f.buildError(svc.Name, dir, log, p.Status)
		}
		return err
	}
	return process.Build{Words: append([]string{path}, args...), Run: run, Out: out,
		Program: f.path(binDir, svc.Name)}, err
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
		if err := s.build(ctx, &svc, sum); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// programMissing reports whether a service's start command is its built program
// and that program is missing.
func (s *Stack) programMissing(svc *arena.Service) bool {
	if len(svc.Start) == 0 {
		return false
	}
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
	b, err := s.buildOf(svc, "check of the source", dir, s.dir.path(binDir, builtForCheck), checkBuildLog)
	if err != nil {
		return err
	}
	return b.Try(ctx)
}
