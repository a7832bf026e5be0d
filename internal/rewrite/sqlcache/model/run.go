package model

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// A Setup is the cache to check.
type Setup struct {
	Open    func() *sql.DB // opens a pool through the cache
	Direct  *sql.DB        // past the cache, as a user who may kill connections
	Outside func() func()  // announces a writer past the cache
	Wait    func()         // returns when the commands of lost connections have ended
	SQLite  bool           // the database is a file, without connections to kill
}

// Options of a check.
type Options struct {
	Seed    uint64
	Rounds  int // histories; each begins with a table of its own content
	Clients int
	Calls   int // of each client in a round
	// Trouble is the share of calls that are killed or abandoned.
	Trouble float64
	// Changes is the share of calls that change something; zero: changeShares.
	Changes float64
}

// Counts are what a check did. Calls, Unknown and Failed are those of decided rounds.
type Counts struct {
	Calls, Unknown, Failed int
	// Undecided are rounds whose check was given up, see checkLimit.
	Undecided int
}

// Run checks rounds of calls. Each undecided round is followed by a further one, as long
// as those are few, so that as many are decided as were asked for. The error is a
// *Violation, or that of the database.
func Run(ctx context.Context, s Setup, o Options) (Counts, error) {
	var total Counts
	for round := 0; round < o.Rounds+min(total.Undecided, MostUndecided(o.Rounds)); round++ {
		c, err := runRound(ctx, s, o, round)
		if total.Undecided += c.Undecided; c.Undecided == 0 {
			total.Calls += c.Calls
			total.Unknown += c.Unknown
			total.Failed += c.Failed
		}
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// MostUndecided is how many of some rounds may be undecided by chance: an order is found
// in milliseconds for nearly all histories, but the search takes exponential time in the
// worst case, with many writes whose end is unknown.
func MostUndecided(rounds int) int { return max(1, rounds/50) }

// begin is the content of the table at the start of a round.
var begin = state{{1, "red", 1}, {2, "red", 2}, {3, "blue", 3}}

func runRound(ctx context.Context, s Setup, o Options, round int) (Counts, error) {
	if err := refill(ctx, s); err != nil {
		return Counts{}, fmt.Errorf("filling the table for round %d: %w", round, err)
	}
	pool := s.Open()
	defer pool.Close()
	r := &roundState{Setup: s, Pool: pool, h: &history{start: time.Now()}, trouble: o.Trouble, changes: changeShares[round%len(changeShares)]}
	if o.Changes > 0 {
		r.changes = o.Changes
	}
	r.values.Store(100 + 100_000*int64(round)) // no value of another round
	var wg sync.WaitGroup
	errs := make([]error, o.Clients)
	for i := range o.Clients {
		c := &client{roundState: r, number: i, rng: rand.New(rand.NewPCG(o.Seed, uint64(round)<<8|uint64(i)))}
		wg.Go(func() { errs[i] = c.play(ctx, o.Calls) })
	}
	wg.Wait()
	for _, err := range errs {
		var v *Violation
		if errors.As(err, &v) {
			return Counts{}, &Violation{o.Seed, round, len(r.h.calls), v.Text}
		}
		if err != nil {
			return Counts{}, err
		}
	}
	counts := Counts{Calls: len(r.h.calls), Unknown: int(r.unknown.Load()), Failed: int(r.failed.Load())}
	ok, undecided, text := r.h.check(begin)
	if undecided {
		counts.Undecided++
	} else if !ok {
		return counts, &Violation{o.Seed, round, len(r.h.calls), text}
	}
	return counts, nil
}

// refill waits until the server has ended all connections of the round before: an
// abandoned write could change the table of the next one.
func refill(ctx context.Context, s Setup) error {
	s.Wait()
	for !s.SQLite {
		var left int
		err := s.Direct.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'cached'").Scan(&left)
		if err != nil {
			return err
		}
		if left == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	end := s.Outside()
	defer end()
	if _, err := s.Direct.ExecContext(ctx, "DELETE FROM m"); err != nil {
		return err
	}
	for _, r := range begin {
		if _, err := s.Direct.ExecContext(ctx, Insert, r.id, r.group, r.value); err != nil {
			return err
		}
	}
	return nil
}

// roundState is what the clients of a round share.
type roundState struct {
	Setup
	Pool    *sql.DB
	h       *history
	trouble float64
	changes float64
	values  atomic.Int64 // every write has a value of its own
	unknown atomic.Int64
	failed  atomic.Int64
}

type client struct {
	*roundState
	number int
	rng    *rand.Rand
}

func (c *client) play(ctx context.Context, calls int) error {
	for range calls {
		if err := c.call(ctx); err != nil {
			return fmt.Errorf("client %d: %w", c.number, err)
		}
	}
	return nil
}

// loopShare is the share of the reads that are loops over the rows of an answer.
const loopShare = 0.1

// changeShares are the shares of calls that change something, one for each round
// in turn: few changes leave long lives to entries, many let changes meet.
var changeShares = []float64{0.003, 0.006, 0.02, 0.1}

func (c *client) call(ctx context.Context) error {
	if c.rng.Float64() >= c.changes {
		if c.rng.Float64() < loopShare {
			return c.loop(ctx)
		}
		return c.read(ctx)
	}
	switch p := c.rng.Float64(); {
	case p < 0.70:
		return c.write(ctx)
	case p < 0.86:
		return c.transaction(ctx)
	case p < 0.88:
		return c.snapshot(ctx)
	case p < 0.92:
		return c.loopInTransaction(ctx)
	case p < 0.96:
		return c.outside(ctx)
	default:
		return c.kill(ctx)
	}
}
