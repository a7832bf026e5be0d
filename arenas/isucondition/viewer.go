package isucondition

import (
	"context"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// viewersPerUser is the maximum number of viewers per user.
const viewersPerUser = 3

// viewerPause is the minimum time between the starts of two loops of a viewer.
const viewerPause = 100 * time.Millisecond

// freshFor is the maximum age (in real time, before the request) at which an ISU's
// newest condition counts as an update for a viewer.
const freshFor = 2 * time.Second

// A viewer watches the trend without a session until something fails.
type viewer struct {
	*browser
	watch trendWatch
}

// run executes the viewer's loops.
func (v *viewer) run(ctx context.Context) {
	defer v.cl.Close()
	defer func() {
		if ctx.Err() == nil { // the end of the load does not count as leaving
			v.ct.viewers.Add(-1)
		}
	}()
	for {
		begun := time.Now()
		if err := v.look(ctx); err != nil {
			v.ct.s.Report(err)
			return
		}
		if !untilNext(ctx, begun, viewerPause) || v.ct.viewersGone.Load() {
			return
		}
	}
}

// look is one loop: it loads the landing page and its trend.
func (v *viewer) look(ctx context.Context) error {
	if err := v.landing(ctx, "/"); err != nil {
		return err
	}
	freshAfter, sent := v.ct.clock.now()-v.ct.clock.span(freshFor), time.Now()
	return v.get(ctx, stepTrend, "/api/trend", func(res *scenario.Response) error {
		a, err := v.watch.checkTrend(res, v.ct.world.ids(), freshAfter)
		v.ct.updates.Add(a.updates)
		if err != nil {
			return err
		}
		return v.watch.checkFresh(res, v.ct.world.ids(), sent)
	})
}
