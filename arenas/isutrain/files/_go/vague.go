package main

import (
	"fmt"
	"net/http"
)

// lastCar is the number of the last car of every train.
const lastCar = 16

// chooseSeats writes the first car with enough free seats of the wanted kind, and
// these seats, into the request.
func chooseSeats(req *TrainReservationRequest, trip Trip) (status int, message string) {
	for carNumber := 1; carNumber <= lastCar; carNumber++ {
		free, err := freeSeats(*req, trip, carNumber)
		if err != nil {
			return http.StatusInternalServerError, err.Error()
		}
		seats := firstSeats(free, req.Column, req.Adult+req.Child)
		if len(seats) == 0 {
			continue
		}
		fmt.Println("chosen", carNumber, seats)
		req.CarNumber = carNumber
		req.Seats = seats
		return http.StatusOK, ""
	}
	return http.StatusNotFound, "not enough free seats"
}

// freeSeats returns the free seats of the wanted kind in a car, by row and column.
func freeSeats(req TrainReservationRequest, trip Trip, carNumber int) ([]RequestSeat, error) {
	var seats []Seat
	query := `
SELECT * FROM seat_master
WHERE train_class = ? AND car_number = ? AND seat_class = ? AND is_smoking_seat = ?
ORDER BY seat_row, seat_column
`
	err := dbx.Select(&seats, query, req.TrainClass, carNumber, req.SeatClass, req.IsSmokingSeat)
	if err != nil {
		return nil, fmt.Errorf("reading the seats: %w", err)
	}
	var free []RequestSeat
	for _, seat := range seats {
		var taken []SeatReservation
		query := `
SELECT s.*
FROM seat_reservations s, reservations r
WHERE r.date = ? AND r.train_class = ? AND r.train_name = ?
  AND s.car_number = ? AND s.seat_row = ? AND s.seat_column = ?
FOR UPDATE
`
		err := dbx.Select(&taken, query, trip.Date, seat.TrainClass, req.TrainName,
			seat.CarNumber, seat.SeatRow, seat.SeatColumn)
		if err != nil {
			return nil, fmt.Errorf("reading the reservations of a seat: %w", err)
		}
		occupied, err := isOccupied(taken, trip.Train.IsNobori, trip.From, trip.To)
		if err != nil {
			return nil, err
		}
		fmt.Println(seat, "occupied:", occupied)
		if !occupied {
			free = append(free, RequestSeat{seat.SeatRow, seat.SeatColumn})
		}
	}
	return free, nil
}

// firstSeats returns the first seats for a number of persons, or none if they are
// too few. If a column is wanted, one of them is in that column.
func firstSeats(free []RequestSeat, column string, persons int) []RequestSeat {
	var seats []RequestSeat
	wanted := -1
	if column != "" {
		for i, seat := range free {
			if seat.Column == column {
				wanted = i
				break
			}
		}
		if wanted < 0 {
			return nil
		}
		seats = append(seats, free[wanted])
	}
	for i, seat := range free {
		if len(seats) >= persons {
			break
		}
		if i != wanted {
			seats = append(seats, seat)
		}
	}
	if len(seats) < persons {
		return nil
	}
	return seats
}
