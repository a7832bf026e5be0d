package livesite

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/mirror"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// An app of another machine is read and compiled here, in a mirror of its source. A Go program
// without C is also built here, for the other machine's processor, and sent: a full machine has
// no time for a compiler, and may have none. Everything else is built where it runs, also a
// program that may need what the mirror leaves out.

// mirror makes the mirror of a service's source that of now, and returns its folder
// and what it leaves out.
func (s *Subject) mirror(ctx context.Context, r *running) (string, []mirror.LeftOut, error) {
	s.mirrors.Lock()
	defer s.mirrors.Unlock()
	// The last part is that of the source: messages of the compiler name it.
	dir := filepath.Join(s.options.Dir, "source", r.Host+"-"+keptName(r.App.Source)[:8], filepath.Base(r.App.Source))
	left, err := mirror.Sync(ctx, r.host, mirror.Source{Dir: r.App.Source, Program: r.Program}, dir)
	return dir, left, err
}

// compileFar compiles a folder of this machine with Go for the other one.
func (s *Subject) compileFar(ctx context.Context, r *running, dir string) error {
	arch, err := archOf(ctx, r.host)
	if err != nil {
		return err
	}
	_, err = s.goHere(ctx, r, dir, arch, "list", "-export", "-f", `{{""}}`, cmp.Or(r.App.Package, ".")) // see process.CompileOnly
	return err
}

// goHere runs the go command of this machine in a folder, for the processor of another one. It
// runs nothing of the folder: cgo, whose flags can name programs, is off.
func (s *Subject) goHere(ctx context.Context, r *running, dir, arch string, args ...string) (string, error) {
	res, err := change.GoCommandFor(ctx, s.hosts[""], arch, dir, args...)
	if err != nil {
		return "", fmt.Errorf("building %s: %w", r.Name, err)
	}
	return string(res.Output), buildError(r, dir, res)
}

// archOf is the processor of a host in the words of Go.
func archOf(ctx context.Context, h host.Host) (string, error) {
	res, err := h.Exec(ctx, host.Command{Path: "/bin/uname", Args: []string{"-m"}, Dir: "/"})
	if err != nil {
		return "", fmt.Errorf("asking for the processor of %s: %w", h.Name(), err)
	}
	switch name := strings.TrimSpace(string(res.Output)); name {
	case "x86_64":
		return "amd64", nil
	case "aarch64":
		return "arm64", nil
	default:
		return "", fmt.Errorf("programs for the processor of %s (%q) cannot be built here", h.Name(), name)
	}
}

// makeFar builds the program of an app of another machine and puts it in its place.
func (s *Subject) makeFar(ctx context.Context, r *running) error {
	if r.App.Build != "" {
		_, err := s.buildThere(ctx, r, r.App.Build)
		return err
	}
	dir, left, err := s.mirror(ctx, r)
	if err != nil {
		return err
	}
	arch, err := archOf(ctx, r.host)
	if err != nil {
		return err
	}
	why, err := s.whyThere(ctx, r, dir, arch, left)
	if err != nil {
		return err
	}
	if why != "" {
		s.options.Progress(fmt.Sprintf("%s is built on %s: %s", r.Name, r.Host, why))
		return s.goBuildThere(ctx, r)
	}
	made := s.unfinished(r)
	if err := os.MkdirAll(filepath.Dir(made), 0o700); err != nil {
		return fmt.Errorf("building %s: %w", r.Name, err)
	}
	if _, err := s.goHere(ctx, r, dir, arch, "build", "-buildvcs=false", "-o", made, cmp.Or(r.App.Package, ".")); err != nil {
		return err
	}
	return s.install(r, made)
}

// whyThere is why a Go program cannot be built in a mirror of its source; "" if it can.
func (s *Subject) whyThere(ctx context.Context, r *running, dir, arch string, left []mirror.LeftOut) (string, error) {
	if why, err := s.lacks(ctx, r, dir, arch, left); why != "" || err != nil {
		return why, err
	}
	usesC, err := s.usesC(ctx, r, dir, arch)
	if usesC != "" {
		usesC += " has parts in C"
	}
	return usesC, err
}

// usesC names a package outside of the standard library that a Go program has and that is
// partly in C; "" for none. Without C such packages build, and fail when they are used.
func (s *Subject) usesC(ctx context.Context, r *running, dir, arch string) (string, error) {
	out, err := s.goHere(ctx, r, dir, arch, "list", "-deps", "-f", `{{if not .Standard}}{{range .IgnoredGoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`, cmp.Or(r.App.Package, "."))
	if err != nil {
		return "", err
	}
	for path := range strings.Lines(out) { // files that this build leaves out
		path = strings.TrimSpace(path)
		if body, err := os.ReadFile(path); err == nil && strings.Contains(string(body), "\nimport \"C\"") {
			return filepath.Base(filepath.Dir(path)), nil
		}
	}
	return "", nil
}

// goBuildLine builds a Go program in a new folder and says where it is; a source that does not
// build leaves no folder behind.
func goBuildLine(pkg string) string {
	return `out=$(mktemp -d /tmp/iikanji-build-XXXXXXXXXX) || exit 1; { go build -buildvcs=false -o "$out/program" ` +
		host.Quote(pkg) + ` && printf %s "$out/program"; } || { rm -rf -- "$out"; exit 1; }`
}

// goBuildThere builds a Go program on its machine, in a folder of the source's owner.
func (s *Subject) goBuildThere(ctx context.Context, r *running) (err error) {
	made, err := s.buildThere(ctx, r, goBuildLine(cmp.Or(r.App.Package, ".")))
	if err != nil {
		return err
	}
	made = strings.TrimSpace(made[strings.LastIndexByte(made, '\n')+1:])
	if !strings.HasPrefix(made, "/tmp/iikanji-build-") || made != filepath.Clean(made) {
		return fmt.Errorf("building %s on %s: it does not say where the program is: %.200q", r.Name, r.Host, made)
	}
	folder, err := r.host.RealPath(filepath.Dir(made))
	if err != nil {
		return fmt.Errorf("building %s on %s: %w", r.Name, r.Host, err)
	}
	defer func() {
		_, e := s.buildThere(context.WithoutCancel(ctx), r, "rm -rf -- "+host.Quote(folder))
		err = joinErrors(err, e)
	}()
	body, err := r.host.ReadBeneath(filepath.Dir(folder), filepath.Join(folder, "program")) // a link there leads nowhere
	if err == nil {
		err = r.host.Write(r.Program, body, 0o755)
	}
	if err != nil {
		return fmt.Errorf("building %s on %s: %w", r.Name, r.Host, err)
	}
	return nil
}

// buildThere runs a command in the source on its machine, as the owner of the source: one that
// another user can write must not run code as root.
func (s *Subject) buildThere(ctx context.Context, r *running, command string) (string, error) {
	as, env, err := process.OwnerOn(r.host, r.App.Source)
	if err != nil {
		return "", fmt.Errorf("building %s on %s: %w", r.Name, r.Host, err)
	}
	res, err := r.host.Exec(ctx, host.Command{Path: "/bin/sh", Args: []string{"-c", command}, Dir: r.App.Source, Env: append(env, "GOTOOLCHAIN=local"), As: as})
	if err != nil {
		return "", fmt.Errorf("building %s on %s: %w", r.Name, r.Host, err)
	}
	return string(res.Output), buildError(r, r.App.Source, res)
}
