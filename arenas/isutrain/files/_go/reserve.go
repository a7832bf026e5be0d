package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
)

// TrainReservationRequest is a wish for seats: certain ones, or, if there are
// none in the list, any of a class.
type TrainReservationRequest struct {
	Date          string        `json:"date"`
	TrainName     string        `json:"train_name"`
	TrainClass    string        `json:"train_class"`
	CarNumber     int           `json:"car_number"`
	IsSmokingSeat bool          `json:"is_smoking_seat"`
	SeatClass     string        `json:"seat_class"`
	Departure     string        `json:"departure"`
	Arrival       string        `json:"arrival"`
	Child         int           `json:"child"`
	Adult         int           `json:"adult"`
	Column        string        `json:"Column"`
	Seats         []RequestSeat `json:"seats"`
}

// RequestSeat is the place of a seat in its car.
type RequestSeat struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
}

// TrainReservationResponse confirms a reservation that is not paid yet.
type TrainReservationResponse struct {
	ReservationID int64 `json:"reservation_id"`
	Amount        int   `json:"amount"`
	IsOk          bool  `json:"is_ok"`
}

// trainReservationHandler reserves seats for the user.
func trainReservationHandler(w http.ResponseWriter, r *http.Request) {
	var req TrainReservationRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		serverError(w, "reading the request", err)
		return
	}
	at, err := time.Parse(time.RFC3339, req.Date)
	if err != nil {
		serverError(w, "reading the date", err)
		return
	}
	at = at.In(tokyo)
	fmt.Println("reserving", at, req)
	if !withinWindow(at) {
		errorResponse(w, http.StatusNotFound, "this day cannot be booked yet")
		return
	}

	tx, err := dbx.Beginx()
	if err != nil {
		serverError(w, "beginning a transaction", err)
		return
	}
	defer tx.Rollback() // does nothing after the commit
	trip, status, message := planTrip(tx, req, at.Format(dateFormat))
	if status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	if len(req.Seats) == 0 && req.SeatClass != seatNonReserved {
		status, message = chooseSeats(&req, trip)
	} else {
		status, message = checkSeatsExist(tx, req)
	}
	if status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	if status, message := checkSeatsFree(tx, req, trip); status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	storeReservation(w, r, tx, req, trip, at)
}

// storeReservation looks who reserves, stores it, and answers.
func storeReservation(
	w http.ResponseWriter, r *http.Request, tx *sqlx.Tx, req TrainReservationRequest, trip Trip, at time.Time,
) {
	switch req.SeatClass {
	case seatPremium, seatReserved, seatNonReserved:
	default:
		errorResponse(w, http.StatusBadRequest, "unknown class of seats")
		return
	}
	fare, err := fareOf(at, trip.From.ID, trip.To.ID, req.TrainClass, req.SeatClass)
	if err != nil {
		serverError(w, "computing the fare", err)
		return
	}
	amount := req.Adult*fare + req.Child*fare/2
	fmt.Println("amount", amount)

	user, status, message := getUser(r)
	if status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	query := `
INSERT INTO reservations
  (user_id, date, train_class, train_name, departure, arrival, status, payment_id, adult, child, amount)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
`
	result, err := tx.Exec(query, user.ID, trip.Date, req.TrainClass, req.TrainName, req.Departure, req.Arrival,
		statusRequesting, "", req.Adult, req.Child, amount)
	if err != nil {
		errorResponse(w, http.StatusBadRequest, fmt.Sprintf("storing the reservation: %v", err))
		return
	}
	id, err := result.LastInsertId()
	if err != nil {
		serverError(w, "reading the number of the reservation", err)
		return
	}
	if err := storeSeats(tx, id, req); err != nil {
		serverError(w, "storing the seats", err)
		return
	}
	if err := tx.Commit(); err != nil {
		serverError(w, "committing the reservation", err)
		return
	}
	respond(w, http.StatusOK, TrainReservationResponse{ReservationID: id, Amount: amount, IsOk: true})
}

// storeSeats stores a row for each seat. A person without a reserved seat has a
// row with car 0.
func storeSeats(tx *sqlx.Tx, id int64, req TrainReservationRequest) error {
	carNumber, seats := req.CarNumber, req.Seats
	if req.SeatClass == seatNonReserved {
		carNumber, seats = 0, make([]RequestSeat, max(0, req.Adult+req.Child))
	}
	for _, seat := range seats {
		_, err := tx.Exec(
			"INSERT INTO seat_reservations (reservation_id, car_number, seat_row, seat_column) VALUES (?, ?, ?, ?)",
			id, carNumber, seat.Row, seat.Column)
		if err != nil {
			return err
		}
	}
	return nil
}

// Trip is the train and the section of a reservation.
type Trip struct {
	Date     string
	Train    Train
	From, To Station
}

// planTrip finds the train and checks that it carries passengers on the section.
// Without any it returns the status and message of the refusal.
func planTrip(tx *sqlx.Tx, req TrainReservationRequest, date string) (trip Trip, status int, message string) {
	trip.Date = date
	var err error
	trip.Train, err = trainOf(tx, date, req.TrainClass, req.TrainName)
	if errors.Is(err, sql.ErrNoRows) {
		return trip, http.StatusNotFound, "there is no such train"
	}
	if err != nil {
		return trip, http.StatusInternalServerError, fmt.Sprintf("reading the train: %v", err)
	}

	var stations [4]Station
	for i, name := range []string{trip.Train.StartStation, trip.Train.LastStation, req.Departure, req.Arrival} {
		stations[i], err = stationByName(tx, name)
		if errors.Is(err, sql.ErrNoRows) {
			return trip, http.StatusNotFound, "there is no such station: " + name
		}
		if err != nil {
			return trip, http.StatusInternalServerError, fmt.Sprintf("reading station %s: %v", name, err)
		}
	}
	start, last := stations[0], stations[1]
	trip.From, trip.To = stations[2], stations[3]

	if !trip.From.stops(req.TrainClass) || !trip.To.stops(req.TrainClass) {
		return trip, http.StatusBadRequest, "the train does not stop there"
	}
	inside := start.ID <= trip.From.ID && trip.From.ID < trip.To.ID && trip.To.ID <= last.ID
	if trip.Train.IsNobori {
		inside = start.ID >= trip.From.ID && trip.From.ID > trip.To.ID && trip.To.ID >= last.ID
	}
	if !inside {
		return trip, http.StatusBadRequest, "the train does not run on the whole section"
	}
	return trip, http.StatusOK, ""
}

// checkSeatsExist looks for each wanted seat in the car.
func checkSeatsExist(tx *sqlx.Tx, req TrainReservationRequest) (status int, message string) {
	for _, wanted := range req.Seats {
		var seat Seat
		query := `
SELECT * FROM seat_master
WHERE train_class = ? AND car_number = ? AND seat_column = ? AND seat_row = ? AND seat_class = ?
`
		err := tx.Get(&seat, query, req.TrainClass, req.CarNumber, wanted.Column, wanted.Row, req.SeatClass)
		if errors.Is(err, sql.ErrNoRows) {
			return http.StatusNotFound, "there is no such seat"
		}
		if err != nil {
			return http.StatusInternalServerError, fmt.Sprintf("reading a seat: %v", err)
		}
	}
	return http.StatusOK, ""
}

// checkSeatsFree compares the wanted seats with every reservation of the train.
func checkSeatsFree(tx *sqlx.Tx, req TrainReservationRequest, trip Trip) (status int, message string) {
	var reservations []Reservation
	err := tx.Select(&reservations,
		"SELECT * FROM reservations WHERE date = ? AND train_class = ? AND train_name = ? FOR UPDATE",
		trip.Date, req.TrainClass, req.TrainName)
	if err != nil {
		return http.StatusInternalServerError, fmt.Sprintf("reading the reservations: %v", err)
	}
	for _, reservation := range reservations {
		taken, err := seatsTaken(tx, reservation, trip)
		if err != nil {
			return http.StatusInternalServerError, err.Error()
		}
		for _, seat := range taken {
			for _, wanted := range req.Seats {
				if seat.CarNumber == req.CarNumber && seat.SeatRow == wanted.Row && seat.SeatColumn == wanted.Column {
					fmt.Println("taken by", reservation)
					return http.StatusBadRequest, "a seat is reserved already"
				}
			}
		}
	}
	return http.StatusOK, ""
}

// seatsTaken returns the seats of a reservation if it overlaps with the section of the trip.
func seatsTaken(tx *sqlx.Tx, reservation Reservation, trip Trip) ([]SeatReservation, error) {
	train, err := trainOf(tx, trip.Date, reservation.TrainClass, reservation.TrainName)
	if err != nil {
		return nil, fmt.Errorf("reading the train of a reservation: %w", err)
	}
	departure, err := stationByName(tx, reservation.Departure)
	if err != nil {
		return nil, fmt.Errorf("reading station %s: %w", reservation.Departure, err)
	}
	arrival, err := stationByName(tx, reservation.Arrival)
	if err != nil {
		return nil, fmt.Errorf("reading station %s: %w", reservation.Arrival, err)
	}
	if !overlaps(train.IsNobori, trip.From, trip.To, departure, arrival) {
		return nil, nil
	}
	var seats []SeatReservation
	err = tx.Select(&seats, "SELECT * FROM seat_reservations WHERE reservation_id = ? FOR UPDATE",
		reservation.ReservationID)
	if err != nil {
		return nil, fmt.Errorf("reading the seats of a reservation: %w", err)
	}
	return seats, nil
}
