package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// commandWait limits one command of a deployment.
const commandWait = 10 * time.Minute

// A StepError is a step of a deployment that failed while the former version served on.
type StepError struct {
	Step  string   // syntax, dependencies, build
	Lines []string // last lines of its output
	Code  int
}

func (e *StepError) Error() string {
	return fmt.Sprintf("%s failed with status %d:\n  %s", e.Step, e.Code, strings.Join(e.Lines, "\n  "))
}

// run runs a command in the source as the source's owner: a source that another user can
// write must not run code as root.
func (d *deployment) run(ctx context.Context, command string, env []string, args ...string) (host.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, commandWait)
	defer cancel()
	as, all, err := d.o.As(d.o.App.Source)
	if err != nil {
		return host.Result{}, err
	}
	if d.o.Path != "" {
		all = append(all, "PATH="+d.o.Path)
	}
	return d.o.Host.Exec(ctx, host.Command{Path: "/bin/sh", Args: append([]string{"-c", command, "sh"}, args...), Env: append(all, env...), Dir: d.o.App.Source, As: as})
}

// shell runs a command, whose failure is that of a step.
func (d *deployment) shell(ctx context.Context, step, command string, env []string, args ...string) error {
	res, err := d.run(ctx, command, env, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	if res.Status != 0 {
		return &StepError{step, LastLines(string(res.Output), shownLines), res.Status}
	}
	return nil
}

// shownLines is how many lines of an output or a log are shown.
const shownLines = 20

// LastLines are the last printable lines of a text.
func LastLines(text string, n int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(plain.Line(strings.TrimRight(line, "\r\n")), " "); line != "" {
			lines = append(lines, plain.Cut(line, 300))
		}
	}
	return lines[max(0, len(lines)-n):]
}

// check checks the syntax of the files that differ from the last good version.
func (d *deployment) check(ctx context.Context) error {
	if d.form.Check == "" {
		return nil
	}
	files := d.form.checked(d.now, d.record.Good)
	if len(files) == 0 {
		return nil
	}
	d.say("checking the syntax: %s", listed(files))
	if !d.form.Each {
		return d.shell(ctx, "syntax", d.form.Check, nil, files...)
	}
	for _, f := range files {
		if err := d.shell(ctx, "syntax", d.form.Check, nil, f); err != nil {
			return err
		}
	}
	return nil
}

// listed are the first of some files, as one text.
func listed(files []string) string {
	const shown = 3
	if len(files) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:shown], ", "), len(files)-shown)
	}
	return strings.Join(files, ", ")
}

// lockSum is the digest of the dependencies' file, "" for none.
func (d *deployment) lockSum() string {
	if d.form.Lock == "" {
		return ""
	}
	return d.now.Files[d.form.Lock].Sum
}

// install installs dependencies whose file has changed since the last deployment. At the
// first one it is taken to be as installed.
func (d *deployment) install(ctx context.Context) (did bool, err error) {
	sum := d.lockSum()
	if d.form.Install == "" || sum == "" || d.record.Lock == "" || sum == d.record.Lock {
		return false, nil
	}
	d.say("%s has changed: %s", d.form.Lock, d.form.Install)
	return true, d.shell(ctx, "dependencies", d.form.Install, nil)
}

// build makes the program. The one that runs stays in its place, unless the site's own
// command writes there.
func (d *deployment) build(ctx context.Context) (made []byte, err error) {
	if d.form.Build == "" {
		return nil, nil
	}
	d.say("building: %s", d.form.Build)
	out, env := "", []string(nil)
	if d.form.Name == "go" && d.o.App.Build == "" {
		if out, err = d.scratch(ctx); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.clean(context.WithoutCancel(ctx), filepath.Dir(out))) }()
		env = []string{"OUT=" + out, "GOTOOLCHAIN=local"}
	}
	if err := d.shell(ctx, "build", d.form.Build, env); err != nil {
		return nil, err
	}
	if !d.form.Program {
		return nil, nil
	}
	if out != "" { // its folder is the owner's: a link there leads nowhere
		made, err = d.o.Host.ReadBeneath(filepath.Dir(filepath.Dir(out)), out)
	} else if out, err = d.output(); err == nil {
		made, err = d.o.Host.Read(out)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the new program: %w", err)
	}
	return made, nil
}

// scratch is a path for a new program in a folder of the owner of the source.
func (d *deployment) scratch(ctx context.Context) (string, error) {
	res, err := d.run(ctx, "mktemp -d /tmp/iikanji-deploy-XXXXXXXXXX", nil)
	dir := strings.TrimSpace(string(res.Output))
	if err == nil && (res.Status != 0 || !strings.HasPrefix(dir, "/tmp/")) {
		err = &StepError{"a folder for the build", LastLines(string(res.Output), shownLines), res.Status}
	}
	if err != nil {
		return "", fmt.Errorf("making a folder for the build: %w", err)
	}
	if dir, err = d.o.Host.RealPath(dir); err != nil {
		return "", fmt.Errorf("making a folder for the build: %w", err)
	}
	return filepath.Join(dir, "program"), nil
}

// clean removes the folder of a build, as its owner.
func (d *deployment) clean(ctx context.Context, dir string) error {
	res, err := d.run(ctx, `rm -rf -- "$1"`, nil, dir)
	if err == nil && res.Status != 0 {
		err = &StepError{"removing the folder of the build", LastLines(string(res.Output), shownLines), res.Status}
	}
	return err
}

// cargoName matches the name of a Cargo package.
var cargoName = regexp.MustCompile(`(?m)^name\s*=\s*"([^"]+)"`)

// output is where a build that names no output has put its program.
func (d *deployment) output() (string, error) {
	a := d.o.App
	if d.form.Name != "rust" || a.Build != "" {
		return a.Program, nil
	}
	names := []string{filepath.Base(a.Program)}
	if b, err := d.o.Host.Read(filepath.Join(a.Source, "Cargo.toml")); err == nil {
		for _, m := range cargoName.FindAllSubmatch(b, -1) {
			names = append(names, string(m[1]))
		}
	}
	for _, name := range names {
		path := filepath.Join(a.Source, "target", "release", name)
		if _, err := d.o.Host.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("cargo has made none of %s in target/release", strings.Join(names, ", "))
}
