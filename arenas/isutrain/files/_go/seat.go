package main

import "fmt"

// The seat classes, as stored and as shown.
const (
	seatPremium     = "premium"
	seatReserved    = "reserved"
	seatNonReserved = "non-reserved"
)

// Seat is a row of seat_master.
type Seat struct {
	TrainClass    string `db:"train_class"`
	CarNumber     int    `db:"car_number"`
	SeatColumn    string `db:"seat_column"`
	SeatRow       int    `db:"seat_row"`
	SeatClass     string `db:"seat_class"`
	IsSmokingSeat bool   `db:"is_smoking_seat"`
}

// SeatReservation is a row of seat_reservations.
type SeatReservation struct {
	ReservationID int    `json:"-" db:"reservation_id"`
	CarNumber     int    `json:"-" db:"car_number"`
	SeatRow       int    `json:"seat_row" db:"seat_row"`
	SeatColumn    string `json:"seat_column" db:"seat_column"`
}

func (s Seat) key() string {
	return fmt.Sprintf("%d_%d_%s", s.CarNumber, s.SeatRow, s.SeatColumn)
}

// getAvailableSeats returns the seats of a train that are free on the section.
func getAvailableSeats(train Train, from, to Station, seatClass string, isSmokingSeat bool) ([]Seat, error) {
	var all []Seat
	err := dbx.Select(&all, "SELECT * FROM seat_master WHERE train_class = ? AND seat_class = ? AND is_smoking_seat = ?",
		train.TrainClass, seatClass, isSmokingSeat)
	if err != nil {
		return nil, fmt.Errorf("reading the seats: %w", err)
	}
	free := map[string]Seat{}
	for _, seat := range all {
		free[seat.key()] = seat
	}

	query := `
SELECT sr.reservation_id, sr.car_number, sr.seat_row, sr.seat_column
FROM seat_reservations sr, reservations r, seat_master s, station_master std, station_master sta
WHERE r.reservation_id = sr.reservation_id
  AND s.train_class = r.train_class
  AND s.car_number = sr.car_number
  AND s.seat_column = sr.seat_column
  AND s.seat_row = sr.seat_row
  AND std.name = r.departure
  AND sta.name = r.arrival
  AND s.train_class = ?
`
	if train.IsNobori {
		query += "  AND sta.id < ? AND std.id > ?"
	} else {
		query += "  AND std.id < ? AND sta.id > ?"
	}
	first, second := to.ID, from.ID
	if train.IsNobori {
		first, second = from.ID, to.ID
	}
	var taken []SeatReservation
	if err := dbx.Select(&taken, query, train.TrainClass, first, second); err != nil {
		return nil, fmt.Errorf("reading the reserved seats: %w", err)
	}
	for _, seat := range taken {
		delete(free, fmt.Sprintf("%d_%d_%s", seat.CarNumber, seat.SeatRow, seat.SeatColumn))
	}

	seats := []Seat{}
	for _, seat := range free {
		seats = append(seats, seat)
	}
	return seats, nil
}
