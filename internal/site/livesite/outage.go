package livesite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// An Outage is a service that did not come back from a restart. It is kept in a file of
// the work folder until the service runs again, so that doctor and recover can name it.
type Outage struct {
	Service string    `json:"service"`
	Since   time.Time `json:"since"`
	Why     string    `json:"why"`
	Command string    `json:"command"` // that starts it, for people; it has no environment, which may have secrets
}

func (o *Outage) Error() string {
	return fmt.Sprintf("service %s did not come back from its restart at %s: %s",
		o.Service, o.Since.Format(time.RFC3339), o.Why)
}

// Hints tells how to start it.
func (o *Outage) Hints() []string {
	return []string{"start it as the site does, or: " + o.Command}
}

func outageFile(dir, service string) string { return filepath.Join(dir, "down", service+".json") }

// comebacks are the waits before the further starts of a service that is down after its
// restart. Its address may still be in use, or what it connects to may not be ready yet.
var comebacks = [...]time.Duration{250 * time.Millisecond, time.Second, 4 * time.Second}

// comeBack starts a service again whose restart ended with an error that leaves it down. It
// returns the last error, nil once the service answers.
func (s *Subject) comeBack(ctx context.Context, r *running, err error) error {
	for n, wait := range comebacks {
		if err == nil || !r.mayComeBack(err) {
			return err
		}
		s.options.Progress(fmt.Sprintf("service %s is down (%s) and is started again: attempt %d of %d",
			r.Name, firstLines([]byte(err.Error())), n+1, len(comebacks)))
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
		err = s.restartOnce(ctx, r)
	}
	return err
}

// mayComeBack reports whether an error left a service without a process, and whether it is
// known how to start it. One that runs and does not answer is not started again: it may be
// recovering its data.
func (r *running) mayComeBack(err error) bool {
	if m := r.Method(); m == target.ByParent || r.far() && r.mayEnd() != nil || m == target.ByProcess && r.mayEnd() != nil {
		return false
	}
	var slow *NotReadyError
	return errors.Is(err, process.ErrEnded) || !errors.As(err, &slow) && !r.runs()
}

// noteOutage keeps the error of a restart if the service does not run or answer. A service
// that was left alone has no outage.
func (s *Subject) noteOutage(r *running, err error) error {
	if s.ctx.Err() != nil || s.Ask(s.ctx, r.Service) == nil && r.runs() {
		return err
	}
	o := &Outage{Service: r.Name, Since: time.Now().Round(time.Second),
		Why: firstLines([]byte(err.Error())), Command: r.command()}
	b, failed := json.MarshalIndent(o, "", "  ")
	path := outageFile(s.options.Dir, r.Name)
	if failed == nil {
		failed = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if failed == nil {
		failed = host.Local{}.Write(path, append(b, '\n'), 0o600)
	}
	if failed != nil {
		err = errors.Join(err, fmt.Errorf("keeping that service %s is down: %w", r.Name, failed))
	}
	return err
}

// forgetOutage removes what was kept of a service that runs again.
func (s *Subject) forgetOutage(r *running) error {
	if err := os.Remove(outageFile(s.options.Dir, r.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting that service %s was down: %w", r.Name, err)
	}
	return nil
}

// Outages are the services of a site that did not come back from a restart and do not run.
func Outages(hosts Hosts, f *target.File, dir string) ([]*Outage, error) {
	machines, unread := hosts.Machines(f)
	var out []*Outage
	for i := range f.Services {
		b, err := os.ReadFile(outageFile(dir, f.Services[i].Name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		o := &Outage{}
		if err == nil {
			err = json.Unmarshal(b, o)
		}
		if err != nil {
			return nil, fmt.Errorf("reading which services are down: %w", err)
		}
		if unread[f.Services[i].Host] != nil { // whether it runs is not known
			continue
		}
		if _, err := Find(machines[f.Services[i].Host], &f.Services[i]); err != nil {
			out = append(out, o)
		}
	}
	return out, nil
}

// there says on which machine a line is to be typed, "" for this one.
func (r *running) there() string {
	if r.far() {
		return "on " + r.Host + ": "
	}
	return ""
}

// command starts the service, as a line for a shell.
func (r *running) command() string {
	switch r.Method() {
	case target.ByUnit:
		return r.there() + "systemctl start " + host.Quote(r.Unit)
	case target.ByCommand:
		if r.Commands.Start != "" {
			return r.Commands.Start
		}
		return r.Commands.Restart
	case target.ByParent:
		return "its supervisor"
	}
	if r.far() {
		return r.there() + "start it as the machine does"
	}
	spec := r.origin.Spec
	words := []string{"cd", host.Quote(spec.Dir), "&&"}
	if spec.UID != os.Geteuid() {
		name := "#" + strconv.Itoa(spec.UID)
		if u, err := user.LookupId(strconv.Itoa(spec.UID)); err == nil {
			name = u.Username
		}
		words = append(words, "sudo", "-u", host.Quote(name))
	}
	words = append(words, host.Quote(spec.Path))
	for _, a := range spec.Args[min(1, len(spec.Args)):] {
		words = append(words, host.Quote(a))
	}
	return strings.Join(words, " ")
}
