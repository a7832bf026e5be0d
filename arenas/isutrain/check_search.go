package isutrain

import (
	"context"
	"net/http"
	"strings"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// What a search answers.
type (
	foundTrain struct {
		Class         string `json:"train_class"`
		Name          string `json:"train_name"`
		Start         string `json:"start"`
		Last          string `json:"last"`
		Departure     string `json:"departure"`
		Arrival       string `json:"arrival"`
		DepartureTime string `json:"departure_time"`
		ArrivalTime   string `json:"arrival_time"`
		Marks         marks  `json:"seat_availability"`
		Fares         fares  `json:"seat_fare"`
	}
	marks struct {
		Premium       string `json:"premium"`
		PremiumSmoke  string `json:"premium_smoke"`
		Reserved      string `json:"reserved"`
		ReservedSmoke string `json:"reserved_smoke"`
		NonReserved   string `json:"non_reserved"`
	}
	fares struct {
		Premium       int `json:"premium"`
		PremiumSmoke  int `json:"premium_smoke"`
		Reserved      int `json:"reserved"`
		ReservedSmoke int `json:"reserved_smoke"`
		NonReserved   int `json:"non_reserved"`
	}
)

// The marks: none left, fewer than ten, more.
const (
	noneLeft = "×"
	fewLeft  = "△"
	manyLeft = "○"
)

func markOf(free int) string {
	switch {
	case free <= 0:
		return noneLeft
	case free < 10:
		return fewLeft
	}
	return manyLeft
}

// free returns the mark of a kind of seats in an empty train.
func free(class, seatClass string, smoking bool) string {
	n := 0
	for car := 1; car <= lastCar; car++ {
		if carClass(class, car) != seatClass {
			continue
		}
		for _, s := range carSeats(car) {
			if s.smoking() == smoking {
				n++
			}
		}
	}
	return markOf(n)
}

// item is what the search answers of a train without reservations.
func (l *line) item(t *train, q query) foundTrain {
	price := func(class string) int {
		fare := l.fare(q.day, q.from, q.to, t.class, class)
		return fare*q.adult + fare/2*q.child
	}
	return foundTrain{
		Class: t.class, Name: t.name, Start: l.station(t.start).Name, Last: l.station(t.last).Name,
		Departure: l.station(q.from).Name, Arrival: l.station(q.to).Name,
		DepartureTime: clock(t.departure[q.from-1]), ArrivalTime: clock(t.arrival[q.to-1]),
		Marks: marks{free(t.class, premium, false), free(t.class, premium, true), free(t.class, reserved, false),
			free(t.class, reserved, true), manyLeft},
		Fares: fares{price(premium), price(premium), price(reserved), price(reserved), price(nonReserved)},
	}
}

// checkSearch compares an answer with the data: which trains, in which order, and on empty
// trains everything else, too.
func (a *agent) checkSearch(ctx context.Context, q query, empty bool) ([]*train, error) {
	got, err := a.search(ctx, q, http.StatusOK)
	if err != nil {
		return nil, err
	}
	want := a.ct.line.search(q)
	if len(got) == 0 && len(want) > 0 {
		return nil, a.ct.critical(stepSearch, "search-empty", "no train from %d to %d after %s", q.from, q.to, clock(q.after))
	}
	if g, w := names(got), namesOf(want); g != w {
		return nil, a.ct.critical(stepSearch, "search-trains", "trains %s from station %d to %d on %s after %s, want %s",
			g, q.from, q.to, date(q.day, "-"), clock(q.after), w)
	}
	for i, g := range got {
		w := a.ct.line.item(want[i], q)
		if !empty {
			w.Marks = g.Marks
		}
		if err := a.checkItem(g, w); err != nil {
			return nil, err
		}
	}
	return want, nil
}

func (a *agent) checkItem(got, want foundTrain) error {
	marks, fares := want.Marks, want.Fares
	if got.Marks != marks {
		return wrong(stepSearch, "search-marks", "train %s: %+v, want %+v", got.Name, got.Marks, marks)
	}
	if got.Fares != fares {
		return wrong(stepSearch, "search-fares", "train %s: %+v, want %+v", got.Name, got.Fares, fares)
	}
	if got.DepartureTime != want.DepartureTime || got.ArrivalTime != want.ArrivalTime {
		return wrong(stepSearch, "search-times", "train %s: %s to %s, want %s to %s", got.Name, got.DepartureTime, got.ArrivalTime,
			want.DepartureTime, want.ArrivalTime)
	}
	if got != want {
		return a.ct.critical(stepSearch, "search-stations", "train %+v, want %+v", got, want)
	}
	return nil
}

func names(list []foundTrain) string {
	var b strings.Builder
	for _, t := range list {
		b.WriteString(" " + t.Name + t.Class)
	}
	return b.String()
}

func namesOf(list []*train) string {
	var b strings.Builder
	for _, t := range list {
		b.WriteString(" " + t.name + t.class)
	}
	return b.String()
}

// checkStations compares names and stops of the stations.
func (a *agent) checkStations(ctx context.Context) error {
	return a.do(ctx, &scenario.Request{Step: stepStations, Path: "/api/stations"}, func(res *scenario.Response) error {
		var got []struct {
			Name    string
			Express bool `json:"is_stop_express"`
			Semi    bool `json:"is_stop_semi_express"`
			Local   bool `json:"is_stop_local"`
		}
		if err := scenario.WantJSON(res, http.StatusOK, &got); err != nil {
			return err
		}
		if len(got) != stations {
			return scenario.Wrong(res, "stations", "%d stations, want %d", len(got), stations)
		}
		for i, s := range a.ct.line.stations {
			if g := got[i]; g.Name != s.Name || g.Express != s.Express || g.Semi != s.Semi || !g.Local {
				return scenario.Wrong(res, "stations", "station %d is %+v, want %s", i+1, g, s.Name)
			}
		}
		return nil
	})
}
