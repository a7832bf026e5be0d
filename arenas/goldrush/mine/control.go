package mine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// A Controller serves one game after the other on one address. A benchmarker begins games and
// reads their reports through a unix socket, which no client of a game knows.
//
//	POST /begin   a Config: ends the game in progress, if any, and begins another one
//	POST /end     ends the game in progress
//	GET /report   the Report of the game in progress or of the last one
type Controller struct {
	address string
	say     func(line string)

	mu     sync.Mutex
	game   *Game // in progress or the last one; nil before the first
	cancel context.CancelFunc
	over   chan struct{} // closed when the game in progress has ended
}

// NewController returns a controller of games on an address. say gets a line for each result.
func NewController(address string, say func(line string)) *Controller {
	return &Controller{address: address, say: say}
}

// Begin ends the game in progress and begins another one. It returns when the address
// accepts connections.
func (c *Controller) Begin(ctx context.Context, config Config) error {
	c.End()
	g, err := NewGame(config)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.address)
	if err != nil {
		return fmt.Errorf("listening for the game: %w", err)
	}
	playing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	c.mu.Lock()
	c.game, c.cancel, c.over = g, cancel, over
	c.mu.Unlock()
	go func() {
		defer close(over)
		defer cancel()
		if err := g.Play(playing, l); err != nil {
			c.say("the game ended: " + err.Error())
		}
		if r := g.Report(); r.Ended {
			c.say(fmt.Sprintf("the bell: %d coins with seed %d in %v", r.Balance, r.Seed, r.Elapsed.Round(time.Millisecond)))
		}
	}()
	return nil
}

// End ends the game in progress, if any.
func (c *Controller) End() {
	c.mu.Lock()
	cancel, over := c.cancel, c.over
	c.mu.Unlock()
	if cancel != nil {
		cancel()
		<-over
	}
}

// Report returns the report of the game in progress or of the last one.
func (c *Controller) Report() (Report, bool) {
	c.mu.Lock()
	g := c.game
	c.mu.Unlock()
	if g == nil {
		return Report{}, false
	}
	return g.Report(), true
}

// ServeHTTP implements http.Handler, for the socket.
func (c *Controller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.Method + " " + r.URL.Path {
	case "POST /begin":
		var config Config
		if err = json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&config); err == nil {
			err = c.Begin(r.Context(), config)
		}
	case "POST /end":
		c.End()
	case "GET /report":
	default:
		err = errors.New("there is no such operation")
	}
	report, _ := c.Report()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header()["Content-Type"] = jsonType
	_ = json.NewEncoder(w).Encode(report) // an error is the client's, who is gone
}

// Serve serves the controller on a unix socket until ctx is done.
func (c *Controller) Serve(ctx context.Context, socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listening for the benchmarker: %w", err)
	}
	s := &http.Server{Handler: c, ReadHeaderTimeout: wireTimeout}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the benchmarker: %w", err)
	}
	c.End()
	return nil
}
