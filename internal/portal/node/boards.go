package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

// A live is a round with its history and the boards that were made of it.
type live struct {
	id   string
	core *lead.Core

	mu      sync.Mutex
	history lead.History
	boards  map[string]*shown // by the key of the view
	readers map[chan api.Frame]subscriber
	running map[string]string // the team of each running job that is known
}

// A shown is the board of one view.
type shown struct {
	stamp string // of what it was made
	board *api.Board
	ring  []api.Frame
	next  int
}

// live is the state of a round, read at its first use.
func (n *Node) live(ctx context.Context, round string) (*live, error) {
	n.mu.Lock()
	l := n.rounds[round]
	n.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l = &live{id: round, core: n.core, boards: map[string]*shown{}, readers: map[chan api.Frame]subscriber{}, running: map[string]string{}}
	if _, err := n.core.Follow(ctx, round, &l.history); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if other := n.rounds[round]; other != nil {
		return other, nil
	}
	n.rounds[round] = l
	return l, nil
}

// noise is how far single runs differ; 0 if it is not known.
func (l *live) noise() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.history.Data.Noise
}

// view is what a reader sees now.
func (l *live) view(reader board.Reader) *board.View {
	l.mu.Lock()
	data := l.history.Data
	l.mu.Unlock()
	return board.Of(data, reader, l.core.Now())
}

// stamp changes when a view may have changed: with an event, and when a time of the clock
// comes.
func (l *live) stamp(now time.Time) string {
	d := l.history.Data
	return fmt.Sprint(l.history.Last, d.Clock.Frozen(now), !d.Published.IsZero() && !now.Before(d.Published))
}

// board is the board of a view, made anew only if something happened. l.mu is held.
func (l *live) board(reader board.Reader) (*shown, error) {
	now := l.core.Now()
	key, stamp := reader.Key(), l.stamp(now)
	s := l.boards[key]
	if s != nil && s.stamp == stamp {
		return s, nil
	}
	b := api.BoardOf(l.id, board.Of(l.history.Data, reader, now))
	text, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encoding a board: %w", err)
	}
	sum := sha256.Sum256(text)
	b.Version = hex.EncodeToString(sum[:8])
	if s == nil {
		s = &shown{}
		l.boards[key] = s
	}
	s.stamp, s.board = stamp, b
	return s, nil
}

// Board implements api.Portal.
func (n *Node) Board(ctx context.Context, who api.Who, round string) (*api.Board, error) {
	l, err := n.live(ctx, round)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.board(who.Reader())
	if err != nil {
		return nil, err
	}
	return s.board, nil
}

// Series implements api.Portal.
func (n *Node) Series(ctx context.Context, who api.Who, round string, teams []string) ([]board.Series, error) {
	l, err := n.live(ctx, round)
	if err != nil {
		return nil, err
	}
	return l.view(who.Reader()).Series(teams...), nil
}
