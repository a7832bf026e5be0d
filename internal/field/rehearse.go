package field

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/tune"
)

// rehearsalWait is the time until the last write of a database is on disk, with the
// setting that syncs once a second.
const rehearsalWait = 2 * time.Second

// early is how long an app may try to start without its database.
const early = 5 * time.Second

// Rehearse implements tune.Field: all services are killed at once, as in a
// power cut without the loss of the page cache, and started in the worst order: web
// servers, apps, then what the apps need.
func (f *Field) Rehearse(ctx context.Context) (tune.Rehearsal, error) {
	r := tune.Rehearsal{Done: true}
	if err := f.revive(ctx); err != nil {
		return r, err
	}
	select {
	case <-ctx.Done():
		return r, context.Cause(ctx)
	case <-time.After(rehearsalWait):
	}
	before, err := f.contents(ctx)
	if err != nil {
		return r, err
	}
	f.Subject.Deaths().expect(true)
	defer f.Subject.Deaths().expect(false)
	if err := f.Subject.Kill(ctx); err != nil {
		return r, err
	}
	says, err := f.startInWorstOrder(ctx)
	if err != nil {
		return r, err
	}
	after, err := f.contents(ctx)
	if err != nil {
		return r, err
	}
	for table, sum := range before {
		if after[table] != sum {
			says = append(says, fmt.Sprintf("table %s has changed: %s rows before, %s after", table, sum, after[table]))
			r.Says = strings.Join(says, "; ")
			return r, nil
		}
	}
	fails, err := f.Check(ctx)
	if err != nil {
		return r, err
	}
	r.OK = fails == nil
	says = append([]string{"all services were killed and came back in the worst order, with all data"}, says...)
	r.Says = strings.Join(append(says, checksFail(fails)), "; ")
	return r, nil
}

func checksFail(fails []string) string {
	if fails == nil {
		return "the checks pass"
	}
	return "the checks fail: " + strings.Join(fails, "; ")
}

// startInWorstOrder starts all services and returns remarks for the user: apps that
// do not wait for their database are started again after it.
func (f *Field) startInWorstOrder(ctx context.Context) (says []string, err error) {
	t := f.Subject.Target()
	for _, s := range t.WithRole(iikanji.RoleWeb) {
		if err := f.Subject.Restart(ctx, s.Name); err != nil {
			return nil, fmt.Errorf("starting %s first: %w", s.Name, err)
		}
	}
	var again []string
	apps := t.WithRole(iikanji.RoleApp)
	for _, s := range apps {
		alone, cancel := context.WithTimeout(ctx, early)
		err := f.Subject.Restart(alone, s.Name)
		cancel()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			again = append(again, s.Name)
		}
	}
	for _, s := range t.Services {
		if s.Role == iikanji.RoleWeb || s.Role == iikanji.RoleApp {
			continue
		}
		if err := f.Subject.Restart(ctx, s.Name); err != nil {
			return nil, fmt.Errorf("starting %s after the app: %w", s.Name, err)
		}
	}
	for _, name := range again {
		who := name
		if len(apps) == 1 {
			who = "the app"
		}
		says = append(says, who+" does not wait for its database and had to be restarted: it needs a restart policy")
		if err := f.Subject.Restart(ctx, name); err != nil {
			return says, fmt.Errorf("starting %s again: %w", name, err)
		}
	}
	return says, nil
}
