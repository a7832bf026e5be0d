package field

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
)

// rehearsalWait is the time until the last write of a database is on disk, with the
// setting that syncs once a second.
const rehearsalWait = 2 * time.Second

// early is how long an app may try to start without its database.
const early = 5 * time.Second

// Rehearse implements the Field of a search: all services are killed at once, as in a
// power cut without the loss of the page cache, and started in the worst order: web
// servers, apps, then what the apps need.
func (f *Field) Rehearse(ctx context.Context) (load.Rehearsal, error) {
	r := load.Rehearsal{Done: true}
	if err := f.revive(ctx); err != nil {
		return r, err
	}
	if err := pause(ctx, rehearsalWait); err != nil {
		return r, err
	}
	before, moving, err := f.settled(ctx)
	if err != nil {
		return r, err
	}
	running := slices.Sorted(maps.Keys(f.Subject.Groups()))
	if len(running) == 0 {
		return load.Rehearsal{Says: "not made: the target has no service that runs"}, nil
	}
	f.Subject.Deaths().expect(true)
	defer f.Subject.Deaths().expect(false)
	err = f.Subject.Kill(ctx)
	if errors.Is(err, ErrNoRestart) {
		return load.Rehearsal{Says: "not made: " + err.Error()}, nil
	}
	if err != nil {
		return r, err
	}
	says, err := f.startInWorstOrder(ctx, running)
	if err != nil {
		return r, err
	}
	found, same, err := f.sameContents(ctx, before, moving)
	if err != nil {
		return r, err
	}
	if says = append(says, found...); !same {
		r.Says = strings.Join(says, "; ")
		return r, nil
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

// sameContents compares the contents of all tables with those of before, except for tables
// that were moving, and returns remarks for the user.
func (f *Field) sameContents(ctx context.Context, before map[string]string, moving []string) (says []string, same bool, err error) {
	after, err := f.contents(ctx)
	if err != nil {
		return nil, false, err
	}
	changed := differing(before, after, moving)
	written, err := writtenAgain(ctx, changed, after, cmp.Or(f.Settle, settledGap), f.contents)
	if err != nil {
		return nil, false, err
	}
	if moving = slices.Sorted(slices.Values(slices.Concat(moving, written))); len(moving) > 0 {
		says = append(says, fmt.Sprintf("not compared, since the site writes to it without load: table %s", strings.Join(moving, ", ")))
	}
	for _, table := range changed {
		if !slices.Contains(written, table) {
			return append(says, fmt.Sprintf("table %s has changed: %s rows before, %s after", table, before[table], after[table])), false, nil
		}
	}
	return says, true, nil
}

// settledGap is longer than the pause of most background jobs. settledReadings is the most
// readings of the tables.
const (
	settledGap      = 5 * time.Second
	settledReadings = 4
)

// settled reads the contents of all tables until two readings are the same: background
// jobs still work when a load is over. moving are the tables that do not come to rest.
func (f *Field) settled(ctx context.Context) (sums map[string]string, moving []string, err error) {
	if sums, err = f.contents(ctx); err != nil {
		return nil, nil, err
	}
	for range settledReadings - 1 {
		if err := pause(ctx, cmp.Or(f.Settle, settledGap)); err != nil {
			return nil, nil, err
		}
		now, err := f.contents(ctx)
		if err != nil {
			return nil, nil, err
		}
		moving = differing(now, sums, nil)
		if sums = now; len(moving) == 0 {
			break
		}
	}
	return sums, moving, nil
}

// differing are the tables of a reading that another reading has with other contents or
// does not have, without some tables, in order.
func differing(sums, other map[string]string, without []string) (tables []string) {
	for _, table := range slices.Sorted(maps.Keys(sums)) {
		if other[table] != sums[table] && !slices.Contains(without, table) {
			tables = append(tables, table)
		}
	}
	return tables
}

// writtenAgain are those of some changed tables whose contents change once more while
// nothing but the site itself is running: a job that writes more seldom than settled waits.
// It reads the tables until all of them changed, at most settledReadings times, with a gap
// before each reading.
func writtenAgain(ctx context.Context, changed []string, sums map[string]string, gap time.Duration, read func(context.Context) (map[string]string, error)) (written []string, err error) {
	for n := 0; n < settledReadings && len(written) < len(changed); n++ {
		if err := pause(ctx, gap); err != nil {
			return nil, err
		}
		now, err := read(ctx)
		if err != nil {
			return nil, err
		}
		written = slices.DeleteFunc(slices.Clone(changed), func(table string) bool { return now[table] == sums[table] })
	}
	return written, nil
}

// pause waits unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

func checksFail(fails []string) string {
	if fails == nil {
		return "the checks pass"
	}
	return "the checks fail: " + strings.Join(fails, "; ")
}

// startInWorstOrder starts all services and returns remarks for the user: apps that
// do not wait for their database are started again after it. running are the services
// with a process.
func (f *Field) startInWorstOrder(ctx context.Context, running []string) (says []string, err error) {
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
	ended, err := f.endedSince(ctx, running, again)
	if err != nil {
		return nil, err
	}
	for _, name := range append(again, ended...) {
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

// endsWithin is how long after the start of its database a process may still end because
// of a connection that was refused.
const endsWithin = 2 * time.Second

// endedSince are the services besides others that ran and whose process has ended since they
// were started: a background job answers no question that would show it.
func (f *Field) endedSince(ctx context.Context, running, others []string) ([]string, error) {
	if err := pause(ctx, endsWithin); err != nil {
		return nil, err
	}
	groups := f.Subject.Groups()
	var ended []string
	for _, name := range running {
		if _, runs := groups[name]; !runs && !slices.Contains(others, name) {
			ended = append(ended, name)
		}
	}
	return ended, nil
}
