package main

import "gorm.io/gorm"

type Pier struct {
	ID     int64
	Free   bool
	Berths []Berth
}

// GormCounted: the code goes over all rows before it cuts them.
func GormCounted(db *gorm.DB, p *Pier) {
	db.Where("pier_id = ?", p.ID).Order("name").Find(&p.Berths) // want `APP202`
	for _, b := range p.Berths {
		p.Free = p.Free || b.Name == ""
	}
	if len(p.Berths) > 10 {
		p.Berths = p.Berths[:10]
	}
}

// GormPage: the chain has a limit.
func GormPage(db *gorm.DB) []Berth {
	var berths []Berth
	db.Order("name").Limit(20).Find(&berths)
	berths = berths[:10]
	return berths
}
