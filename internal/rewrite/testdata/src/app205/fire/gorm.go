package main

import "gorm.io/gorm"

type Ship struct {
	ID      int64
	Call    string `gorm:"uniqueIndex"`
	FleetID int64
	Name    string
}

type Load struct {
	ID     int64
	ShipID int64 `gorm:"column:of_ship"`
	Notes  []string
}

type Stop struct {
	ShipID int64
	Call   string
	Ship   Ship
	Loads  []*Load
}

// GormKey: by the primary key.
func GormKey(db *gorm.DB, stops []Stop) (names []string, err error) {
	for _, s := range stops {
		var ship Ship
		if err = db.First(&ship, s.ShipID).Error; err != nil { // want `APP205: each element of the loop sends a query of gorm; read the rows of all elements by one query`
			return nil, err
		}
		names = append(names, ship.Name)
	}
	return names, nil
}

// GormUnique: by a unique text, with another condition, through a pointer.
func GormUnique(db *gorm.DB, stops []Stop, fleet int64) {
	for i := range stops {
		ship := &Ship{}
		db.Where("fleet_id = ? AND `call` = ?", fleet, stops[i].Call).Take(ship) // want `APP205`
		stops[i].Ship = *ship
	}
}

// GormList: several rows of each, into a field; the column has a name of its own.
func GormList(db *gorm.DB, stops []Stop) error {
	for i := range stops {
		err := db.Preload("Notes").Order("id").Find(&stops[i].Loads, "of_ship = ?", stops[i].ShipID).Error // want `APP205`
		if err != nil {
			return err
		}
	}
	return nil
}

func stopsOf(db *gorm.DB) []Stop { return nil }

// GormCalled: the loop goes over what a call returns.
func GormCalled(db *gorm.DB) (n int) {
	for _, s := range stopsOf(db) {
		var ship Ship
		if db.First(&ship, s.ShipID).Error == nil { // want `APP205`
			n++
		}
	}
	return n
}
