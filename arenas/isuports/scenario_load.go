package isuports

import (
	"context"

	"github.com/iikanji/iikanji/internal/scenario"
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
	founded := false
	ct.keep("founder", 0, func(ctx context.Context) error {
		if founded {
			<-ctx.Done()
			return nil
		}
		err := ct.found(ctx, a)
		founded = err == nil
		return err
	})
	<-ctx.Done()
	ct.gauges()
	return nil
}
