package isuumo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// patience is how long a page may take before a user leaves.
const patience = time.Second

// Pauses of a user, from and to.
var (
	pauseBetween = [2]time.Duration{0, 100 * time.Millisecond}                        // before each visit
	pauseGone    = [2]time.Duration{1450 * time.Millisecond, 1550 * time.Millisecond} // after leaving
	pauseError   = [2]time.Duration{1250 * time.Millisecond, 1750 * time.Millisecond}
)

// errLeft means that a page took longer than the user's patience. errEnded means
// that a visit had nothing to go on with. Both cost nothing.
var (
	errLeft  = errors.New("the user left a slow page")
	errEnded = errors.New("the visit ended early")
)

// A user visits the site again and again.
type user struct {
	*browser
	rng   *rand.Rand
	visit func(ctx context.Context) error
}

// newUser makes the i-th user of a kind.
func (ct *contest) newUser(kind string, i int) *user {
	rng := ct.s.Rand(workerName(kind, i))
	u := &user{rng: rng, browser: ct.browser(scenario.ClientOptions{UserAgent: humanAgent(rng)})}
	u.patient = true
	return u
}

// run visits the site until the phase ends.
func (u *user) run(ctx context.Context) {
	defer u.cl.Close()
	for rest(ctx, u.rng, pauseBetween) {
		err := u.visit(ctx)
		switch {
		case err == nil, errors.Is(err, errEnded):
		case errors.Is(err, errLeft):
			u.ct.left.Add(1)
			rest(ctx, u.rng, pauseGone)
		default:
			if !errors.Is(err, errBusy) {
				u.ct.s.Report(err)
			}
			rest(ctx, u.rng, pauseError)
		}
	}
}

// rest sleeps for a random time. It returns false when ctx ended.
func rest(ctx context.Context, rng *rand.Rand, span [2]time.Duration) bool {
	return scenario.Sleep(ctx, span[0]+time.Duration(rng.Int64N(int64(span[1]-span[0]))))
}

// open loads a page: calls at the same time, as a browser does. A page that took
// too long is checked, and then left.
func (u *user) open(calls ...func() error) error {
	begun := time.Now()
	if err := together(calls...); err != nil {
		return err
	}
	if time.Since(begun) > patience {
		return errLeft
	}
	return nil
}

// top loads the first page.
func (u *user) top(ctx context.Context) error {
	return u.open(func() error { return u.chairLow(ctx) }, func() error { return u.estateLow(ctx) })
}

// lookAtEstates loads the pages of n random estates of a list and returns the
// last.
func (u *user) lookAtEstates(ctx context.Context, list []int32, n int) (pos int32, err error) {
	for range n {
		if pos, err = pickRow(u.rng, list); err != nil {
			return 0, err
		}
		if err := u.open(func() error { return u.estate(ctx, pos) }); err != nil {
			return 0, err
		}
	}
	return pos, nil
}

// order requests the documents of an estate, which scores.
func (u *user) order(ctx context.Context, pos int32) error {
	return u.open(func() error {
		err := u.document(ctx, pos)
		if err == nil {
			u.ct.score(eventDocument)
		}
		return err
	})
}

// pickRow draws a row of a list; an empty list ends the visit.
func pickRow(rng *rand.Rand, list []int32) (int32, error) {
	if len(list) == 0 {
		return 0, errEnded
	}
	return list[rng.IntN(len(list))], nil
}

// score counts an event and raises the level when it is due.
func (ct *contest) score(e scenario.Event) {
	ct.s.Add(e, 1)
	ct.raise()
}
