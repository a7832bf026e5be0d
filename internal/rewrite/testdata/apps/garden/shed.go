package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
)

// Handlers that send their statements in the loop itself, through database/sql.

// tallies counts for each element, and goes on after an error.
//
// Fires: APP205
func (h shelf) tallies(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := map[string]int{}
	for _, p := range plants {
		var n int
		if err := h.plain.QueryRow("SELECT COUNT(*) FROM notes WHERE plant_id = ?", p.ID).Scan(&n); err != nil {
			log.Print(err)
			continue
		}
		out[p.ID] = n
	}
	answer(w, out)
}

// lasts reads the latest row, of some elements only; a row may be missing.
//
// Fires: APP205
func (h shelf) lasts(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for _, p := range plants {
		if p.BedID < 9 {
			var text string
			var at sql.NullTime
			err := h.plain.QueryRowContext(r.Context(), "SELECT text, at FROM notes WHERE plant_id = ? ORDER BY at DESC, id LIMIT 1", p.ID).Scan(&text, &at)
			if err == sql.ErrNoRows {
				out = append(out, p.Name+" has none")
				continue
			} else if err != nil {
				fail(w, fmt.Errorf("plant %s: %w", p.ID, err))
				return
			} else {
				out = append(out, p.Name+" "+text+" "+at.Time.String())
			}
		}
	}
	answer(w, out)
}

// firsts has a key that the round computes, and no LIMIT for a column that is not unique.
//
// Fires: APP205 APP201
func (h shelf) firsts(w http.ResponseWriter, r *http.Request) {
	beds, err := h.beds(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for i := range beds {
		key := beds[i].ID % 3
		var name string
		if err := h.plain.QueryRow("SELECT name FROM plants WHERE bed_id = ? ORDER BY id", key).Scan(&name); err != nil {
			out = append(out, err.Error())
			continue
		}
		out = append(out, name)
	}
	answer(w, out)
}

// asked has a prepared statement, and a loop that stops early.
//
// Fires: APP205
func (h shelf) asked(w http.ResponseWriter, r *http.Request) {
	beds, err := h.beds(r)
	if err != nil {
		fail(w, err)
		return
	}
	find, err := h.plain.PrepareContext(r.Context(), "SELECT name FROM keepers WHERE id = ?")
	if err != nil {
		fail(w, err)
		return
	}
	defer find.Close()
	for _, b := range beds {
		var name string
		if err := find.QueryRowContext(r.Context(), b.KeeperID).Scan(&name); err != nil {
			fail(w, err)
			return
		}
		if name == "bo" {
			fmt.Fprintf(w, "%d", b.ID)
			return
		}
	}
	answer(w, nil)
}

// shared goes over a map.
//
// Fires: APP205
func (h shelf) shared(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	byID := map[string]Plant{}
	for _, p := range plants {
		byID[p.ID] = p
	}
	sum := 0
	for id := range byID {
		var n int
		if err := h.plain.QueryRow("SELECT IFNULL(MAX(id), 0) FROM notes WHERE plant_id = ?", id).Scan(&n); err != nil {
			fail(w, err)
			return
		}
		sum += n
	}
	answer(w, sum)
}

// seeds finds a row or makes one, which the next element finds.
//
// Fires: APP205
func (h shelf) seeds(w http.ResponseWriter, r *http.Request) {
	out := []int64{}
	names := []string{"oak", r.FormValue("from"), "elm", "oak", "Oak ", "elm"}
	for _, name := range names {
		var id int64
		err := h.plain.QueryRow("SELECT id FROM seeds WHERE name = ?", name).Scan(&id)
		if err == sql.ErrNoRows {
			res, err := h.plain.Exec("INSERT INTO seeds (name) VALUES (?)", name)
			if err != nil {
				fail(w, err)
				return
			}
			if id, err = res.LastInsertId(); err != nil {
				fail(w, err)
				return
			}
		} else if err != nil {
			fail(w, err)
			return
		}
		out = append(out, id)
	}
	answer(w, out)
}

// sown stores some elements in a branch; an error names the element and its number.
//
// Fires: APP204
func (h shelf) sown(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	skipped := []string{}
	for n, p := range plants {
		if p.Name < "m" {
			skipped = append(skipped, p.Name)
		} else {
			_, err := h.plain.ExecContext(r.Context(), "INSERT INTO visits (plant_id, n) VALUES (?, ?)", p.ID, n)
			if err != nil {
				fail(w, fmt.Errorf("row %d, plant %s: %w", n, p.Name, err))
				return
			}
		}
	}
	var all int
	if err := h.plain.QueryRow("SELECT IFNULL(SUM(n), -1) FROM visits").Scan(&all); err != nil {
		fail(w, err)
		return
	}
	answer(w, map[string]interface{}{"skipped": skipped, "sum": all})
}

// refused stores rows that the table does not take: the error is answered.
//
// Fires: APP204
func (h shelf) refused(w http.ResponseWriter, r *http.Request) {
	tx, err := h.plain.Begin()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	for i, name := range []string{"ash", "ash"} {
		if _, err := tx.Exec("INSERT INTO seeds (name) VALUES (?)", name); err != nil {
			log.Printf("seed %d: %v", i, err)
			http.Error(w, "cannot store a seed", http.StatusConflict)
			return
		}
	}
	answer(w, "stored")
}

// renewed writes the table that it reads.
//
// Lookalike: APP205
func (h shelf) renewed(w http.ResponseWriter, r *http.Request) {
	out := []int{}
	for _, id := range []int64{1, 2, 1} {
		var n int
		if err := h.plain.QueryRow("SELECT n FROM beats WHERE id = ?", id).Scan(&n); err != nil {
			fail(w, err)
			return
		}
		if _, err := h.plain.Exec("UPDATE beats SET n = n + 1 WHERE id = ?", id); err != nil {
			fail(w, err)
			return
		}
		out = append(out, n)
	}
	answer(w, out)
}
