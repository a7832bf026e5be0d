package isuports

import "context"

// maxOrganizers limits the tenants that hold rounds, so that the load stays within
// what a generator can send.
const maxOrganizers = 500

// hold starts an organizer who holds rounds without end, reads the billing after
// each and, if adds is set, adds players.
func (ct *contest) hold(kind string, t *tenant, fresh, adds bool) {
	if ct.workers.Load() >= maxOrganizers {
		return
	}
	h, err := ct.host(t)
	if err != nil {
		ct.s.Fail(err)
		return
	}
	t.touch()
	ct.keep(kind, 0, func(ctx context.Context) error {
		if fresh {
			if err := h.addBatch(ctx); err != nil {
				return err
			}
			fresh = false
		}
		if _, err := h.round(ctx, usual); err != nil {
			return err
		}
		if _, err := h.billing(ctx, nil); err != nil {
			return err
		}
		if adds {
			return h.addBatch(ctx)
		}
		return nil
	})
}

// popular starts the organizer of an initial tenant, who adds players after each
// round.
func (ct *contest) popular(t *tenant) { ct.hold("popular tenant", t, false, true) }

// open starts the organizer of a tenant that this run added.
func (ct *contest) open(t *tenant) { ct.hold("new tenant", t, true, false) }

// found adds a tenant and starts its organizer.
func (ct *contest) found(ctx context.Context, a admin, p tenantPlan) error {
	t, err := a.addTenant(ctx, p)
	if err != nil {
		return err
	}
	ct.open(t)
	return nil
}
