package main

import "gorm.io/gorm"

type Pier struct {
	ID     int64
	Berths []Berth
}

// GormCut: the list is cut right after it is read.
func GormCut(db *gorm.DB, pier int64) []Berth {
	berths := []Berth{}
	db.Where("pier_id = ?", pier).Order("name").Find(&berths) // want `APP202: all rows are read by Find of gorm and the list is cut to 5`
	if len(berths) > 5 {
		berths = berths[:5]
	}
	return berths
}

// GormFieldCut: the list is a field.
func GormFieldCut(db *gorm.DB, p *Pier) {
	db.Where("pier_id = ?", p.ID).Order("name DESC").Find(&p.Berths) // want `APP202`
	if len(p.Berths) > 10 {
		p.Berths = p.Berths[0:10]
	}
	p.ID++
}

// GormChecked: the error is answered between them, and the question asks for fewer rows.
func GormChecked(db *gorm.DB, pier int64) ([]Berth, error) {
	var berths []Berth
	if err := db.Where("pier_id = ?", pier).Order("name").Find(&berths).Error; err != nil { // want `APP202`
		return nil, err
	}
	if len(berths) >= 3 {
		berths = berths[:4]
	}
	return berths, nil
}

// GormLast: the variable's chain ends with the call.
func GormLast(db *gorm.DB, free bool) (berths []Berth) {
	q := db.Order("name")
	if free {
		q = q.Where("name = ''")
	}
	q.Find(&berths) // want `APP202`
	if len(berths) > 5 {
		berths = berths[:5]
	}
	return berths
}
