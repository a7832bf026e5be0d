package main

import (
	"context"
	"database/sql"
	"net/http"
	"time"
)

// Rows of database/sql that are read where they arrive.

// notesBy reads the notes of a plant.
func (h shelf) notesBy(ctx context.Context, plant string) ([]Note, error) {
	rows, err := h.plain.QueryContext(ctx, "SELECT id, text, at FROM notes WHERE plant_id = ? ORDER BY at, id", plant)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Note
	for rows.Next() {
		n := Note{PlantID: plant}
		if err := rows.Scan(&n.ID, &n.Text, &n.At); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

// listed asks a helper, for some plants twice.
//
// Fires: APP205
func (h shelf) listed(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := map[string][]Note{}
	plants = append(plants, plants...)
	for _, p := range plants {
		notes, err := h.notesBy(r.Context(), p.ID)
		if err != nil {
			fail(w, err)
			return
		}
		out[p.Name] = append(out[p.Name], notes...)
	}
	answer(w, out)
}

// listing reads in the loop itself: the titles of a keeper's beds, of which there may be none,
// and one of the notes' times; the rows of a key come in the order of the database.
//
// Fires: APP205
func (h shelf) listing(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for i := range plants {
		rows, err := h.plain.Query("SELECT title FROM beds WHERE id >= ? ORDER BY id", plants[i].BedID)
		if err != nil {
			fail(w, err)
			return
		}
		for rows.Next() {
			var title string
			if err := rows.Scan(&title); err != nil {
				fail(w, err)
				return
			}
			out = append(out, title)
		}
		if err := rows.Close(); err != nil {
			fail(w, err)
			return
		}
		times, err := h.plain.Query("SELECT at, parent_id FROM notes JOIN plants ON plants.id = plant_id WHERE plant_id = ?", plants[i].ID)
		if err != nil {
			fail(w, err)
			return
		}
		for times.Next() {
			var at time.Time
			var parent sql.NullString
			if times.Scan(&at, &parent) == nil {
				out = append(out, at.Format("15:04")+parent.String)
				break
			}
		}
		times.Close()
	}
	answer(w, out)
}

// handed gives the rows to a function.
//
// Lookalike: APP205
func (h shelf) handed(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	n := 0
	for _, p := range plants {
		rows, err := h.plain.Query("SELECT id FROM notes WHERE plant_id = ?", p.ID)
		if err != nil {
			fail(w, err)
			return
		}
		n += many(rows)
		rows.Close()
	}
	answer(w, n)
}

func many(rows *sql.Rows) (n int) {
	for rows.Next() {
		n++
	}
	return n
}
