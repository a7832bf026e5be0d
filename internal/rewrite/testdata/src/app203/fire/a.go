package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/jmoiron/sqlx"
)

// A book's cover is large, and its comment has 900 bytes in the mean.
type Book struct {
	ID      int64  `db:"id"`
	Title   string `db:"title"`
	Cover   []byte `db:"cover"`
	Comment string `db:"comment"`
	Rank    int    `db:"rank"`
}

type Shelf struct {
	ID    int64  `db:"id"`
	Plan  []byte `db:"plan"`
	Label string `db:"label"`
}

type Tag struct {
	ID   int64  `db:"id"`
	Name string `db:"name"`
	Icon string `db:"icon"`
}

type answer struct {
	ID    int64
	Title string
}

type repo interface {
	Books(ctx context.Context) ([]Book, error)
}

type store struct{ db *sqlx.DB }

func (b *Book) answer() answer { return answer{ID: b.ID, Title: b.Title} }

// List: fields are read in a loop.
func List(db *sqlx.DB, user int) ([]answer, error) {
	var books []Book
	if err := db.Select(&books, "SELECT * FROM `book` WHERE `user_id` = ? ORDER BY `id` DESC", user); err != nil { // want `APP203: cover, comment is read`
		return nil, err
	}
	out := []answer{}
	for _, b := range books {
		out = append(out, b.answer())
	}
	return out, nil
}

// One: one row; the statement has no quotes, and one name needs them.
func One(tx *sqlx.Tx, id int64) (int, error) {
	var b Book
	err := tx.Get(&b, "SELECT * FROM book WHERE id = ?", id) // want `APP203`
	return b.Rank, err
}

// Sorted: sort and slices only move the elements.
func Sorted(db *sqlx.DB) (titles []string, err error) {
	books := []*Book{}
	err = db.Select(&books, "select * from book") // want `APP203`
	sort.Slice(books, func(i, j int) bool { return books[i].ID < books[j].ID })
	slices.SortFunc(books, func(a, b *Book) int { return int(a.ID - b.ID) })
	for _, b := range books {
		titles = append(titles, b.Title)
	}
	return titles, err
}

// Helper: another function gets the rows.
func Helper(db *sqlx.DB) (int, error) {
	var books []Book
	if err := db.Select(&books, `SELECT * FROM book WHERE cover IS NOT NULL`); err != nil { // want `APP203`
		return 0, err
	}
	return longest(books), nil
}

func longest(books []Book) (n int) {
	for i := range books {
		n = max(n, len(books[i].Title))
	}
	return n
}

// Books: the rows are a result, also through an interface.
func (s *store) Books(ctx context.Context) ([]Book, error) {
	var books []Book
	err := s.db.SelectContext(ctx, &books, "SELECT b.* FROM book b JOIN shelf s ON s.id = b.shelf_id WHERE s.label = 'x'") // want `APP203`
	return books, err
}

// Handler calls Books.
func handler(ctx context.Context, r repo) ([]string, error) {
	books, err := r.Books(ctx)
	var out []string
	for _, b := range books {
		out = append(out, fmt.Sprintf("%d %s", b.ID, b.Title))
	}
	return out, err
}

// Grouped: the rows are kept in a map.
func Grouped(db *sqlx.DB) (map[int]string, error) {
	var books []Book
	err := db.Select(&books, "SELECT id, `rank`, cover, title FROM book") // want `APP203: cover is read`
	byRank := map[int][]Book{}
	for _, b := range books {
		byRank[b.Rank] = append(byRank[b.Rank], b)
	}
	out := map[int]string{}
	for rank, books := range byRank {
		out[rank] = books[0].Title + fmt.Sprint(books[0].ID)
	}
	return out, err
}

// Rows: each row is scanned into a struct.
func Rows(db *sqlx.DB) (labels []string, err error) {
	rows, err := db.Queryx("SELECT * FROM shelf") // want `APP203: plan is read`
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s Shelf
		if err := rows.StructScan(&s); err != nil {
			return nil, err
		}
		labels = append(labels, s.Label)
	}
	return labels, rows.Err()
}

// Row: one row of a QueryRowx.
func Row(db *sqlx.DB, id int) (string, error) {
	s := Shelf{}
	err := db.QueryRowx("SELECT `id`, `label`, `plan` FROM `shelf` WHERE `id` = ?", id).StructScan(&s) // want `APP203`
	return fmt.Sprint(s.ID, s.Label), err
}

// Pointer: the destination is a pointer.
func Pointer(ctx context.Context, db *sqlx.DB, id int) (string, error) {
	s := new(Shelf)
	if err := db.GetContext(ctx, s, db.Rebind("SELECT * FROM shelf WHERE id = ?"), id); err != nil { // want `APP203`
		return "", err
	}
	return s.Label, nil
}

// Closure: a function literal reads a field; another query of the type is read whole.
func Closure(db *sqlx.DB) func() string {
	var s Shelf
	if err := db.Get(&s, "SELECT plan, label FROM shelf LIMIT 1"); err != nil { // want `APP203`
		return nil
	}
	return func() string { return s.Label }
}

// Whole: all columns of this query are needed.
func Whole(db *sqlx.DB) ([]byte, error) {
	var s Shelf
	if err := db.Get(&s, "SELECT * FROM shelf LIMIT 1"); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// Set: a field is set and never read.
func Set(tx *sqlx.Tx) (string, error) {
	var tags []Tag
	if err := tx.Select(&tags, "SELECT t.* FROM tag AS t FOR UPDATE"); err != nil { // want `APP203: icon is read`
		return "", err
	}
	for i := range tags {
		tags[i].Icon = "none"
	}
	return tags[0].Name, nil
}

func main() {}
