package main

import (
	"fmt"
	"math"
	"time"
)

// DistanceFare is a row of distance_fare_master.
type DistanceFare struct {
	Distance float64 `db:"distance"`
	Fare     int     `db:"fare"`
}

// Fare is a row of fare_master.
type Fare struct {
	TrainClass     string    `db:"train_class"`
	SeatClass      string    `db:"seat_class"`
	StartDate      time.Time `db:"start_date"`
	FareMultiplier float64   `db:"fare_multiplier"`
}

// distanceFare returns the fare of the last step that the distance reaches.
func distanceFare(distance float64) (int, error) {
	var fares []DistanceFare
	if err := dbx.Select(&fares, "SELECT distance, fare FROM distance_fare_master ORDER BY distance"); err != nil {
		return 0, err
	}
	last := 0
	for _, step := range fares {
		fmt.Println(distance, step.Distance, step.Fare)
		if step.Distance > distance {
			break
		}
		last = step.Fare
	}
	return last, nil
}

// fareOf returns what an adult pays: distance × class of train and seat × season.
func fareOf(date time.Time, fromID, toID int, trainClass, seatClass string) (int, error) {
	from, err := stationByID(dbx, fromID)
	if err != nil {
		return 0, fmt.Errorf("reading station %d: %w", fromID, err)
	}
	to, err := stationByID(dbx, toID)
	if err != nil {
		return 0, fmt.Errorf("reading station %d: %w", toID, err)
	}
	fmt.Println("distance", math.Abs(to.Distance-from.Distance))
	distFare, err := distanceFare(math.Abs(to.Distance - from.Distance))
	if err != nil {
		return 0, fmt.Errorf("reading the fares of distances: %w", err)
	}

	var fares []Fare
	err = dbx.Select(&fares, "SELECT * FROM fare_master WHERE train_class = ? AND seat_class = ? ORDER BY start_date",
		trainClass, seatClass)
	if err != nil {
		return 0, fmt.Errorf("reading the seasons: %w", err)
	}
	if len(fares) == 0 {
		return 0, fmt.Errorf("no fare of %s in %s", seatClass, trainClass)
	}
	day := time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, tokyo)
	season := fares[0]
	for _, fare := range fares {
		if fare.StartDate.After(day) {
			break
		}
		fmt.Println("season", fare.StartDate, fare.FareMultiplier)
		season = fare
	}
	return int(float64(distFare) * season.FareMultiplier), nil
}
