package main

import "gorm.io/gorm"

type Berth struct {
	ID   int64
	Name string
}

// GormStops: the loop over a Find takes three rows.
func GormStops(db *gorm.DB, harbour int64) (names []string) {
	var berths []Berth
	db.Where("harbour_id = ?", harbour).Order("name").Find(&berths) // want `APP202`
	for i, b := range berths {
		if i >= 3 {
			break
		}
		names = append(names, b.Name)
	}
	return names
}
