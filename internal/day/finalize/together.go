package finalize

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Machines are the units of all hosts of a site.
type Machines []*Units

// each calls do with all hosts at once.
func (m Machines) each(do func(u *Units) error) error {
	errs := make([]error, len(m))
	var all sync.WaitGroup
	for i, u := range m {
		all.Go(func() { errs[i] = u.at(do(u)) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Up starts the units that are down, and removes the guards of an interrupted order.
func (m Machines) Up(ctx context.Context) (down []string, err error) {
	for _, u := range m {
		names, err := u.Down(ctx)
		if err != nil {
			return nil, u.at(err)
		}
		down = append(down, names...)
	}
	if len(down) > 0 {
		if err := m.startAll(ctx); err != nil {
			return nil, err
		}
		if err := m.answers(ctx); err != nil {
			return down, err
		}
	}
	return down, m.each(func(u *Units) error { return u.unguard(ctx) })
}

// Restart stops all units of all hosts and starts them in an order. If one does not come back
// it is started again, and the error names it. A guard on each host starts its units if this
// process is killed, or if the host is lost.
func (m Machines) Restart(ctx context.Context, o Order) (says string, err error) {
	before := make([]map[string]int, len(m))
	for i, u := range m {
		if before[i], err = u.starts(ctx); err != nil {
			return "", u.at(err)
		}
	}
	if err := m.each(func(u *Units) error { return u.guard(ctx, o.Gap) }); err != nil {
		return "", err
	}
	whole := context.WithoutCancel(ctx) // once stopped, all are started
	began := time.Now()
	if err := m.each(func(u *Units) error { return u.act(whole, "stop", u.names(nil)) }); err != nil {
		return "", errors.Join(fmt.Errorf("ending the services: %w", err), m.rescue(whole))
	}
	if err := m.inOrder(ctx, whole, o); err != nil {
		return "", errors.Join(err, m.rescue(whole))
	}
	if err := m.answers(whole); err != nil {
		return "", errors.Join(err, m.rescue(whole))
	}
	units := 0
	says = fmt.Sprintf("all back after %.0f s: ", time.Since(began).Seconds())
	asked := ""
	for i, u := range m {
		units += len(u.names(nil))
		text, err := u.asked(whole, before[i])
		if err != nil {
			return "", u.at(err)
		}
		asked += text
	}
	return says + count(units, "unit", "units") + asked, m.each(func(u *Units) error { return u.unguard(whole) })
}

// inOrder starts the units.
func (m Machines) inOrder(ctx, whole context.Context, o Order) error {
	if !o.ClientsFirst {
		return m.each(func(u *Units) error { return u.act(whole, "start", u.names(nil)) })
	}
	if err := m.each(func(u *Units) error { return u.act(whole, "start", u.clients()) }); err != nil {
		return err
	}
	sleep(ctx, o.Gap) // the servers are started all the same
	return m.each(func(u *Units) error { return u.act(whole, "start", u.servers()) })
}

// sleep waits; it ends with the context.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// act ends units and waits for their end, or starts them without waiting for it.
func (u *Units) act(ctx context.Context, what string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	args := []string{what}
	if what == "start" {
		args = append(args, "--no-block")
	}
	return u.systemctl(ctx, append(args, names...)...)
}

// rescue starts everything: a site is never left down.
func (m Machines) rescue(ctx context.Context) error {
	if err := errors.Join(m.startAll(ctx), m.answers(ctx)); err != nil {
		return fmt.Errorf("starting everything again: %w", err)
	}
	return m.each(func(u *Units) error { return u.unguard(ctx) })
}

// startAll starts the servers of all hosts, then the others.
func (m Machines) startAll(ctx context.Context) error {
	err := m.each(func(u *Units) error {
		_ = u.systemctl(ctx, append([]string{"reset-failed"}, u.names(nil)...)...) // a unit that is not loaded has no failure
		if len(u.servers()) == 0 {
			return nil
		}
		return u.systemctl(ctx, append([]string{"start"}, u.servers()...)...)
	})
	return errors.Join(err, m.each(func(u *Units) error {
		if len(u.clients()) == 0 {
			return nil
		}
		return u.systemctl(ctx, append([]string{"start"}, u.clients()...)...)
	}))
}

// answers waits until all units are active and all services accept connections.
func (m Machines) answers(ctx context.Context) error { return m.answersWithin(ctx, backWithin) }

// failedFor is how long a unit may be failed until nothing else is expected to start it.
const failedFor = 15 * time.Second

func (m Machines) answersWithin(ctx context.Context, most time.Duration) error {
	failed := time.Time{} // since when
	for end := time.Now().Add(most); ; {
		late, err := m.late(ctx)
		if err == nil && late == nil {
			return nil
		}
		switch {
		case late == nil || !late.failed:
			failed = time.Time{}
		case failed.IsZero():
			failed = time.Now()
		}
		if time.Now().After(end) || !failed.IsZero() && time.Since(failed) > failedFor {
			if late != nil {
				err = errors.Join(err, late)
			}
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		sleep(ctx, poll)
	}
}

// late is the first service that does not answer, nil for none. A host whose connection was
// lost is connected to again.
func (m Machines) late(ctx context.Context) (*LateError, error) {
	for _, u := range m {
		late, err := u.late(ctx)
		var lost *host.LostError
		if errors.As(err, &lost) {
			if err = u.reach(ctx); err == nil {
				late, err = u.late(ctx)
			}
		}
		if late != nil || err != nil {
			return late, u.at(err)
		}
	}
	return nil, nil
}

// labels are the names of hosts for people.
func (m Machines) labels() (all []string) {
	for _, u := range m {
		all = append(all, u.Label)
	}
	return all
}

// with are the hosts that a condition holds for.
func (m Machines) with(is func(u *Units) bool) (some Machines) {
	for _, u := range m {
		if is(u) {
			some = append(some, u)
		}
	}
	return some
}

// here reports whether the host is the machine on which the command runs.
func (u *Units) here() bool { return u.Host.Name() == "" }

// called is the host's name for people, also on a site with one.
func called(label string) string {
	if label == "" {
		return "the machine"
	}
	return strings.TrimSpace(label)
}
