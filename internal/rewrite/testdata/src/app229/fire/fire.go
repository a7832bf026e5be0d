package fire

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3"
	_ "modernc.org/sqlite"
)

const driverName = "sqlite3"

// Formatted has options already.
func Formatted(dir string, id int64) (*sqlx.DB, error) {
	p := filepath.Join(dir, fmt.Sprintf("%d.db", id))
	return sqlx.Open(driverName, fmt.Sprintf("file:%s?mode=rw", p)) // want `APP229: each commit of a SQLite file waits for the disk`
}

// Path ends with a value.
func Path(p string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+(&url.URL{Path: p}).EscapedPath()) // want `APP229`
}

// Options are behind a value.
func Options(p string) (*sqlx.DB, error) {
	db, err := sqlx.Connect("sqlite", "file:"+p+"?_pragma=busy_timeout(5000)") // want `APP229`
	if err != nil {
		return nil, err
	}
	return db, nil
}

// Constant is one file.
func Constant() *sql.DB {
	db, err := sql.Open("sqlite3", "file:app.db") // want `APP229`
	if err != nil {
		panic(err)
	}
	return db
}

// Variable has its name in a variable.
func Variable(p string) (*sqlx.DB, error) {
	dsn := fmt.Sprintf("file:%s.db", p)
	return sqlx.Open("sqlite3", dsn) // want `APP229`
}

// Raw has the name in backquotes.
func Raw() (*sqlx.DB, error) {
	return sqlx.Open("sqlite", `file:data/app.db?cache=shared`) // want `APP229`
}

// Joined ends with a path whose last part is known.
func Joined(dir string, id int64) (*sqlx.DB, error) {
	p := filepath.Join(dir, fmt.Sprintf("%d.db", id))
	return sqlx.Open(driverName, "file:"+p) // want `APP229`
}

// Numbered ends with a number.
func Numbered(id int64) (*sqlx.DB, error) {
	return sqlx.Open(driverName, fmt.Sprintf("file:tenant%03d", id)) // want `APP229`
}

// Write writes.
func Write(db *sqlx.DB, name string) error {
	_, err := db.Exec("INSERT INTO t (name) VALUES (?)", name)
	return err
}
