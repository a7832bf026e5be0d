package isutrain

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Days of the contest's year from which on there are further parts of a unit.
const (
	holidayDays       = 119
	secondHolidayDays = 127
	gamesDays         = 205
	lastGamesDays     = 220

	crowdMonths = 3 // in later months there are also crowds
	crowd       = 3 // persons of a crowd for each month
)

// A window is what the number of days that can be booked means for the load.
type window struct {
	days int
	year int // the same share of the contest's year, which has 10 to 365 days
}

// windowOf stretches 10 days and more to the contest's year.
func (ct *contest) windowOf(days int) window {
	return window{days, leastDays + (days-leastDays)*(365-leastDays)/(contestSize.Days-leastDays)}
}

// month is the number of the month after the window: as many units run at once.
func (w window) month() int { return int(at(w.year, 0).Month()) }

// day is a day of the contest's year in the time of the arena.
func (w window) day(year int) int {
	return min(leastDays+(year-leastDays)*(contestSize.Days-leastDays)/(365-leastDays), w.days-1)
}

// Load runs units, each after the other in each of the actors, and the background tester.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	s.Gauge("offered work (digest)", "", ct.work())
	w := ct.windowOf(ct.days)
	s.Gauge("days that can be booked", "", float64(w.days))
	s.Gauge("units at once", "", float64(w.month()))
	s.Go("background tester", func(ctx context.Context) { ct.report(ct.test(ctx)) })
	for i := range w.month() {
		s.Go("unit", func(ctx context.Context) {
			for n := 0; ctx.Err() == nil; n++ {
				ct.unit(ctx, w, ct.rand(fmt.Sprintf("unit %d %d", i, n)))
			}
		})
	}
	<-ctx.Done()
	ct.mu.Lock()
	defer ct.mu.Unlock()
	s.Gauge("reservations", "", float64(len(ct.model.all)))
	return nil
}

func (ct *contest) report(err error) {
	if err != nil {
		ct.s.Report(err)
	}
}

// unit runs all scenarios, one after the other. An error ends its scenario only.
func (ct *contest) unit(ctx context.Context, w window, r *rand.Rand) {
	parts := []func(ctx context.Context, r *rand.Rand) error{
		ct.normal, ct.cancels, ct.foreignCancel, ct.race, ct.wrongSection, ct.wrongSeat,
	}
	if m := w.month(); m > crowdMonths {
		parts = append(parts,
			func(ctx context.Context, r *rand.Rand) error { return ct.manyReserve(ctx, r, m*crowd) },
			func(ctx context.Context, r *rand.Rand) error { return ct.manyCancel(ctx, r, m*crowd) })
	}
	parts = append(parts, ct.anySeats)
	if w.year >= holidayDays {
		parts = append(parts, func(ctx context.Context, r *rand.Rand) error { return ct.holiday(ctx, r, w.day(holidayDays), 10*3600) })
	}
	if w.year >= secondHolidayDays {
		parts = append(parts, func(ctx context.Context, r *rand.Rand) error {
			return ct.holiday(ctx, r, w.day(secondHolidayDays), 15*3600)
		})
	}
	if w.year >= gamesDays {
		parts = append(parts, func(ctx context.Context, r *rand.Rand) error { return ct.games(ctx, r, w) })
	}
	for _, part := range parts {
		if ctx.Err() != nil {
			return
		}
		ct.report(part(ctx, r))
	}
}

// Limits of what is drawn.
const (
	earliest = 6
	latest   = 14
	mostKind = 3 // adults, children
)

// query draws a search with a result, of a class if it is given.
func (ct *contest) query(r *rand.Rand, class string) query {
	for {
		q := query{day: r.IntN(ct.days), after: (earliest + r.IntN(latest-earliest+1)) * 3600, class: class,
			from: 1 + r.IntN(stations), to: 1 + r.IntN(stations), adult: 1 + r.IntN(mostKind), child: 1 + r.IntN(mostKind)}
		if q.from == q.to {
			continue
		}
		if found := ct.line.search(q); len(found) > 1 || len(found) == 1 && found[0] != ct.tester() {
			return q
		}
	}
}

// pick draws one of the trains, but not the background tester's.
func (ct *contest) pick(r *rand.Rand, trains []*train) *train {
	for {
		if t := trains[r.IntN(len(trains))]; t != ct.tester() {
			return t
		}
	}
}

// tester is the train of the background tester.
func (ct *contest) tester() *train { return ct.line.trains[0][ct.line.size.testerTrain()] }

// work returns a digest of the work that the seed offers.
func (ct *contest) work() float64 {
	h := fnv.New32a()
	for n := range 20 {
		r := ct.rand(fmt.Sprintf("unit 0 %d", n))
		fmt.Fprintln(h, ct.query(r, ""))
	}
	return float64(h.Sum32())
}

// each runs n calls at once and reports their errors.
func (ct *contest) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { ct.report(do(ctx, i)) })
	}
	all.Wait()
}

// visitor is a new user who has logged in.
func (ct *contest) visitor(ctx context.Context) (*agent, error) {
	a := ct.browser()
	if err := a.arrive(ctx); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// testPause is between the reservations of the background tester.
const testPause = 200 * time.Millisecond

// test buys the reserved seats of a local train, two at a time, and compares the mark of
// the search at the beginning, with few seats left and without any.
func (ct *contest) test(ctx context.Context) error {
	a, err := ct.visitor(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	t, seats := ct.tester(), carSeats(lastCar)
	left := len(seats)
	seenFew := false
	if err := a.checkMark(ctx, left); err != nil {
		return err
	}
	for left > 0 {
		n := min(2, left)
		first := len(seats) - left
		r := &reservation{train: t, from: 2, to: stations, class: reserved, seats: seats[first : first+n], adult: n}
		if err := a.reserve(ctx, r); err != nil {
			return err
		}
		left -= n
		if left < 10 && !seenFew || left == 0 {
			seenFew = true
			if err := a.checkMark(ctx, left); err != nil {
				return err
			}
		}
		if !ct.pause(ctx, testPause) {
			return nil
		}
	}
	return nil
}

// checkMark compares the mark of the background tester's train. The app counts the seats of
// other local trains as taken, too (the lacking condition): a mark may be as low as that.
func (a *agent) checkMark(ctx context.Context, left int) error {
	ct, t := a.ct, a.ct.tester()
	q := query{after: t.departure[1]%(24*3600) - 1, from: 2, to: stations, class: local, adult: 1}
	got, err := a.search(ctx, q, 200)
	if err != nil {
		return err
	}
	if len(got) == 0 {
		return ct.critical(stepSearch, "search-empty", "no train from 2 to %d after %s", stations, clock(q.after))
	}
	worst := 0
	ct.locked(func() { worst = len(carSeats(lastCar)) - len(ct.model.localCar) })
	for _, g := range got {
		if g.Name != t.name {
			continue
		}
		ranks := map[string]int{noneLeft: 0, fewLeft: 1, manyLeft: 2}
		rank, ok := ranks[g.Marks.Reserved]
		if !ok || rank > ranks[markOf(left)] || rank < ranks[markOf(worst)] {
			return ct.critical(stepSearch, "tester-mark", "mark %s of a train with %d free seats, want %s", g.Marks.Reserved, left, markOf(left))
		}
		return nil
	}
	return ct.critical(stepSearch, "tester-train", "the search does not find train %s", t.name)
}
