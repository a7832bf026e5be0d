package main

import (
	"gorm.io/gorm"
	"xorm.io/xorm"
)

type Berth struct {
	ID   int64
	Name string
}

// GormFirst: the first row of a Find.
func GormFirst(db *gorm.DB, harbour int64) (string, error) {
	var berths []Berth
	if err := db.Where("harbour_id = ?", harbour).Order("name").Find(&berths).Error; err != nil { // want `APP201`
		return "", err
	}
	if len(berths) == 0 {
		return "", nil
	}
	return berths[0].Name, nil
}

// GormAny: only whether there is a row.
func GormAny(db *gorm.DB, name string) bool {
	var berths []*Berth
	db.Find(&berths, "name = ?", name) // want `APP201`
	return len(berths) > 0
}

// XormFirst: the same of xorm.
func XormFirst(e *xorm.Engine, harbour int64) (int64, error) {
	berths := make([]Berth, 0)
	err := e.Where("harbour_id = ?", harbour).Find(&berths) // want `APP201`
	if err != nil || len(berths) == 0 {
		return 0, err
	}
	return berths[0].ID, nil
}
