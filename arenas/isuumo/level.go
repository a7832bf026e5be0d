package isuumo

import (
	"context"
	"fmt"
	"time"
)

// contestLoad is the length of the contest's load, for which the thresholds are
// defined.
const contestLoad = 60 * time.Second

// thresholds are the points at which the levels 1 to 11 begin in a load of
// contestLoad.
var thresholds = [...]int64{300, 600, 800, 900, 1000, 1100, 1200, 1300, 1450, 1600, 1800}

// maxLevel is the last level.
const maxLevel = len(thresholds)

// levelOf returns the level of a score before deductions. The thresholds are
// scaled to the length of the load: a run of 10 s goes through the levels that
// the contest's 60 s go through at the same rate of points. Otherwise the short
// runs of a search would never see a polygon, a bot or a posted row.
func levelOf(raw int64, load time.Duration) int {
	level := 0
	for level < maxLevel && raw*int64(contestLoad) >= thresholds[level]*int64(load) {
		level++
	}
	return level
}

// A crew is a number of workers by kind.
type crew struct {
	chairs, estates, polygons int // users
	bots                      int
	chairDrafts, estateDrafts int // each posts one file
}

// joining returns the workers that join at a level. They stay until the end.
func joining(level int) crew {
	switch level {
	case 0:
		return crew{chairs: 3, estates: 3}
	case 1:
		return crew{polygons: 3}
	case 2:
		return crew{bots: 5, chairDrafts: 1, estateDrafts: 1}
	default:
		return crew{chairs: 1, estates: 1, polygons: 1, bots: 1, chairDrafts: 1, estateDrafts: 1}
	}
}

// add sums up workers.
func (c crew) add(d crew) crew {
	return crew{c.chairs + d.chairs, c.estates + d.estates, c.polygons + d.polygons, c.bots + d.bots,
		c.chairDrafts + d.chairDrafts, c.estateDrafts + d.estateDrafts}
}

// wholeCrew returns all workers of a level.
func wholeCrew(level int) (all crew) {
	for l := range level + 1 {
		all = all.add(joining(l))
	}
	return all
}

// conditionsAt is the number of conditions that a user of a level picks for a
// search. A condition that is picked twice counts once.
func conditionsAt(level int) int { return level/2 + 1 }

// noLevel means that the score sets the level.
const noLevel = -1

// startLevels starts the workers of the first level, or, if the level is fixed,
// those of all levels up to it.
func (ct *contest) startLevels() {
	ct.levelMu.Lock()
	defer ct.levelMu.Unlock()
	ct.begun = time.Now()
	for l := range max(ct.fixed, 0) + 1 {
		ct.enterLevel(l)
	}
}

// raise enters the levels that the score has reached.
func (ct *contest) raise() {
	if ct.fixed != noLevel {
		return
	}
	reached := levelOf(ct.s.Count(eventBuy)+ct.s.Count(eventDocument), ct.s.LoadTime())
	if reached <= int(ct.level.Load()) {
		return
	}
	ct.levelMu.Lock()
	defer ct.levelMu.Unlock()
	for l := int(ct.level.Load()) + 1; l <= reached; l++ {
		ct.enterLevel(l)
		ct.s.Say("level %d after %.1f s", l, time.Since(ct.begun).Seconds())
	}
}

// enterLevel starts the workers that join at a level. The caller holds levelMu.
func (ct *contest) enterLevel(level int) {
	more := joining(level)
	ct.level.Store(int64(level))
	start := func(kind string, n int, first *int, run func(i int) func(ctx context.Context)) {
		for range n {
			ct.s.Go(kind, run(*first))
			*first++
		}
	}
	c := &ct.crew
	start("chair user", more.chairs, &c.chairs, func(i int) func(context.Context) { return ct.newChairUser(i).run })
	start("estate user", more.estates, &c.estates, func(i int) func(context.Context) { return ct.newEstateUser(i).run })
	start("polygon user", more.polygons, &c.polygons, func(i int) func(context.Context) { return ct.newPolygonUser(i).run })
	start("bot", more.bots, &c.bots, func(i int) func(context.Context) { return ct.newBot(i).run })
	start("draft", more.chairDrafts, &c.chairDrafts, func(i int) func(context.Context) { return ct.newDraft("chair", i, level).run })
	start("draft", more.estateDrafts, &c.estateDrafts, func(i int) func(context.Context) { return ct.newDraft("estate", i, level).run })
}

// workerName names the i-th worker of a kind. Its random stream depends on it.
func workerName(kind string, i int) string { return fmt.Sprintf("%s %d", kind, i) }
