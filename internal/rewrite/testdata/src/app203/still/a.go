package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"

	"github.com/jmoiron/sqlx"
)

type Book struct {
	ID    int64  `db:"id"`
	Title string `db:"title"`
	Cover []byte `db:"cover"`
}

type page struct {
	Book
	Next int
}

type untagged struct {
	ID    int64
	Cover []byte
}

type Shelf struct {
	ID    int64  `db:"id"`
	Label string `db:"label"`
}

type Other struct {
	ID   int64  `db:"id"`
	Blob []byte `db:"blob"`
}

type printer interface{ Print(b Book) }

var last Book

// JSON: the encoder reads every field.
func JSON(db *sqlx.DB) ([]byte, error) {
	var books []Book
	if err := db.Select(&books, "SELECT * FROM book"); err != nil {
		return nil, err
	}
	return json.Marshal(books)
}

// Embedded: the encoder reads the struct around it.
func Embedded(db *sqlx.DB) ([]byte, error) {
	var b Book
	if err := db.Get(&b, "SELECT * FROM book LIMIT 1"); err != nil {
		return nil, err
	}
	return json.Marshal(page{Book: b, Next: 2})
}

// Template: the template may read it.
func Template(db *sqlx.DB, t *template.Template, w io.Writer) error {
	var b Book
	if err := db.Get(&b, "SELECT * FROM book LIMIT 1"); err != nil {
		return err
	}
	return t.Execute(w, map[string]any{"book": &b})
}

// Printed: the verb reads every field.
func Printed(db *sqlx.DB) (string, error) {
	var b Book
	err := db.Get(&b, "SELECT * FROM book LIMIT 1")
	return fmt.Sprintf("%+v", b), err
}

// Read: a function reads the field.
func Read(db *sqlx.DB) (int, error) {
	var b Book
	err := db.Get(&b, "SELECT * FROM book LIMIT 1")
	return size(&b), err
}

func size(b *Book) int { return len(b.Cover) }

// Address: the address of the field is taken.
func Address(db *sqlx.DB) (*[]byte, error) {
	var b Book
	err := db.Get(&b, "SELECT * FROM book LIMIT 1")
	return &b.Cover, err
}

// Compared: a comparison reads every field of the rows.
func Compared(db *sqlx.DB, k key) (bool, error) {
	var rows []key
	err := db.Select(&rows, "SELECT * FROM keyed")
	for _, r := range rows {
		if r == k {
			return true, err
		}
	}
	return false, err
}

type key struct {
	ID   int64  `db:"id"`
	Text string `db:"text"`
}

// Interface: a method of an interface gets the row.
func Interface(db *sqlx.DB, p printer) error {
	var b Book
	err := db.Get(&b, "SELECT * FROM book LIMIT 1")
	p.Print(b)
	return err
}

// Print reads the cover.
func (p page) Print(b Book) { fmt.Println(len(b.Cover)) }

// Global: kept in a variable that another function reads.
func Global(db *sqlx.DB) error { return db.Get(&last, "SELECT * FROM book LIMIT 1") }

// Cover reads the variable.
func Cover() []byte { return last.Cover }

// Function: a function value gets the row.
func Function(db *sqlx.DB, use func(Book)) error {
	var b Book
	err := db.Get(&b, "SELECT * FROM book LIMIT 1")
	use(b)
	return err
}

// Literal: the caller of the function literal reads it.
func Literal(db *sqlx.DB) func() (Book, error) {
	return func() (Book, error) {
		var b Book
		err := db.Get(&b, "SELECT * FROM book LIMIT 1")
		return b, err
	}
}

// Channel: the receiver reads the field.
func Channel(db *sqlx.DB) int {
	var b Book
	if err := db.Get(&b, "SELECT * FROM book LIMIT 1"); err != nil {
		return 0
	}
	books := make(chan Book, 1)
	books <- b
	return Receive(books)
}

// Receive reads from the channel.
func Receive(books chan Book) int { return len((<-books).Cover) }

// Alias: the field is read through another variable.
func Alias(db *sqlx.DB) int {
	var b Book
	p := &Book{}
	if err := db.Get(&b, "SELECT * FROM book LIMIT 1"); err != nil {
		return 0
	}
	q := p
	*q = b
	return len(p.Cover)
}

// Filled: a function puts the row into the map of its caller.
func Filled(db *sqlx.DB) int {
	books := map[int64]Book{}
	if err := fill(db, books); err != nil {
		return 0
	}
	return len(books[1].Cover)
}

func fill(db *sqlx.DB, into map[int64]Book) error {
	var b Book
	err := db.Get(&b, "SELECT * FROM book LIMIT 1")
	into[b.ID] = b
	return err
}

// Given: the caller's variable is filled.
func Given(db *sqlx.DB) (int, error) {
	var b Book
	err := given(db, &b)
	return len(b.Cover), err
}

func given(db *sqlx.DB, b *Book) error { return db.Get(b, "SELECT * FROM book LIMIT 1") }

// Narrow: the columns that nobody reads are small.
func Narrow(db *sqlx.DB) (int64, error) {
	var s Shelf
	err := db.Get(&s, "SELECT * FROM label LIMIT 1")
	return s.ID, err
}

// Untagged: the columns of the fields are not known.
func Untagged(db *sqlx.DB) (int64, error) {
	var u untagged
	err := db.Get(&u, "SELECT * FROM book LIMIT 1")
	return u.ID, err
}

// Distinct: fewer columns have fewer distinct rows.
func Distinct(db *sqlx.DB) (int, error) {
	var books []Book
	err := db.Select(&books, "SELECT DISTINCT * FROM book")
	for _, b := range books {
		return int(b.ID), err
	}
	return 0, err
}

// Unknown: nothing is known of the table.
func Unknown(db *sqlx.DB) (int64, error) {
	var o Other
	err := db.Get(&o, "SELECT * FROM other LIMIT 1") // want `APP203: blob is read`
	return o.ID, err
}

// Shared: another function needs all columns of the statement.
func Shared(db *sqlx.DB) (string, error) {
	var b Book
	err := db.Get(&b, newest) // want `APP203`
	return b.Title, err
}

const newest = "SELECT * FROM book ORDER BY id DESC LIMIT 1"

// Newest needs them.
func Newest(db *sqlx.DB) (int, error) {
	var b Book
	err := db.Get(&b, newest)
	return size(&b), err
}

// Raw: a name needs quotes that the literal cannot have.
func Raw(db *sqlx.DB) (string, error) {
	var r rawRow
	err := db.Get(&r, `SELECT * FROM raw LIMIT 1`) // want `APP203`
	return r.Key, err
}

type rawRow struct {
	Key   string `db:"key"`
	Image []byte `db:"image"`
}

func main() {}
