package livesite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Way describes how a service is restarted. The error, which wraps field.ErrNoRestart, is
// that of a service that cannot be started again as it was found.
func (s *Subject) Way(service string) (string, error) {
	r, ok := s.running()[service]
	if !ok {
		return "", fmt.Errorf("no service %q", service)
	}
	switch r.Method() {
	case target.ByUnit:
		return "by its systemd unit, " + r.Unit, nil
	case target.ByCommand:
		return "by commands of " + target.Name, nil
	case target.ByParent:
		return "by its own supervisor, which starts it again when it ends", nil
	}
	if err := r.mayEnd(); r.far() || r.origin.Way.Err != nil {
		return "", err
	}
	if k := r.keeper; k != nil {
		return fmt.Sprintf("%s, unless the script that had started it (process %d, %s) starts it again", r.origin.Way.Says, k.id.PID, k.says), nil
	}
	return r.origin.Way.Says, nil
}

// errElsewhere is the reason why a process of another machine is not ended and started as it
// was found: systemd is what starts it there.
var errElsewhere = errors.New("on another machine a service is restarted by its unit or by commands only")

// mayEnd returns an error, which wraps field.ErrNoRestart, for a process that could not be
// started again once it has ended.
func (r *running) mayEnd() error {
	if r.far() {
		if m := r.Method(); m == target.ByUnit || m == target.ByCommand {
			return nil
		}
		return fmt.Errorf("service %s: %w: %w", r.Name, field.ErrNoRestart, errElsewhere)
	}
	switch w := r.origin.Way; {
	case w.Err != nil:
		return fmt.Errorf("service %s: %w: %w", r.Name, field.ErrNoRestart, w.Err)
	case w.Signal != 0:
		return fmt.Errorf("service %s: %w: only %s of its running process is known to start it again",
			r.Name, field.ErrNoRestart, unix.SignalName(w.Signal))
	}
	return nil
}

// testStart has the program of a service test its configuration before the process is
// ended: one that it refuses would leave the service down.
func (s *Subject) testStart(ctx context.Context, r *running) error {
	w, spec := r.origin.Way, r.origin.Spec
	if w.Err != nil {
		return r.mayEnd()
	}
	for _, path := range []string{spec.Path, spec.Dir} {
		if _, err := r.host.Stat(path); err != nil {
			return fmt.Errorf("service %s: %w: %w", r.Name, field.ErrNoRestart, err)
		}
	}
	if w.Test == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	res, err := r.host.Exec(ctx, host.Command{Path: spec.Path, Args: w.Test, Dir: spec.Dir,
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"}})
	if err != nil {
		return err
	}
	if res.Status != 0 {
		return &ConfigError{r.Name, errorLines(res.Output)}
	}
	return nil
}

// isAgain returns an error for a process that is another one than that which was found: it
// runs another program, or shows another command line or title.
func (r *running) isAgain(p *process.Process) error {
	o := r.origin
	if o == nil || r.started == nil {
		return nil
	}
	if p.Program != r.started.Path && !sameFile(p.Program, r.started.Path) {
		return fmt.Errorf("process %d runs %s, not %s", p.PID, p.Program, r.started.Path)
	}
	want := strings.Join(r.started.Args, " ")
	if o.Title != "" {
		if want = o.Title; !slices.Equal(r.started.Args, o.Spec.Args) {
			return nil // the title of other arguments is not known
		}
	}
	if now := p.Command(); now != want {
		return fmt.Errorf("process %d shows %q, not %q", p.PID, now, want)
	}
	return nil
}
