package isutrain

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// normal buys two seats after a look at the map of a premium car.
func (ct *contest) normal(ctx context.Context, r *rand.Rand) error {
	_, err := ct.buy(ctx, r, premium, false)
	return err
}

// cancels buys two reserved seats, and cancels.
func (ct *contest) cancels(ctx context.Context, r *rand.Rand) error {
	_, err := ct.buy(ctx, r, reserved, true)
	return err
}

// buy goes the way of a user through the pages.
func (ct *contest) buy(ctx context.Context, r *rand.Rand, class string, cancel bool) (*reservation, error) {
	q := ct.query(r, "")
	a, err := ct.visitor(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	trains, err := a.checkSearch(ctx, q, false)
	if err != nil {
		return nil, err
	}
	t := ct.pick(r, trains)
	free, err := a.checkSeats(ctx, t, anyCar(r, t.class, class), q.from, q.to)
	if err != nil || len(free) < 2 {
		return nil, err
	}
	res := &reservation{train: t, from: q.from, to: q.to, class: class, adult: 1, child: 1, seats: free[:2], smoking: free[0].smoking()}
	if err := a.reserve(ctx, res); err != nil {
		return nil, err
	}
	if err := a.commit(ctx, res); err != nil {
		return nil, err
	}
	if err := a.checkReservedAgain(ctx, res); err != nil {
		return nil, err
	}
	if cancel {
		if err := a.cancel(ctx, res); err != nil {
			return nil, err
		}
	}
	return res, a.logout(ctx)
}

// checkReservedAgain looks at list and detail after the payment.
func (a *agent) checkReservedAgain(ctx context.Context, r *reservation) error {
	if _, err := a.list(ctx); err != nil {
		return err
	}
	var l listed
	if err := a.get(ctx, stepDetail, detailPath(r), nil, http.StatusOK, &l); err != nil {
		return err
	}
	return a.checkDetail(l, r)
}

// anyCar draws a car with seats of a class.
func anyCar(r *rand.Rand, trainClass, seatClass string) int {
	for {
		if car := 1 + r.IntN(lastCar); carClass(trainClass, car) == seatClass {
			return car
		}
	}
}

// anyOf reserves any seats on one of the trains of a search, and pays if wanted.
func (a *agent) anyOf(ctx context.Context, q query, first bool, r *rand.Rand, adult, child int, pay bool) (*reservation, error) {
	trains, err := a.checkSearch(ctx, q, false)
	if err != nil {
		return nil, err
	}
	t := trains[0]
	if !first {
		t = a.ct.pick(r, trains)
	}
	res := &reservation{train: t, from: q.from, to: q.to, class: premium, adult: adult, child: child}
	if err := a.reserve(ctx, res); err != nil {
		return nil, err
	}
	if pay {
		return res, a.commit(ctx, res)
	}
	return res, nil
}

// foreignCancel has a user try to cancel the reservation of another one.
func (ct *contest) foreignCancel(ctx context.Context, r *rand.Rand) error {
	q := ct.query(r, local)
	owner, err := ct.visitor(ctx)
	if err != nil {
		return err
	}
	defer owner.close()
	res, err := owner.anyOf(ctx, q, false, r, 1, 1, true)
	if err != nil {
		return err
	}
	thief, err := ct.visitor(ctx)
	if err != nil {
		return err
	}
	defer thief.close()
	return thief.do(ctx, request(stepCancel, detailPath(res)+"/cancel", struct{}{}), func(re *scenario.Response) error {
		if re.Status == http.StatusOK {
			return ct.critical(stepCancel, "cancel-foreign", "a user has cancelled another one's reservation")
		}
		return want(http.StatusBadRequest, nil)(re)
	})
}

// racers want the same seats at the same time.
const racers = 10

// race wants two seats of a local train ten times at once: one must get them.
func (ct *contest) race(ctx context.Context, r *rand.Rand) error {
	q := ct.query(r, local)
	t := ct.pick(r, ct.line.search(q))
	row := 1 + r.IntN(17)
	res := reservation{train: t, from: q.from, to: q.to, class: premium, adult: 1, child: 1, seats: []seat{{9, row, "A"}, {9, row, "B"}}}
	taken := false
	ct.locked(func() { taken = ct.model.rival(&res) != nil })
	a, err := ct.visitor(ctx)
	if err != nil || taken {
		return err
	}
	defer a.close()
	var won, unsure atomic.Int64
	ct.each(ctx, racers, func(ctx context.Context, _ int) error {
		mine := res
		err := a.reserveQuick(ctx, &mine, true)
		if err == nil {
			won.Add(1)
			return a.checkReserved(ctx, &mine)
		}
		if k := scenario.KindOf(err); k != iikanji.FaultStatus {
			unsure.Add(1)
			if k == iikanji.FaultCheck {
				return err
			}
		}
		return nil
	})
	if won.Load() == 0 && unsure.Load() == 0 && ctx.Err() == nil {
		return wrong(stepReserve, "race-nobody", "none of %d reservations of free seats had success", racers)
	}
	return nil
}

// wrongSection looks at the seats of an express train from where it does not stop.
func (ct *contest) wrongSection(ctx context.Context, r *rand.Rand) error {
	t := ct.anyTrain(r.IntN(ct.days), express, r.IntN(2) == 1)
	if t == nil {
		return nil
	}
	a := ct.browser()
	defer a.close()
	_, err := a.seatMap(ctx, t.day, t.class, t.name, 8, 3+r.IntN(3), t.last, http.StatusBadRequest)
	return named(err, "seats-no-stop")
}

// wrongSeat wants a seat that the car has not.
func (ct *contest) wrongSeat(ctx context.Context, r *rand.Rand) error {
	a, err := ct.visitor(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	q := ct.query(r, "")
	t := ct.pick(r, ct.line.search(q))
	s := seat{8, 30, "A"}
	if r.IntN(2) == 0 {
		s = seat{8, 1, "G"}
	}
	res := &reservation{train: t, from: q.from, to: q.to, class: premium, adult: 1, seats: []seat{s}}
	return a.refused(ctx, res, http.StatusNotFound, "reserve-no-seat")
}

// persons of one kind in a reservation of a crowd.
const crowdEach = 3

// manyReserve has many users buy any seats for six on the same trains.
func (ct *contest) manyReserve(ctx context.Context, r *rand.Rand, n int) error {
	q := ct.query(r, local)
	for range n {
		if ctx.Err() != nil {
			return nil
		}
		ct.report(func() error {
			a, err := ct.visitor(ctx)
			if err != nil {
				return err
			}
			defer a.close()
			_, err = a.anyOf(ctx, q, true, r, crowdEach, crowdEach, true)
			return err
		}())
	}
	return nil
}

// manyCancel has one user reserve many times, and cancel it all.
func (ct *contest) manyCancel(ctx context.Context, r *rand.Rand, n int) error {
	a, err := ct.visitor(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	var list []*reservation
	for range n {
		q := ct.query(r, "")
		res := &reservation{train: ct.pick(r, ct.line.search(q)), from: q.from, to: q.to, class: premium, adult: crowdEach, child: crowdEach}
		if err := a.reserve(ctx, res); err != nil {
			ct.report(err)
			continue
		}
		list = append(list, res)
	}
	for _, res := range list {
		if ctx.Err() != nil {
			return nil
		}
		ct.report(a.cancel(ctx, res))
	}
	return nil
}

// anySeats has two users want any seats of the first train of the year.
func (ct *contest) anySeats(ctx context.Context, _ *rand.Rand) error {
	for range 2 {
		a, err := ct.visitor(ctx)
		if err != nil {
			return err
		}
		defer a.close()
		r := &reservation{train: ct.line.trains[0][0], from: 1, to: stations, class: premium, adult: 1, child: 1}
		if err := a.reserve(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// rush is the number of users who travel at once.
const rush = 5

// holiday has users travel between big cities at the same time.
func (ct *contest) holiday(ctx context.Context, r *rand.Rand, day, after int) error {
	cities := []int{1, 42, 65, 82}
	sections := make([]query, rush)
	for i := range sections {
		order := r.Perm(len(cities))
		sections[i] = query{day: day, after: after, from: cities[order[0]], to: cities[order[1]], class: express, adult: 1, child: 1}
	}
	ct.each(ctx, rush, func(ctx context.Context, i int) error {
		if len(ct.line.search(sections[i])) == 0 {
			return nil
		}
		a, err := ct.visitor(ctx)
		if err != nil {
			return err
		}
		defer a.close()
		_, err = a.anyOf(ctx, sections[i], true, nil, 1, 1, true)
		return err
	})
	return nil
}

// games has users travel to the capital with certain seats, and others from it with any.
func (ct *contest) games(ctx context.Context, r *rand.Rand, w window) error {
	first, last := w.day(gamesDays), w.day(lastGamesDays)
	queries := make([]query, 2*rush)
	sources := make([]*rand.Rand, len(queries))
	for i := range queries {
		other, day := 2+r.IntN(stations-1), first+r.IntN(last-first+1)
		queries[i] = query{day: day, after: 8 * 3600, from: other, to: 1, adult: 1, child: 1}
		if i >= rush {
			queries[i].from, queries[i].to, queries[i].class = 1, other, local
		}
		sources[i] = rand.New(rand.NewPCG(r.Uint64(), 1))
	}
	ct.each(ctx, len(queries), func(ctx context.Context, i int) error {
		q := queries[i]
		found := ct.line.search(q)
		if len(found) == 0 {
			return nil
		}
		a, err := ct.visitor(ctx)
		if err != nil {
			return err
		}
		defer a.close()
		if i >= rush {
			_, err := a.anyOf(ctx, q, true, nil, 1, 1, true)
			return err
		}
		trains, err := a.checkSearch(ctx, q, false)
		if err != nil {
			return err
		}
		t := trains[0]
		free, err := a.checkSeats(ctx, t, anyCar(sources[i], t.class, reserved), q.from, q.to)
		if err != nil || len(free) < 2 {
			return err
		}
		res := &reservation{train: t, from: q.from, to: q.to, class: reserved, adult: 1, child: 1, seats: free[:2], smoking: free[0].smoking()}
		if err := a.reserve(ctx, res); err != nil {
			return err
		}
		return a.commit(ctx, res)
	})
	return nil
}
