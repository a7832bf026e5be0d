package isuports

import (
	"context"
	"net/url"
	"strconv"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// billingPageSize is the number of tenants on a page of the admin's billing.
const billingPageSize = 10

// addTenant adds a tenant.
func (a admin) addTenant(ctx context.Context, p tenantPlan) (t *tenant, err error) {
	form := url.Values{"name": {p.name}, "display_name": {p.display}}
	err = a.growing(ctx, stepTenantAdd, "/api/admin/tenants/add", form, func(res *scenario.Response) error {
		var shown billed
		err := readData(res, func(r *jsonread.Reader, field []byte) {
			if string(field) == "tenant" {
				shown = readBilled(r)
			} else {
				r.Skip()
			}
		})
		if err != nil {
			return err
		}
		id, err := strconv.ParseInt(shown.id, 10, 64)
		if err != nil || id <= 0 {
			return scenario.Wrong(res, "tenant-id", "id %.40q is no number above 0", shown.id)
		}
		if shown.name != p.name || shown.display != p.display || shown.yen != 0 {
			return scenario.Wrong(res, "tenant-added", "added %+v, want %+v", shown, p)
		}
		t = newTenant(id, p.name, p.display)
		if !a.ct.addTenant(t) {
			return scenario.Wrong(res, "tenant-id", "id %d belongs to another tenant", id)
		}
		return nil
	})
	return t, err
}

// billingPath is the path of a page of billing; before is 0 for the first page.
func billingPath(before int64) string {
	if before == 0 {
		return "/api/admin/tenants/billing"
	}
	return "/api/admin/tenants/billing?before=" + strconv.FormatInt(before, 10)
}

// A billedTenant is a known tenant on a page of billing.
type billedTenant struct {
	*tenant
	yen int64
}

// billingPage reads a page of the tenants with an id below before. With exact, the
// page must hold no other tenants than the known ones; without it another worker
// may be adding one.
func (a admin) billingPage(ctx context.Context, before int64, exact bool) (tenants []billedTenant, err error) {
	want := a.ct.tenantsBelow(before, billingPageSize)
	err = a.get(ctx, stepAdminBilling, billingPath(before), func(res *scenario.Response) error {
		page, err := readBillingPage(res)
		if err != nil {
			return err
		}
		tenants, err = a.ct.checkBillingPage(res, page, before, want, exact)
		return err
	})
	return tenants, err
}

// checkBillingPage checks a page of billing. want are the tenants that were known
// before the request.
func (ct *contest) checkBillingPage(res *scenario.Response, page []billed, before int64, want []*tenant, exact bool) (tenants []billedTenant, err error) {
	if len(page) > billingPageSize {
		return nil, scenario.Wrong(res, "tenants-page", "%d tenants on a page, the limit is %d", len(page), billingPageSize)
	}
	next := 0 // of want
	last := before
	for _, b := range page {
		id, err := strconv.ParseInt(b.id, 10, 64)
		if err != nil || last != 0 && id >= last {
			return nil, scenario.Wrong(res, "tenants-page", "tenant %.40q is listed behind or as %d", b.id, last)
		}
		last = id
		t := ct.tenant(id)
		switch {
		case next < len(want) && want[next].id == id:
			next++
		case next < len(want) && want[next].id > id:
			return nil, scenario.Wrong(res, "tenants-page", "tenant %d is missing", want[next].id)
		case exact || t == nil && ct.initial(id):
			return nil, scenario.Wrong(res, "tenants-page", "tenant %d is listed, but was never added", id)
		case t == nil: // another worker is adding it
			continue
		}
		if err := checkBilled(res, b, t); err != nil {
			return nil, err
		}
		tenants = append(tenants, billedTenant{t, b.yen})
	}
	if next < len(want) && len(page) < billingPageSize {
		return nil, scenario.Wrong(res, "tenants-page", "%d tenants, tenant %d is missing", len(page), want[next].id)
	}
	return tenants, nil
}

// checkBilled checks a known tenant on a page of billing. The sum never falls.
func checkBilled(res *scenario.Response, b billed, t *tenant) error {
	if b.name != t.name || b.display != t.display {
		return scenario.Wrong(res, "tenant-names", "tenant %d is called %.40q, %.40q, want %q, %q", t.id, b.name, b.display, t.name, t.display)
	}
	if yen, exact := t.billing(); b.yen < yen || exact && b.yen != yen {
		return scenario.Wrong(res, "tenants-billing", "tenant %d is billed %d yen, want %d", t.id, b.yen, yen)
	}
	return nil
}
