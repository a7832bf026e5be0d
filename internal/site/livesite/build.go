package livesite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// builds remembers which source each program was built from, and keeps a copy
// of each program, so that the undoing of a source edit restores the program to
// the byte, whoever built it and with which flags.
type builds struct {
	kept process.Programs
	mu   sync.Mutex
	now  map[string]string // digest of the source that the program is of, by program
	ran  map[string]string // digest of the source at a service's last start, by service
}

func newBuilds(dir string) *builds {
	return &builds{kept: process.Programs{Dir: filepath.Join(dir, "programs")},
		now: map[string]string{}, ran: map[string]string{}}
}

// keptName is the name of a program's kept copies.
func keptName(program string) string {
	sum := sha256.Sum256([]byte(program))
	return hex.EncodeToString(sum[:])[:24]
}

// start takes down the source at the begin: the program that runs is taken to be
// built from it, unless an earlier run of iikanji kept another one for it.
func (b *builds) start(r *running) error {
	sum, err := process.SourceSum(r.App.Source)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.now[r.Program]; !known {
		b.now[r.Program] = sum
	}
	b.ran[r.Name] = sum
	return nil
}

// restartTwins restarts the other services of the same program and source as one that was
// restarted, if the source has changed since their start: an edit of the source is for all
// processes of an app, and so is its undoing.
func (s *Subject) restartTwins(ctx context.Context, r *running) error {
	if r.Role != iikanji.RoleApp || !s.buildable(r) {
		return nil
	}
	sum, err := process.SourceSum(r.App.Source)
	if err != nil {
		return err
	}
	s.builds.started(r.Name, sum)
	for _, name := range s.names {
		o := s.running()[name]
		if o == r || o.Role != iikanji.RoleApp || o.App.Source != r.App.Source || o.Program != r.Program || !s.buildable(o) || s.builds.runs(name, sum) {
			continue
		}
		if err := s.Restart(ctx, name); err != nil {
			return err
		}
		s.builds.started(name, sum)
	}
	return nil
}

// started notes the source at a service's start.
func (b *builds) started(service, source string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ran[service] = source
}

// runs reports whether a service was started with a source.
func (b *builds) runs(service, source string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ran[service] == source
}

// buildable reports whether the program of an app can be made from its source. On another
// machine a person, or iikanji deploy, builds it.
func (s *Subject) buildable(r *running) bool {
	service := r.Service
	return !r.far() && service.App.Source != "" && service.Program != "" && (service.App.Build != "" || service.Engine == iikanji.EngineGo)
}

// build makes the program anew if the source has changed since.
func (s *Subject) build(ctx context.Context, r *running) error {
	if r.Role != iikanji.RoleApp || !s.buildable(r) {
		return nil
	}
	b := s.builds
	b.mu.Lock()
	defer b.mu.Unlock()
	sum, err := process.SourceSum(r.App.Source)
	if err != nil || sum == b.now[r.Program] {
		return err
	}
	name := keptName(r.Program)
	if len(b.kept.Kept(name, b.now[r.Program])) == 0 {
		if err := b.kept.Keep(name, b.now[r.Program], r.Program); err != nil {
			return err
		}
	}
	if tmp := unfinished(r.Program); b.kept.Take(name, sum, tmp) {
		if err = process.Install(tmp, r.Program); err == nil {
			b.now[r.Program] = sum
		}
		return err
	}
	s.options.Progress("building " + r.Name)
	if err := s.buildOf(r).Make(ctx); err != nil {
		return err
	}
	b.now[r.Program] = sum
	return nil
}

// refreshKept brings back the programs of other services that have the same source, if a
// copy that was built from the present source is kept. Without that, a program that was
// built while the source had an edit for another service would stay after the edit is
// undone.
func (s *Subject) refreshKept(ctx context.Context, r *running) error {
	if r.Role != iikanji.RoleApp || !s.buildable(r) {
		return nil
	}
	sum, err := process.SourceSum(r.App.Source)
	if err != nil {
		return err
	}
	for _, name := range s.names {
		o := s.running()[name]
		if o == r || o.Role != iikanji.RoleApp || o.App.Source != r.App.Source || !s.buildable(o) || !s.builds.keeps(o.Program, sum) {
			continue
		}
		if err := s.build(ctx, o); err != nil {
			return err
		}
		if err := s.Restart(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// keeps reports whether a program is of another source and a copy of this source is kept.
func (b *builds) keeps(program, source string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now[program] != source && len(b.kept.Kept(keptName(program), source)) > 0
}

// unfinished is where a program is made that then takes the place of another one.
func unfinished(program string) string {
	return filepath.Join(filepath.Dir(program), "."+filepath.Base(program)+".iikanji")
}

// compile compiles a copy of the source, to prove that it does. It links no program: what
// only the linker sees fails the real build, which leaves the program as it is.
func (s *Subject) compile(ctx context.Context, r *running, dir string) error {
	if r.Engine != iikanji.EngineGo {
		return nil // an interpreter reads the source at the start, and the health shows its errors
	}
	return s.goBuild(r, dir).Try(ctx)
}

// buildOf is the build of an app's program.
func (s *Subject) buildOf(r *running) process.Build {
	if r.App.Build == "" {
		return s.goBuild(r, r.App.Source)
	}
	return process.Build{Program: r.Program, Run: func(ctx context.Context, _ []string) error {
		return s.exec(ctx, r, host.Command{Path: "/bin/sh", Args: []string{"-c", r.App.Build}, Dir: r.App.Source, Env: os.Environ()})
	}}
}

// goBuild builds the app's package with the go command in a folder of source.
func (s *Subject) goBuild(r *running, dir string) process.Build {
	out := unfinished(r.Program)
	return process.Build{Words: []string{"go", "build", "-buildvcs=false", "-o", out, cmp.Or(r.App.Package, ".")},
		Out: out, Program: r.Program, Run: func(ctx context.Context, words []string) error {
			if err := s.goCommand(ctx, r, dir, out, words); err != nil {
				return fmt.Errorf("building %s: %w", r.Name, err)
			}
			return nil
		}}
}

// goCommand runs the go command as the owner of the source: a source that another user can
// write must not run code as root. The owner can write neither the program nor its folder.
func (s *Subject) goCommand(ctx context.Context, r *running, dir, out string, words []string) error {
	gobin, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("the go command is not in PATH: %w", err)
	}
	as, env, err := process.OwnerOf(r.App.Source)
	if err != nil {
		return err
	}
	c := host.Command{Path: gobin, Args: words[1:], Dir: dir, As: as, Env: append(env, "GOTOOLCHAIN=local", "PWD="+dir)}
	at := slices.Index(c.Args, out)
	if as == nil || at < 0 {
		return s.exec(ctx, r, c)
	}
	tmp, err := os.MkdirTemp("", "iikanji-build")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	c.Args = slices.Clone(c.Args)
	c.Args[at] = filepath.Join(tmp, "program")
	if err = os.Chown(tmp, int(as.Uid), int(as.Gid)); err == nil {
		err = s.exec(ctx, r, c)
	}
	if err == nil {
		_, err = process.CopyFile(c.Args[at], out)
	}
	return err
}

func (s *Subject) exec(ctx context.Context, r *running, c host.Command) error {
	res, err := r.host.Exec(ctx, c)
	if err != nil {
		return fmt.Errorf("building %s: %w", r.App.Source, err)
	}
	if res.Status != 0 {
		clean := func(line string) string { return firstLines([]byte(line)) }
		return process.NewBuildError(r.Name, c.Dir, string(res.Output), fmt.Sprintf("exit status %d", res.Status), clean)
	}
	return nil
}
