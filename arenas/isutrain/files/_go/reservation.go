package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"goji.io/v3/pat"
)

// The states of a reservation.
const (
	statusRequesting = "requesting"
	statusDone       = "done"
	statusRejected   = "rejected"
)

// Reservation is a row of reservations.
type Reservation struct {
	ReservationID int       `db:"reservation_id"`
	UserID        int64     `db:"user_id"`
	Date          time.Time `db:"date"`
	TrainClass    string    `db:"train_class"`
	TrainName     string    `db:"train_name"`
	Departure     string    `db:"departure"`
	Arrival       string    `db:"arrival"`
	Status        string    `db:"status"`
	PaymentID     string    `db:"payment_id"`
	Adult         int       `db:"adult"`
	Child         int       `db:"child"`
	Amount        int       `db:"amount"`
}

// ReservationResponse is a reservation as its user sees it.
type ReservationResponse struct {
	ReservationID int               `json:"reservation_id"`
	Date          string            `json:"date"`
	TrainClass    string            `json:"train_class"`
	TrainName     string            `json:"train_name"`
	CarNumber     int               `json:"car_number"`
	SeatClass     string            `json:"seat_class"`
	Amount        int               `json:"amount"`
	Adult         int               `json:"adult"`
	Child         int               `json:"child"`
	Departure     string            `json:"departure"`
	Arrival       string            `json:"arrival"`
	DepartureTime string            `json:"departure_time"`
	ArrivalTime   string            `json:"arrival_time"`
	Seats         []SeatReservation `json:"seats"`
}

func makeReservationResponse(reservation Reservation) (ReservationResponse, error) {
	date := reservation.Date.Format(dateFormat)
	res := ReservationResponse{ReservationID: reservation.ReservationID, Date: date,
		TrainClass: reservation.TrainClass, TrainName: reservation.TrainName, Amount: reservation.Amount,
		Adult: reservation.Adult, Child: reservation.Child, Departure: reservation.Departure, Arrival: reservation.Arrival,
		Seats: []SeatReservation{}}
	var err error
	res.DepartureTime, err = departureTime(date, reservation.TrainClass, reservation.TrainName, reservation.Departure)
	if err != nil {
		return res, fmt.Errorf("reading the time of departure: %w", err)
	}
	res.ArrivalTime, err = arrivalTime(date, reservation.TrainClass, reservation.TrainName, reservation.Arrival)
	if err != nil {
		return res, fmt.Errorf("reading the time of arrival: %w", err)
	}
	err = dbx.Select(&res.Seats, "SELECT * FROM seat_reservations WHERE reservation_id = ?", reservation.ReservationID)
	if err != nil {
		return res, fmt.Errorf("reading the seats: %w", err)
	}
	if len(res.Seats) == 0 || res.Seats[0].CarNumber == 0 {
		res.SeatClass = seatNonReserved
		return res, nil
	}
	first := res.Seats[0]
	res.CarNumber = first.CarNumber
	var seat Seat
	query := "SELECT * FROM seat_master WHERE train_class = ? AND car_number = ? AND seat_column = ? AND seat_row = ?"
	err = dbx.Get(&seat, query, reservation.TrainClass, first.CarNumber, first.SeatColumn, first.SeatRow)
	if err != nil {
		return res, fmt.Errorf("reading the class of a seat: %w", err)
	}
	res.SeatClass = seat.SeatClass
	return res, nil
}

// userReservationsHandler lists the reservations of the user.
func userReservationsHandler(w http.ResponseWriter, r *http.Request) {
	user, status, message := getUser(r)
	if status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	var reservations []Reservation
	if err := dbx.Select(&reservations, "SELECT * FROM reservations WHERE user_id = ?", user.ID); err != nil {
		serverError(w, "reading the reservations", err)
		return
	}
	list := []ReservationResponse{}
	for _, reservation := range reservations {
		res, err := makeReservationResponse(reservation)
		if err != nil {
			serverError(w, "describing a reservation", err)
			return
		}
		list = append(list, res)
	}
	respond(w, http.StatusOK, list)
}

// userReservationHandler answers with one reservation of the user.
func userReservationHandler(w http.ResponseWriter, r *http.Request) {
	user, status, message := getUser(r)
	if status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	id, err := strconv.ParseInt(pat.Param(r, "item_id"), 10, 64)
	if err != nil || id <= 0 {
		errorResponse(w, http.StatusBadRequest, "incorrect number of a reservation")
		return
	}
	var reservation Reservation
	err = dbx.Get(&reservation, "SELECT * FROM reservations WHERE reservation_id = ? AND user_id = ?", id, user.ID)
	if errors.Is(err, sql.ErrNoRows) {
		errorResponse(w, http.StatusNotFound, "there is no such reservation")
		return
	}
	if err != nil {
		serverError(w, "reading the reservation", err)
		return
	}
	res, err := makeReservationResponse(reservation)
	if err != nil {
		serverError(w, "describing the reservation", err)
		return
	}
	respond(w, http.StatusOK, res)
}
