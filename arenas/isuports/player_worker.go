package isuports

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	maxGuests = 2000 // permanent player workers

	// A ranking slower than tooSlow counts; a player leaves at the third.
	tooSlow    = 1200 * time.Millisecond
	forgivable = 2

	looksPerList = 10 // rankings per list of competitions
)

// watch starts the permanent worker of a player, who draws from a source with a
// seed. It returns false if the player has a worker already, or if there are too
// many workers.
func (ct *contest) watch(p *player, seed uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watches || ct.guests.Load() >= maxGuests {
		return false
	}
	p.watches = true
	ct.guests.Add(1)
	ct.s.Go("player", func(ctx context.Context) {
		g, err := ct.guest(p)
		if err != nil {
			ct.s.Fail(err)
			return
		}
		defer g.close()
		w := &watcher{guest: g, rng: rand.New(rand.NewPCG(seed, 0))}
		w.run(ctx)
	})
	return true
}

// A watcher reads rankings and the pages of players until rankings are too slow.
type watcher struct {
	guest
	rng  *rand.Rand
	slow int // rankings that took too long
}

// run reads until the phase ends or the player leaves.
func (w *watcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.visit(ctx); err != nil {
			w.ct.s.Report(err)
			w.ct.pause(ctx, restartPause)
		}
		if w.slow > forgivable {
			w.ct.left.Add(1)
			w.ct.guests.Add(-1)
			return
		}
	}
}

// visit reads the list of competitions and some of their rankings.
func (w *watcher) visit(ctx context.Context) error {
	list, err := w.competitions(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		w.ct.pauseBetween(ctx, w.rng, 500*time.Millisecond, time.Second)
		return nil
	}
	for range looksPerList {
		more, err := w.look(ctx, list)
		if err != nil || !more || w.slow > forgivable {
			return err
		}
	}
	return nil
}

// look reads a ranking and the pages of some of its players. It returns false if
// the ranking is empty.
func (w *watcher) look(ctx context.Context, list []shownCompetition) (more bool, err error) {
	c := w.choose(list)
	got, err := w.timed(ctx, c, 0)
	if err != nil {
		return false, err
	}
	if len(got.players) > 0 && w.rng.IntN(5) == 0 {
		w.ct.pauseBetween(ctx, w.rng, 0, 500*time.Millisecond)
		if got, err = w.timed(ctx, c, w.rng.IntN(len(got.players))); err != nil {
			return false, err
		}
	}
	if len(got.players) == 0 {
		w.ct.pauseBetween(ctx, w.rng, 500*time.Millisecond, time.Second)
		return false, nil
	}
	for range 3 + w.rng.IntN(3) {
		if _, err := w.detail(ctx, got.players[w.rng.IntN(len(got.players))]); err != nil {
			return false, err
		}
		if !w.ct.pauseBetween(ctx, w.rng, time.Second, 2*time.Second) {
			return false, nil
		}
	}
	return true, nil
}

// timed reads a page of a ranking and counts slow answers.
func (w *watcher) timed(ctx context.Context, c *competition, after int) (reading, error) {
	got, err := w.ranking(ctx, c, after)
	if err == nil && got.took > tooSlow {
		w.slow++
	}
	return got, err
}

// choose draws a competition of the list: nearly always the newest that runs.
func (w *watcher) choose(list []shownCompetition) *competition {
	shown := list[w.rng.IntN(len(list))]
	if w.rng.IntN(10) > 0 {
		for _, c := range list {
			if !c.finished {
				shown = c
				break
			}
		}
	}
	if c := w.player.tenant.competition(shown.id); c != nil {
		return c
	}
	// Its organizer has not read the answer yet, so that nothing else is known of it.
	return &competition{tenant: w.player.tenant, id: shown.id, title: shown.title, finishing: true}
}
