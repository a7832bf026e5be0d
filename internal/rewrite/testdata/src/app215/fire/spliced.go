package main

import (
	"database/sql"
	"fmt"
	"log"
)

func (a area) quoted() string { return fmt.Sprintf("'%s'", a.text()) }

// Spliced: the parts of the test are in its text, the error is a variable of the function, and
// the row is appended in an else.
func Spliced(a area, south, north float64) ([]Shop, error) {
	inBox := []Shop{}
	query := `SELECT * FROM shop WHERE lat >= ? AND name NOT LIKE '10%' AND lat <= ? ORDER BY rank_ DESC, id`
	err := db.Select(&inBox, query, south, north)
	if err != nil {
		return nil, err
	}
	inside := []Shop{}
	for _, shop := range inBox {
		validated := Shop{}
		point := fmt.Sprintf("'POINT(%f %f)'", shop.Lat, shop.Lon)
		query := fmt.Sprintf(`SELECT * FROM shop WHERE id = ? AND ST_Contains(ST_PolygonFromText(%s), ST_GeomFromText(%s)) AND rank_ > ?`, a.quoted(), point)
		err = db.Get(&validated, query, shop.ID, most) // want `each row of a list is tested`
		if err != nil {
			if err == sql.ErrNoRows {
				continue
			} else {
				log.Print(err)
				return nil, err
			}
		} else {
			inside = append(inside, validated)
		}
	}
	return inside, nil
}

// InElse: the row is appended in the else of the check.
func InElse(least int) ([]Shop, error) {
	all := []Shop{}
	if err := db.Select(&all, "SELECT * FROM shop ORDER BY id"); err != nil {
		return nil, err
	}
	kept := []Shop{}
	for _, s := range all {
		var found Shop
		if err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND rank_ > ?", s.ID, least); err != nil { // want `each row of a list is tested`
			if err == sql.ErrNoRows {
				continue
			}
			return nil, err
		} else {
			kept = append(kept, s)
		}
	}
	return kept, nil
}
