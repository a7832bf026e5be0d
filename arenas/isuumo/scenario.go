package isuumo

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// newScenario returns the benchmarker.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	fixed, err := fixedLevel(o.Set[levelSetting])
	if err != nil {
		return nil, err
	}
	data, err := readDataset(o.Data)
	if err != nil {
		return nil, err
	}
	ct := &contest{data: data, fixed: fixed}
	if o.NoLoad {
		return scenario.ChecksOnly(ct), nil
	}
	return ct, nil
}

// fixedLevel reads the setting of the level.
func fixedLevel(text string) (int, error) {
	if text == "" {
		return noLevel, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxLevel {
		return 0, fmt.Errorf("setting %s: %.100q is not a whole number from 0 to %d", levelSetting, text, maxLevel)
	}
	return n, nil
}

// A contest is one run of the benchmarker.
type contest struct {
	data  *Dataset
	fixed int // level, or noLevel

	// Made by Prepare.
	s     scenario.Session
	world *world
	begun time.Time // of the load

	levelMu sync.Mutex
	level   atomic.Int64
	crew    crew // that has joined

	left        atomic.Int64 // users who left a slow page
	refused     atomic.Int64 // requests of users answered with 503
	crawled     atomic.Int64 // requests of bots
	refusedBots atomic.Int64 // requests of bots answered with 503
	posted      atomic.Int64 // rows
}

var (
	_ scenario.Preparer = (*contest)(nil)
	_ scenario.Loader   = (*contest)(nil)
)

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "isuumo", Steps: stepNames, Table: table, Load: contestLoad, Timeout: requestTimeout}
}

// Load starts the workers. The purchase of the verification counts as the first
// point.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	s.Gauge(workGauge, "", ct.work())
	s.Add(eventBuy, 1)
	ct.startLevels()
	<-ctx.Done()
	ct.gauges()
	return nil
}

// gauges reports figures that explain the run.
func (ct *contest) gauges() {
	ct.levelMu.Lock()
	crew := ct.crew
	ct.levelMu.Unlock()
	level, points := int(ct.level.Load()), ct.s.Count(eventBuy)+ct.s.Count(eventDocument)
	for _, g := range []struct {
		name, unit string
		value      float64
	}{
		{"level at the end", "", float64(level)},
		{"points to the next level", "", ct.pointsLeft(level, points)},
		{"users at the end", "", float64(crew.chairs + crew.estates + crew.polygons)},
		{"bots at the end", "", float64(crew.bots)},
		{"users who left a slow page", "", float64(ct.left.Load())},
		{"requests of users answered with 503", "", float64(ct.refused.Load())},
		{"requests of bots", "", float64(ct.crawled.Load())},
		{"requests of bots answered with 503", "", float64(ct.refusedBots.Load())},
		{"rows posted", "", float64(ct.posted.Load())},
	} {
		ct.s.Gauge(g.name, g.unit, g.value)
	}
}

// pointsLeft is how far the next step of the load is away: a run that ends close
// to it can have much more or much less load the next time. It is 0 where no
// further level comes.
func (ct *contest) pointsLeft(level int, points int64) float64 {
	if ct.fixed != noLevel || level == maxLevel {
		return 0
	}
	return float64(thresholds[level])*ct.s.LoadTime().Seconds()/contestLoad.Seconds() - float64(points)
}
