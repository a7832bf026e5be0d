package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// The initial state of the sale, and its customers.
const (
	saleShows     = 20
	saleStock     = 1_000_000
	saleHot       = 2   // number of hot shows; every order includes one of them
	saleCustomers = 200 // concurrent customers, each sending the next request after the last answer
	saleOdd       = 50  // one order in this many names the hot show last, which causes deadlocks
	saleTimeout   = 10 * time.Second
)

const (
	stepInitialize scenario.Step = iota
	stepOrder
	stepShows
)

const (
	eventOrder scenario.Event = iota
	eventShows
)

// A sale is the load of the tickets app. Customers in a closed loop order a hot
// show and another one, and then request the remaining tickets.
type sale struct {
	noLoad bool
	// Tickets per show, by its number: those ordered, and those of them that were
	// certainly sold.
	asked, sold [saleShows + 1]atomic.Int64
}

var (
	_ scenario.Preparer  = (*sale)(nil)
	_ scenario.Loader    = (*sale)(nil)
	_ scenario.Validator = (*sale)(nil)
)

// Info implements scenario.Scenario.
func (*sale) Info() scenario.Info {
	return scenario.Info{
		Name: "tickets", Steps: []string{"POST /initialize", "POST /orders", "GET /shows"},
		Table: scenario.Table{PerError: 10, MaxErrors: 100, FailAtZero: true,
			Events: []scenario.EventRule{{Name: "order", Points: 10}, {Name: "look at the shows", Points: 1}}},
		Load: 8 * time.Second, Timeout: saleTimeout,
	}
}

// Prepare implements scenario.Preparer.
func (l *sale) Prepare(ctx context.Context, s scenario.Session) error {
	cl := s.NewClient(scenario.ClientOptions{Timeout: 30 * time.Second})
	defer cl.Close()
	res, err := cl.Do(ctx, &scenario.Request{Step: stepInitialize, Method: http.MethodPost, Path: "/initialize"})
	if err != nil {
		return err
	}
	defer res.Release()
	var began struct{ Shows, Stock int }
	if err := scenario.WantJSON(res, http.StatusOK, &began); err != nil {
		return err
	}
	if began.Shows != saleShows || began.Stock != saleStock {
		return scenario.Wrong(res, "first-state", "%d shows with %d tickets each, want %d with %d", began.Shows, began.Stock, saleShows, saleStock)
	}
	s.Phase(scenario.Prepare)
	if err := l.order(ctx, cl, 1, saleHot+1); err != nil {
		return err
	}
	return l.balance(ctx, cl)
}

// Load implements scenario.Loader.
func (l *sale) Load(_ context.Context, s scenario.Session) error {
	for i := range saleCustomers {
		s.Go("customer", func(ctx context.Context) {
			cl := s.NewClient(scenario.ClientOptions{MaxConns: 1})
			l.customer(ctx, s, cl, s.Rand(fmt.Sprint("customer ", i)))
		})
	}
	return nil
}

// customer sends orders and reads the remaining tickets until the load ends.
func (l *sale) customer(ctx context.Context, s scenario.Session, cl scenario.Client, rng *rand.Rand) {
	for ctx.Err() == nil {
		first, second := 1+rng.IntN(saleHot), 1+rng.IntN(saleShows-1)
		if second >= first {
			second++ // must differ from the first
		}
		if rng.IntN(saleOdd) == 0 {
			first, second = second, first
		}
		if err := l.order(ctx, cl, first, second); err != nil {
			s.Report(err)
			scenario.Sleep(ctx, 100*time.Millisecond)
			continue
		}
		s.Add(eventOrder, 1)
		if _, err := remaining(ctx, cl); err != nil {
			s.Report(err)
			continue
		}
		s.Add(eventShows, 1)
	}
}

// Validate implements scenario.Validator.
func (l *sale) Validate(ctx context.Context, s scenario.Session) error {
	if l.noLoad {
		return nil
	}
	cl := s.NewClient(scenario.ClientOptions{})
	defer cl.Close()
	return l.balance(ctx, cl)
}

// order buys a ticket of each of two shows.
func (l *sale) order(ctx context.Context, cl scenario.Client, first, second int) error {
	l.asked[first].Add(1)
	l.asked[second].Add(1)
	res, err := cl.Do(ctx, &scenario.Request{Step: stepOrder, Method: http.MethodPost, Path: fmt.Sprintf("/orders?show=%d&show=%d", first, second)})
	if err != nil {
		return err
	}
	defer res.Release()
	var bought struct{ Tickets []int64 }
	if err := scenario.WantJSON(res, http.StatusOK, &bought); err != nil {
		return err
	}
	if t := bought.Tickets; len(t) != 2 || t[0] <= 0 || t[0] == t[1] {
		return scenario.Wrong(res, "order-tickets", "two tickets were ordered, these are their numbers: %v", t)
	}
	l.sold[first].Add(1)
	l.sold[second].Add(1)
	return nil
}

// balance checks the remaining tickets of each show: every ticket that was
// certainly sold is gone, and at most the ordered tickets are gone.
func (l *sale) balance(ctx context.Context, cl scenario.Client) error {
	left, err := remaining(ctx, cl)
	if err != nil {
		return err
	}
	for show := 1; show <= saleShows; show++ {
		gone, sold, asked := saleStock-left[show], l.sold[show].Load(), l.asked[show].Load()
		if gone < sold || gone > asked {
			return scenario.Wrong(nil, "balance", "of show %d are %d tickets gone; %d were sold, and %d were asked for", show, gone, sold, asked)
		}
	}
	return nil
}

// remaining reads the remaining tickets per show.
func remaining(ctx context.Context, cl scenario.Client) (left [saleShows + 1]int64, err error) {
	res, err := cl.Do(ctx, &scenario.Request{Step: stepShows, Path: "/shows"})
	if err != nil {
		return left, err
	}
	defer res.Release()
	var all []struct {
		ID        int
		Remaining int64
	}
	if err := scenario.WantJSON(res, http.StatusOK, &all); err != nil {
		return left, err
	}
	if len(all) != saleShows {
		return left, scenario.Wrong(res, "shows-all", "%d shows, want %d", len(all), saleShows)
	}
	for i, show := range all {
		if show.ID != i+1 {
			return left, scenario.Wrong(res, "shows-order", "show %d in place %d", show.ID, i+1)
		}
		left[show.ID] = show.Remaining
	}
	return left, nil
}
