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

// GormMore: what tells that there are more rows stands with the cut.
func GormMore(db *gorm.DB) (berths []Berth, more bool) {
	db.Order("name").Find(&berths) // want `APP202`
	if len(berths) > 20 {
		more = true
		berths = berths[:20]
	}
	return berths, more
}

// GormBrief: the cut is for some callers.
func GormBrief(db *gorm.DB, brief bool) []Berth {
	var berths []Berth
	db.Order("name").Find(&berths) // want `APP202`
	if brief {
		berths = berths[:5]
	}
	return berths
}

// GormCase: so is this one.
func GormCase(db *gorm.DB, brief bool) []Berth {
	var berths []Berth
	db.Order("name").Find(&berths) // want `APP202`
	switch {
	case brief:
		berths = berths[:5]
	}
	return berths
}

// GormSample: a list of 50 stays whole.
func GormSample(db *gorm.DB) []Berth {
	var berths []Berth
	db.Order("name").Find(&berths) // want `APP202`
	if len(berths) > 100 {
		berths = berths[:10]
	}
	return berths
}

// GormLeft: who asks for all of them gets past the cut.
func GormLeft(db *gorm.DB, p *Pier, all bool) {
	db.Order("name").Find(&p.Berths) // want `APP202`
	if all {
		return
	}
	p.Berths = p.Berths[:5]
}

// GormAgain: the list grows round by round before it is cut.
func GormAgain(db *gorm.DB, piers []int64) (berths []Berth, n int) {
	for _, pier := range piers {
		n += len(berths)
		db.Where("pier_id = ?", pier).Order("name").Find(&berths) // want `APP202`
	}
	if len(berths) > 5 {
		berths = berths[:5]
	}
	return berths, n
}

// GormAssociation has no method Limit.
func GormAssociation(db *gorm.DB, p *Pier) []Berth {
	var berths []Berth
	db.Model(p).Association("Berths").Find(&berths)
	if len(berths) > 5 {
		berths = berths[:5]
	}
	return berths
}

var (
	store    *gorm.DB
	harbours []Berth
	// A variable of the package has the error: no function is around the call.
	errHarbours = store.Order("name").Find(&harbours).Error
)

// GormGoesOn: gorm would keep the limit in the variable.
func GormGoesOn(db *gorm.DB) (first, all []Berth) {
	q := db.Where("name <> ''").Order("name")
	q.Find(&first) // want `APP202`
	if len(first) > 5 {
		first = first[:5]
	}
	q.Find(&all)
	return first, all
}

// GormLimited: the variable has a smaller limit.
func GormLimited(db *gorm.DB) (berths []Berth) {
	q := db.Limit(3)
	q = q.Where("name <> ''")
	q.Order("name").Find(&berths) // want `APP202`
	if len(berths) > 5 {
		berths = berths[:5]
	}
	return berths
}
