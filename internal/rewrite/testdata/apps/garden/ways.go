package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/jmoiron/sqlx"

	"garden/store"
)

// Handlers whose keys are several values or fields of an argument, loops over rows as they
// arrive, derived tables, and ids from a table.

// pairs asks by two columns of the row, of different types.
//
// Fires: APP205
func (s *site) pairs(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	sum := 0
	plants = append(plants, plants...)
	for _, p := range plants {
		var n int
		if err := s.db.Get(&n, "SELECT COUNT(*) FROM plants WHERE bed_id = ? AND name >= ?", p.BedID, p.Name); err != nil {
			fail(w, err)
			return
		}
		sum = sum*3 + n
	}
	answer(w, sum)
}

func (s *site) lastOf(ctx context.Context, plant, text string) (string, error) {
	var at sql.NullString
	err := s.db.QueryRowxContext(ctx, "SELECT MAX(at) FROM notes WHERE plant_id = ? AND text <> ?", plant, text).Scan(&at)
	if err != nil {
		return "", fmt.Errorf("plant %s: %w", plant, err)
	}
	return at.String, nil
}

// pairHelp has a helper with two parameters that vary.
//
// Fires: APP205
func (s *site) pairHelp(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for i := range plants {
		last, err := s.lastOf(r.Context(), plants[i].ID, plants[i].Name)
		if err != nil {
			fail(w, err)
			return
		}
		out = append(out, last)
	}
	answer(w, out)
}

// fare sends one of two statements.
func fare(ctx context.Context, db *sqlx.DB, keeper string, p *Plant, far, wide int) (int, error) {
	discount := 0
	if p != nil {
		note := &Note{}
		err := db.GetContext(ctx, note, "SELECT * FROM notes WHERE plant_id = ? ORDER BY at DESC, id DESC LIMIT 1", p.ID)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		discount = len(note.Text)
	} else if err := db.GetContext(ctx, &discount, "SELECT COUNT(*) FROM beds WHERE keeper_id = ?", keeper); err != nil {
		return 0, err
	}
	return far*wide - discount, nil
}

// fares gives a helper the address of the element, and what the round has computed.
//
// Fires: APP205
func (s *site) fares(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	sum := 0
	for _, p := range plants {
		n, err := fare(r.Context(), s.db, "01A", &p, sum+1, int(p.BedID))
		if err != nil {
			fail(w, err)
			return
		}
		sum += n
	}
	answer(w, sum)
}

// arriving asks for the keeper of each row while rows arrive.
//
// Fires: APP205
func (s *site) arriving(w http.ResponseWriter, r *http.Request) {
	rows, err := s.db.QueryxContext(r.Context(), "SELECT * FROM beds WHERE title >= ? ORDER BY id", r.FormValue("from"))
	if err != nil {
		fail(w, err)
		return
	}
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var b Bed
		if err = rows.StructScan(&b); err != nil {
			fail(w, err)
			return
		}
		k, err := s.keeper(r.Context(), b.KeeperID)
		if err == errGone {
			out = append(out, b.Title)
			continue
		}
		if err != nil {
			fail(w, err)
			return
		}
		out = append(out, b.Title+" "+k.Name)
	}
	if err = rows.Err(); err != nil {
		fail(w, err)
		return
	}
	answer(w, out)
}

// arrivingValues has the values of a row in variables.
//
// Fires: APP205
func (h shelf) arrivingValues(w http.ResponseWriter, r *http.Request) {
	rows, err := h.plain.Query("SELECT id, name, parent_id FROM plants WHERE name >= ? ORDER BY id", r.FormValue("from"))
	if err != nil {
		fail(w, err)
		return
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var id, name string
		var parent sql.NullString
		err := rows.Scan(&id, &name, &parent)
		if err != nil {
			fail(w, err)
			return
		}
		var text string
		err = h.plain.QueryRow("SELECT text FROM notes WHERE plant_id = ? ORDER BY at DESC, id LIMIT 1", id).Scan(&text)
		if err == sql.ErrNoRows {
			text = "none"
		} else if err != nil {
			fail(w, err)
			return
		}
		out[name+parent.String] = text
	}
	answer(w, out)
}

type way struct {
	ID    string         `db:"id"`
	Name  string         `db:"name"`
	Total int            `db:"total"`
	Last  sql.NullString `db:"last"`
}

// ways sums steps up, in a derived table of another one.
//
// Fires: APP228
func (s *site) ways(w http.ResponseWriter, r *http.Request) {
	out := []way{}
	bed, _ := strconv.Atoi(r.FormValue("bed"))
	if err := s.db.SelectContext(r.Context(), &out, `SELECT id, name, IFNULL(total, 0) AS total, last
FROM plants
       LEFT JOIN (SELECT plant_id, SUM(IFNULL(way, 0)) AS total, MAX(at) AS last
                  FROM (SELECT plant_id, at, ABS(id - LAG(id) OVER (PARTITION BY plant_id ORDER BY at, id)) AS way
                        FROM notes) steps
                  GROUP BY plant_id) walked ON walked.plant_id = plants.id
WHERE bed_id = ? AND (name <> ? OR parent_id IS NULL)
ORDER BY id`, bed, r.FormValue("but")); err != nil {
		fail(w, err)
		return
	}
	answer(w, out)
}

// ranked takes the newest rows of a derived table, beside an argument before it.
//
// Fires: APP228
func (s *site) ranked(w http.ResponseWriter, r *http.Request) {
	out := []way{}
	if err := s.db.Select(&out, "SELECT b.id, b.title AS name, p.nth * ? AS total, p.name AS last FROM beds AS b JOIN (SELECT *, ROW_NUMBER() OVER (PARTITION BY bed_id ORDER BY id DESC) AS nth FROM plants) p ON b.id = p.bed_id AND p.nth <= 2 WHERE b.keeper_id = ? AND b.shade IN ('sun', 'half') ORDER BY b.id, p.nth",
		10, r.FormValue("keeper")); err != nil {
		fail(w, err)
		return
	}
	answer(w, out)
}

// nextID takes a number of a table.
//
// Fires: APP217
func (h shelf) nextID() (string, error) {
	res, err := h.plain.Exec("REPLACE INTO numbers (stub) VALUES ('a')")
	if err != nil {
		return "", err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", id), nil
}

// ids takes ids, each of which is another one.
func (h shelf) ids(w http.ResponseWriter, r *http.Request) {
	seen := map[string]bool{}
	for i := 0; i < 1500; i++ {
		id, err := h.nextID()
		if err != nil {
			fail(w, err)
			return
		}
		seen[id] = true
	}
	answer(w, len(seen))
}

func planted(ctx context.Context, tx *sqlx.Tx, bed int64) (n int, err error) {
	err = tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM plants WHERE bed_id = ?", bed)
	return n, err
}

// asOne reads in a transaction, by a helper that takes nothing else.
//
// Fires: APP210
func (s *site) asOne(w http.ResponseWriter, r *http.Request) {
	tx, err := s.db.BeginTxx(r.Context(), nil)
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	n, err := planted(r.Context(), tx, 1)
	if err != nil {
		fail(w, err)
		return
	}
	var title string
	if err := tx.GetContext(r.Context(), &title, "SELECT title FROM beds WHERE id = 1"); err != nil {
		fail(w, err)
		return
	}
	if err := tx.Commit(); err != nil {
		fail(w, err)
		return
	}
	answer(w, fmt.Sprintf("%s %d", title, n))
}

// chains asks for the bed of each plant, and for the keeper of the bed.
//
// Fires: APP205
func (s *site) chains(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	plants = append(plants, plants...)
	for _, p := range plants {
		bed := &Bed{}
		if err := s.db.GetContext(r.Context(), bed, "SELECT * FROM beds WHERE id = ?", p.BedID); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			fail(w, err)
			return
		}
		keeper := &Keeper{}
		if err := s.db.GetContext(r.Context(), keeper, "SELECT * FROM keepers WHERE id = ?", bed.KeeperID); err != nil {
			fail(w, err)
			return
		}
		out = append(out, bed.Title+" "+keeper.Name)
	}
	answer(w, out)
}

// across calls a method of another package.
//
// Fires: APP205
func (s *site) across(w http.ResponseWriter, r *http.Request) {
	beds, err := s.beds(r)
	if err != nil {
		fail(w, err)
		return
	}
	keepers := store.New(s.db)
	out := []string{}
	for _, b := range beds {
		k, err := keepers.Find(r.Context(), b.KeeperID)
		if errors.Is(err, store.ErrNone) {
			continue
		} else if err != nil {
			fail(w, err)
			return
		}
		out = append(out, b.Title+k.Name)
	}
	answer(w, out)
}

// acrossTwice calls a function of another package, by a variable and a constant.
//
// Fires: APP205
func (s *site) acrossTwice(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	sum := 0
	for i := range plants {
		n, err := store.Notes(s.db, plants[i].ID, 2)
		if err != nil {
			fail(w, err)
			return
		}
		sum = sum*5 + n
	}
	answer(w, sum)
}
