package isuports

import (
	"context"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// pageReaders is the number of readers in the rounds of a watched page.
const pageReaders = 10

// checkPage starts the check of a page of the admin's billing, whose tenants no
// other worker changes: the sum must grow by what a round costs.
func (ct *contest) checkPage() error {
	a, err := ct.admin(adminTimeout)
	if err != nil {
		return err
	}
	rng := ct.s.Rand("page of billing")
	ct.keep("billing of a page", 0, func(ctx context.Context) error {
		sum, page, err := a.pageSum(ctx, ct.plan.cursor)
		if err != nil {
			return err
		}
		h, err := ct.host(page[rng.IntN(len(page))].tenant)
		if err != nil {
			return err
		}
		defer h.close()
		defer ct.workers.Add(-1)
		scored, err := h.round(ctx, form{readers: pageReaders})
		if err != nil || !ct.pause(ctx, allowedDelay) {
			return err
		}
		now, _, err := a.pageSum(ctx, ct.plan.cursor)
		if want := sum + playerYen*int64(scored); err == nil && now != want {
			f := scenario.Wrong(nil, "page-billing", "the page below tenant %d is billed %d yen after %d with %d players more, want %d",
				ct.plan.cursor, now, sum, scored, want)
			f.Step = stepAdminBilling
			return f
		}
		return err
	})
	return nil
}

// pageSum reads a page and returns the sum of its billing.
func (a admin) pageSum(ctx context.Context, before int64) (sum int64, page []billedTenant, err error) {
	page, err = a.billingPage(ctx, before, false)
	for _, t := range page {
		sum += t.yen
	}
	return sum, page, err
}
