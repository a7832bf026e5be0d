package node

import (
	"context"
	"errors"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

// Register takes a worker's description.
func (n *Node) Register(ctx context.Context, r api.Register) error { return n.core.Register(ctx, r) }

// Beat takes a heartbeat.
func (n *Node) Beat(ctx context.Context, b api.Beat) (api.BeatAnswer, error) {
	return n.core.Beat(ctx, b)
}

// Finish takes a result.
func (n *Node) Finish(ctx context.Context, f api.Finish) (api.FinishAnswer, error) {
	return n.core.Finish(ctx, f)
}

// waitAgain is how often a waiting slot is noted again: its key expires.
const waitAgain = 10 * time.Second

// Next waits for a job for a worker's slot; nil if there is none within longPoll.
func (n *Node) Next(ctx context.Context, r api.Next) (*api.Assignment, error) {
	defer func() { // also where the first note fails: a slot that is counted is offered a job
		// The request may have ended: the note must not.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if err := n.waits(end, r, -1); err != nil && !errors.Is(err, api.ErrForbidden) && !errors.Is(err, api.ErrNotFound) {
			n.log.Warn("a slot that no longer waits", "error", err)
		}
	}()
	if err := n.waits(ctx, r, 1); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longPoll)
	defer cancel()
	stop := context.AfterFunc(n.ctx, cancel)
	defer stop()
	offers := make(chan *carry.Taken)
	for _, kind := range r.Kinds {
		go n.take(ctx, lead.TaskSubject(kind), offers)
	}
	go n.take(ctx, lead.PinnedSubject(r.Worker), offers)
	again := time.NewTicker(waitAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-again.C:
			if err := n.waits(ctx, r, 0); err != nil && ctx.Err() == nil {
				return nil, err
			}
		case t := <-offers:
			a, err := n.core.Claim(ctx, t.Data, r.Worker)
			if err != nil {
				return nil, err // without an acknowledgement the offer comes again
			}
			if err := t.Ack(ctx); err != nil {
				n.log.Warn("acknowledging an offer", "error", err) // it comes again and is stale
			}
			if a != nil {
				return a, nil
			}
		}
	}
}

// take takes offers of a subject until ctx ends.
func (n *Node) take(ctx context.Context, subject string, offers chan<- *carry.Taken) {
	for ctx.Err() == nil {
		t, err := n.carry.Take(ctx, carry.Tasks, subject, longPoll)
		if err != nil {
			n.log.Warn("taking an offer", "error", err)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		if t == nil {
			continue
		}
		select {
		case offers <- t:
		case <-ctx.Done():
			return // not acknowledged: another slot gets it
		}
	}
}

// waits notes one more or one less waiting slot of a worker.
func (n *Node) waits(ctx context.Context, r api.Next, by int) error {
	n.mu.Lock()
	n.waiting[r.Worker] += by
	slots := n.waiting[r.Worker]
	if slots <= 0 {
		delete(n.waiting, r.Worker)
	}
	n.mu.Unlock()
	return n.core.Waits(ctx, r.Worker, r.Kinds, slots)
}
