package main

import (
	"strings"

	"github.com/jmoiron/sqlx"
)

type Shop struct {
	ID   int64  `db:"id"`
	Icon []byte `db:"icon"`
}

var db *sqlx.DB

func Reference(where []string) (shops []Shop, err error) {
	err = db.Select(&shops, "SELECT * FROM shop WHERE "+strings.Join(where, " AND "))
	return shops, err
}

func Whole() (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM shop WHERE id > 3")
	return n, err
}

func Joined(where []string) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM shop JOIN log ON log.id = shop.id WHERE "+strings.Join(where, " AND "))
	return n, err
}

func Unknown(table string) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM "+table+" WHERE id > 0")
	return n, err
}

func InTransaction(tx *sqlx.Tx, where string) (n int, err error) {
	err = tx.Get(&n, "SELECT COUNT(*) FROM shop WHERE "+where)
	return n, err
}

func Volatile(where string) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM shop WHERE at > NOW() AND "+where)
	return n, err
}

func Locking(where string) (n int, err error) {
	err = db.Get(&n, "SELECT stock FROM shop WHERE "+where+" FOR UPDATE")
	return n, err
}

func NoTable(where string) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM unknown WHERE "+where)
	return n, err
}

func Limited(where string) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM shop LIMIT "+where)
	return n, err
}

func main() {}
