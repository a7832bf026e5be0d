package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// UPDATEs by a key of the element.

type Volume struct {
	ID    int64
	Title string
	Rank  int
	Note  *string
}

type Result struct {
	ID, PlayerID string
	Points       int64
}

// Ranked: a transaction, an integer key.
func Ranked(tx *sqlx.Tx, volumes []Volume) error {
	for _, v := range volumes {
		if _, err := tx.Exec("UPDATE book SET `rank` = ? WHERE id = ?", v.Rank, v.ID); err != nil { // want `one UPDATE is sent per element of the loop`
			return err
		}
	}
	return nil
}

// Adds: the new value depends on the old one; a key that comes again begins another statement.
func Adds(ctx context.Context, tx *sql.Tx, counts map[int64]int) error {
	for id, n := range counts {
		_, err := tx.ExecContext(ctx, "update book set `rank` = `rank` + ?, comment = concat(comment, '*') where id = ?", n, id) // want `APP204`
		if err != nil {
			return fmt.Errorf("book %d: %w", id, err)
		}
	}
	return nil
}

const setResult = `UPDATE score
	SET points = ?, created_at = ?
	WHERE contest_id = ? AND player_id = ? AND row_num > 0`

// Results: several columns, and conditions that stay.
func Results(tx *sqlx.Tx, contest string, results []Result, at int64) error {
	for i := range results {
		_, err := tx.Exec(setResult, results[i].Points, at, contest, results[i].PlayerID) // want `APP204`
		if err != nil {
			return err
		}
	}
	return nil
}

// Pairs: two columns tell the row.
func Pairs(tx *sql.Tx, results []Result, contests []string) (err error) {
	for i, r := range results {
		if _, err = tx.Exec("UPDATE score SET points = ? WHERE player_id = ? AND contest_id = ?", r.Points, r.PlayerID, contests[i]); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Joined: each comment has one user, whose name is the key.
func Joined(tx *sql.Tx, post int64, texts map[string]string) error {
	for name, text := range texts {
		_, err := tx.Exec("UPDATE `comments` JOIN `users` ON `users`.`id` = `comments`.`post_id` SET `text` = ? WHERE `users`.`name` = ? AND `comments`.`id` > ?", text, name, post) // want `APP204`
		if err != nil {
			return err
		}
	}
	return nil
}

// PreparedUpdate: the statement is prepared before the loop.
func PreparedUpdate(tx *sql.Tx, volumes []Volume) error {
	stmt, err := tx.Prepare("UPDATE book SET title = ? WHERE id = ?")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, v := range volumes {
		if _, err := stmt.Exec(v.Title, v.ID); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Conditional: only some elements, with a pointer that may be nil and a time.
func Conditional(db *sqlx.DB, volumes []Volume) {
	for _, v := range volumes {
		if v.Rank == 0 {
			continue
		}
		db.MustExec("UPDATE comments SET text = ? WHERE id = ?", v.Note, v.ID) // want `APP204`
	}
}

// Counted: constant bounds.
func CountedUpdates(tx *sql.Tx, at time.Time) error {
	const text = "UPDATE score SET created_at = ? WHERE row_num = ?"
	for i := int64(1); i <= 7; i++ {
		if _, err := tx.Exec(text, at, i); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}
