package isutrain

import (
	"math"
)

// mostTrains is the number of trains in an answer of the search.
const mostTrains = 10

// A query is a search for trains.
type query struct {
	day, after   int // seconds since midnight
	from, to     int // stations
	class        string
	adult, child int
}

// runs reports whether a train carries passengers on a section.
func (l *line) runs(t *train, from, to int) bool {
	if !l.station(from).stops(t.class) || !l.station(to).stops(t.class) {
		return false
	}
	if t.up {
		return t.start >= from && from > to && to >= t.last
	}
	return t.start <= from && from < to && to <= t.last
}

// search returns the first trains that a query finds, in the order of the table.
func (l *line) search(q query) (found []*train) {
	for _, t := range l.trains[q.day] {
		if q.class != "" && q.class != t.class || !l.runs(t, q.from, q.to) {
			continue
		}
		// A departure after midnight has a time of the early morning.
		if t.departure[q.from-1]%(24*60*60) <= q.after {
			continue
		}
		if found = append(found, t); len(found) == mostTrains {
			break
		}
	}
	return found
}

// Fares: what a distance costs, and by what it is multiplied.
var (
	distanceFares = []struct {
		from float64
		fare int
	}{{0, 2500}, {50, 3000}, {75, 3700}, {100, 4500}, {150, 5200}, {200, 6000}, {300, 7200}, {400, 8300}, {500, 12000}, {1000, 20000}}
	seasons = []struct {
		from   string
		factor float64
	}{{"2020-01-01", 5}, {"2020-01-06", 1}, {"2020-03-13", 3}, {"2020-04-01", 1}, {"2020-04-24", 5}, {"2020-05-11", 1},
		{"2020-08-07", 3}, {"2020-08-24", 1}, {"2020-12-25", 5}}
	trainFactors = map[string]float64{express: 1.5, semiExpress: 1, local: 0.8}
	seatFactors  = map[string]float64{premium: 2, reserved: 1.25, nonReserved: 1}
)

// fare is what an adult pays.
func (l *line) fare(day, from, to int, trainClass, seatClass string) int {
	distance, fare := math.Abs(l.station(from).Distance-l.station(to).Distance), 0
	for _, d := range distanceFares {
		if d.from <= distance {
			fare = d.fare
		}
	}
	today, season := date(day, "-"), 1.0
	for _, s := range seasons {
		if s.from <= today {
			season = s.factor
		}
	}
	return int(float64(fare) * (season * trainFactors[trainClass] * seatFactors[seatClass]))
}

// amount is what a reservation costs; a search rounds each child down instead.
func (l *line) amount(r *reservation) int {
	fare := l.fare(r.train.day, r.from, r.to, r.train.class, r.class)
	return r.adult*fare + r.child*fare/2
}

// A seat is one of a car.
type seat struct {
	car, row int
	column   string
}

// lastCar is the number of the last car of every train.
const lastCar = 16

// carClass is the class of the seats of a car.
func carClass(class string, car int) string {
	switch {
	case car >= 8 && car <= 10:
		return premium
	case class == express && car <= 3, class == semiExpress && car <= 5, class == local && car <= 15:
		return nonReserved
	}
	return reserved
}

// carSeats returns the seats of a car by row and column.
func carSeats(car int) (seats []seat) {
	rows, columns := 20, "ABCDE"
	switch car {
	case 1, lastCar:
		rows = 13
	case 8, 9, 10:
		rows, columns = 17, "ABCD"
	case 3, 5, 7, 11, 13, 15:
		rows = 16
	}
	for row := 1; row <= rows; row++ {
		for _, c := range columns {
			seats = append(seats, seat{car, row, string(c)})
		}
	}
	return seats
}

// smoking reports whether one may smoke on a seat.
func (s seat) smoking() bool {
	return s.row >= 11 && s.car%2 == 1 && s.car >= 3 && s.car <= 15 && s.car != 9
}
