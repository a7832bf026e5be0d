package main

import (
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/jmoiron/sqlx"
)

const most = 50

type Shop struct {
	ID   int64   `db:"id"`
	Name string  `db:"name"`
	Lat  float64 `db:"lat"`
	Lon  float64 `db:"lon"`
	Rank int     `db:"rank_"`
}

type answer struct {
	Count int
	Shops []Shop
}

type area struct{ points []string }

func (a area) text() string {
	text := "POLYGON(("
	for i, p := range a.points {
		if i > 0 {
			text += ","
		}
		text += p
	}
	return text + "))"
}

var db *sqlx.DB

func Inside(a area, south, north float64) (answer, error) {
	inBox := []Shop{}
	err := db.Select(&inBox, "SELECT * FROM shop WHERE lat >= ? AND lat <= ? ORDER BY rank_ DESC, id", south, north)
	if err != nil {
		return answer{}, err
	}
	inside := []Shop{}
	for _, shop := range inBox {
		point := fmt.Sprintf("POINT(%f %f)", shop.Lat, shop.Lon)
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND ST_Contains(ST_PolygonFromText(?), ST_GeomFromText(?))", shop.ID, a.text(), point) // want `each row of a list is tested`
		if errors.Is(err, sql.ErrNoRows) {
			continue
		} else if err != nil {
			log.Print(err)
			return answer{}, err
		}
		inside = append(inside, found)
	}
	res := answer{Shops: inside}
	if len(res.Shops) > most {
		res.Shops = res.Shops[:most]
	}
	res.Count = len(res.Shops)
	return res, nil
}

func WithoutCut(least int) ([]Shop, error) {
	var all []Shop
	if err := db.Select(&all, "select id, name, lat, lon, rank_ from shop"); err != nil {
		return nil, err
	}
	kept := make([]Shop, 0, 10)
	for _, s := range all {
		var found Shop
		if err := db.Get(&found, "select id, name, lat, lon, rank_ from shop where id = ? and rank_ > ? and name <> ?", s.ID, least, "closed"); err == sql.ErrNoRows { // want `each row of a list is tested`
			continue
		} else if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	return kept, nil
}

func TwoChecks(south float64) ([]Shop, error) {
	all := []Shop{}
	if err := db.Select(&all, "SELECT * FROM shop WHERE lat > ? OR lon > ? ORDER BY id", south, south); err != nil {
		return nil, err
	}
	kept := []Shop{}
	for i := range all {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE ST_X(ST_GeomFromText(?)) > ? AND id = ?", fmt.Sprintf("POINT(%f 1)", all[i].Lat), south, all[i].ID) // want `each row of a list is tested`
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		kept = append(kept, found)
	}
	if len(kept) > 20 {
		kept = kept[:20]
	}
	return kept, nil
}

func Nested(word string) ([]Shop, error) {
	all := []Shop{}
	if err := db.Select(&all, "SELECT * FROM shop ORDER BY name"); err != nil {
		return nil, err
	}
	kept := []Shop{}
	for _, s := range all {
		found := Shop{}
		err := db.Get(&found, "SELECT * FROM shop WHERE id = ? AND LOCATE(?, ?) > 0", s.ID, word, fmt.Sprintf("%s/%d", s.Name, s.Rank)) // want `each row of a list is tested`
		if err != nil {
			if err == sql.ErrNoRows {
				continue
			}
			return nil, err
		}
		kept = append(kept, s)
	}
	if len(kept) > 20 { // the rewritten statement gets no LIMIT
		kept = kept[:20]
	}
	return kept, nil
}

func main() {}
