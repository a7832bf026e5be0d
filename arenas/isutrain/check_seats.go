package isutrain

import (
	"context"
	"net/http"
)

// What a seat map answers.
type (
	carMap struct {
		Date  string    `json:"date"`
		Class string    `json:"train_class"`
		Name  string    `json:"train_name"`
		Car   int       `json:"car_number"`
		Seats []mapSeat `json:"seats"`
		Cars  []mapCar  `json:"cars"`
	}
	mapSeat struct {
		Row      int    `json:"row"`
		Column   string `json:"column"`
		Class    string `json:"class"`
		Smoking  bool   `json:"is_smoking_seat"`
		Occupied bool   `json:"is_occupied"`
	}
	mapCar struct {
		Number int    `json:"car_number"`
		Class  string `json:"seat_class"`
	}
)

// checkSeats compares a seat map with the layout of the car. It returns the seats that are
// shown as free.
func (a *agent) checkSeats(ctx context.Context, t *train, car, from, to int) (free []seat, err error) {
	m, err := a.seatMap(ctx, t.day, t.class, t.name, car, from, to, http.StatusOK)
	if err != nil {
		return nil, err
	}
	if m.Date != date(t.day, "/") || m.Class != t.class || m.Name != t.name || m.Car != car {
		return nil, a.ct.critical(stepSeats, "seats-car", "car %d of train %s %s on %s, want car %d of train %s %s on %s",
			m.Car, m.Name, m.Class, m.Date, car, t.name, t.class, date(t.day, "/"))
	}
	if len(m.Cars) != lastCar {
		return nil, wrong(stepSeats, "seats-cars", "%d cars, want %d", len(m.Cars), lastCar)
	}
	for i, c := range m.Cars {
		if c.Number != i+1 || c.Class != carClass(t.class, i+1) {
			return nil, wrong(stepSeats, "seats-cars", "car %d is %+v", i+1, c)
		}
	}
	want := carSeats(car)
	seen := map[wantedSeat]bool{}
	for _, s := range m.Seats {
		k := wantedSeat{s.Row, s.Column}
		if seen[k] {
			return nil, a.ct.critical(stepSeats, "seats-twice", "seat %d%s is in the map of car %d twice", s.Row, s.Column, car)
		}
		seen[k] = true
	}
	if len(m.Seats) != len(want) {
		return nil, wrong(stepSeats, "seats-layout", "%d seats in car %d, want %d", len(m.Seats), car, len(want))
	}
	for i, s := range m.Seats {
		if w := want[i]; s.Row != w.row || s.Column != w.column || s.Class != carClass(t.class, car) || s.Smoking != w.smoking() {
			return nil, wrong(stepSeats, "seats-layout", "seat %d of car %d is %+v, want %+v", i, car, s, w)
		}
		if !s.Occupied {
			free = append(free, want[i])
		}
	}
	return free, nil
}

// checkOccupied wants certain seats to be shown as taken, or free, and no others where the
// train has no other reservations.
func (a *agent) checkOccupied(ctx context.Context, r *reservation, from, to int, taken bool) error {
	car := r.seats[0].car
	free, err := a.checkSeats(ctx, r.train, car, from, to)
	if err != nil {
		return err
	}
	wantFree := len(carSeats(car))
	if taken {
		wantFree -= len(r.seats)
	}
	isFree := map[seat]bool{}
	for _, s := range free {
		isFree[s] = true
	}
	for _, s := range r.seats {
		if isFree[s] == taken {
			return wrong(stepSeats, "seats-occupied", "seat %+v: free %v, but reserved %v", s, isFree[s], taken)
		}
	}
	if len(free) != wantFree {
		return wrong(stepSeats, "seats-occupied", "%d free seats, want %d", len(free), wantFree)
	}
	return nil
}
