package main

import "gorm.io/gorm"

type Berth struct {
	ID   int64
	Name string
}

type Hooked struct{ ID int64 }

func (h *Hooked) AfterFind(*gorm.DB) error { return nil }

// GormLimited: the chain has a limit.
func GormLimited(db *gorm.DB) (name string) {
	var berths []Berth
	db.Limit(2).Find(&berths)
	if len(berths) > 0 {
		name = berths[0].Name
	}
	return name
}

// GormAll: all rows are used.
func GormAll(db *gorm.DB) (names []string) {
	var berths []Berth
	db.Find(&berths)
	for _, b := range berths {
		names = append(names, b.Name)
	}
	return names
}

// GormCounts: the number of rows is used.
func GormCounts(db *gorm.DB) int {
	var berths []Berth
	db.Find(&berths)
	return len(berths)
}

// GormHooked: a method of the model is called for each row.
func GormHooked(db *gorm.DB) bool {
	var rows []Hooked
	db.Find(&rows) // want `APP201`
	return len(rows) > 0
}

// GormResult: the result goes elsewhere.
func GormResult(db *gorm.DB) (*gorm.DB, bool) {
	var berths []Berth
	res := db.Find(&berths) // want `APP201`
	return res, len(berths) > 0
}
