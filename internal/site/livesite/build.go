package livesite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// builds remembers which source each program was built from, and keeps a copy
// of each program, so that the undoing of a source edit restores the program to
// the byte, whoever built it and with which flags.
type builds struct {
	dir string
	mu  sync.Mutex
	now map[string]string // digest of the source that the program is of, by program
	ran map[string]string // digest of the source at a service's last start, by service
}

func newBuilds(dir string) *builds {
	return &builds{dir: filepath.Join(dir, "programs"), now: map[string]string{}, ran: map[string]string{}}
}

// copyOf is where the program of a source is kept.
func (b *builds) copyOf(program, source string) string {
	sum := sha256.Sum256([]byte(program + "\x00" + source))
	return filepath.Join(b.dir, hex.EncodeToString(sum[:])[:24])
}

// start takes down the source at the begin: the program that runs is taken to be
// built from it, unless an earlier run of iikanji kept another one for it.
func (b *builds) start(r *running) error {
	sum, err := sourceSum(r.App.Source)
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
	if r.Role != iikanji.RoleApp || !s.buildable(r.Service) {
		return nil
	}
	sum, err := sourceSum(r.App.Source)
	if err != nil {
		return err
	}
	s.builds.started(r.Name, sum)
	for _, name := range s.names {
		o := s.services[name]
		if o == r || o.Role != iikanji.RoleApp || o.App.Source != r.App.Source || o.Program != r.Program || !s.buildable(o.Service) || s.builds.runs(name, sum) {
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

// sourceSum is a digest of the names and contents of a folder's files, without
// those whose names begin with a dot.
func sourceSum(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		own := sha256.New()
		if _, err := io.Copy(own, f); err != nil {
			return err
		}
		fmt.Fprintf(h, "%s\x00%x\n", path[len(dir):], own.Sum(nil))
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading the source in %s: %w", dir, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// buildable reports whether the program of an app can be made from its source.
func (s *Subject) buildable(service *target.Service) bool {
	return service.App.Source != "" && service.Program != "" && (service.App.Build != "" || service.Engine == iikanji.EngineGo)
}

// build makes the program anew if the source has changed since.
func (s *Subject) build(ctx context.Context, r *running) error {
	if r.Role != iikanji.RoleApp || !s.buildable(r.Service) {
		return nil
	}
	b := s.builds
	b.mu.Lock()
	defer b.mu.Unlock()
	sum, err := sourceSum(r.App.Source)
	if err != nil || sum == b.now[r.Program] {
		return err
	}
	if err := keep(r.Program, b.copyOf(r.Program, b.now[r.Program])); err != nil {
		return err
	}
	kept := b.copyOf(r.Program, sum)
	if _, err := os.Stat(kept); err == nil {
		err = replace(kept, r.Program)
		if err == nil {
			b.now[r.Program] = sum
		}
		return err
	}
	s.options.Progress("building " + r.Name)
	if err := s.make(ctx, r); err != nil {
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
	if r.Role != iikanji.RoleApp || !s.buildable(r.Service) {
		return nil
	}
	sum, err := sourceSum(r.App.Source)
	if err != nil {
		return err
	}
	for _, name := range s.names {
		o := s.services[name]
		if o == r || o.Role != iikanji.RoleApp || o.App.Source != r.App.Source || !s.buildable(o.Service) || !s.builds.keeps(o.Program, sum) {
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
	_, err := os.Stat(b.copyOf(program, source))
	return err == nil && b.now[program] != source
}

// make builds the program in its place.
func (s *Subject) make(ctx context.Context, r *running) error {
	if r.App.Build != "" {
		return s.shell(ctx, r, r.App.Source, r.App.Build)
	}
	tmp := filepath.Join(filepath.Dir(r.Program), "."+filepath.Base(r.Program)+".iikanji")
	err := s.goBuild(ctx, r, r.App.Source, tmp)
	if err == nil {
		err = replace(tmp, r.Program)
	}
	if e := os.Remove(tmp); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

// compile compiles a copy of the source, to prove that it does. It links no program: what
// only the linker sees fails the real build, which leaves the program as it is.
func (s *Subject) compile(ctx context.Context, r *running, dir string) error {
	if r.Engine == iikanji.EngineGo {
		return s.goCommand(ctx, r, dir, "list", "-export", "-f", `{{""}}`)
	}
	return nil // an interpreter reads the source at the start, and the health shows its errors
}

// A BuildError is a source that does not compile.
type BuildError struct{ Source, Output string }

func (e *BuildError) Error() string {
	return fmt.Sprintf("building %s: %s", e.Source, e.Output)
}

// goBuild builds the program of a folder of source. The owner of the source can write
// neither the program nor its folder.
func (s *Subject) goBuild(ctx context.Context, r *running, dir, out string) error {
	as, _, err := ownerOf(r.App.Source)
	if err != nil {
		return fmt.Errorf("building %s: %w", r.Name, err)
	}
	if as == nil {
		return s.goCommand(ctx, r, dir, "build", "-o", out)
	}
	tmp, err := os.MkdirTemp("", "iikanji-build")
	if err != nil {
		return fmt.Errorf("building %s: %w", r.Name, err)
	}
	defer os.RemoveAll(tmp)
	if err := os.Chown(tmp, int(as.Uid), int(as.Gid)); err != nil {
		return fmt.Errorf("building %s: %w", r.Name, err)
	}
	own := filepath.Join(tmp, "program")
	if err := s.goCommand(ctx, r, dir, "build", "-o", own); err != nil {
		return err
	}
	return copyFile(own, out)
}

// goCommand runs the go command with the app's package in a folder of source, as the
// owner of the source: a source that another user can write must not run code as root.
func (s *Subject) goCommand(ctx context.Context, r *running, dir string, args ...string) error {
	gobin, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("building %s: the go command is not in PATH: %w", r.Name, err)
	}
	as, env, err := ownerOf(r.App.Source)
	if err != nil {
		return fmt.Errorf("building %s: %w", r.Name, err)
	}
	return s.exec(ctx, dir, host.Command{Path: gobin, Args: append(args, "-buildvcs=false", cmp.Or(r.App.Package, ".")), Dir: dir, As: as,
		Env: append(env, "GOTOOLCHAIN=local", "PWD="+dir)})
}

// ownerOf is the user that owns a folder, with an environment for its commands;
// nil and the own environment for the user of this process.
func ownerOf(dir string) (*syscall.Credential, []string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || st.Uid == 0 {
		return nil, os.Environ(), nil
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	if u, err := user.LookupId(strconv.Itoa(int(st.Uid))); err == nil {
		env = append(env, "HOME="+u.HomeDir, "USER="+u.Username)
	} else {
		env = append(env, "HOME="+dir)
	}
	for _, name := range []string{"GOPROXY", "GOFLAGS", "GONOSUMDB", "GOPRIVATE", "GONOSUMCHECK", "GOSUMDB"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return &syscall.Credential{Uid: st.Uid, Gid: st.Gid}, env, nil
}

func (s *Subject) shell(ctx context.Context, r *running, dir, text string) error {
	return s.exec(ctx, r.App.Source, host.Command{Path: "/bin/sh", Args: []string{"-c", text}, Dir: dir, Env: os.Environ()})
}

func (s *Subject) exec(ctx context.Context, source string, c host.Command) error {
	res, err := s.host.Exec(ctx, c)
	if err != nil {
		return fmt.Errorf("building %s: %w", source, err)
	}
	if res.Status != 0 {
		return &BuildError{source, firstLines(res.Output)}
	}
	return nil
}

// keep copies a program, if it is not kept yet.
func keep(program, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", program, err)
	}
	return copyFile(program, to)
}

// replace puts a copy of a file in the place of a program. The running program
// keeps the old file.
func replace(from, program string) error {
	tmp := program + ".iikanji-new"
	if err := copyFile(from, tmp); err != nil {
		return err
	}
	if info, err := os.Stat(program); err == nil { // owner and mode stay
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			_ = os.Chown(tmp, int(st.Uid), int(st.Gid)) // only root may
		}
		if err := os.Chmod(tmp, info.Mode().Perm()); err != nil {
			return fmt.Errorf("replacing %s: %w", program, err)
		}
	}
	if err := os.Rename(tmp, program); err != nil {
		return fmt.Errorf("replacing %s: %w", program, err)
	}
	return nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	return nil
}
