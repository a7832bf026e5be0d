package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// CarInformation is the seat map of a car.
type CarInformation struct {
	Date       string            `json:"date"`
	TrainClass string            `json:"train_class"`
	TrainName  string            `json:"train_name"`
	CarNumber  int               `json:"car_number"`
	Seats      []SeatInformation `json:"seats"`
	Cars       []SimpleCar       `json:"cars"`
}

// SeatInformation is a seat of a seat map.
type SeatInformation struct {
	Row           int    `json:"row"`
	Column        string `json:"column"`
	Class         string `json:"class"`
	IsSmokingSeat bool   `json:"is_smoking_seat"`
	IsOccupied    bool   `json:"is_occupied"`
}

// SimpleCar is a car of a train.
type SimpleCar struct {
	CarNumber int    `json:"car_number"`
	SeatClass string `json:"seat_class"`
}

// trainSeatsHandler answers with the seats of a car and the cars of its train.
func trainSeatsHandler(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	at, err := time.Parse(time.RFC3339, query.Get("date"))
	if err != nil {
		errorResponse(w, http.StatusBadRequest, err.Error())
		return
	}
	at = at.In(tokyo)
	if !withinWindow(at) {
		errorResponse(w, http.StatusNotFound, "this day cannot be booked yet")
		return
	}
	date, trainClass := at.Format(dateFormat), query.Get("train_class")
	carNumber, _ := strconv.Atoi(query.Get("car_number"))

	train, err := trainOf(dbx, date, trainClass, query.Get("train_name"))
	if errors.Is(err, sql.ErrNoRows) {
		errorResponse(w, http.StatusNotFound, "there is no such train")
		return
	}
	if err != nil {
		serverError(w, "reading the train", err)
		return
	}
	from, err := stationByName(dbx, query.Get("from"))
	if errors.Is(err, sql.ErrNoRows) {
		errorResponse(w, http.StatusBadRequest, "unknown station of departure")
		return
	}
	if err != nil {
		serverError(w, "reading the station of departure", err)
		return
	}
	to, err := stationByName(dbx, query.Get("to"))
	if errors.Is(err, sql.ErrNoRows) {
		errorResponse(w, http.StatusBadRequest, "unknown station of arrival")
		return
	}
	if err != nil {
		serverError(w, "reading the station of arrival", err)
		return
	}
	if !from.stops(trainClass) || !to.stops(trainClass) {
		errorResponse(w, http.StatusBadRequest, "the train does not stop there")
		return
	}

	car := CarInformation{Date: date, TrainClass: trainClass, TrainName: train.TrainName, CarNumber: carNumber}
	car.Seats, err = seatMap(train, date, carNumber, from, to)
	if err != nil {
		serverError(w, "reading the seats", err)
		return
	}
	car.Cars, err = carsOf(trainClass)
	if err != nil {
		serverError(w, "reading the cars", err)
		return
	}
	respond(w, http.StatusOK, car)
}

// seatMap returns the seats of a car by row and column.
func seatMap(train Train, date string, carNumber int, from, to Station) ([]SeatInformation, error) {
	var seats []Seat
	err := dbx.Select(&seats,
		"SELECT * FROM seat_master WHERE train_class = ? AND car_number = ? ORDER BY seat_row, seat_column",
		train.TrainClass, carNumber)
	if err != nil {
		return nil, err
	}
	list := []SeatInformation{}
	for _, seat := range seats {
		var taken []SeatReservation
		query := `
SELECT s.*
FROM seat_reservations s, reservations r
WHERE r.date = ? AND r.train_class = ? AND r.train_name = ?
  AND s.car_number = ? AND s.seat_row = ? AND s.seat_column = ?
`
		err := dbx.Select(&taken, query, date, seat.TrainClass, train.TrainName,
			seat.CarNumber, seat.SeatRow, seat.SeatColumn)
		if err != nil {
			return nil, err
		}
		fmt.Println(seat, taken)
		occupied, err := isOccupied(taken, train.IsNobori, from, to)
		if err != nil {
			return nil, err
		}
		list = append(list, SeatInformation{seat.SeatRow, seat.SeatColumn, seat.SeatClass, seat.IsSmokingSeat, occupied})
	}
	return list, nil
}

// isOccupied tells whether one of the reservations of a seat overlaps with the section.
func isOccupied(taken []SeatReservation, isNobori bool, from, to Station) (bool, error) {
	occupied := false
	for _, seat := range taken {
		var reservation Reservation
		err := dbx.Get(&reservation, "SELECT * FROM reservations WHERE reservation_id = ?", seat.ReservationID)
		if err != nil {
			return false, fmt.Errorf("reading reservation %d: %w", seat.ReservationID, err)
		}
		departure, err := stationByName(dbx, reservation.Departure)
		if err != nil {
			return false, fmt.Errorf("reading station %s: %w", reservation.Departure, err)
		}
		arrival, err := stationByName(dbx, reservation.Arrival)
		if err != nil {
			return false, fmt.Errorf("reading station %s: %w", reservation.Arrival, err)
		}
		if overlaps(isNobori, from, to, departure, arrival) {
			occupied = true
		}
	}
	return occupied, nil
}

// carsOf lists the cars of a class of trains: it asks for each number in turn
// and ends at the first number without a car.
func carsOf(trainClass string) ([]SimpleCar, error) {
	cars := []SimpleCar{}
	for number := 1; ; number++ {
		var seat Seat
		query := "SELECT * FROM seat_master WHERE train_class = ? AND car_number = ? ORDER BY seat_row, seat_column LIMIT 1"
		err := dbx.Get(&seat, query, trainClass, number)
		if errors.Is(err, sql.ErrNoRows) {
			return cars, nil
		}
		if err != nil {
			return nil, err
		}
		cars = append(cars, SimpleCar{number, seat.SeatClass})
	}
}
