package isutrain

import (
	"context"
	"net/http"
	"slices"
)

// refused sends a reservation that the target must refuse.
func (a *agent) refused(ctx context.Context, r *reservation, status int, check string) error {
	return named(a.do(ctx, a.reserveRequest(r), want(status, nil)), check)
}

// checkFlow takes two users through reservation, payment and cancellation of certain seats.
func (ct *contest) checkFlow(ctx context.Context, stranger *agent) error {
	a, other := ct.browser(), ct.browser()
	defer a.close()
	defer other.close()
	for _, b := range []*agent{a, other} {
		if err := b.arrive(ctx); err != nil {
			return err
		}
	}
	t := ct.line.trains[0][0] // an express train along the whole line
	r := &reservation{train: t, from: 1, to: 65, class: premium, adult: 1, child: 1, seats: []seat{{8, 1, "A"}, {8, 1, "B"}}}
	if err := stranger.refused(ctx, r, http.StatusUnauthorized, "reserve-no-session"); err != nil {
		return err
	}
	if err := ct.refuseReservations(ctx, a, *r); err != nil {
		return err
	}
	if err := a.reserve(ctx, r); err != nil {
		return err
	}
	steps := []func(ctx context.Context, a, other *agent, r *reservation) error{ct.flowOverlaps, ct.flowPays, ct.flowCancels}
	for _, step := range steps {
		if err := step(ctx, a, other, r); err != nil {
			return err
		}
	}
	return nil
}

// refuseReservations sends variants of a right reservation that cannot be made.
func (ct *contest) refuseReservations(ctx context.Context, a *agent, r reservation) error {
	row, column, section, class := r, r, r, r
	row.seats, column.seats = []seat{{8, 30, "A"}}, []seat{{8, 1, "G"}}
	section.from = 3
	class.class = reserved
	for _, c := range []struct {
		r      *reservation
		status int
		check  string
	}{
		{&row, http.StatusNotFound, "reserve-no-seat"}, {&column, http.StatusNotFound, "reserve-no-seat"},
		{&section, http.StatusBadRequest, "reserve-no-stop"}, {&class, http.StatusNotFound, "reserve-class"},
	} {
		if err := a.refused(ctx, c.r, c.status, c.check); err != nil {
			return err
		}
	}
	late := r
	last := *ct.line.trains[ct.days-1][0]
	last.day++
	late.train = &last
	if err := a.refused(ctx, &late, http.StatusNotFound, "window-reserve"); err != nil {
		return err
	}
	for _, t := range ct.line.trains[0] {
		if t.class == express && !t.up && t.last < stations {
			outside := r
			outside.train, outside.to = t, stations
			return a.refused(ctx, &outside, http.StatusBadRequest, "reserve-outside")
		}
	}
	return nil
}

// flowOverlaps: a seat is taken on overlapping sections, and free on the others.
func (ct *contest) flowOverlaps(ctx context.Context, a, other *agent, r *reservation) error {
	inside := &reservation{train: r.train, from: 6, to: 27, class: premium, adult: 1, seats: r.seats[1:]}
	across := &reservation{train: r.train, from: 42, to: 82, class: premium, adult: 1, seats: r.seats[:1]}
	touching := &reservation{train: r.train, from: 65, to: 82, class: premium, adult: 1, child: 1, seats: r.seats}
	for _, taken := range []*reservation{inside, across} {
		if err := other.refused(ctx, taken, http.StatusBadRequest, "sold-twice"); err != nil {
			return err
		}
	}
	if err := a.checkOccupied(ctx, r, 1, 6, true); err != nil {
		return err
	}
	if err := a.checkOccupied(ctx, r, 65, 82, false); err != nil {
		return err
	}
	return other.reserve(ctx, touching)
}

// flowPays pays a reservation, which only its user may do, and only once.
func (ct *contest) flowPays(ctx context.Context, a, other *agent, r *reservation) error {
	token, err := a.card(ctx)
	if err != nil {
		return err
	}
	const path = "/api/train/reservation/commit"
	if err := other.post(ctx, stepCommit, path, commitBody(token, r), http.StatusForbidden, nil); err != nil {
		return named(err, "commit-foreign")
	}
	if err := a.post(ctx, stepCommit, path, commitBody(token, &reservation{id: 1 << 30}), http.StatusNotFound, nil); err != nil {
		return named(err, "commit-unknown")
	}
	if err := a.post(ctx, stepCommit, path, commitBody("no token", r), http.StatusInternalServerError, nil); err != nil {
		return named(err, "commit-no-card")
	}
	if err := a.commit(ctx, r); err != nil {
		return err
	}
	if err := a.post(ctx, stepCommit, path, commitBody(token, r), http.StatusForbidden, nil); err != nil {
		return named(err, "commit-twice")
	}
	return ct.checkPayments(ctx)
}

// flowCancels cancels a reservation, which only its user may do; then its seats are free.
func (ct *contest) flowCancels(ctx context.Context, a, other *agent, r *reservation) error {
	if err := other.post(ctx, stepCancel, detailPath(r)+"/cancel", struct{}{}, http.StatusBadRequest, nil); err != nil {
		return named(err, "cancel-foreign")
	}
	if err := other.get(ctx, stepDetail, detailPath(r), nil, http.StatusNotFound, nil); err != nil {
		return named(err, "detail-foreign")
	}
	if err := a.get(ctx, stepDetail, "/api/user/reservations/x", nil, http.StatusBadRequest, nil); err != nil {
		return named(err, "detail-number")
	}
	if err := a.cancel(ctx, r); err != nil {
		return err
	}
	if err := a.checkOccupied(ctx, r, 1, 6, false); err != nil {
		return err
	}
	again := *r
	again.id, again.paying, again.paid, again.cancelling, again.removed = 0, false, false, false, false
	if err := other.reserve(ctx, &again); err != nil {
		return err
	}
	list, err := other.list(ctx)
	if err == nil && len(list) != 2 {
		err = wrong(stepList, "list-others", "%d reservations in the list of a user with 2", len(list))
	}
	return err
}

// checkTickets reserves any seats, with a column and without, and tickets without seats.
func (ct *contest) checkTickets(ctx context.Context, _ *agent) error {
	a := ct.browser()
	defer a.close()
	if err := a.arrive(ctx); err != nil {
		return err
	}
	t := ct.anyTrain(1, local, true)
	kinds := []*reservation{
		{class: premium, adult: 1, child: 1}, {class: premium, adult: 3, child: 3}, {class: premium, adult: 2, child: 1, column: "D"},
		{class: nonReserved, adult: 1, child: 3},
	}
	for _, r := range kinds {
		r.train, r.from, r.to = t, t.start, t.last
		if err := a.reserve(ctx, r); err != nil {
			return err
		}
	}
	smoking := &reservation{train: ct.anyTrain(1, express, false), class: reserved, smoking: true, adult: 1, child: 1}
	smoking.from, smoking.to = smoking.train.start, smoking.train.last
	if err := a.reserve(ctx, smoking); err != nil {
		return err
	}
	none := &reservation{train: t, from: t.start, to: t.last, class: premium, smoking: true, adult: 1}
	if err := a.refused(ctx, none, http.StatusNotFound, "any-none"); err != nil {
		return err
	}
	list, err := a.list(ctx)
	if err != nil {
		return err
	}
	if !slices.IsSortedFunc(list, func(a, b listed) int { return a.ID - b.ID }) || len(list) != len(kinds)+1 {
		return wrong(stepList, "list-order", "%d reservations, want %d, the oldest first", len(list), len(kinds)+1)
	}
	return nil
}
