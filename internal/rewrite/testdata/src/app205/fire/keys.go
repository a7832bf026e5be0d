package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Keys of several values, and keys that are fields of what a helper is given.

type Halt struct {
	UserID int64  `db:"user_id"`
	Place  string `db:"place"`
	Team   int    `db:"team_id"`
}

// Pair: two arguments vary, of different types.
func Pair(db *sqlx.DB, visits []Halt) (n int, err error) {
	for _, v := range visits {
		var one int
		if err := db.Get(&one, "SELECT COUNT(*) FROM users WHERE id = ? AND name = ?", v.UserID, v.Place); err != nil { // want `APP205: one query is sent per element`
			return 0, err
		}
		n += one
	}
	return n, nil
}

// PairScanned: by Scan, of one type, with an argument between them that does not vary.
func PairScanned(db *sql.DB, visits []Halt, least string) (out []string) {
	for _, v := range visits {
		var name string
		err := db.QueryRow("SELECT name FROM users WHERE id = ? AND name > ? AND team_id = ?", v.UserID, least, int64(v.Team)).Scan(&name) // want `APP205`
		if err != nil {
			continue
		}
		out = append(out, name)
	}
	return out
}

func (s *server) votes(ctx context.Context, user int64, place string) (n int, err error) {
	err = s.db.GetContext(ctx, &n, "SELECT COUNT(*) FROM comments WHERE id = ? AND text = ?", user, place)
	return n, err
}

// PairHelped: a helper has two parameters that vary.
func (s *server) PairHelped(ctx context.Context, visits []Halt) (n int, err error) {
	for i := range visits {
		m, err := s.votes(ctx, visits[i].UserID, visits[i].Place) // want `APP205`
		if err != nil {
			return 0, err
		}
		n += m
	}
	return n, nil
}

func price(ctx context.Context, tx *sqlx.Tx, member string, v *Halt, far, wide int) (int, error) {
	discount := 0
	if v != nil {
		var u User
		err := tx.GetContext(ctx, &u, "SELECT * FROM users WHERE id = ?", v.UserID)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		discount = u.TeamID
	} else {
		if err := tx.GetContext(ctx, &discount, "SELECT team_id FROM users WHERE name = ? LIMIT 1", member); err != nil {
			return 0, err
		}
	}
	return far*wide - discount, nil
}

// Fields: of many arguments that vary, the statement asks for a field of one.
func Fields(ctx context.Context, tx *sqlx.Tx, member string, visits []Halt) (sum int, err error) {
	for _, v := range visits {
		fare, err := price(ctx, tx, member, &v, v.Team, sum) // want `APP205`
		if err != nil {
			return 0, err
		}
		sum += fare
	}
	return sum, nil
}

func describe(db *sqlx.DB, v Halt, title string) string {
	var name string
	if err := db.Get(&name, "SELECT name FROM users WHERE id = ?", v.UserID); err != nil {
		return title
	}
	return title + name + v.Place
}

// Values: a helper is given the element itself, and a value that the round has computed.
func Values(db *sqlx.DB, visits []Halt) (out []string) {
	for _, v := range visits {
		title := v.Place
		if v.Team > 3 {
			title = "!"
		}
		out = append(out, describe(db, v, title)) // want `APP205`
	}
	return out
}

// PointedRows: the elements are pointers to rows.
func PointedRows(ctx context.Context, tx *sqlx.Tx) (sum int, err error) {
	visits := []*Halt{}
	if err := tx.SelectContext(ctx, &visits, "SELECT * FROM visits"); err != nil {
		return 0, err
	}
	for _, v := range visits {
		fare, err := price(ctx, tx, "", v, v.Team, 2) // want `APP205`
		if err != nil {
			return 0, err
		}
		sum += fare
	}
	return sum, nil
}

// Position has the name of the field that the fix adds.
type Position struct {
	ID   int64  `db:"id"`
	Name string `db:"name"`
}

// NamedAlike: the row's type has that name, by both rewrites.
func NamedAlike(db *sqlx.DB, names []string) (out []string, err error) {
	for _, name := range names {
		var p Position
		if err := db.Get(&p, "SELECT id, name FROM users WHERE name = ? ORDER BY id LIMIT 1", name); err != nil { // want `APP205`
			return nil, err
		}
		out = append(out, p.Name)
	}
	return out, nil
}

// NamedAlikeNext: the other rewrite.
func NamedAlikeNext(db *sqlx.DB, names []string) (out []string, err error) {
	for _, name := range names {
		q := &Position{}
		if err := db.Get(q, "SELECT id, name FROM users WHERE name > ? ORDER BY id LIMIT 1", name); err != nil { // want `APP205`
			continue
		}
		out = append(out, q.Name)
	}
	return out, nil
}

func (s *server) alike(ctx context.Context, user int64, place string) (n int, err error) {
	err = s.db.GetContext(ctx, &n, "SELECT COUNT(*) FROM comments WHERE id = ? AND text LIKE ? AND post_id > ?", user, "%"+strings.ToLower(place)+"%", int32(user))
	return n, err
}

// PairComputed: the helper computes with its parameters.
func (s *server) PairComputed(ctx context.Context, visits []Halt) (n int, err error) {
	for i := range visits {
		m, err := s.alike(ctx, visits[i].UserID, visits[i].Place) // want `APP205`
		if err != nil {
			return 0, err
		}
		n += m
	}
	return n, nil
}
