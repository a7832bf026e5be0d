package isutrain

import (
	"context"
	"net/http"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// leastDays is the smallest window that the rules permit.
const leastDays = 10

// initialize empties the payment service and the target, and learns how many days can be
// booked.
func (ct *contest) initialize(ctx context.Context) error {
	ct.locked(func() { ct.model = newModel() })
	ct.timeout = checkTimeout
	a := ct.browser()
	defer a.close()
	if err := a.settings(ctx); err != nil {
		return err
	}
	if err := ct.initializePayment(ctx); err != nil {
		return err
	}
	r := &scenario.Request{Step: stepInitialize, Method: http.MethodPost, Path: "/initialize", Timeout: initializeTimeout}
	return a.do(ctx, r, func(res *scenario.Response) error {
		var v struct {
			Days     int `json:"available_days"`
			Language string
		}
		if err := scenario.WantJSON(res, http.StatusOK, &v); err != nil {
			return err
		}
		if v.Days < leastDays || v.Days > ct.line.size.Days {
			return scenario.Wrong(res, "initialize-days", "%d days can be booked, want %d to %d", v.Days, leastDays, ct.line.size.Days)
		}
		if v.Language == "" {
			return scenario.Wrong(res, "initialize-language", "no language")
		}
		ct.days = v.Days
		ct.s.Say("initialized, an app in %.20s, %d days can be booked", v.Language, v.Days)
		return nil
	})
}

// settings reads the address of the payment service, as the page does.
func (a *agent) settings(ctx context.Context) error {
	return a.do(ctx, &scenario.Request{Step: stepSettings, Path: "/api/settings"}, func(res *scenario.Response) error {
		var v struct {
			Payment string `json:"payment_api"`
		}
		if err := scenario.WantJSON(res, http.StatusOK, &v); err != nil {
			return err
		}
		if v.Payment == "" || a.ct.payment != "" && v.Payment != a.ct.payment {
			return scenario.Wrong(res, "settings-payment", "the payment service is %.80q, want %s", v.Payment, a.ct.payment)
		}
		a.ct.payment = v.Payment
		return nil
	})
}
