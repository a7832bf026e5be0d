package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// Forms of source that was written without thought of rewriting.

type Crate struct {
	Code   string `db:"code"`
	Weight int    `db:"weight"`
	Label  *string
	Parts  []Crate
}

type Depot struct {
	sql    *sql.DB
	crates map[string]Crate
}

// NamesField: the error names a field of the element.
func NamesField(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		if _, err := tx.Exec("INSERT INTO crate (code, weight) VALUES (?, ?)", c.Code, c.Weight); err != nil { // want `APP204`
			return fmt.Errorf("storing crate %s of %d kg: %w", c.Code, c.Weight, err)
		}
	}
	return nil
}

// NamesIndex: the error names the number of the row.
func NamesIndex(tx *sql.Tx, codes []string) error {
	for i := range codes {
		_, err := tx.Exec("INSERT INTO crate (code) VALUES (?)", codes[i]) // want `APP204`
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// NamesKey: a map's key and value are named.
func (d *Depot) NamesKey() error {
	for code, c := range d.crates {
		_, err := d.sql.Exec("INSERT INTO crate (code, weight) VALUES (?, ?)", strings.ToUpper(code), c.Weight) // want `APP204`
		if err != nil {
			log.Printf("crate %q with %d parts: %v", code, len(c.Parts), err)
			return err
		}
	}
	return nil
}

// NamesLocal: the error names a variable of the round.
func NamesLocal(tx *sql.Tx, lines []string) error {
	for _, line := range lines {
		words := strings.Fields(line)
		if _, err := tx.Exec("INSERT INTO crate (code) VALUES (?)", words[0]); err != nil { // want `APP204`
			return fmt.Errorf("%d words in %q: %w", len(words), line, err)
		}
	}
	return nil
}

// NamesPointer: the elements are pointers.
func NamesPointer(tx *sqlx.Tx, crates []*Crate) error {
	for _, c := range crates {
		if _, err := tx.Exec("INSERT INTO crate (code, weight) VALUES (?, ?)", c.Code, c.Weight); err != nil { // want `APP204`
			return fmt.Errorf("%s: %w", c.Code, err)
		}
	}
	return nil
}

// NamesRow: a named statement whose element is named, with the index.
func NamesRow(tx *sqlx.Tx, crates []Crate) error {
	for i, c := range crates {
		if _, err := tx.NamedExec("INSERT INTO crate (code, weight) VALUES (:code, :weight)", c); err != nil { // want `APP204`
			return fmt.Errorf("crate %d, %s: %w", i, c.Code, err)
		}
	}
	return nil
}

// Answers: a handler answers before it returns.
func (d *Depot) Answers(w http.ResponseWriter, r *http.Request, crates []Crate) {
	for _, c := range crates {
		if _, err := d.sql.ExecContext(r.Context(), "INSERT INTO crate (code) VALUES (?)", c.Code); err != nil { // want `APP204`
			http.Error(w, "cannot store "+c.Code, http.StatusInternalServerError)
			return
		}
	}
}

func fail(w http.ResponseWriter, status int, err error) {
	w.WriteHeader(status)
	fmt.Fprintln(w, err)
}

// AnswersByHelper: a function of the app answers.
func (d *Depot) AnswersByHelper(w http.ResponseWriter, crates []Crate) {
	for i, c := range crates {
		_, err := d.sql.Exec("INSERT INTO crate (code, place) VALUES (?, ?)", c.Code, i+1) // want `APP204`
		if err != nil {
			fail(w, 500, fmt.Errorf("%s: %w", c.Code, err))
			return
		}
	}
	w.WriteHeader(http.StatusCreated)
}

// Dollars: placeholders of PostgreSQL.
func Dollars(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		if _, err := tx.Exec("INSERT INTO crate (code, weight) VALUES ($1, $2)", c.Code, c.Weight); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// DollarsTail: they are in another order, with a constant, and something follows.
func DollarsTail(ctx context.Context, tx *sql.Tx, owner int64, crates []Crate) error {
	const text = `INSERT INTO "crate" ("weight", "code", "kind", "owner") VALUES ($2, lower($1), 'box', $3) `
	for _, c := range crates {
		_, err := tx.ExecContext(ctx, text, c.Code, c.Weight, owner) // want `APP204`
		if err != nil {
			return fmt.Errorf("crate %s: %w", c.Code, err)
		}
	}
	return nil
}

// DollarsLocal: the text is a variable of the function.
func DollarsLocal(tx *sql.Tx, codes []string) error {
	query := "INSERT INTO crate (code) VALUES ($1)"
	for _, code := range codes {
		if _, err := tx.Exec(query, code); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// DollarsPrepared: a prepared statement of PostgreSQL.
func DollarsPrepared(tx *sql.Tx, crates []Crate) error {
	stmt, err := tx.Prepare("INSERT INTO crate (code, weight) VALUES ($1, $2)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, c := range crates {
		if _, err := stmt.Exec(c.Code, c.Weight); err != nil { // want `APP204`
			return fmt.Errorf("crate %s: %w", c.Code, err)
		}
	}
	return nil
}

// Branch: only some elements have a row.
func Branch(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		if c.Weight > 0 {
			if _, err := tx.Exec("INSERT INTO crate (code) VALUES (?)", c.Code); err != nil { // want `APP204`
				return err
			}
		}
	}
	return nil
}

// Otherwise: the rows are those of the other branch.
func Otherwise(tx *sql.Tx, crates []Crate) (light []string, err error) {
	for _, c := range crates {
		if c.Weight < 10 {
			light = append(light, c.Code)
		} else {
			_, err := tx.Exec("INSERT INTO crate (code, weight) VALUES (?, ?)", c.Code, c.Weight) // want `APP204`
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Code, err)
			}
		}
	}
	return light, nil
}

// Second: the row is behind two conditions.
func Second(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		if c.Weight == 0 {
			continue
		} else if c.Label != nil {
			code := *c.Label
			if _, err := tx.Exec("INSERT INTO label (code) VALUES (?)", code); err != nil { // want `APP204`
				return fmt.Errorf("label %s: %w", code, err)
			}
		}
	}
	return nil
}

// Case: the row is in a case of a switch.
func Case(tx *sql.Tx, crates []Crate) error {
	boxes := 0
	for _, c := range crates {
		switch {
		case c.Weight > 100:
			if _, err := tx.Exec("INSERT INTO heavy (code) VALUES (?)", c.Code); err != nil { // want `APP204`
				return err
			}
		default:
			boxes++
		}
	}
	log.Println(boxes)
	return nil
}

// Seen: the rows that were not met yet.
func Seen(tx *sql.Tx, codes []string) error {
	seen := map[string]bool{}
	for _, code := range codes {
		if !seen[code] {
			seen[code] = true
			_, err := tx.Exec("INSERT INTO crate (code) VALUES (?)", code) // want `APP204`
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Inner: the loop is one of another loop.
func Inner(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		for _, p := range c.Parts {
			if _, err := tx.Exec("INSERT INTO part (crate, code) VALUES (?, ?)", c.Code, p.Code); err != nil { // want `APP204`
				return fmt.Errorf("part %s of %s: %w", p.Code, c.Code, err)
			}
		}
	}
	return nil
}

// Encoded: the argument is made in the round, with an error of its own.
func Encoded(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		body, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		if _, err := tx.Exec("INSERT INTO crate (code, body) VALUES (?, ?)", c.Code, string(body)); err != nil { // want `APP204`
			return fmt.Errorf("storing %d bytes of %s: %w", len(body), c.Code, err)
		}
	}
	return nil
}

// ReusedError: the error is one variable of the function.
func ReusedError(tx *sql.Tx, crates []Crate) error {
	var err error
	for _, c := range crates {
		_, err = tx.Exec("INSERT INTO crate (code, weight) VALUES (?, ?)", c.Code, c.Weight) // want `APP204`
		if err != nil {
			log.Println(c.Code, err)
			return err
		}
	}
	return err
}

// Clock: the time of the round is an argument.
func Clock(tx *sql.Tx, codes []string) error {
	for n, code := range codes {
		if _, err := tx.Exec("INSERT INTO crate (code, made) VALUES (?, ?)", code, time.Now()); err != nil { // want `APP204`
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return nil
}

// Nullable: a value of a type of database/sql.
func Nullable(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		if _, err := tx.Exec("INSERT INTO crate (code, weight) VALUES (?, ?)", c.Code, sql.NullInt64{Int64: int64(c.Weight), Valid: c.Weight > 0}); err != nil { // want `APP204`
			return fmt.Errorf("%s: %w", c.Code, err)
		}
	}
	return nil
}

// Counted: the loop counts by itself.
func Counted(tx *sql.Tx, n int) error {
	for i := 1; i <= n; i++ {
		if _, err := tx.Exec("INSERT INTO shelf (number) VALUES (?)", i); err != nil { // want `APP204`
			return fmt.Errorf("shelf %d: %w", i, err)
		}
	}
	return nil
}

// Panics: the error ends the program.
func Panics(db *sql.DB, crates []Crate) {
	for _, c := range crates {
		if _, err := db.Exec("INSERT INTO crate (code) VALUES (?)", c.Code); err != nil { // want `APP204`
			panic(fmt.Sprintf("%s: %v", c.Code, err))
		}
	}
}

// Fatal: the error ends the program by its log.
func Fatal(db *sql.DB, crates []Crate) {
	for _, c := range crates {
		if _, err := db.Exec("INSERT INTO crate (code) VALUES (?)", c.Code); err != nil { // want `APP204`
			log.Fatalf("crate %s: %v", c.Code, err)
		}
	}
}

// Table: the table is a constant in the text.
func Table(tx *sql.Tx, codes []string) error {
	const table = "crate"
	for i, code := range codes {
		_, err := tx.Exec(fmt.Sprintf("INSERT INTO %s (code, place) VALUES (?, ?)", table), code, i) // want `APP204`
		if err != nil {
			return err
		}
	}
	return nil
}

// ClosureLoop: the loop is in a function that is a value.
func ClosureLoop(tx *sql.Tx, crates []Crate) error {
	store := func() error {
		for _, c := range crates {
			if _, err := tx.Exec("INSERT INTO crate (code) VALUES (?)", c.Code); err != nil { // want `APP204`
				return fmt.Errorf("%s: %w", c.Code, err)
			}
		}
		return nil
	}
	return store()
}

// Replaces: a REPLACE, with a rollback before the return.
func Replaces(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		if _, err := tx.Exec("REPLACE INTO crate (code, weight) VALUES (?, ?)", c.Code, c.Weight); err != nil { // want `APP204`
			tx.Rollback()
			log.Printf("%s: %v", c.Code, err)
			return err
		}
	}
	return tx.Commit()
}

// Ignores: duplicates are left out by the database.
func Ignores(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		_, err := tx.Exec("INSERT IGNORE INTO crate (code, weight) VALUES (?, ?)", c.Code, c.Weight) // want `APP204`
		if err != nil {
			return fmt.Errorf("%s: %w", c.Code, err)
		}
	}
	return nil
}

// Updates: a row that is there gets the new weight.
func Updates(tx *sql.Tx, crates []Crate) error {
	for _, c := range crates {
		_, err := tx.Exec("INSERT INTO crate (code, weight) VALUES (?, ?) ON DUPLICATE KEY UPDATE weight = VALUES(weight)", c.Code, c.Weight) // want `APP204`
		if err != nil {
			return fmt.Errorf("%s: %w", c.Code, err)
		}
	}
	return nil
}

// Sorted: the elements are put in order first.
func (d *Depot) Sorted(ctx context.Context, codes []string) error {
	sorted := append([]string(nil), codes...)
	for rank, code := range sorted {
		_, err := d.sql.ExecContext(ctx, // want `APP204`
			`
			INSERT INTO ranking (code, rank_)
			VALUES (?, ?)`, code, rank)
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return nil
}
