package main

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"
)

type User struct {
	ID     int64  `db:"id"`
	Name   string `db:"name"`
	TeamID int    `db:"team_id"`
}

type Post struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Author string `db:"author"`
	User   User   `db:"-"`
	Tags   string `db:"tags"`
}

type Comment struct {
	ID     int64  `db:"id"`
	PostID int64  `db:"post_id"`
	Text   string `db:"text"`
}

type state struct {
	Level string `db:"level"`
	At    int64  `db:"at"`
}

type server struct{ db *sqlx.DB }

const userByID = "SELECT * FROM users WHERE id = ?"

// Unique: an integer key in a transaction; the error leaves the function.
func Unique(ctx context.Context, tx *sqlx.Tx, posts []Post) error {
	for i, p := range posts {
		var u User
		if err := tx.GetContext(ctx, &u, userByID, p.UserID); err != nil { // want `APP205`
			return fmt.Errorf("post %d: %w", i, err)
		}
		posts[i].User = u
	}
	return nil
}

// Missing: no row is no error.
func (s *server) Missing(posts []*Post) ([]string, error) {
	var names []string
	for _, post := range posts {
		var user User
		err := s.db.Get(&user, "SELECT `id`, `name` FROM `users` WHERE `id` = ?", post.UserID) // want `APP205`
		if errors.Is(err, sql.ErrNoRows) {
			continue
		} else if err != nil {
			return nil, err
		}
		names = append(names, user.Name)
	}
	return names, nil
}

// Newest: the newest row of each element; the key is a text.
func (s *server) Newest(posts []Post) (map[string]int64, error) {
	out := map[string]int64{}
	for _, p := range posts {
		var newest state
		err := s.db.Get(&newest, "SELECT * FROM states WHERE author LIKE '%x' AND author = ? ORDER BY at DESC LIMIT 1", p.Author) // want `APP205`
		if err == nil {
			out[p.Author] = newest.At
		} else if !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	return out, nil
}

// Counted: a count of each element.
func Counted(db *sqlx.DB, posts []Post, kind int) (total int, err error) {
	for i := range posts {
		var n int
		if err := db.Get(&n, "select count(*) from comments where kind = ? and post_id = ?", kind, posts[i].ID); err != nil { // want `APP205`
			return 0, err
		}
		total += n
	}
	return total, nil
}

// Text: a unique text.
func Text(db *sqlx.DB, names []string) ([]int64, error) {
	var ids []int64
	for _, name := range names {
		name = strings.TrimSpace(name)
		ids = append(ids, int64(len(name)))
	}
	for _, name := range names {
		var id int64
		if err := db.Get(&id, "SELECT id FROM users WHERE name = ?", strings.ToLower(name)); err != nil { // want `APP205`
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Children: all rows of each element, in their order.
func Children(db *sqlx.DB, posts []Post) (map[int64][]Comment, error) {
	out := map[int64][]Comment{}
	for _, p := range posts {
		comments := []Comment{}
		if err := db.Select(&comments, "SELECT * FROM comments WHERE post_id = ? AND text <> '' ORDER BY id DESC", p.ID); err != nil { // want `APP205`
			return nil, err
		}
		out[p.ID] = comments
	}
	return out, nil
}

// Helper: the handle is an interface, the function is sqlx.Get.
func Helper(q sqlx.Queryer, byUser map[int64]string) (names []string, err error) {
	for id := range byUser {
		var u User
		err := sqlx.Get(q, &u, "SELECT * FROM users WHERE id = ?", id) // want `APP205`
		if err != nil {
			return nil, err
		}
		names = append(names, u.Name)
	}
	return names, nil
}

// First: Select with LIMIT 1.
func First(db *sqlx.DB, posts []Post) (levels []string, err error) {
	for _, p := range posts {
		var states []state
		if err = db.Select(&states, "SELECT level, at FROM states WHERE author = ? ORDER BY at DESC LIMIT 1", p.Author); err != nil { // want `APP205`
			return nil, err
		}
		if len(states) == 0 {
			continue
		}
		levels = append(levels, states[0].Level)
	}
	return levels, nil
}

// Lines: the statement is written in several lines, in a closure.
func Lines(tx *sqlx.Tx) func(ids []int64) ([]User, error) {
	return func(ids []int64) ([]User, error) {
		var users []User
		for _, id := range ids {
			var u User
			err := tx.Get(&u, userQuery, id) // want `APP205`
			if err != nil {
				return nil, err
			}
			users = append(users, u)
		}
		return users, nil
	}
}

const userQuery = `
	SELECT id, name
	FROM users
	WHERE id = ?
`

// Nested: the loop is within another one.
func Nested(db *sqlx.DB, groups [][]Post) error {
	for _, posts := range groups {
		for _, p := range posts {
			var u User
			if err := db.Get(&u, "SELECT * FROM users WHERE id = ? AND team_id = 1", p.UserID); err != nil { // want `APP205`
				return err
			}
			if u.Name == p.Author {
				break
			}
		}
	}
	return nil
}

func findUser(ctx context.Context, db sqlx.ExtContext, id int64) (*User, error) {
	u := new(User)
	if err := sqlx.GetContext(ctx, db, u, "SELECT * FROM users WHERE id = ?", id); err != nil {
		return nil, fmt.Errorf("reading user %d: %w", id, err)
	}
	return u, nil
}

// Getter: a function of the package reads the row of each element.
func Getter(ctx context.Context, db *sqlx.DB, posts []Post) ([]string, error) {
	var names []string
	seen := map[int64]bool{}
	for _, p := range posts {
		if seen[p.UserID] {
			continue
		}
		seen[p.UserID] = true
		u, err := findUser(ctx, db, p.UserID) // want `APP205`
		if err != nil {
			return nil, err
		}
		names = append(names, u.Name)
	}
	return names, nil
}

type numbers struct {
	mu   sync.Mutex
	db   *sqlx.DB
	last int64
}

// next writes another table than the loop reads.
func (n *numbers) next(ctx context.Context) (int64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	result, err := n.send(ctx, n.db, "INSERT INTO t (name) VALUES (?)", "a")
	if err != nil {
		return 0, err
	}
	n.last, err = result.LastInsertId()
	return n.last, err
}

func (n *numbers) send(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, query string, args ...any) (sql.Result, error) {
	return db.ExecContext(ctx, query, args...)
}

// Upload: the keys are in a file that is read line by line.
func (s *server) Upload(ctx context.Context, db *sqlx.DB, file *csv.Reader, n *numbers) (posts []Post, err error) {
	for line := 1; ; line++ {
		fields, err := file.Read()
		if errors.Is(err, io.EOF) {
			return posts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		id, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return nil, err
		}
		if _, err := findUser(ctx, db, id); errors.Is(err, sql.ErrNoRows) { // want `APP205`
			return nil, fmt.Errorf("line %d: no user %d", line, id)
		} else if err != nil {
			return nil, err
		}
		number, err := n.next(ctx)
		if err != nil {
			return nil, err
		}
		posts = append(posts, Post{ID: number, UserID: id})
	}
}

// Stores: the loop writes another table than the function reads.
func Stores(ctx context.Context, db *sqlx.DB, posts []Post) error {
	for _, p := range posts {
		u, err := findUser(ctx, db, p.UserID) // want `APP205`
		if err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO t (id, name) VALUES (?, ?)", p.ID, u.Name); err != nil {
			return err
		}
	}
	return nil
}

func main() {}
