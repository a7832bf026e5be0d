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

// Up starts the units that are down, and removes the guard of an interrupted order.
func (u *Units) Up(ctx context.Context) ([]string, error) {
	down, err := u.Down(ctx)
	if err != nil || len(down) == 0 {
		return nil, errors.Join(err, u.unguard(ctx))
	}
	if err := u.startAll(ctx); err != nil {
		return nil, err
	}
	if err := u.answers(ctx); err != nil {
		return down, err
	}
	return down, u.unguard(ctx)
}

// Restart stops all units and starts them in an order. If one does not come back it is
// started again, and the error names it. A guard starts all units if this process is
// killed.
func (u *Units) Restart(ctx context.Context, o Order) (says string, err error) {
	before, err := u.starts(ctx)
	if err != nil {
		return "", err
	}
	if err := u.guard(ctx, o.Gap); err != nil {
		return "", err
	}
	whole := context.WithoutCancel(ctx) // once stopped, all are started
	began := u.Now()
	if err := u.systemctl(whole, append([]string{"stop"}, u.names(nil)...)...); err != nil {
		return "", errors.Join(fmt.Errorf("ending the services: %w", err), u.rescue(whole))
	}
	if err := u.inOrder(ctx, whole, o); err != nil {
		return "", errors.Join(err, u.rescue(whole))
	}
	if err := u.answers(whole); err != nil {
		return "", errors.Join(err, u.rescue(whole))
	}
	took := u.Now().Sub(began)
	after, err := u.starts(whole)
	if err != nil {
		return "", err
	}
	says = fmt.Sprintf("all back after %.0f s: %s", took.Seconds(), count(len(u.names(nil)), "unit"))
	for _, s := range u.Services {
		if n := after[s.Unit] - before[s.Unit]; n > 0 && !s.Server {
			says += fmt.Sprintf("; %s asked its servers %d times", s.Name, n+1)
		}
	}
	return says, u.unguard(whole)
}

// inOrder starts the units.
func (u *Units) inOrder(ctx, whole context.Context, o Order) error {
	if !o.ClientsFirst {
		return u.systemctl(whole, append([]string{"start", "--no-block"}, u.names(nil)...)...)
	}
	clients, servers := u.names(func(s UnitService) bool { return !s.Server }), u.names(func(s UnitService) bool { return s.Server })
	if err := u.systemctl(whole, append([]string{"start", "--no-block"}, clients...)...); err != nil {
		return err
	}
	select {
	case <-ctx.Done(): // the servers are started all the same
	case <-time.After(o.Gap):
	}
	return u.systemctl(whole, append([]string{"start", "--no-block"}, servers...)...)
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

// rescue starts everything: a site is never left down.
func (u *Units) rescue(ctx context.Context) error {
	if err := errors.Join(u.startAll(ctx), u.answers(ctx)); err != nil {
		return fmt.Errorf("starting everything again: %w", err)
	}
	return u.unguard(ctx)
}

// startAll starts the servers, then the others.
func (u *Units) startAll(ctx context.Context) error {
	_ = u.systemctl(ctx, append([]string{"reset-failed"}, u.names(nil)...)...) // a unit that is not loaded has no failure
	servers := u.names(func(s UnitService) bool { return s.Server })
	if len(servers) > 0 {
		if err := u.systemctl(ctx, append([]string{"start"}, servers...)...); err != nil {
			return err
		}
	}
	return u.systemctl(ctx, append([]string{"start"}, u.names(func(s UnitService) bool { return !s.Server })...)...)
}

// answers waits until all units are active and all services accept connections.
func (u *Units) answers(ctx context.Context) error { return u.answersWithin(ctx, backWithin) }

func (u *Units) answersWithin(ctx context.Context, most time.Duration) error {
	end := u.Now().Add(most)
	for {
		late, err := u.late(ctx)
		if err == nil && late == "" {
			return nil
		}
		if u.Now().After(end) {
			return errors.Join(err, &LateError{late})
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}

// A LateError is a service that did not come back.
type LateError struct{ Says string }

func (e *LateError) Error() string { return e.Says }

// late is the first service that does not answer, "" for none.
func (u *Units) late(ctx context.Context) (string, error) {
	for _, s := range u.Services {
		active, err := u.show(ctx, s.Unit, "ActiveState")
		if err != nil {
			return "", err
		}
		if active != "active" {
			result, _ := u.show(ctx, s.Unit, "Result")
			return fmt.Sprintf("%s did not come back: %s is %s (%s)", s.Name, s.Unit, active, result), nil
		}
		if s.Listen == "" {
			continue
		}
		dial, cancel := context.WithTimeout(ctx, 2*time.Second)
		conn, err := u.Host.Dial(dial, s.Network, s.Listen)
		cancel()
		if err != nil {
			return fmt.Sprintf("%s does not answer at %s", s.Name, s.Listen), nil
		}
		conn.Close()
	}
	return "", nil
}

// starts are how often systemd has started each unit again.
func (u *Units) starts(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	for _, name := range u.names(nil) {
		text, err := u.show(ctx, name, "NRestarts")
		if err != nil {
			return nil, err
		}
		out[name], _ = strconv.Atoi(text)
	}
	return out, nil
}

// guard has systemd itself start everything after a time.
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
