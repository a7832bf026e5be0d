package observe

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// A lockWatch reads once a second which statements wait for locks, and which
// statements hold those locks, on a connection of its own. Before and after the load it reads InnoDB's
// status: its numbers, and a new deadlock.
type lockWatch struct {
	srv     *facts.Server
	service string // name of the database
	before  facts.InnoDB

	quit  chan struct{} // nil when it does not run
	done  sync.WaitGroup
	waits []fact.LockWait // valid after end
	asked float64         // statements once a second, which the server counts and does not log; valid after end
}

// newLockWatch connects. It is nil, and not an error, for a server that does not
// list lock waits to this account.
func newLockWatch(ctx context.Context, db *sql.DB, service string) *lockWatch {
	srv, err := facts.Connect(ctx, db, askLimit)
	if err != nil {
		return nil
	}
	return &lockWatch{srv: srv, service: service}
}

func (l *lockWatch) begin(ctx context.Context) {
	if l == nil {
		return
	}
	l.before, _ = l.srv.InnoDB(ctx) // without it, an old deadlock counts as new, and no number has moved
	l.quit = make(chan struct{})
	l.done.Go(l.run)
}

func (l *lockWatch) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
		}
		l.asked++
		waits, err := l.srv.LockWaits(ctx)
		if err != nil {
			return
		}
		l.waits = append(l.waits, waits...)
	}
}

// end stops the watch and returns its facts; it may be called again.
func (l *lockWatch) end(ctx context.Context) []iikanji.Fact {
	if l == nil || l.quit == nil {
		return nil
	}
	close(l.quit)
	l.done.Wait()
	l.quit = nil
	out := facts.LockWaitFacts(l.service, l.waits)
	if after, err := l.srv.InnoDB(ctx); err == nil {
		out = append(out, facts.InnoDBFacts(l.service, l.before, after)...)
	}
	return out
}

func (l *lockWatch) close() error {
	if l == nil {
		return nil
	}
	if l.quit != nil {
		close(l.quit)
		l.done.Wait()
		l.quit = nil
	}
	return l.srv.Close()
}
