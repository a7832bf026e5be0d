package main

import (
	"context"
	"database/sql"
	"log"

	"github.com/jmoiron/sqlx"
)

// A Thread has fields that are no columns beside those that are, without tags.
type Thread struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
	Guest  sql.NullInt64
	Size   int
	Last   []Comment
	User   User
}

var pool *sqlx.DB

// Page completes the elements of a page: fields are destinations, and a condition adds to a
// text.
func Page(threads []Thread, all bool) ([]Thread, error) {
	var page []Thread
	for _, t := range threads {
		err := pool.Get(&t.Size, "SELECT COUNT(*) AS `count` FROM comments WHERE post_id = ?", t.ID) // want `APP205`
		if err != nil {
			return nil, err
		}
		query := "SELECT * FROM comments WHERE post_id = ? ORDER BY id DESC"
		if !all {
			query += " LIMIT 3"
		}
		var last []Comment
		err = pool.Select(&last, query, t.ID) // want `APP205`
		if err != nil {
			return nil, err
		}
		t.Last = last
		err = pool.Get(&t.User, "SELECT * FROM users WHERE id = ?", t.UserID) // want `APP205`
		if err != nil {
			return nil, err
		}
		if page = append(page, t); len(page) >= 20 {
			break
		}
	}
	return page, nil
}

// Chosen: a switch chooses the text.
func Chosen(threads []Thread, order string) (n int, err error) {
	var query string
	switch order {
	case "new":
		query = "SELECT * FROM comments WHERE post_id = ? ORDER BY id DESC LIMIT 2"
	case "old":
		query = "SELECT * FROM comments WHERE post_id = ? ORDER BY id DESC LIMIT 5"
	default:
		query = "SELECT * FROM comments WHERE post_id = ? ORDER BY id DESC"
	}
	for i := 0; i < len(threads); i++ {
		var found []Comment
		if err := pool.Select(&found, query, threads[i].ID); err != nil { // want `APP205`
			return 0, err
		}
		n += len(found)
	}
	return n, nil
}

// Pointers: the rows are read into a list of pointers.
func Pointers(threads []*Thread) (n int, err error) {
	for _, t := range threads {
		found := []*Comment{}
		if err := pool.Select(&found, "SELECT * FROM comments WHERE post_id = ? ORDER BY id DESC", t.ID); err != nil { // want `APP205`
			return 0, err
		}
		for _, c := range found {
			n += len(c.Text)
		}
	}
	return n, nil
}

// Numbers: the rows are numbers.
func Numbers(threads []Thread) (sum int, err error) {
	for _, t := range threads {
		var teams []int
		if err := pool.Select(&teams, "SELECT team_id FROM users WHERE name = ?", name(t.ID)); err != nil { // want `APP205`
			return 0, err
		}
		for _, n := range teams {
			sum += n
		}
	}
	return sum, nil
}

func name(id int64) string {
	if id == 1 {
		return "one"
	}
	return "many"
}

// Outer: the variable is declared before the loop, and each field of it is a column.
func Outer(threads []Thread) (names []string) {
	var u User
	for _, t := range threads {
		if err := pool.Get(&u, "SELECT * FROM users WHERE id = ?", t.UserID); err != nil { // want `APP205`
			log.Print(err)
			continue
		}
		names = append(names, u.Name)
	}
	return names
}

type getter interface {
	GetContext(ctx context.Context, dest interface{}, query string, args ...interface{}) error
}

func newest(ctx context.Context, tx getter, post int64) (string, error) {
	text := ""
	if err := tx.GetContext(ctx, &text, `SELECT text FROM comments WHERE post_id = ? ORDER BY id DESC LIMIT 1`, post); err != nil {
		return "", err
	}
	return text, nil
}

func size(t *Thread, more int) int {
	if t == nil {
		return more
	}
	return t.Size + doubled(t) + more
}

func doubled(t *Thread) int { return 2 * t.Size }

// Latest: a helper has an interface with a method for one row only, and another one gets the
// address of the element.
func Latest(ctx context.Context, tx *sqlx.Tx, threads []Thread) (texts []string, n int, err error) {
	for _, t := range threads {
		text, err := newest(ctx, tx, t.ID) // want `APP205`
		if err != nil {
			return nil, 0, err
		}
		n += size(&t, len(text))
		u := &User{}
		if err := tx.GetContext(ctx, u, "SELECT * FROM users WHERE id = ?", t.Guest); err != nil { // want `APP205`
			return nil, 0, err
		}
		texts = append(texts, text)
	}
	return texts, n, nil
}

func sizes(tx *sqlx.Tx, id int64) (n, all int, err error) {
	if err = tx.Get(&all, "SELECT COUNT(*) FROM comments"); err != nil {
		return 0, 0, err
	}
	err = tx.Get(&n, "SELECT COUNT(*) FROM comments WHERE post_id = ?", id)
	return n, all, err
}

// OneOfTwo: the helper sends two statements, one of them for the element.
func OneOfTwo(tx *sqlx.Tx, threads []Thread) (sum int, err error) {
	for _, t := range threads {
		n, all, err := sizes(tx, t.ID) // want `APP205`
		if err != nil {
			return 0, err
		}
		sum += n * all
	}
	return sum, nil
}
