package node

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

// A Node serves one portal. It is safe for concurrent use.
type Node struct {
	core  *lead.Core
	carry carry.Carrier
	log   *slog.Logger
	ctx   context.Context // ends with the node

	mu       sync.Mutex
	rounds   map[string]*live
	progress map[string]seen // by job
	waiting  map[string]int  // open requests for a job, by worker
}

// A seen is the progress of a job and when it came.
type seen struct {
	api.Progress
	at time.Time
}

var _ api.Portal = (*Node)(nil)

// refreshEvery is the least time between two boards of a round.
const refreshEvery = 250 * time.Millisecond

// New makes a node that works until ctx ends.
func New(ctx context.Context, core *lead.Core, c carry.Carrier, log *slog.Logger) (*Node, error) {
	n := &Node{core: core, carry: c, log: log, ctx: ctx, rounds: map[string]*live{}, progress: map[string]seen{}, waiting: map[string]int{}}
	dirty := make(chan string, 1024)
	err := c.Watch(ctx, carry.Events, "iik.ev.", func(m carry.Message) {
		round, _, _ := strings.Cut(strings.TrimPrefix(m.Subject, "iik.ev."), ".")
		select {
		case dirty <- round:
		default: // the regular look at all rounds finds it
		}
	})
	if err != nil {
		return nil, err
	}
	if err := c.Watch(ctx, carry.Progress, "iik.prog.", n.progressed); err != nil {
		return nil, err
	}
	go n.refresh(dirty)
	return n, nil
}

// refresh brings boards up to date: those with news at most every refreshEvery, all of them
// every two seconds, since messages may be lost and times come.
func (n *Node) refresh(dirty <-chan string) {
	all := time.NewTicker(2 * time.Second)
	defer all.Stop()
	for {
		rounds := map[string]bool{}
		select {
		case <-n.ctx.Done():
			return
		case round := <-dirty:
			rounds[round] = true
			for more := true; more; {
				select {
				case round := <-dirty:
					rounds[round] = true
				default:
					more = false
				}
			}
		case <-all.C:
			n.mu.Lock()
			for round := range n.rounds {
				rounds[round] = true
			}
			n.forget()
			n.mu.Unlock()
		}
		for round := range rounds {
			l, err := n.live(n.ctx, round)
			if err == nil {
				err = l.refresh(n.ctx)
			}
			if err != nil && n.ctx.Err() == nil {
				n.log.Warn("bringing the board up to date", "round", round, "error", err)
			}
		}
		timer := time.NewTimer(refreshEvery)
		select {
		case <-timer.C:
		case <-n.ctx.Done():
		}
		timer.Stop()
	}
}

// forget drops progress of jobs that are silent. n.mu is held.
func (n *Node) forget() {
	for job, p := range n.progress {
		if time.Since(p.at) > time.Minute {
			delete(n.progress, job)
		}
	}
}

// progressed takes the progress of a job, and passes it to those who may see it.
func (n *Node) progressed(m carry.Message) {
	var p api.Progress
	if json.Unmarshal(m.Data, &p) != nil {
		return
	}
	job := strings.TrimPrefix(m.Subject, lead.ProgressSubject(""))
	n.mu.Lock()
	n.progress[job] = seen{p, time.Now()}
	rounds := make([]*live, 0, len(n.rounds))
	for _, l := range n.rounds {
		rounds = append(rounds, l)
	}
	n.mu.Unlock()
	for _, l := range rounds {
		l.progressed(job, &p)
	}
}

// Now implements api.Portal.
func (n *Node) Now() time.Time { return n.core.Now() }
