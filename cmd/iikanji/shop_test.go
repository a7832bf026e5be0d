package main

import (
	"context"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// shopping is the benchmarker of the arena shop: one visitor, 20 times a second. Runs of
// 1 s have fewer than 30 answers: too few to find that the generator was late, so that
// no busy machine makes a run void.
type shopping struct{ noLoad bool }

var (
	_ scenario.Preparer = (*shopping)(nil)
	_ scenario.Loader   = (*shopping)(nil)
)

// Info implements scenario.Scenario.
func (*shopping) Info() scenario.Info {
	return scenario.Info{Name: "shop", Steps: []string{"GET /"}, Load: time.Second, Timeout: 10 * time.Second,
		Table: scenario.Table{PerError: 1, MaxErrors: 10, FailAtZero: true, Events: []scenario.EventRule{{Name: "visit", Points: 1}}}}
}

// Prepare implements scenario.Preparer.
func (*shopping) Prepare(ctx context.Context, s scenario.Session) error {
	s.Phase(scenario.Prepare)
	cl := s.NewClient(scenario.ClientOptions{})
	defer cl.Close()
	return visit(ctx, cl)
}

// Load implements scenario.Loader.
func (l *shopping) Load(ctx context.Context, s scenario.Session) error {
	if l.noLoad {
		return nil
	}
	cl := s.NewClient(scenario.ClientOptions{})
	s.Go("visitor", func(ctx context.Context) {
		pause := time.NewTicker(50 * time.Millisecond)
		defer pause.Stop()
		for {
			if err := visit(ctx, cl); err == nil {
				s.Add(0, 1)
			} else if ctx.Err() == nil {
				s.Report(err)
			}
			select {
			case <-ctx.Done():
				return
			case <-pause.C:
			}
		}
	})
	return nil
}

func visit(ctx context.Context, cl scenario.Client) error {
	res, err := cl.Do(ctx, &scenario.Request{Path: "/"})
	if err != nil {
		return err
	}
	defer res.Release()
	return scenario.WantStatus(res, 200)
}

// shopLadder has two rungs.
var shopLadder = fstest.MapFS{
	"01-connections.conf": {Data: []byte("# row: more connections\n# told: no effect\n# source: the tests\n# target: database\n\n[mysqld]\nmax_connections = 77\n")},
	"02-flush.conf":       {Data: []byte("# row: flush once a second\n# told: faster\n# source: the tests\n# target: database\n\n[mysqld]\ninnodb_flush_log_at_trx_commit = 2\n")},
}
