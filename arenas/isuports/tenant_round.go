package isuports

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Numbers of a round.
const (
	scoreLimit  = 1000 // scores are below
	firstScored = 300  // players with a score in the first round of a worker
	moreScored  = 200  // more in each following round
	mostScored  = 1000
	extraRows   = 100 // of players who have another row
	readers     = 5
	newGuests   = 6 // players who begin to watch in a round
	uploadPause = 500 * time.Millisecond
)

// A host is the worker of an organizer under load.
type host struct {
	organizer
	rng    *rand.Rand
	scored int // players with a score in the next round
}

// host returns the worker of a tenant.
func (ct *contest) host(t *tenant) (*host, error) {
	o, err := ct.organizer(t)
	if err != nil {
		return nil, err
	}
	ct.workers.Add(1)
	return &host{o, organizerRand(ct.s, t.name), firstScored}, nil
}

// A form is what differs between rounds.
type form struct {
	readers, extra int
	grow           bool // players begin to watch
}

// usual is the round of a tenant of the load.
var usual = form{readers: readers, extra: extraRows, grow: true}

// round holds one competition: readers read the ranking while its scores are
// uploaded. It returns the number of players with a score.
func (h *host) round(ctx context.Context, f form) (scored int, err error) {
	listed, err := h.players(ctx)
	if err != nil {
		return 0, err
	}
	listed = listed[:min(len(listed), h.scored)]
	if len(listed) == 0 {
		return 0, scenario.Wrong(nil, "players-list", "tenant %s has no players", h.tenant.name)
	}
	c, err := h.addCompetition(ctx, competitionTitle(h.rng))
	if err != nil {
		return 0, err
	}
	rows, fit := h.rows(listed, f.extra), qualified(listed)
	uploaded := make(chan struct{})
	reading := h.read(ctx, c, h.some(fit, f.readers), uploaded)
	if f.grow {
		h.admit(fit)
	}
	err = h.upload(ctx, c, rows)
	h.ct.pause(ctx, uploadPause)
	close(uploaded)
	reading.Wait()
	if err != nil {
		return 0, err
	}
	if err := h.finish(ctx, c); err != nil {
		return 0, err
	}
	h.scored = min(h.scored+moreScored, mostScored)
	h.ct.rounds.Add(1)
	return len(listed), nil
}

// rows returns a CSV with a row for each player and further rows for some.
func (h *host) rows(listed []listedPlayer, extra int) []row {
	rows := make([]row, 0, len(listed)+extra)
	for _, p := range listed {
		rows = append(rows, row{p.player, h.rng.Int64N(scoreLimit)})
	}
	for range extra {
		rows = append(rows, row{listed[h.rng.IntN(len(listed))].player, h.rng.Int64N(scoreLimit)})
	}
	return rows
}

// qualified returns the players who are not disqualified.
func qualified(listed []listedPlayer) (fit []*player) {
	for _, p := range listed {
		if !p.disqualified {
			fit = append(fit, p.player)
		}
	}
	return fit
}

// some draws up to n of the players.
func (h *host) some(of []*player, n int) []*player {
	drawn := make([]*player, 0, n)
	for _, i := range h.rng.Perm(len(of))[:min(n, len(of))] {
		drawn = append(drawn, of[i])
	}
	return drawn
}

// read starts readers of a ranking. They stop after one more reading when uploaded
// is closed.
func (h *host) read(ctx context.Context, c *competition, players []*player, uploaded <-chan struct{}) *sync.WaitGroup {
	var reading sync.WaitGroup
	for _, p := range players {
		rng := rand.New(rand.NewPCG(h.rng.Uint64(), 0))
		reading.Go(func() { h.ct.s.Report(h.ct.poll(ctx, rng, c, p, uploaded)) })
	}
	return &reading
}

// poll reads a ranking again and again, and once more when uploaded is closed.
func (ct *contest) poll(ctx context.Context, rng *rand.Rand, c *competition, p *player, uploaded <-chan struct{}) error {
	g, err := ct.guest(p)
	if err != nil {
		return err
	}
	defer g.close()
	for last := false; ; {
		if _, err := g.ranking(ctx, c, 0); err != nil || last {
			return err
		}
		if !ct.pauseBetween(ctx, rng, time.Second, 2*time.Second) {
			return nil
		}
		select {
		case <-uploaded:
			last = true
		default:
		}
	}
}

// pauseBetween waits for a random time of the rules.
func (ct *contest) pauseBetween(ctx context.Context, rng *rand.Rand, least, most time.Duration) bool {
	return ct.pause(ctx, least+time.Duration(rng.Int64N(int64(most-least))))
}

// admit has some players begin to watch who do not watch yet.
func (h *host) admit(fit []*player) {
	seed := h.rng.Uint64()
	admitted := uint64(0)
	for _, p := range fit {
		if admitted == newGuests {
			return
		}
		if h.ct.watch(p, seed+admitted) {
			admitted++
		}
	}
}

// Numbers of the players that an organizer adds at once: so many with a name and
// as many without one.
const (
	leastAdded = 80
	mostAdded  = 120
)

// addBatch adds players.
func (h *host) addBatch(ctx context.Context) error {
	n := leastAdded + h.rng.IntN(mostAdded-leastAdded+1)
	names := make([]string, 2*n)
	for i := range n {
		names[i] = personName(h.rng)
	}
	_, err := h.addPlayers(ctx, names)
	return err
}

// restartPause is how long a worker waits after an error.
const restartPause = time.Second

// keep repeats a worker's work until the phase ends. tries limits how often the
// work may fail; 0 means no limit.
func (ct *contest) keep(kind string, tries int, work func(ctx context.Context) error) {
	ct.s.Go(kind, func(ctx context.Context) {
		for failed := 0; ctx.Err() == nil && (tries == 0 || failed < tries); {
			err := work(ctx)
			if err == nil {
				continue
			}
			failed++
			if ct.report(ctx, err); !ct.pause(ctx, restartPause) {
				return
			}
		}
	})
}

// report reports an error, unless it only means that the phase has ended.
func (ct *contest) report(ctx context.Context, err error) {
	if err != nil && (ctx.Err() == nil || !errors.Is(err, ctx.Err())) {
		ct.s.Report(err)
	}
}
