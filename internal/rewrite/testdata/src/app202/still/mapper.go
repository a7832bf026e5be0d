package main

import "gorm.io/gorm"

type Berth struct {
	ID   int64
	Name string
}

// GormFilters: rows are left out before they count.
func GormFilters(db *gorm.DB) []string {
	var names []string
	var berths []Berth
	db.Order("name").Find(&berths) // want `APP202`
	for _, b := range berths {
		if b.Name == "" {
			continue
		}
		names = append(names, b.Name)
		if len(names) == 3 {
			break
		}
	}
	return names
}
