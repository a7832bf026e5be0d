package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
)

// mostTrains is the number of trains on one page of the search.
const mostTrains = 10

// TrainSearchResponse is a train that the search has found.
type TrainSearchResponse struct {
	Class            string           `json:"train_class"`
	Name             string           `json:"train_name"`
	Start            string           `json:"start"`
	Last             string           `json:"last"`
	Departure        string           `json:"departure"`
	Arrival          string           `json:"arrival"`
	DepartureTime    string           `json:"departure_time"`
	ArrivalTime      string           `json:"arrival_time"`
	SeatAvailability SeatAvailability `json:"seat_availability"`
	SeatFare         SeatFare         `json:"seat_fare"`
}

// SeatAvailability has a mark for each kind of seat.
type SeatAvailability struct {
	Premium       string `json:"premium"`
	PremiumSmoke  string `json:"premium_smoke"`
	Reserved      string `json:"reserved"`
	ReservedSmoke string `json:"reserved_smoke"`
	NonReserved   string `json:"non_reserved"`
}

// SeatFare has the price for all passengers for each kind of seat.
type SeatFare struct {
	Premium       int `json:"premium"`
	PremiumSmoke  int `json:"premium_smoke"`
	Reserved      int `json:"reserved"`
	ReservedSmoke int `json:"reserved_smoke"`
	NonReserved   int `json:"non_reserved"`
}

// trainSearchHandler answers with the next trains on a section.
func trainSearchHandler(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	useAt, err := time.Parse(time.RFC3339, query.Get("use_at"))
	if err != nil {
		errorResponse(w, http.StatusBadRequest, err.Error())
		return
	}
	useAt = useAt.In(tokyo)
	if !withinWindow(useAt) {
		errorResponse(w, http.StatusNotFound, "this day cannot be booked yet")
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
	adult, _ := strconv.Atoi(query.Get("adult"))
	child, _ := strconv.Atoi(query.Get("child"))

	trains, err := searchTrains(useAt, from, to, query.Get("train_class"), adult, child)
	if err != nil {
		serverError(w, "searching trains", err)
		return
	}
	respond(w, http.StatusOK, trains)
}

// searchTrains returns the first trains that leave the section's first station
// after useAt, in the order of the table.
func searchTrains(
	useAt time.Time, from, to Station, trainClass string, adult, child int,
) ([]TrainSearchResponse, error) {
	isNobori := from.Distance > to.Distance
	query := "SELECT * FROM train_master WHERE date = ? AND train_class IN (?) AND is_nobori = ?"
	args := []any{useAt.Format(dateFormat), usableTrainClasses(from, to), isNobori}
	if trainClass != "" {
		query += " AND train_class = ?"
		args = append(args, trainClass)
	}
	query, args, err := sqlx.In(query, args...)
	if err != nil {
		return nil, fmt.Errorf("writing the query: %w", err)
	}
	var trains []Train
	if err := dbx.Select(&trains, query, args...); err != nil {
		return nil, fmt.Errorf("reading the trains: %w", err)
	}

	order := "distance"
	if isNobori {
		order += " DESC"
	}
	var stations []Station
	if err := dbx.Select(&stations, fmt.Sprintf("SELECT * FROM station_master ORDER BY %s", order)); err != nil {
		return nil, fmt.Errorf("reading the stations: %w", err)
	}
	fmt.Println("from", from, "to", to, "trains", trains)

	found := []TrainSearchResponse{}
	for _, train := range trains {
		if !runsOnSection(train, stations, from, to) {
			continue
		}
		item, later, err := searchItem(train, useAt, from, to, adult, child)
		if err != nil {
			return nil, err
		}
		if !later {
			continue
		}
		found = append(found, item)
		if len(found) >= mostTrains {
			break
		}
	}
	return found, nil
}

// runsOnSection walks along the stations, which are in the direction of the train.
func runsOnSection(train Train, stations []Station, from, to Station) bool {
	running, onBoard := false, false
	for _, station := range stations {
		if station.Name == train.StartStation {
			running = true
		}
		if !running {
			continue
		}
		if station.ID == from.ID {
			onBoard = true
		}
		if station.ID == to.ID {
			return onBoard
		}
		if station.Name == train.LastStation {
			return false
		}
	}
	return false
}

// departureTime and arrivalTime read the timetable.
func departureTime(date, trainClass, trainName, station string) (string, error) {
	var departure string
	err := dbx.Get(&departure,
		"SELECT departure FROM train_timetable_master WHERE date = ? AND train_class = ? AND train_name = ? AND station = ?",
		date, trainClass, trainName, station)
	return departure, err
}

func arrivalTime(date, trainClass, trainName, station string) (string, error) {
	var arrival string
	err := dbx.Get(&arrival,
		"SELECT arrival FROM train_timetable_master WHERE date = ? AND train_class = ? AND train_name = ? AND station = ?",
		date, trainClass, trainName, station)
	return arrival, err
}

// searchItem describes a train. The second result tells whether it leaves after useAt.
func searchItem(train Train, useAt time.Time, from, to Station, adult, child int) (TrainSearchResponse, bool, error) {
	item := TrainSearchResponse{Class: train.TrainClass, Name: train.TrainName, Start: train.StartStation,
		Last: train.LastStation, Departure: from.Name, Arrival: to.Name}
	date := useAt.Format(dateFormat)
	var err error
	item.DepartureTime, err = departureTime(date, train.TrainClass, train.TrainName, from.Name)
	if err != nil {
		return item, false, fmt.Errorf("reading the time of departure: %w", err)
	}
	leaves, err := time.ParseInLocation(dateFormat+" 15:04:05", date+" "+item.DepartureTime, tokyo)
	if err != nil {
		return item, false, fmt.Errorf("reading the time of departure: %w", err)
	}
	if !leaves.After(useAt) {
		return item, false, nil
	}
	item.ArrivalTime, err = arrivalTime(date, train.TrainClass, train.TrainName, to.Name)
	if err != nil {
		return item, false, fmt.Errorf("reading the time of arrival: %w", err)
	}
	item.SeatAvailability, err = availability(train, from, to)
	if err != nil {
		return item, false, err
	}
	item.SeatFare, err = prices(train, useAt, from, to, adult, child)
	return item, true, err
}

// availability marks how many seats of each kind are free.
func availability(train Train, from, to Station) (SeatAvailability, error) {
	marks := SeatAvailability{NonReserved: "○"}
	premium, err := getAvailableSeats(train, from, to, seatPremium, false)
	if err != nil {
		return marks, err
	}
	premiumSmoke, err := getAvailableSeats(train, from, to, seatPremium, true)
	if err != nil {
		return marks, err
	}
	reserved, err := getAvailableSeats(train, from, to, seatReserved, false)
	if err != nil {
		return marks, err
	}
	reservedSmoke, err := getAvailableSeats(train, from, to, seatReserved, true)
	if err != nil {
		return marks, err
	}
	marks.Premium = mark(len(premium))
	marks.PremiumSmoke = mark(len(premiumSmoke))
	marks.Reserved = mark(len(reserved))
	marks.ReservedSmoke = mark(len(reservedSmoke))
	return marks, nil
}

func mark(free int) string {
	switch {
	case free == 0:
		return "×"
	case free < 10:
		return "△"
	}
	return "○"
}

// prices returns what all passengers pay together in each kind of seat.
func prices(train Train, useAt time.Time, from, to Station, adult, child int) (SeatFare, error) {
	var fares SeatFare
	premium, err := fareOf(useAt, from.ID, to.ID, train.TrainClass, seatPremium)
	if err != nil {
		return fares, err
	}
	reserved, err := fareOf(useAt, from.ID, to.ID, train.TrainClass, seatReserved)
	if err != nil {
		return fares, err
	}
	nonReserved, err := fareOf(useAt, from.ID, to.ID, train.TrainClass, seatNonReserved)
	if err != nil {
		return fares, err
	}
	fares.Premium = premium*adult + premium/2*child
	fares.PremiumSmoke = fares.Premium
	fares.Reserved = reserved*adult + reserved/2*child
	fares.ReservedSmoke = fares.Reserved
	fares.NonReserved = nonReserved*adult + nonReserved/2*child
	return fares, nil
}
