package isucondition

import (
	"context"
	"time"

	"github.com/iikanji/iikanji/internal/scenario"
)

// viewersPerUser is how many viewers there are at most for each user.
const viewersPerUser = 3

// viewerPause is the least time between two loops of a viewer.
const viewerPause = 100 * time.Millisecond

// freshFor is how young (in real time, before the request) an ISU's newest
// condition must be to please a viewer.
const freshFor = 2 * time.Second

// A viewer is a stranger who watches the trend until something fails.
type viewer struct {
	*browser
	watch trendWatch
}

// run is the viewer's stay.
func (v *viewer) run(ctx context.Context) {
	defer v.cl.Close()
	defer func() {
		if ctx.Err() == nil { // the end of the load is no leaving
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

// look is one loop: the landing page and the trend on it.
func (v *viewer) look(ctx context.Context) error {
	if err := v.landing(ctx, "/"); err != nil {
		return err
	}
	freshAfter := v.ct.clock.now() - v.ct.clock.span(freshFor)
	return v.get(ctx, stepTrend, "/api/trend", func(res *scenario.Response) error {
		a, err := v.watch.checkTrend(res, v.ct.world.ids(), freshAfter)
		v.ct.updates.Add(a.updates)
		return err
	})
}
