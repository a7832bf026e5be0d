package main

import (
	"os/exec"
	"strings"

	"github.com/jmoiron/sqlx"
)

type Shop struct {
	ID   int64  `db:"id"`
	Name string `db:"name"`
}

type search struct {
	conditions []string
	params     []any
}

func (s search) where() string { return strings.Join(s.conditions, " AND ") }

var db *sqlx.DB

func Search(s search, page int) ([]Shop, int64, error) {
	var count int64
	if err := db.Get(&count, "SELECT COUNT(*) FROM shop WHERE "+s.where(), s.params...); err != nil { // want `the answer of a search of shop is computed again`
		return nil, 0, err
	}
	shops := []Shop{}
	err := db.Select(&shops, "SELECT * FROM shop WHERE "+s.where()+" ORDER BY id LIMIT ? OFFSET ?", append(s.params, 20, 20*page)...)
	return shops, count, err
}

func Add(name string) error {
	_, err := db.Exec("INSERT INTO shop (name) VALUES (?)", name)
	return err
}

func Rename(id int64, name string) error {
	tx, err := db.Beginx()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec("UPDATE shop SET name = ? WHERE id = ?", name, id); err != nil {
		return err
	}
	return tx.Commit()
}

func Log(text string) error {
	_, err := db.Exec("INSERT INTO log (text) VALUES (?)", text)
	return err
}

// LogAll writes many rows of another table.
func LogAll(texts []any) error {
	_, err := db.Exec("INSERT INTO log (text) VALUES (?)"+strings.Repeat(", (?)", len(texts)-1), texts...)
	return err
}

// AddAll writes many rows.
func AddAll(names []any) error {
	_, err := db.Exec("INSERT INTO shop (name) VALUES (?)"+strings.Repeat(", (?)", len(names)-1)+" ON DUPLICATE KEY UPDATE rank_ = rank_ + 1", names...)
	return err
}

// Tail writes what its parameter names.
func Tail(tail string) error {
	_, err := db.Exec("INSERT INTO log (text) VALUES ('a')" + tail)
	return err
}

func Reset() error { return exec.Command("load.sh").Run() }

func main() {}
