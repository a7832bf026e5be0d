package finalize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// Units are the services of a host that systemd starts.
type Units struct {
	Host     host.Host
	Label    string // the host's name for people; "" on a site with one host
	Services []UnitService
	Now      func() time.Time
}

// A UnitService is one service with its unit.
type UnitService struct {
	Name, Unit      string
	Server          bool // a database, a cache or a queue
	Network, Listen string
}

// guardUnit is a timer that starts all units if this process ends in the middle of an order.
const guardUnit = "iikanji-finalize-guard"

// Times of starts.
const (
	guardAfter = 30 * time.Second // after the order's gap
	backWithin = 60 * time.Second // until all answer, after the last start
	poll       = 250 * time.Millisecond
)

// Down are the services whose units are not active.
func (u *Units) Down(ctx context.Context) ([]string, error) {
	var down []string
	for _, s := range u.Services {
		active, err := u.show(ctx, s.Unit, "ActiveState")
		if err != nil {
			return nil, err
		}
		if active != "active" && active != "activating" && active != "reloading" {
			down = append(down, s.Name)
		}
	}
	return down, nil
}

// names are the units of services, each once.
func (u *Units) names(only func(UnitService) bool) (names []string) {
	for _, s := range u.Services {
		if (only == nil || only(s)) && !slices.Contains(names, s.Unit) {
			names = append(names, s.Unit)
		}
	}
	return names
}

// A LateError is a service or a machine that did not come back.
type LateError struct {
	Says   string
	failed bool // systemd does not try it again
}

func (e *LateError) Error() string { return e.Says }

// late is the first service that does not answer, nil for none.
func (u *Units) late(ctx context.Context) (*LateError, error) {
	late, err := u.lateHere(ctx)
	if late != nil && u.Label != "" {
		late.Says = u.Label + ": " + late.Says
	}
	return late, err
}

func (u *Units) lateHere(ctx context.Context) (*LateError, error) {
	for _, s := range u.Services {
		active, err := u.show(ctx, s.Unit, "ActiveState")
		if err != nil {
			return nil, err
		}
		if active != "active" {
			result, _ := u.show(ctx, s.Unit, "Result")
			return &LateError{fmt.Sprintf("%s did not come back: %s is %s (%s)", s.Name, s.Unit, active, result), active == "failed"}, nil
		}
		if s.Listen == "" {
			continue
		}
		dial, cancel := context.WithTimeout(ctx, 2*time.Second)
		conn, err := u.Host.Dial(dial, s.Network, s.Listen)
		cancel()
		if lostHost(err) != nil {
			return nil, err
		}
		if err != nil {
			return &LateError{Says: fmt.Sprintf("%s does not answer at %s", s.Name, s.Listen)}, nil
		}
		conn.Close()
	}
	return nil, nil
}

// starts are how often systemd has started each unit again.
func (u *Units) starts(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	for _, name := range u.names(nil) {
		text, err := u.show(ctx, name, "NRestarts")
		if err != nil {
			return nil, err
		}
		out[name], _ = strconv.Atoi(text) // systemd before 235 has no count
	}
	return out, nil
}

// asked says which clients systemd has started more often than before: they ended because
// their servers did not answer yet. before is nil after a boot.
func (u *Units) asked(ctx context.Context, before map[string]int) (says string, err error) {
	after, err := u.starts(ctx)
	for _, s := range u.Services {
		if n := after[s.Unit] - before[s.Unit]; n > 0 && !s.Server {
			says += fmt.Sprintf("; %s asked its servers %d times", s.Name, n+1)
		}
	}
	return says, err
}

// servers and clients are the units of each.
func (u *Units) servers() []string { return u.names(func(s UnitService) bool { return s.Server }) }
func (u *Units) clients() []string { return u.names(func(s UnitService) bool { return !s.Server }) }

// reach connects to the host again if its connection is lost.
func (u *Units) reach(ctx context.Context) error {
	return host.Reconnect(ctx, u.Host)
}

// at adds the host to an error.
func (u *Units) at(err error) error {
	var lost *host.LostError // names it
	if err == nil || u.Label == "" || errors.As(err, &lost) {
		return err
	}
	return fmt.Errorf("on %s: %w", u.Label, err)
}

// guard has systemd itself start everything some time after a gap.
func (u *Units) guard(ctx context.Context, gap time.Duration) error {
	if err := u.unguard(ctx); err != nil {
		return err
	}
	after := strconv.Itoa(int((gap + guardAfter).Seconds()))
	args := append([]string{"--unit=" + guardUnit, "--on-active=" + after, "--timer-property=AccuracySec=1s", "--collect", "--quiet", "systemctl", "start"}, u.names(nil)...)
	if _, err := u.run(ctx, "systemd-run", args...); err != nil {
		return fmt.Errorf("setting a timer that starts the services if this command is killed: %w", err)
	}
	return nil
}

// unguard removes the timer. One that has ended already is gone.
func (u *Units) unguard(ctx context.Context) error {
	_, err := u.run(context.WithoutCancel(ctx), "systemctl", "stop", guardUnit+".timer")
	var ended *CommandError
	if errors.As(err, &ended) { // there is none
		return nil
	}
	return err
}

func (u *Units) systemctl(ctx context.Context, args ...string) error {
	_, err := u.run(ctx, "systemctl", args...)
	return err
}

// show is one property of a unit.
func (u *Units) show(ctx context.Context, unit, property string) (string, error) {
	out, err := u.run(ctx, "systemctl", "show", "--property="+property, "--value", unit)
	return strings.TrimSpace(out), err
}

// A CommandError is a command that failed.
type CommandError struct {
	Command, Output string
	Status          int
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("%s ended with status %d: %s", e.Command, e.Status, e.Output)
}

func (u *Units) run(ctx context.Context, name string, args ...string) (string, error) {
	res, err := u.Host.Exec(ctx, host.Command{Path: name, Args: args, Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0"}})
	if err != nil {
		return "", err
	}
	if res.Status != 0 {
		return "", &CommandError{name + " " + strings.Join(args, " "), strings.TrimSpace(string(res.Output)), res.Status}
	}
	return string(res.Output), nil
}

// IsServer reports whether others need a role when they start.
func IsServer(r iikanji.Role) bool {
	return r == iikanji.RoleDatabase || r == iikanji.RoleCache || r == iikanji.RoleQueue
}
