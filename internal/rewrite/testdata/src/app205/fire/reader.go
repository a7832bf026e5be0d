package main

import (
	"context"
	"database/sql"
	"errors"
	"log"

	"github.com/jmoiron/sqlx"
)

// Functions that send one statement, whatever they do with its rows.

// Calls: a helper sends the query, and has no error.
func Calls(db *sqlx.DB, ids []int64) (users []*User) {
	for _, id := range ids {
		users = append(users, user(db, id)) // want `APP205: each element of the loop calls user`
	}
	return users
}

func user(db *sqlx.DB, id int64) *User {
	var u User
	if err := db.Get(&u, "SELECT * FROM users WHERE id = ?", id); err != nil {
		return nil
	}
	return &u
}

func named(db sqlx.Ext, id int64) (*User, error) {
	var u User
	if err := sqlx.Get(db, &u, "SELECT * FROM users WHERE id = ?", id); err != nil {
		return nil, err
	}
	u.Name = "-"
	return &u, nil
}

// GetterChanges: the function changes the row.
func GetterChanges(db *sqlx.DB, posts []Post) error {
	for _, p := range posts {
		if _, err := named(db, p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

type registry struct {
	*server
	log *log.Logger
}

func (s *server) team(ctx context.Context, id int64) (team int, err error) {
	err = s.db.GetContext(ctx, &team, "SELECT team_id FROM users WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		return -1, nil
	}
	return team, err
}

// Teams: a method whose receiver holds the pool; one plain value.
func (s *server) Teams(ctx context.Context, posts []Post) (teams []int) {
	for _, p := range posts {
		team, err := s.team(ctx, p.UserID) // want `APP205`
		if err != nil {
			log.Print(err)
			continue
		}
		teams = append(teams, team)
	}
	return teams
}

func (r registry) commentsOf(post int64) ([]Comment, error) {
	var comments []Comment
	err := r.db.Select(&comments, "SELECT * FROM comments WHERE post_id = ? ORDER BY id DESC LIMIT 3", post)
	return comments, err
}

// Comments: a receiver that is a value, and several rows of each key.
func (r *registry) Comments(posts []Post) error {
	for i := 0; i < len(posts); i++ {
		comments, err := r.commentsOf(posts[i].ID) // want `APP205`
		if err != nil {
			r.log.Print(err)
			return err
		} else {
			posts[i].Tags = comments[0].Text
		}
	}
	return nil
}

func (s *server) author(tx *sql.Tx, id int64) (name string, team sql.NullInt64) {
	if tx.QueryRow("SELECT name, team_id FROM users WHERE id = ?", id).Scan(&name, &team) != nil {
		return "?", team
	}
	return name, team
}

// Scanned: two values of a row of database/sql, in a transaction.
func (s *server) Scanned(tx *sql.Tx, posts []Post) {
	for i := range posts {
		name, _ := s.author(tx, posts[i].UserID) // want `APP205`
		posts[i].Author = name
	}
}
