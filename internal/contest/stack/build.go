package stack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

const builder = "build of the source" // process name; a space keeps it apart from services

// sourceSum hashes the names and contents of the files in a service's source folder.
func (f folder) sourceSum(svc *arena.Service) (string, error) {
	root := f.path(webappDir, svc.Source)
	h := sha256.New()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && file != root { // .git, editors' swap files
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		content, err := os.Open(file)
		if err != nil {
			return err
		}
		sum, err := sumOf(content)
		fmt.Fprintf(h, "%s\x00%s\n", file[len(root):], sum)
		return errors.Join(err, content.Close())
	})
	if err != nil {
		return "", fmt.Errorf("reading the source of the %s: %w", svc.Name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
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
	_, byGo := goBuildOf(sp.Args, out)
	if byGo {
		f.offer(svc.Name, sum, out)
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
	if err := errors.Join(os.Chmod(out, 0o755), os.Rename(out, f.path(binDir, svc.Name))); err != nil {
		return fmt.Errorf("building the %s: %w", svc.Name, err)
	}
	if byGo {
		f.keep(svc.Name, sum)
	}
	return nil
}

// buildSpec describes the process of a service's build command in a source folder.
func (s *Stack) buildSpec(svc *arena.Service, name, dir, out, log string) (process.Spec, error) {
	v := s.view(svc)
	v.Out = out
	path, args, err := s.command(svc, svc.Build, v)
	return process.Spec{Name: name, Path: path, Args: append([]string{path}, args...), Dir: dir, Log: s.dir.path(logDir, log), Rank: process.RankJob, Env: s.dir.buildEnv(dir)}, err
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

const compilerLines = 20

// networkSigns and toolchainSigns match the go command's output when it cannot
// get modules and when it is too old. An old one cannot even parse "go 1.26.0".
var (
	networkSigns   = regexp.MustCompile(`dial tcp|: lookup |disabled by GOPROXY=off|i/o timeout|missing go\.sum entry`)
	toolchainSigns = regexp.MustCompile(`requires go >= |toolchain not available|invalid go version`)
)

// buildError makes a *BuildError from the compiler's log.
func (f folder) buildError(service, dir, log, status string) error {
	b, _ := f.read(logDir, log)
	text := string(b)
	e := &BuildError{Service: service, Source: dir, Log: f.path(logDir, log)}
	for line := range strings.Lines(text) {
		if line = printable([]byte(line)); line != "" && !strings.HasPrefix(line, "# ") && len(e.Lines) < compilerLines {
			e.Lines = append(e.Lines, line)
		}
	}
	if len(e.Lines) == 0 {
		e.Lines = []string{"the build command: " + status}
	}
	e.Network, e.Toolchain = networkSigns.MatchString(text), toolchainSigns.MatchString(text)
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

// Builder returns the trial build of a service, nil if it has no build command.
// It compiles a copy of the source in dir with the settings of the real build. A Go
// program is not linked, which takes as long as compiling an app: what only the linker
// sees, as a missing main, fails the real build, which leaves the running service as it
// is. Another build command runs as it is, and its program is deleted. If the source
// does not build, the error is a *BuildError.
func (s *Stack) Builder(service string) func(ctx context.Context, dir string) error {
	svc := s.arena.Service(service)
	if svc == nil || len(svc.Build) == 0 {
		return nil
	}
	return func(ctx context.Context, dir string) error { return s.tryBuild(ctx, svc, dir) }
}

func (s *Stack) tryBuild(ctx context.Context, svc *arena.Service, dir string) error {
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
	if b, ok := goBuildOf(sp.Args, out); ok {
		sp.Args = append([]string{sp.Path}, b.compileOnly()...)
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
