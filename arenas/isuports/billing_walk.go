package isuports

import (
	"context"
	"time"
)

// walkPause is how long the walk waits after a page that failed.
const walkPause = 100 * time.Millisecond

// walkBilling starts the admin, who walks over the billing from the newest tenants
// to the oldest. After each complete walk the admin adds a tenant; after the first
// one the largest tenant begins to hold rounds.
func (ct *contest) walkBilling() error {
	a, err := ct.admin(adminTimeout)
	if err != nil {
		return err
	}
	before := int64(len(ct.data.Tenants)) // the first walk leaves out the new tenants
	ct.s.Go("admin", func(ctx context.Context) {
		for ctx.Err() == nil {
			page, err := a.billingPage(ctx, before, false)
			switch {
			case err != nil:
				ct.s.Report(err)
				ct.pause(ctx, walkPause)
			case len(page) > 0:
				before = page[len(page)-1].id
			default:
				before = 0
				ct.walked(ctx, a)
			}
		}
	})
	return nil
}

// walked is what follows a complete walk.
func (ct *contest) walked(ctx context.Context, a admin) {
	if ct.walks.Add(1) == 1 {
		ct.popular(ct.tenant(ct.data.Tenants[0].ID))
	}
	if ct.workers.Load() >= maxOrganizers {
		ct.pause(ctx, walkPause)
		return
	}
	if err := ct.found(ctx, a, ct.planned()); err != nil {
		ct.s.Report(err)
		ct.pause(ctx, walkPause)
	}
}
