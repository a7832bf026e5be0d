package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// lostIn finds the loss of a host in an error; nil for another error.
func lostIn(err error) *host.LostError {
	var lost *host.LostError
	if errors.As(err, &lost) {
		return lost
	}
	return nil
}

// An AwayError is a change that waits for a host that does not answer. It is neither in
// force nor undone.
type AwayError struct {
	Host   string
	Change iikanji.ChangeID
	Op     string // its place
	// Deferred are the places of ops that an undo has left for later, without which the
	// rest of the site works.
	Deferred []string
	Err      error
}

func (e *AwayError) Error() string {
	if len(e.Deferred) > 0 {
		return fmt.Sprintf("%s does not answer: change %d is undone but for %s", e.Host, e.Change, strings.Join(e.Deferred, ", "))
	}
	return fmt.Sprintf("%s does not answer: change %d stops at %s: %v", e.Host, e.Change, e.Op, e.Err)
}

func (e *AwayError) Unwrap() error { return e.Err }

// Hints says how the change goes on.
func (e *AwayError) Hints() []string {
	return []string{"iikanji recover, when " + e.Host + " answers"}
}

// reconnects is implemented by Hands that can connect to a host again.
type reconnects interface {
	Reconnect(ctx context.Context, host string) error
}

// Reconnect connects to a host again whose connection was lost, and waits for it as long as
// the site says.
func (s *Site) Reconnect(ctx context.Context, name string) error {
	h, err := s.On(name)
	if err != nil {
		return err
	}
	r, ok := host.As[host.Reconnector](h)
	if !ok {
		return fmt.Errorf("%s cannot be connected to again", name)
	}
	return r.Reconnect(ctx)
}

// back connects to a lost host again.
func (x *Executor) back(ctx context.Context, lost *host.LostError) error {
	if r, ok := x.Hands.(reconnects); ok {
		return r.Reconnect(ctx, lost.Host)
	}
	return lost
}

// state reads the state of an op's place, again after a lost connection was made again.
func (x *Executor) state(ctx context.Context, op iikanji.Op) (now iikanji.Fingerprint, err error) {
	for range mostLosses {
		now, err = x.Hands.State(ctx, op)
		if lost := lostIn(err); lost == nil || x.back(ctx, lost) != nil {
			break
		}
	}
	return now, err
}

// A performance is one side of a change that is being performed.
type performance struct {
	x    *Executor
	c    *iikanji.Change
	side history.Side
	ops  []iikanji.Op
	away away
	left []int // indexes of the ops that were deferred
}

// away are the hosts that were lost and did not come back, with their errors. nil: the
// first loss is the end.
type away map[string]error

// perform does ops in order, and writes each to the journal before and after. In an undo,
// ops of a lost host for which no later op waits are deferred; the others are done.
func (x *Executor) perform(ctx context.Context, c *iikanji.Change, side history.Side, ops []iikanji.Op, gone away) error {
	p := &performance{x: x, c: c, side: side, ops: ops, away: gone}
	for i := range ops {
		if err := p.op(ctx, i); err != nil {
			return err
		}
	}
	if len(p.left) == 0 {
		return nil
	}
	e := &AwayError{Host: ops[p.left[0]].Host, Change: c.ID, Err: p.away[ops[p.left[0]].Host]}
	for _, i := range p.left {
		e.Deferred = append(e.Deferred, ops[i].Location())
	}
	return e
}

// op does one op, or defers it.
func (p *performance) op(ctx context.Context, i int) error {
	op := p.ops[i]
	waits, err := waitsFor(p.ops, i)
	if err != nil {
		return err
	}
	if j := slices.IndexFunc(waits, func(j int) bool { return slices.Contains(p.left, j) && !p.sameHost(i, j) }); j >= 0 {
		before := p.ops[waits[j]]
		return &AwayError{Host: before.Host, Change: p.c.ID, Op: before.Location(), Err: p.away[before.Host]}
	}
	if p.away[op.Host] == nil {
		err := p.once(ctx, i)
		lost := lostIn(err)
		if lost == nil {
			return err
		}
		if lost, err = p.again(ctx, i, lost); lost == nil {
			return err
		}
		if p.side != history.Undo || p.away == nil || lost.Host != op.Host {
			return &AwayError{Host: lost.Host, Change: p.c.ID, Op: op.Location(), Err: lost}
		}
		p.away[op.Host] = lost
	}
	p.left = append(p.left, i)
	return p.x.Journal.Append(history.Event{What: history.OpDeferred, Change: p.c.ID, Side: p.side, Op: i + 1, Text: op.Host})
}

// sameHost reports whether two ops are on one host: both of a lost host are deferred, and
// are done in their order later.
func (p *performance) sameHost(i, j int) bool { return p.ops[i].Host == p.ops[j].Host }

// mostLosses bounds how often one op is tried whose host is lost each time.
const mostLosses = 3

// again connects to the lost host and does the op again, unless it had its effect. It
// returns the loss of a host that does not come back.
func (p *performance) again(ctx context.Context, i int, lost *host.LostError) (*host.LostError, error) {
	for range mostLosses {
		if err := p.x.back(ctx, lost); err != nil {
			return lost, nil
		}
		err := p.settled(ctx, i)
		next := lostIn(err)
		if next == nil {
			return nil, err
		}
		lost = next
	}
	return lost, nil
}

// settled brings an op to its end whose effect is unknown.
func (p *performance) settled(ctx context.Context, i int) error {
	op := p.ops[i]
	after := leaves(p.c, op)
	if after == "" { // a restart or a reload: it may be done twice
		return p.once(ctx, i)
	}
	now, err := p.x.state(ctx, op)
	switch {
	case err != nil:
		return err
	case now == after:
		return p.x.Journal.Append(history.Event{What: history.OpDone, Change: p.c.ID, Side: p.side, Op: i + 1})
	case now == op.Expect || now == Partly || p.side == history.Undo:
		return p.once(ctx, i)
	}
	return p.x.moved(ctx, p.c, op)
}

// once does an op and writes it to the journal before and after.
func (p *performance) once(ctx context.Context, i int) error {
	op := p.ops[i]
	if err := p.x.Journal.Append(history.Event{What: history.OpBegun, Change: p.c.ID, Side: p.side, Op: i + 1}); err != nil {
		return err
	}
	done, err := p.x.done(ctx, p.c, p.side, op)
	if err != nil {
		return err
	}
	if !done {
		if err := p.x.act(ctx, p.side, op); err != nil {
			return err
		}
	}
	return p.x.Journal.Append(history.Event{What: history.OpDone, Change: p.c.ID, Side: p.side, Op: i + 1})
}
