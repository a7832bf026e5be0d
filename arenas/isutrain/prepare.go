package isutrain

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/prechecks"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Prepare initializes the target, checks its answers, and initializes it again.
func (ct *contest) Prepare(ctx context.Context, s scenario.Session) error {
	ct.s = s
	if err := prechecks.Run(ctx, s, 0, ct.initialize, ct.check); err != nil { // each page has a limit
		return err
	}
	s.Phase(scenario.Initialize)
	if err := ct.initialize(ctx); err != nil {
		return err
	}
	ct.timeout = requestTimeout
	return nil
}

// check is the test before the load. What reads comes first, because the searches expect
// empty trains.
func (ct *contest) check(ctx context.Context) error {
	a := ct.browser()
	defer a.close()
	reads := []func(ctx context.Context, a *agent) error{
		func(ctx context.Context, a *agent) error { return a.checkStatic(ctx) },
		func(ctx context.Context, a *agent) error { return a.checkStations(ctx) },
		ct.checkSearches, ct.checkMaps,
	}
	writes := []func(ctx context.Context, a *agent) error{ct.checkAccounts, ct.checkRefusedSections, ct.checkFlow, ct.checkTickets}
	for _, check := range slices.Concat(reads, writes) {
		if err := check(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// checkSearches are the five searches of the contest, on the first day: of express trains
// down the line and of all trains up, of a short way that only local trains go, up to the
// end of the line, and of a section that express trains pass.
func (ct *contest) checkSearches(ctx context.Context, a *agent) error {
	queries := []query{
		{after: 10 * 3600, from: 1, to: 82, class: express},
		{after: 12 * 3600, from: 82, to: 1},
		{after: 6 * 3600, from: 3, to: 4},
		{after: 6 * 3600, from: 42, to: 1},
		{after: 7 * 3600, from: 8, to: 36},
	}
	for i, q := range queries {
		q.adult, q.child = 1+(i+int(ct.s.Seed()%3))%3, (i+int(ct.s.Seed()%4))%4
		if _, err := a.checkSearch(ctx, q, true); err != nil {
			return err
		}
	}
	return nil
}

// checkMaps are seat maps of cars of each class of trains and seats.
func (ct *contest) checkMaps(ctx context.Context, a *agent) error {
	r := ct.rand("maps")
	for _, class := range []string{express, semiExpress, local} {
		for _, car := range []int{1 + r.IntN(3), 8 + r.IntN(3), 11 + 2*r.IntN(3), 16} {
			t := ct.anyTrain(r.IntN(ct.days), class, r.IntN(2) == 1)
			if t == nil {
				continue
			}
			free, err := a.checkSeats(ctx, t, car, t.start, t.last)
			if err != nil {
				return err
			}
			if len(free) != len(carSeats(car)) {
				return wrong(stepSeats, "seats-occupied", "%d free seats in an empty car, want %d", len(free), len(carSeats(car)))
			}
		}
	}
	return nil
}

// anyTrain returns a train of a class and direction on a day, that is not the background
// tester's; nil if there is none.
func (ct *contest) anyTrain(day int, class string, up bool) *train {
	for _, t := range ct.line.trains[day] {
		if t.class == class && t.up == up && t != ct.tester() {
			return t
		}
	}
	return nil
}

// checkAccounts: who is not known gets in nowhere.
func (ct *contest) checkAccounts(ctx context.Context, stranger *agent) error {
	if err := stranger.post(ctx, stepLogin, "/api/auth/login", stranger.credentials(), http.StatusForbidden, nil); err != nil {
		return named(err, "login-unknown")
	}
	a := ct.browser()
	defer a.close()
	if err := a.arrive(ctx); err != nil {
		return err
	}
	bad := map[string]string{"email": a.email, "password": a.password + "x"}
	if err := stranger.post(ctx, stepLogin, "/api/auth/login", bad, http.StatusForbidden, nil); err != nil {
		return named(err, "login-password")
	}
	if err := stranger.post(ctx, stepSignup, "/api/auth/signup", bad, http.StatusBadRequest, nil); err != nil {
		return named(err, "signup-twice")
	}
	for _, path := range []string{"/api/auth", "/api/user/reservations", "/api/user/reservations/1"} {
		if err := stranger.get(ctx, stepAuth, path, nil, http.StatusUnauthorized, nil); err != nil {
			return named(err, "no-session")
		}
	}
	if err := a.checkEmail(ctx); err != nil {
		return err
	}
	if err := a.logout(ctx); err != nil {
		return err
	}
	return named(a.get(ctx, stepAuth, "/api/auth", nil, http.StatusUnauthorized, nil), "logged-out")
}

func (a *agent) checkEmail(ctx context.Context) error {
	var v struct{ Email string }
	if err := a.get(ctx, stepAuth, "/api/auth", nil, http.StatusOK, &v); err != nil {
		return err
	}
	if v.Email != a.email {
		return wrong(stepAuth, "auth-email", "the user is %.80s, want %s", v.Email, a.email)
	}
	return nil
}

// named gives a check that expects a refusal its name.
func named(err error, check string) error {
	var f *scenario.Fault
	if errors.As(err, &f) && f.Kind == iikanji.FaultStatus && f.Check == "" {
		f.Check = check
	}
	return err
}

// checkRefusedSections: what cannot be booked is refused.
func (ct *contest) checkRefusedSections(ctx context.Context, a *agent) error {
	late := query{day: ct.days, after: 10 * 3600, from: 1, to: 82, adult: 1}
	if _, err := a.search(ctx, late, http.StatusNotFound); err != nil {
		return named(err, "window-search")
	}
	last := ct.line.trains[ct.days-1][0]
	if _, err := a.seatMap(ctx, ct.days, last.class, last.name, 8, last.start, last.last, http.StatusNotFound); err != nil {
		return named(err, "window-seats")
	}
	if _, err := a.checkSearch(ctx, query{day: ct.days - 1, after: 20 * 3600, from: 1, to: 42, class: last.class, adult: 1}, true); err != nil {
		return err
	}
	for _, class := range []string{express, semiExpress} {
		t := ct.anyTrain(0, class, false)
		if t == nil {
			continue
		}
		if _, err := a.seatMap(ctx, 0, class, t.name, 8, 3, t.last, http.StatusBadRequest); err != nil {
			return named(err, "seats-no-stop")
		}
	}
	t := ct.anyTrain(0, express, false)
	if _, err := a.seatMap(ctx, 0, local, t.name, 8, 1, 82, http.StatusNotFound); err != nil {
		return named(err, "seats-no-train")
	}
	return nil
}
