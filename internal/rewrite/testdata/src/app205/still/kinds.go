package main

import (
	"strings"

	"github.com/jmoiron/sqlx"
)

var pool *sqlx.DB

// Grows: each round adds to the text.
func Grows(posts []Post) error {
	query := "SELECT * FROM users WHERE id = ?"
	for _, p := range posts {
		var found []User
		if err := pool.Select(&found, query, p.UserID); err != nil {
			return err
		}
		query += " OR id = 1"
	}
	return nil
}

// Kinds: one of the texts reads no rows of a table that is known.
func Kinds(posts []Post, all bool) error {
	for _, p := range posts {
		query := "SELECT DISTINCT name FROM users WHERE id = ?"
		if all {
			query = "SELECT name FROM users WHERE id = ?"
		}
		var names []string
		if err := pool.Select(&names, query, p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Orders: the texts have different orders.
func Orders(posts []Post, down bool) error {
	for _, p := range posts {
		query := "SELECT * FROM users WHERE team_id = ? ORDER BY id"
		if down {
			query += " DESC"
		}
		var found []User
		if err := pool.Select(&found, query, p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Unknown: a part of one text is of the request.
func Unknown(posts []Post, order string) error {
	for _, p := range posts {
		query := "SELECT * FROM users WHERE team_id = ?"
		if order != "" {
			query += " ORDER BY " + order
		}
		var found []User
		if err := pool.Select(&found, query, p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// Closure: a function literal adds to the text.
func Closure(posts []Post, f func(func())) error {
	query := "SELECT * FROM users WHERE team_id = ?"
	f(func() { query += " LIMIT 1" })
	for _, p := range posts {
		var found []User
		if err := pool.Select(&found, query, p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// WritesSometimes: one of the texts writes what the loop reads.
func WritesSometimes(posts []Post, all bool) error {
	for _, p := range posts {
		var u User
		if err := pool.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			return err
		}
		query := "UPDATE posts SET user_id = 0 WHERE id = ?"
		if all {
			query = "UPDATE users SET team_id = 0 WHERE id = ?"
		}
		if _, err := pool.Exec(query, p.ID); err != nil {
			return err
		}
	}
	return nil
}

func move(p *Post) { p.UserID++ }

// Through: the function sets the key through the address of the element.
func Through(posts []Post) error {
	for _, p := range posts {
		move(&p)
		var u User
		if err := pool.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

var kept []*Post

func keep(p *Post) { kept = append(kept, p) }

// KeptAddress: the function keeps the address.
func KeptAddress(posts []Post) error {
	for _, p := range posts {
		keep(&p)
		var u User
		if err := pool.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// A Tone is read by a method of its own.
type Tone struct{ Name string }

func (t *Tone) Scan(v interface{}) error { t.Name = strings.ToLower(v.(string)); return nil }

// Scanner: the rows are values that read themselves.
func Scanner(posts []Post) error {
	for _, p := range posts {
		var tones []Tone
		if err := pool.Select(&tones, "SELECT name FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Half: the statement returns some of the fields, and the variable keeps the others.
func Half(posts []Post) (sum int) {
	var u User
	for _, p := range posts {
		if err := pool.Get(&u, "SELECT id, name FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			continue
		}
		sum += u.TeamID
		u.TeamID = len(u.Name)
	}
	return sum
}
