package main

import (
	"database/sql"
	"fmt"
	"io/ioutil"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// Handlers whose loops count between constants, ask by several columns, change or lock a row for
// each element, and begin transactions for one statement.

type Plot struct {
	ID     int64          `db:"id"`
	Line   int            `db:"line"`
	Place  int            `db:"place"`
	Code   string         `db:"code"`
	Crop   string         `db:"crop"`
	Weight int64          `db:"weight"`
	Note   sql.NullString `db:"note"`
}

// step is one of the steps "line-place-weight" of a request.
type step struct {
	line, place int
	weight      int64
}

func stepsOf(r *http.Request) (steps []step) {
	for _, text := range strings.Fields(r.FormValue("steps")) {
		part := strings.SplitN(text+"-0-0", "-", 4)
		line, _ := strconv.Atoi(part[0])
		place, _ := strconv.Atoi(part[1])
		weight, _ := strconv.ParseInt(part[2], 10, 64)
		steps = append(steps, step{line, place, weight})
	}
	return steps
}

// table answers all plots.
func (h shelf) table(w http.ResponseWriter, r *http.Request, failed error) {
	plots := []Plot{}
	if err := h.db.SelectContext(r.Context(), &plots, "SELECT * FROM plots ORDER BY id"); err != nil {
		fail(w, err)
		return
	}
	answer(w, map[string]interface{}{"plots": plots, "failed": failed != nil})
}

// grid asks by two columns of the element, and by one value for all.
//
// Fires: APP205
func (h shelf) grid(w http.ResponseWriter, r *http.Request) {
	but := r.FormValue("but")
	out := []string{}
	for _, s := range stepsOf(r) {
		var p Plot
		err := h.db.GetContext(r.Context(), &p, "SELECT * FROM plots WHERE line = ? AND crop <> ? AND place = ?", s.line, but, s.place)
		if err == sql.ErrNoRows {
			out = append(out, "none")
			continue
		}
		if err != nil {
			fail(w, err)
			return
		}
		out = append(out, fmt.Sprintf("%d %s %s", p.ID, p.Crop, p.Note.String))
	}
	answer(w, out)
}

// months sums up by the month, where there may be nothing.
//
// Fires: APP205
func (h shelf) months(w http.ResponseWriter, r *http.Request) {
	sums := map[int]sql.NullInt64{}
	for month := 1; month <= 12; month++ {
		var sum sql.NullInt64
		if err := h.plain.QueryRow("SELECT SUM(weight) FROM harvests WHERE MONTH(at) = ? AND weight > ?", month, least(r)).Scan(&sum); err != nil {
			fail(w, err)
			return
		}
		sums[month] = sum
	}
	answer(w, sums)
}

// windows asks for the time of two hours, and the next two.
//
// Fires: APP205
func (h shelf) windows(w http.ResponseWriter, r *http.Request) {
	day := time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC)
	counts := []int{}
	for hour := 0; hour < 24; hour += 2 {
		from := day.Add(time.Duration(hour) * time.Hour)
		var n int
		if err := h.db.Get(&n, "SELECT COUNT(*) FROM harvests WHERE at >= ? AND at < ?", from, from.Add(2*time.Hour)); err != nil {
			fail(w, err)
			return
		}
		if counts = append(counts, n); n > 2 {
			break
		}
	}
	answer(w, counts)
}

// weigh adds to a plot for each step; one may come again.
func (h shelf) weigh(w http.ResponseWriter, r *http.Request) {
	tx, err := h.db.Beginx()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	err = weighAll(tx, stepsOf(r), r.FormValue("note"))
	if err == nil {
		err = tx.Commit()
	}
	tx.Rollback()
	h.table(w, r, err)
}

// weighAll does so in the transaction.
//
// Fires: APP204
func weighAll(tx *sqlx.Tx, steps []step, note string) error {
	for i, s := range steps {
		if _, err := tx.Exec("UPDATE plots SET weight = weight + ?, note = CONCAT(?, weight) WHERE line = ? AND place = ? AND crop <> 'moss'", s.weight, note, s.line, s.place); err != nil {
			return fmt.Errorf("step %d: %v", i, err)
		}
	}
	return nil
}

// replant gives crops to codes, of which several may be one for the database.
//
// Fires: APP204
func (h shelf) replant(w http.ResponseWriter, r *http.Request) {
	tx, err := h.plain.Begin()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	codes, crops := strings.Fields(r.FormValue("codes")), strings.Fields(r.FormValue("crops"))
	for i, code := range codes {
		var note sql.NullString
		if i%2 == 0 {
			note = sql.NullString{String: crops[i] + " was planted", Valid: true}
		}
		if _, err := tx.Exec("UPDATE plots SET crop = ?, note = ? WHERE code = ?", crops[i], note, code); err != nil {
			tx.Rollback()
			h.table(w, r, err)
			return
		}
	}
	h.table(w, r, tx.Commit())
}

// settle sets the weights of harvests by the code of their plot.
//
// Fires: APP204
func (h shelf) settle(w http.ResponseWriter, r *http.Request) {
	for _, code := range strings.Fields(r.FormValue("codes")) {
		_, err := h.db.ExecContext(r.Context(), "UPDATE `harvests` JOIN `plots` ON `plots`.`id` = `harvests`.`plot_id` SET `harvests`.`weight` = ? WHERE `plots`.`code` = ? AND `harvests`.`at` < '2025-06-01'", len(code)*10, code)
		if err != nil {
			fail(w, err)
			return
		}
	}
	weights := []int{}
	if err := h.db.Select(&weights, "SELECT weight FROM harvests ORDER BY id"); err != nil {
		fail(w, err)
		return
	}
	answer(w, weights)
}

// locked locks the plots of some codes, and answers which plots nobody else can lock then.
//
// Fires: APP205
func (h shelf) locked(w http.ResponseWriter, r *http.Request) {
	tx, err := h.db.BeginTxx(r.Context(), nil)
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	found := []string{}
	for _, code := range strings.Fields(r.FormValue("codes")) {
		var p Plot
		err := tx.GetContext(r.Context(), &p, "SELECT * FROM plots WHERE code = ? FOR UPDATE", code)
		if err == sql.ErrNoRows {
			found = append(found, "no "+code)
			continue
		} else if err != nil {
			fail(w, err)
			return
		}
		found = append(found, p.Crop)
	}
	held := []int{}
	for id := 1; id <= 8; id++ {
		if _, err := h.plain.Exec("SELECT id FROM plots WHERE id = " + strconv.Itoa(id) + " FOR UPDATE NOWAIT"); err != nil {
			held = append(held, id)
		}
	}
	answer(w, map[string]interface{}{"found": found, "held": held})
}

// sharedPlots reads plots that others may read as well, by a function.
//
// Fires: APP205
func (h shelf) sharedPlots(w http.ResponseWriter, r *http.Request) {
	tx, err := h.plain.Begin()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	out := []string{}
	for _, s := range stepsOf(r) {
		crop, weight, err := plotAt(tx, s.line, s.place)
		if err != nil {
			fail(w, err)
			return
		}
		out = append(out, crop+strconv.Itoa(weight))
	}
	answer(w, out)
}

func plotAt(tx *sql.Tx, line, place int) (crop string, weight int, err error) {
	err = tx.QueryRow("SELECT crop, weight FROM plots WHERE line = ? AND place = ? LOCK IN SHARE MODE", line, place).Scan(&crop, &weight)
	if err == sql.ErrNoRows {
		return "none", 0, nil
	}
	return crop, weight, err
}

// either sends one of two statements in a transaction.
//
// Fires: APP210
func (h shelf) either(w http.ResponseWriter, r *http.Request) {
	tx, err := h.db.Beginx()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	var n int
	if code := r.FormValue("code"); code != "" {
		err = tx.Get(&n, "SELECT COUNT(*) FROM plots WHERE code = ?", code)
	} else {
		err = tx.Get(&n, "SELECT COUNT(*) FROM plots")
	}
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, n)
}

// picture stores the body of a request, with an answer of its own for each error.
//
// Fires: APP230
func picture(w http.ResponseWriter, r *http.Request) {
	name := filepath.Join(os.TempDir(), "garden-"+strconv.Itoa(os.Getpid()))
	if r.FormValue("lost") != "" {
		name = filepath.Join(name, "missing")
	}
	data, err := ioutil.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "cannot read", http.StatusBadRequest)
		return
	}
	if err := ioutil.WriteFile(name, data, 0600); err != nil {
		http.Error(w, "cannot write", http.StatusInsufficientStorage)
		return
	}
	stored, err := ioutil.ReadFile(name)
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, string(stored))
}
