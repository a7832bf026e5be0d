package isuports

import (
	"context"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Load starts all workers.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	s.Gauge("offered work (digest)", "", work(s))
	a, err := ct.admin(adminTimeout)
	if err != nil {
		return err
	}
	for _, start := range []func() error{ct.walkBilling, ct.checkBilling, ct.checkPage, ct.checkPlayers} {
		if err := start(); err != nil {
			return err
		}
	}
	ct.popular(ct.tenant(ct.plan.light))
	first := ct.planned()
	s.Go("founder", func(ctx context.Context) {
		for {
			err := ct.found(ctx, a, first)
			if ct.report(ctx, err); err == nil || !ct.pause(ctx, restartPause) {
				return
			}
			first = ct.planned() // the former name may be taken in spite of the error
		}
	})
	<-ctx.Done()
	ct.gauges()
	return nil
}
