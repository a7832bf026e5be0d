package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"

	"github.com/jmoiron/sqlx"
)

// Handlers that complete the elements of a page by a helper: fields are destinations, and a
// condition adds to a text.

var walls *sqlx.DB

// A Wall is a plant with what a page shows beside it.
type Wall struct {
	ID        string         `db:"id"`
	BedID     int64          `db:"bed_id"`
	Name      string         `db:"name"`
	ParentID  sql.NullString `db:"parent_id"`
	NoteCount int
	Notes     []Note
	Bed       Bed
}

// makeWalls fills up to perPage walls.
//
// Fires: APP205
func makeWalls(rows []Wall, all bool) ([]Wall, error) {
	var out []Wall
	for _, p := range rows {
		err := walls.Get(&p.NoteCount, "SELECT COUNT(*) AS `count` FROM notes WHERE plant_id = ?", p.ID)
		if err != nil {
			return nil, err
		}
		query := "SELECT * FROM notes WHERE plant_id = ? ORDER BY at DESC, id DESC"
		if !all {
			query += " LIMIT 2"
		}
		var notes []Note
		err = walls.Select(&notes, query, p.ID)
		if err != nil {
			return nil, err
		}
		for i, j := 0, len(notes)-1; i < j; i, j = i+1, j-1 {
			notes[i], notes[j] = notes[j], notes[i]
		}
		p.Notes = notes
		err = walls.Get(&p.Bed, "SELECT * FROM beds WHERE id = ?", p.BedID)
		if err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		if p.Bed.Shade != "dark" {
			out = append(out, p)
		}
		if len(out) >= perPage {
			break
		}
	}
	return out, nil
}

// wall shows the first walls.
//
// Fires: APP202
func wall(w http.ResponseWriter, r *http.Request) {
	rows := []Wall{}
	err := walls.Select(&rows, "SELECT * FROM plants WHERE name >= ? ORDER BY name, id", r.FormValue("from"))
	if err != nil {
		fail(w, err)
		return
	}
	out, err := makeWalls(rows, r.FormValue("all") != "")
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, out)
}

type rowGetter interface {
	GetContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error
}

// lastText reads the newest note of a plant.
func lastText(ctx context.Context, tx rowGetter, plant string) (string, error) {
	text := ""
	if err := tx.GetContext(ctx, &text, `SELECT text FROM notes WHERE plant_id = ? ORDER BY at DESC, id DESC LIMIT 1`, plant); err != nil {
		return "", err
	}
	return text, nil
}

func weight(p *Plant) int { return len(p.Name) + int(p.BedID) }

// texts has a helper whose interface has a method for one row, one that gets an address, and
// a key that may be NULL.
//
// Fires: APP205 APP210
func (s *site) texts(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	tx, err := s.db.Beginx()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	type view struct {
		Name, Text, Parent string
		Weight             int
	}
	out := []view{}
	for _, p := range plants {
		text, err := lastText(r.Context(), tx, p.ID)
		if errors.Is(err, sql.ErrNoRows) {
			text = "none"
		} else if err != nil {
			fail(w, err)
			return
		}
		v := view{Name: p.Name, Text: text, Weight: weight(&p)}
		parent := &Plant{}
		if err := tx.GetContext(r.Context(), parent, "SELECT * FROM plants WHERE id = ?", p.ParentID); err == nil {
			v.Parent = parent.Name
		}
		out = append(out, v)
	}
	if err := tx.Commit(); err != nil {
		fail(w, err)
		return
	}
	answer(w, out)
}

// lists reads lists of pointers, which it changes, and of numbers; keys come again.
//
// Fires: APP205
func (s *site) lists(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	plants = append(plants, plants...)
	sum := int64(0)
	out := []string{}
	for _, p := range plants {
		notes := []*Note{}
		if err := s.db.Select(&notes, "SELECT * FROM notes WHERE plant_id = ? ORDER BY id", p.ID); err != nil {
			fail(w, err)
			return
		}
		for _, n := range notes {
			n.Text += "!"
			out = append(out, n.Text)
		}
		var ids []int64
		if err := s.db.Select(&ids, "SELECT id FROM plants JOIN notes ON notes.plant_id = plants.id WHERE plants.id = ?", p.ID); err == nil {
			sum += int64(len(ids))
		}
		var beds []int64
		if err := s.db.Select(&beds, "SELECT id FROM beds WHERE id >= ?", p.BedID); err != nil {
			fail(w, err)
			return
		}
		for _, id := range beds {
			sum += id
		}
	}
	answer(w, map[string]interface{}{"sum": sum, "texts": out})
}

// turns has another text in every other round, and a destination of the request.
//
// Fires: APP205
func (s *site) turns(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	var last Bed
	for i, p := range plants {
		var query string
		switch {
		case i%2 == 0:
			query = "SELECT * FROM notes WHERE plant_id = ? ORDER BY at, id LIMIT 1"
		default:
			query = "SELECT * FROM notes WHERE plant_id = ? ORDER BY at, id"
		}
		var notes []Note
		if err := s.db.Select(&notes, query, p.ID); err != nil {
			fail(w, err)
			return
		}
		for _, n := range notes {
			out = append(out, n.Text)
		}
		if err := s.db.Get(&last, "SELECT * FROM beds WHERE id = ?", p.BedID); err != nil {
			out = append(out, err.Error())
		}
		out = append(out, last.Title)
	}
	answer(w, out)
}

func rename(p *Plant) { p.ID = "P1" }

// renames sets the key through the address of the element.
//
// Lookalike: APP205
func (s *site) renames(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	n := 0
	for _, p := range plants {
		rename(&p)
		var notes []Note
		if err := s.db.Select(&notes, "SELECT * FROM notes WHERE plant_id = ? ORDER BY id", p.ID); err != nil {
			fail(w, err)
			return
		}
		n += len(notes)
	}
	answer(w, n)
}

// longer adds to its text in every round.
//
// Lookalike: APP205
func (s *site) longer(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	query := "SELECT * FROM notes WHERE plant_id = ?"
	n := 0
	for _, p := range plants {
		var notes []Note
		if err := s.db.Select(&notes, query, p.ID); err != nil {
			fail(w, err)
			return
		}
		n += len(notes)
		query += " OR id = 1"
	}
	answer(w, n)
}

type Spot struct {
	ID  int64   `db:"id"`
	Lat float64 `db:"lat"`
	Lon float64 `db:"lon"`
}

type box struct{ south, west, north, east float64 }

// text is the box as a text of SQL.
func (b box) text() string {
	return fmt.Sprintf("'POLYGON((%f %f,%f %f,%f %f,%f %f,%f %f))'", b.south, b.west, b.north, b.west, b.north, b.east, b.south, b.east, b.south, b.west)
}

// inside asks for each spot whether it is in a box.
//
// Fires: APP215
func (s *site) inside(w http.ResponseWriter, r *http.Request) {
	b := box{1, 1, float64(least(r)), 8}
	spots := []Spot{}
	query := `SELECT * FROM spots WHERE lat >= ? ORDER BY lon DESC, id`
	err := s.db.Select(&spots, query, b.south)
	if err == sql.ErrNoRows {
		answer(w, []Spot{})
		return
	} else if err != nil {
		fail(w, err)
		return
	}
	in := []Spot{}
	for _, spot := range spots {
		found := Spot{}
		point := fmt.Sprintf("'POINT(%f %f)'", spot.Lat, spot.Lon)
		query := fmt.Sprintf(`SELECT * FROM spots WHERE id = ? AND ST_Contains(ST_PolygonFromText(%s), ST_GeomFromText(%s))`, b.text(), point)
		err = s.db.Get(&found, query, spot.ID)
		if err != nil {
			if err == sql.ErrNoRows {
				continue
			} else {
				fail(w, err)
				return
			}
		} else {
			in = append(in, found)
		}
	}
	answer(w, in)
}
