package livesite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/mirror"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// builds remembers which source each program was built from, and keeps a copy
// of each program, so that the undoing of a source edit restores the program to
// the byte, whoever built it and with which flags.
type builds struct {
	kept process.Programs
	mu   sync.Mutex
	now  map[string]string // digest of the source that the program is of, by placedProgram
	ran  map[string]string // digest of the source at a service's last start, by service
}

func newBuilds(dir string) *builds {
	return &builds{kept: process.Programs{Dir: filepath.Join(dir, "programs")},
		now: map[string]string{}, ran: map[string]string{}}
}

// placedProgram is the program of a service with its machine.
func placedProgram(r *running) string {
	if r.Host == "" {
		return r.Program
	}
	return r.Host + ":" + r.Program
}

// keptName is the name of a program's kept copies.
func keptName(program string) string {
	sum := sha256.Sum256([]byte(program))
	return hex.EncodeToString(sum[:])[:24]
}

// state is what the source and the program of a service are now, where they lie.
func (r *running) state(ctx context.Context) (mirror.State, error) {
	return mirror.StateOn(ctx, r.host, mirror.Source{Dir: r.App.Source, Program: r.Program})
}

// start takes down the source at the begin: the program that runs is taken to be
// built from it, unless a copy of the program is kept as that of another source. The source
// may have an edit of a process that was killed before it built it.
func (b *builds) start(ctx context.Context, r *running) error {
	is, err := r.state(ctx)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	program := placedProgram(r)
	if _, known := b.now[program]; !known {
		b.now[program] = b.kept.SourceOf(keptName(program), is.Program, is.Source)
	}
	b.ran[r.Name] = is.Source
	return nil
}

// restartTwins restarts the other services of the same program and source as one that was
// restarted, if the source has changed since their start: an edit of the source is for all
// processes of an app, and so is its undoing.
func (s *Subject) restartTwins(ctx context.Context, r *running) error {
	if r.Role != iikanji.RoleApp || !s.buildable(r) {
		return nil
	}
	is, err := r.state(ctx)
	if err != nil {
		return err
	}
	s.builds.started(r.Name, is.Source)
	for _, name := range s.names {
		o := s.running()[name]
		if !s.sharesSource(o, r) || o.Program != r.Program || s.builds.runs(name, is.Source) {
			continue
		}
		if err := s.Restart(ctx, name); err != nil {
			return err
		}
		s.builds.started(name, is.Source)
	}
	return nil
}

// sharesSource reports whether another service is built from the source of r.
func (s *Subject) sharesSource(o, r *running) bool {
	return o != r && o.Role == iikanji.RoleApp && o.App.Source == r.App.Source && o.Host == r.Host && s.buildable(o)
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

// buildable reports whether the program of an app can be made from its source, and put in
// its place. On another machine, systemd or a command starts it again.
func (s *Subject) buildable(r *running) bool {
	service := r.Service
	if service.App.Source == "" || service.Program == "" || service.App.Build == "" && service.Engine != iikanji.EngineGo {
		return false
	}
	return !r.far() || r.mayEnd() == nil
}

// build makes the program anew if the source has changed since.
func (s *Subject) build(ctx context.Context, r *running) error {
	if r.Role != iikanji.RoleApp || !s.buildable(r) {
		return nil
	}
	is, err := r.state(ctx)
	if err != nil {
		return err
	}
	b := s.builds
	b.mu.Lock()
	defer b.mu.Unlock()
	program := placedProgram(r)
	if is.Source == b.now[program] {
		return nil
	}
	if err := s.keep(r, b.now[program], is.Program); err != nil {
		return err
	}
	if tmp := s.unfinished(r); b.kept.Take(keptName(program), is.Source, tmp) {
		if err = s.install(r, tmp); err == nil {
			b.now[program] = is.Source
		}
		return err
	}
	s.options.Progress("building " + r.Name)
	if err := s.makeProgram(ctx, r); err != nil {
		return err
	}
	b.now[program] = is.Source
	made, err := r.state(ctx)
	if err != nil {
		return err
	}
	return s.keep(r, is.Source, made.Program) // a process that is killed in the undo leaves it beside the former source
}

// keep keeps a copy of the program, which has a digest, as that of a source, unless it is kept.
// The caller holds the lock.
func (s *Subject) keep(r *running, source, digest string) error {
	kept, name := s.builds.kept, keptName(placedProgram(r))
	if _, err := os.Lstat(kept.Path(name, source, digest)); err == nil {
		return nil
	}
	if !r.far() {
		return kept.Keep(name, source, r.Program)
	}
	body, err := r.host.Read(r.Program)
	if err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", r.Program, err)
	}
	tmp := s.unfinished(r)
	if err = os.MkdirAll(filepath.Dir(tmp), 0o700); err == nil {
		err = os.WriteFile(tmp, body, 0o700)
	}
	if err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", r.Program, err)
	}
	return errors.Join(kept.Keep(name, source, tmp), os.Remove(tmp))
}

// install puts a program that was made on this machine in the place of the service's.
func (s *Subject) install(r *running, made string) error {
	if !r.far() {
		return process.Install(made, r.Program)
	}
	body, err := os.ReadFile(made)
	if err == nil {
		err = r.host.Write(r.Program, body, 0o755)
	}
	if err != nil {
		return fmt.Errorf("replacing %s on %s: %w", r.Program, r.Host, err)
	}
	return os.Remove(made)
}

// refreshKept brings back the programs of other services that have the same source, if a
// copy that was built from the present source is kept. Without that, a program that was
// built while the source had an edit for another service would stay after the edit is
// undone.
func (s *Subject) refreshKept(ctx context.Context, r *running) error {
	if r.Role != iikanji.RoleApp || !s.buildable(r) {
		return nil
	}
	for _, name := range s.names {
		o := s.running()[name]
		if !s.sharesSource(o, r) {
			continue
		}
		is, err := o.state(ctx)
		if err != nil {
			return err
		}
		if !s.builds.keeps(placedProgram(o), is.Source) {
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

// unfinished is where a program is made that then takes the place of another one. That of
// another machine is made in the work folder.
func (s *Subject) unfinished(r *running) string {
	if r.far() {
		return filepath.Join(s.builds.kept.Dir, ".made-"+keptName(placedProgram(r)))
	}
	return filepath.Join(filepath.Dir(r.Program), "."+filepath.Base(r.Program)+".iikanji")
}

// compile compiles a copy of the source, to prove that it does. It links no program: what
// only the linker sees fails the real build, which leaves the program as it is. A change of the
// source is planned so: the program of the present source is kept before any edit.
func (s *Subject) compile(ctx context.Context, r *running, dir string) error {
	if err := s.keepPresent(ctx, r); err != nil {
		return err
	}
	if r.Engine != iikanji.EngineGo {
		return nil // an interpreter reads the source at the start, and the health shows its errors
	}
	if r.far() {
		return s.compileFar(ctx, r, dir)
	}
	return s.goBuild(r, dir).Try(ctx)
}

// keepPresent keeps a copy of the program as that of its source.
func (s *Subject) keepPresent(ctx context.Context, r *running) error {
	if s.builds == nil || !s.buildable(r) {
		return nil
	}
	is, err := r.state(ctx)
	if err != nil {
		return err
	}
	b := s.builds
	b.mu.Lock()
	defer b.mu.Unlock()
	source, known := b.now[placedProgram(r)]
	if !known {
		return nil
	}
	return s.keep(r, source, is.Program)
}

// makeProgram builds the program and puts it in its place.
func (s *Subject) makeProgram(ctx context.Context, r *running) error {
	if r.far() {
		return s.makeFar(ctx, r)
	}
	return s.buildOf(r).Make(ctx)
}

// buildOf is the build of an app's program. A command of the file runs as the owner of the
// source, as the go command does.
func (s *Subject) buildOf(r *running) process.Build {
	if r.App.Build == "" {
		return s.goBuild(r, r.App.Source)
	}
	return process.Build{Program: r.Program, Run: func(ctx context.Context, _ []string) error {
		as, env, err := process.OwnerOf(r.App.Source)
		if err != nil {
			return err
		}
		return s.exec(ctx, r, host.Command{Path: "/bin/sh", Args: []string{"-c", r.App.Build}, Dir: r.App.Source, As: as, Env: append(env, "PWD="+r.App.Source)})
	}}
}

// goBuild builds the app's package with the go command in a folder of source.
func (s *Subject) goBuild(r *running, dir string) process.Build {
	out := s.unfinished(r)
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
	return buildError(r, c.Dir, res)
}

// buildError is the error of a command that has built a service in a folder; nil if the
// command succeeded.
func buildError(r *running, dir string, res host.Result) error {
	if res.Status == 0 {
		return nil
	}
	clean := func(line string) string { return firstLines([]byte(line)) }
	return process.NewBuildError(r.Name, dir, string(res.Output), fmt.Sprintf("exit status %d", res.Status), clean)
}
