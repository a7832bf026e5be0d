package main

import (
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// Skips: a row that another transaction has locked is left out.
func Skips(tx *sqlx.Tx, posts []Post) error {
	for _, p := range posts {
		var u User
		if err := tx.Get(&u, "SELECT * FROM users WHERE id = ? FOR UPDATE SKIP LOCKED", p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// NoTransaction: the lock ends with the statement.
func NoTransaction(db *sqlx.DB, posts []Post) error {
	for _, p := range posts {
		var u User
		if err := db.Get(&u, "SELECT * FROM users WHERE id = ? FOR UPDATE", p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// SeveralLocked: how many rows there are for a key is not known.
func SeveralLocked(tx *sqlx.Tx, posts []Post) error {
	for _, p := range posts {
		var u User
		if err := tx.Get(&u, "SELECT * FROM users WHERE team_id = ? FOR UPDATE", p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// LockedThenSet: the row of a key that comes again has another value then.
func LockedThenSet(tx *sqlx.Tx, posts []Post) error {
	for _, p := range posts {
		var u User
		if err := tx.Get(&u, "SELECT * FROM users WHERE id = ? FOR UPDATE", p.UserID); err != nil { // want `APP205`
			return err
		}
		if _, err := tx.Exec("UPDATE users SET team_id = ? WHERE id = ?", u.TeamID+1, u.ID); err != nil {
			return err
		}
	}
	return nil
}

// Dollar: PostgreSQL takes no lock in a union.
func Dollar(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		var team int
		if err := tx.QueryRow("SELECT team_id FROM users WHERE id = $1 FOR UPDATE", id).Scan(&team); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// FarAway: the loop is left before it has counted so far.
func FarAway(db *sql.DB) (int64, error) {
	for i := int64(0); i < 1<<40; i++ {
		var team int64
		err := db.QueryRow("SELECT team_id FROM users WHERE id = ?", i).Scan(&team) // want `APP205`
		if err == sql.ErrNoRows {
			return i, nil
		} else if err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// Strings: the package that the new code needs is a variable there.
func Strings(db *sqlx.DB, strings []string) (out []int, err error) {
	for _, s := range strings {
		var n int
		if err := db.Get(&n, "SELECT COUNT(*) FROM users WHERE name = ?", s); err != nil { // want `APP205`
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

type tickets struct {
	db   *sqlx.DB
	last int64
}

// next is another number each time.
func (t *tickets) next() int64 {
	t.last++
	return t.last
}

// Taken: a key that is computed again is another one.
func (t *tickets) Taken(posts []Post) (out []int, err error) {
	for range posts {
		var n int
		if err := t.db.Get(&n, "SELECT COUNT(*) FROM comments WHERE post_id = ?", t.next()); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// TakenFor: the key is made of the element and of another number each time.
func (t *tickets) TakenFor(posts []Post) (out []int, err error) {
	for _, p := range posts {
		key := p.ID + t.next()
		var n int
		if err := t.db.Get(&n, "SELECT COUNT(*) FROM comments WHERE post_id = ?", key); err != nil { // want `APP205`
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}
