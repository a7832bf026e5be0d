package isutrain

import (
	"context"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Validate waits for late cancellations of payments, and compares the payments with what
// the target has acknowledged.
func (ct *contest) Validate(ctx context.Context, _ scenario.Session) error {
	if !ct.pause(ctx, refundTime) {
		return ctx.Err()
	}
	return ct.checkPayments(ctx)
}

// checkPayments compares the payment service with the reservations. What a request without
// an answer may have changed is not compared.
func (ct *contest) checkPayments(ctx context.Context) error {
	list, err := ct.payments(ctx)
	if err != nil {
		return err
	}
	valid := map[int][]int{} // amounts of payments that are not cancelled, by reservation
	for _, p := range list {
		if i := p.Information; !i.IsCanceled {
			valid[i.ReservationID] = append(valid[i.ReservationID], i.Amount)
		}
	}
	ct.mu.Lock()
	defer ct.mu.Unlock()
	for _, r := range ct.model.all {
		amounts := valid[r.id]
		switch {
		case r.paid && len(list) == 0:
			return wrong(stepResult, "payment-none", "reservation %d was paid, but there is no payment", r.id)
		case r.removed && len(amounts) > 0:
			return wrong(stepResult, "payment-cancelled", "reservation %d was cancelled, but is paid", r.id)
		case !r.paying && len(amounts) > 0:
			return wrong(stepResult, "payment-early", "reservation %d was not paid by its user, but is paid", r.id)
		case !r.paid || r.cancelling:
		case len(amounts) == 0:
			return wrong(stepResult, "payment-missing", "reservation %d was paid, but has no payment", r.id)
		case len(amounts) > 1:
			return wrong(stepResult, "payment-twice", "reservation %d was paid %d times", r.id, len(amounts))
		case amounts[0] != r.amount:
			return wrong(stepResult, "payment-amount", "reservation %d was paid with %d, want %d", r.id, amounts[0], r.amount)
		}
	}
	return nil
}
