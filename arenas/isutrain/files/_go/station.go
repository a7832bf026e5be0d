package main

import (
	"time"

	"github.com/jmoiron/sqlx"
)

// The train classes, as stored and as shown.
const (
	classExpress     = "最速"
	classSemiExpress = "中間"
	classLocal       = "遅いやつ"
)

// Station is a row of station_master.
type Station struct {
	ID                int     `json:"id" db:"id"`
	Name              string  `json:"name" db:"name"`
	Distance          float64 `json:"-" db:"distance"`
	IsStopExpress     bool    `json:"is_stop_express" db:"is_stop_express"`
	IsStopSemiExpress bool    `json:"is_stop_semi_express" db:"is_stop_semi_express"`
	IsStopLocal       bool    `json:"is_stop_local" db:"is_stop_local"`
}

// Train is a row of train_master.
type Train struct {
	Date         time.Time `db:"date"`
	DepartureAt  string    `db:"departure_at"`
	TrainClass   string    `db:"train_class"`
	TrainName    string    `db:"train_name"`
	StartStation string    `db:"start_station"`
	LastStation  string    `db:"last_station"`
	IsNobori     bool      `db:"is_nobori"`
}

// stops tells whether trains of a class stop at the station.
func (s Station) stops(trainClass string) bool {
	switch trainClass {
	case classExpress:
		return s.IsStopExpress
	case classSemiExpress:
		return s.IsStopSemiExpress
	case classLocal:
		return s.IsStopLocal
	}
	return false
}

// usableTrainClasses lists the classes whose trains stop at both stations.
func usableTrainClasses(from, to Station) []string {
	classes := []string{}
	for _, class := range []string{classExpress, classSemiExpress, classLocal} {
		if from.stops(class) && to.stops(class) {
			classes = append(classes, class)
		}
	}
	return classes
}

func stationByName(q sqlx.Queryer, name string) (Station, error) {
	var station Station
	err := sqlx.Get(q, &station, "SELECT * FROM station_master WHERE name = ?", name)
	return station, err
}

func stationByID(q sqlx.Queryer, id int) (Station, error) {
	var station Station
	err := sqlx.Get(q, &station, "SELECT * FROM station_master WHERE id = ?", id)
	return station, err
}

// trainOf returns the train of a day with a class and a name.
func trainOf(q sqlx.Queryer, date, trainClass, trainName string) (Train, error) {
	var train Train
	err := sqlx.Get(q, &train, "SELECT * FROM train_master WHERE date = ? AND train_class = ? AND train_name = ?",
		date, trainClass, trainName)
	return train, err
}

// withinWindow tells whether a time is early enough to be booked.
func withinWindow(t time.Time) bool {
	return t.Before(time.Date(2020, 1, 1, 0, 0, 0, 0, tokyo).AddDate(0, 0, availableDays))
}

// overlaps tells whether two sections of the same train have a part in common.
// Sections that touch in a station have none.
func overlaps(isNobori bool, from, to, otherFrom, otherTo Station) bool {
	if isNobori {
		return to.ID < otherFrom.ID && from.ID > otherTo.ID
	}
	return to.ID > otherFrom.ID && from.ID < otherTo.ID
}
