package main

import (
	"context"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji/internal/scenario"
)

// shopping is the benchmarker of the arena shop: one visitor, 50 times a second.
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
	s.Every("visitor", scenario.Arrivals{Period: 20 * time.Millisecond}, func(ctx context.Context, due time.Time) {
		if err := visit(ctx, cl); err != nil {
			s.Report(err)
			return
		}
		s.Add(0, 1)
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
