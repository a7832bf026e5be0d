package main

import "gorm.io/gorm"

type Ship struct {
	ID      int64
	Call    string
	FleetID int64
	Name    string
	Loads   []Boat
}

type Watched struct{ ID int64 }

// AfterFind is called for each row.
func (w *Watched) AfterFind(*gorm.DB) error { return nil }

type Stop struct {
	ShipID int64
	Call   string
	Ship   Ship
}

// GormText: several rows may have the text.
func GormText(db *gorm.DB, stops []Stop) {
	for _, s := range stops {
		var ship Ship
		db.Where("name = ?", s.Call).First(&ship) // want `APP205`
	}
}

// GormEither: the condition is one of two.
func GormEither(db *gorm.DB, stops []Stop) {
	for _, s := range stops {
		var ship Ship
		db.Where("id = ? OR name = 'x'", s.ShipID).First(&ship) // want `APP205`
	}
}

// GormFilled: the row has something already.
func GormFilled(db *gorm.DB, stops []Stop) {
	for i := range stops {
		db.First(&stops[i].Ship, stops[i].ShipID) // want `APP205`
	}
}

// GormHooked: a method is called for each row.
func GormHooked(db *gorm.DB, stops []Stop) {
	for _, s := range stops {
		var w Watched
		db.First(&w, s.ShipID) // want `APP205`
	}
}

// GormLimited: each has a limit.
func GormLimited(db *gorm.DB, stops []Stop) {
	for _, s := range stops {
		var ships []Ship
		db.Where("fleet_id = ?", s.ShipID).Limit(3).Find(&ships) // want `APP205`
	}
}

// GormWrites: the loop writes what it reads.
func GormWrites(db *gorm.DB, stops []Stop) {
	for _, s := range stops {
		var ship Ship
		if db.First(&ship, s.ShipID).Error != nil { // want `APP205`
			db.Create(&Ship{ID: s.ShipID})
		}
	}
}

// GormBegun: a variable has the beginning of the chain.
func GormBegun(db *gorm.DB, stops []Stop) {
	q := db.Where("name <> ''")
	for _, s := range stops {
		var ship Ship
		q.First(&ship, s.ShipID) // want `APP205`
	}
}

// latest gives an association one row.
func latest(db *gorm.DB) *gorm.DB { return db.Limit(1) }

// GormPreloaded: the limit of what is read beside a row would be that of all.
func GormPreloaded(db *gorm.DB, stops []Stop) {
	for _, s := range stops {
		var ship Ship
		db.Preload("Loads", latest).First(&ship, s.ShipID) // want `APP205`
	}
}

// GormComputed: the column is compared with more than the key.
func GormComputed(db *gorm.DB, stops []Stop) {
	for _, s := range stops {
		var ships []Ship
		db.Where("fleet_id = ? + 1", s.ShipID).Find(&ships) // want `APP205`
	}
}

// GormByte: a list of such keys is a text of bytes.
func GormByte(db *gorm.DB, kinds []uint8) {
	for _, k := range kinds {
		var boats []Boat
		db.Where("kind = ?", k).Find(&boats) // want `APP205`
	}
}

type Boat struct {
	ID   int64
	Kind uint8
}

// A Chained has fields of another one, which has its own.
type Chained struct {
	*Link
	Title string
}

type Link struct {
	*Chained
	Note string
}

// GormEndless: the fields of the model have no end.
func GormEndless(db *gorm.DB, stops []Stop) {
	for _, s := range stops {
		var c Chained
		db.First(&c, s.ShipID) // want `APP205`
	}
}
