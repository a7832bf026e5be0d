package main

import (
	"context"
	"database/sql"
	"log"

	"github.com/jmoiron/sqlx"
)

// Loops over rows as they arrive: a fix reads them first, and another one the rows of all.

// Arriving: one variable has the row.
func (s *server) Arriving(ctx context.Context) ([]Post, error) {
	rows, err := s.db.QueryxContext(ctx, "SELECT * FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []Post{}
	for rows.Next() {
		var p Post
		if err = rows.StructScan(&p); err != nil {
			return nil, err
		}
		if p.Author, err = authorOf(ctx, s.db, p.UserID); err != nil { // want `APP205`
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

func authorOf(ctx context.Context, db *sqlx.DB, id int64) (name string, err error) {
	err = db.GetContext(ctx, &name, "SELECT name FROM users WHERE id = ?", id)
	return name, err
}

// Values of a row are in several variables, and the error is checked behind.
func ArrivingValues(db *sql.DB) (map[string]string, error) {
	rows, err := db.Query("SELECT id, tags FROM posts")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for rows.Next() {
		var id int64
		var tags sql.NullString
		err := rows.Scan(&id, &tags)
		if err != nil {
			log.Print(err)
			continue
		}
		var name string
		err = db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name) // want `APP205`
		if err == sql.ErrNoRows {
			continue
		}
		if err != nil {
			rows.Close()
			return nil, err
		}
		out[name] = tags.String
	}
	rows.Close()
	return out, nil
}

// ArrivingTwice asks twice for each row.
func (s *server) ArrivingTwice(ctx context.Context) (names []string) {
	found, err := s.db.QueryContext(ctx, "SELECT user_id FROM posts")
	if err != nil {
		return nil
	}
	defer found.Close()
	for found.Next() {
		var user int64
		if err := found.Scan(&user); err != nil {
			break
		}
		n, err := s.votes(ctx, user, "a") // want `APP205`
		if err != nil {
			return nil
		}
		name, err := authorOf(ctx, s.db, user) // want `APP205`
		if err != nil {
			return nil
		}
		if n > 2 {
			names = append(names, name)
		}
	}
	return names
}

// ArrivingError: the rest asks for the error before it sets it.
func ArrivingError(db *sql.DB) (names []string, bad int) {
	rows, err := db.Query("SELECT user_id FROM posts")
	if err != nil {
		return nil, 0
	}
	defer rows.Close()
	for rows.Next() {
		var user int64
		if err = rows.Scan(&user); err != nil {
			return nil, 0
		}
		var name string
		if user > 3 {
			err = db.QueryRow("SELECT name FROM users WHERE id = ?", user).Scan(&name) // want `APP205`
		}
		if err != nil {
			bad++
			continue
		}
		names = append(names, name)
	}
	return names, bad
}
