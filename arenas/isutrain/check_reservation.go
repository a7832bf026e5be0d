package isutrain

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A listed is a reservation as its user sees it.
type listed struct {
	ID            int    `json:"reservation_id"`
	Date          string `json:"date"`
	Class         string `json:"train_class"`
	Name          string `json:"train_name"`
	Car           int    `json:"car_number"`
	SeatClass     string `json:"seat_class"`
	Amount        int    `json:"amount"`
	Adult         int    `json:"adult"`
	Child         int    `json:"child"`
	Departure     string `json:"departure"`
	Arrival       string `json:"arrival"`
	DepartureTime string `json:"departure_time"`
	ArrivalTime   string `json:"arrival_time"`
	Seats         []struct {
		Row    int    `json:"seat_row"`
		Column string `json:"seat_column"`
	} `json:"seats"`
}

// reserve makes a reservation, and checks price, list and detail. Of any seats it learns
// from the detail which ones they are.
func (a *agent) reserve(ctx context.Context, r *reservation) error {
	if err := a.reserveQuick(ctx, r, false); err != nil {
		return err
	}
	return a.checkReserved(ctx, r)
}

// reserveQuick sends the request and checks number and price.
func (a *agent) reserveQuick(ctx context.Context, r *reservation, quiet bool) error {
	a.ct.locked(func() {
		for _, s := range r.seats {
			if r.train.class == local && s.car == lastCar {
				a.ct.model.localCar[s] = true
			}
		}
	})
	var v struct {
		ID     int `json:"reservation_id"`
		Amount int
		IsOK   bool `json:"is_ok"`
	}
	req := a.reserveRequest(r)
	req.Quiet = quiet
	if err := a.do(ctx, req, func(res *scenario.Response) error { return scenario.WantJSON(res, http.StatusOK, &v) }); err != nil {
		return err
	}
	a.ct.s.Add(reservedBonus, 1)
	if want := a.ct.line.amount(r); v.Amount != want {
		return a.ct.critical(stepReserve, "reserve-amount", "a reservation from %d to %d in %s costs %d, want %d", r.from, r.to, r.class, v.Amount, want)
	}
	r.id, r.amount = v.ID, v.Amount
	var rival *reservation
	known := false
	a.ct.locked(func() {
		known = a.ct.model.byID[r.id] != nil
		rival = a.ct.model.rival(r)
		a.ct.model.add(r)
	})
	if !v.IsOK || r.id <= 0 || known {
		return wrong(stepReserve, "reserve-id", "the number of a reservation is %d", r.id)
	}
	return a.ct.soldTwice(r, rival)
}

func (ct *contest) soldTwice(r, rival *reservation) error {
	if rival == nil {
		return nil
	}
	return ct.critical(stepReserve, "sold-twice", "reservations %d (%d to %d) and %d (%d to %d) of train %s on %s have a seat in common",
		rival.id, rival.from, rival.to, r.id, r.from, r.to, r.train.name, date(r.train.day, "-"))
}

// checkReserved finds a reservation in the user's list, and compares its detail.
func (a *agent) checkReserved(ctx context.Context, r *reservation) error {
	list, err := a.list(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(l listed) bool { return l.ID == r.id })
	if i < 0 {
		return a.ct.critical(stepList, "list-missing", "reservation %d is not in the list", r.id)
	}
	if list[i].Amount != r.amount {
		return a.ct.critical(stepList, "list-amount", "reservation %d costs %d in the list, want %d", r.id, list[i].Amount, r.amount)
	}
	var l listed
	if err := a.get(ctx, stepDetail, detailPath(r), nil, http.StatusOK, &l); err != nil {
		return err
	}
	if err := a.checkDetail(l, r); err != nil {
		return err
	}
	return a.learnSeats(l, r)
}

// checkDetail compares all that does not depend on the choice of seats.
func (a *agent) checkDetail(l listed, r *reservation) error {
	if l.Amount != r.amount {
		return a.ct.critical(stepDetail, "detail-amount", "reservation %d costs %d, want %d", r.id, l.Amount, r.amount)
	}
	if len(l.Seats) != r.persons() {
		return a.ct.critical(stepDetail, "detail-seats", "reservation %d has %d seats, want %d", r.id, len(l.Seats), r.persons())
	}
	got := l
	got.Car, got.Seats = 0, nil
	want := listed{ID: r.id, Date: date(r.train.day, "/"), Class: r.train.class, Name: r.train.name, SeatClass: r.class,
		Amount: r.amount, Adult: r.adult, Child: r.child,
		Departure: a.ct.line.station(r.from).Name, Arrival: a.ct.line.station(r.to).Name,
		DepartureTime: clock(r.train.departure[r.from-1]), ArrivalTime: clock(r.train.arrival[r.to-1])}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		return wrong(stepDetail, "detail-fields", "%s, want %s", g, w)
	}
	return nil
}

// learnSeats compares the seats of a reservation with those that the user asked for. Where
// the app chose them, they must have the class asked for, and no other reservation may have them.
func (a *agent) learnSeats(l listed, r *reservation) error {
	var seats []seat
	for _, s := range l.Seats {
		seats = append(seats, seat{l.Car, s.Row, s.Column})
	}
	if r.class == nonReserved {
		for _, s := range seats {
			if s != (seat{}) {
				return wrong(stepDetail, "detail-non-reserved", "seat %+v for a ticket without one", s)
			}
		}
		return nil
	}
	var rival *reservation
	if len(r.seats) > 0 {
		for _, s := range r.seats {
			if !slices.Contains(seats, s) {
				return a.ct.critical(stepDetail, "detail-seats", "reservation %d has the seats %v, want %v", r.id, seats, r.seats)
			}
		}
	} else {
		all := carSeats(l.Car)
		for i, s := range seats {
			if carClass(r.train.class, l.Car) != r.class || !slices.Contains(all, s) || s.smoking() != r.smoking || slices.Contains(seats[:i], s) {
				return wrong(stepDetail, "any-seats", "seat %+v for any %s", s, r.class)
			}
		}
		if r.column != "" && !slices.ContainsFunc(seats, func(s seat) bool { return s.column == r.column }) {
			return wrong(stepDetail, "any-column", "none of %v is in column %s", seats, r.column)
		}
		a.ct.locked(func() {
			r.seats = seats
			rival = a.ct.model.rival(r)
		})
	}
	for _, e := range bonuses(seats) {
		a.ct.s.Add(e, 1)
	}
	return a.ct.soldTwice(r, rival)
}

func detailPath(r *reservation) string { return fmt.Sprintf("/api/user/reservations/%d", r.id) }

func (a *agent) list(ctx context.Context) ([]listed, error) {
	var l []listed
	err := a.get(ctx, stepList, "/api/user/reservations", nil, http.StatusOK, &l)
	return l, err
}

// commit pays a reservation.
func (a *agent) commit(ctx context.Context, r *reservation) error {
	token, err := a.card(ctx)
	if err != nil {
		return err
	}
	a.ct.locked(func() { r.paying = true })
	var v struct {
		IsOK bool `json:"is_ok"`
	}
	if err := a.post(ctx, stepCommit, "/api/train/reservation/commit", commitBody(token, r), http.StatusOK, &v); err != nil {
		return err
	}
	if !v.IsOK {
		return wrong(stepCommit, "commit-ok", "a payment is not ok")
	}
	a.ct.locked(func() { r.paid = true })
	return nil
}

func commitBody(token string, r *reservation) map[string]any {
	return map[string]any{"card_token": token, "reservation_id": r.id}
}

// cancel removes a reservation, which then must be gone.
func (a *agent) cancel(ctx context.Context, r *reservation) error {
	a.ct.locked(func() { r.cancelling = true })
	if err := a.post(ctx, stepCancel, detailPath(r)+"/cancel", struct{}{}, http.StatusOK, nil); err != nil {
		return err
	}
	a.ct.locked(func() { r.removed = true })
	list, err := a.list(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(l listed) bool { return l.ID == r.id }) {
		return a.ct.critical(stepList, "list-cancelled", "the cancelled reservation %d is in the list", r.id)
	}
	return a.gone(ctx, r)
}

// gone checks that the app refuses to show a cancelled reservation.
func (a *agent) gone(ctx context.Context, r *reservation) error {
	return a.do(ctx, &scenario.Request{Step: stepDetail, Path: detailPath(r)}, func(res *scenario.Response) error {
		if res.Status == http.StatusOK {
			return a.ct.critical(stepDetail, "detail-cancelled", "the cancelled reservation %d has a detail", r.id)
		}
		return want(http.StatusNotFound, nil)(res)
	})
}
