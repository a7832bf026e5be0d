package mine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Config describes a game.
type Config struct {
	Seed int64 `json:"seed"`
	Size Size  `json:"size"`
	// Duration is the time from the first request to the bell.
	Duration time.Duration `json:"duration_ns"`
	// StartTimeout ends a game to which no request comes; 0 means never.
	StartTimeout time.Duration `json:"start_timeout_ns"`
	// Save is the file in which the game is saved each second, and from which it goes on; ""
	// saves nothing.
	Save string `json:"-"`
	// Log is called for each answer; nil for no log.
	Log func(method, path string, status int) `json:"-"`
}

// A Report is what came of a game, or comes of it so far.
type Report struct {
	Seed     int64                    `json:"seed"`
	Duration time.Duration            `json:"duration_ns"`
	Started  bool                     `json:"started"`
	Ended    bool                     `json:"ended"` // by the bell
	Elapsed  time.Duration            `json:"elapsed_ns"`
	Balance  int                      `json:"balance"`
	Ticks    Ticks                    `json:"ticks"`
	Answers  map[string]map[int]int64 `json:"answers"` // by operation and status
	Conns    int64                    `json:"conns"`   // connections that were opened
	counts
}

// ErrNotStarted is the error of a game to which no request came in time.
var ErrNotStarted = errors.New("no request came before the start timeout")

// A Game is a game that is served.
type Game struct {
	config Config
	game   *game
	api    *api
	server *http.Server
	conns  atomic.Int64

	first  chan struct{} // closed by the first request
	begun  sync.Once
	mu     sync.Mutex
	start  time.Time     // zero until the first request
	before time.Duration // that an earlier process played
	ended  bool
	took   time.Duration // when it ended
}

// Limits of one request on the wire, as in the contest.
const wireTimeout = 30 * time.Second

// NewGame makes the world of a game, or takes up the game that was saved.
func NewGame(c Config) (*Game, error) {
	state, err := newGame(c.Size, c.Seed)
	if err != nil {
		return nil, err
	}
	g := &Game{config: c, game: state, first: make(chan struct{})}
	g.api = &api{game: state, begin: g.begin, log: c.Log, answers: map[string]map[int]int64{}}
	if c.Save != "" {
		if err := g.resume(); err != nil {
			return nil, err
		}
	}
	g.server = &http.Server{Handler: g.api, ReadTimeout: wireTimeout, WriteTimeout: wireTimeout,
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				g.conns.Add(1)
			}
		}}
	return g, nil
}

// begin starts the clock.
func (g *Game) begin() {
	g.begun.Do(func() {
		g.mu.Lock()
		g.start = time.Now()
		g.mu.Unlock()
		close(g.first)
	})
}

// Play serves a game until its bell, its start timeout or the end of ctx. At the bell all
// connections are closed and requests in progress are lost. The error is ErrNotStarted, or
// that of the listener, which Play closes.
func (g *Game) Play(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	served := make(chan error, 1)
	work.Go(func() { served <- g.server.Serve(l) })
	work.Go(func() { g.game.cpu.run(ctx) })
	defer g.server.Close()
	if g.before > 0 {
		g.begin() // the clock of a saved game goes on
	}
	if err := g.awaitFirst(ctx, served); err != nil || ctx.Err() != nil {
		return err
	}
	if g.config.Save != "" {
		work.Go(func() { g.saveEvery(ctx) })
	}
	bell := time.NewTimer(time.Until(g.begin0().Add(g.config.Duration - g.before)))
	defer bell.Stop()
	select {
	case <-bell.C:
		g.end()
		return nil
	case err := <-served:
		return fmt.Errorf("serving the game: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// begin0 is the time of the first request.
func (g *Game) begin0() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.start
}

// awaitFirst waits for the first request.
func (g *Game) awaitFirst(ctx context.Context, served <-chan error) error {
	var late <-chan time.Time
	if g.config.StartTimeout > 0 {
		t := time.NewTimer(g.config.StartTimeout)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-g.first:
		return nil
	case <-late:
		return ErrNotStarted
	case err := <-served:
		return fmt.Errorf("serving the game: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// end notes the bell.
func (g *Game) end() {
	g.game.mu.Lock()
	g.game.closed = true
	g.game.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended, g.took = true, g.before+time.Since(g.start)
}

// Report returns what came of the game so far.
func (g *Game) Report() Report {
	r := Report{Seed: g.config.Seed, Duration: g.config.Duration, Conns: g.conns.Load(), Ticks: g.game.cpu.count(), Answers: map[string]map[int]int64{}}
	g.mu.Lock()
	r.Started, r.Ended, r.Elapsed = !g.start.IsZero(), g.ended, g.took
	if r.Started && !r.Ended {
		r.Elapsed = g.before + time.Since(g.start)
	}
	g.mu.Unlock()
	g.game.mu.Lock()
	r.Balance, r.counts = g.game.bank.balance, g.game.count
	g.game.mu.Unlock()
	g.api.mu.Lock()
	for op, by := range g.api.answers {
		r.Answers[op] = maps.Clone(by)
	}
	g.api.mu.Unlock()
	return r
}
