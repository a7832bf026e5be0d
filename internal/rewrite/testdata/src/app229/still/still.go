package still

import (
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3"
)

// Told says what is synced.
func Told(p string) (*sqlx.DB, error) {
	return sqlx.Open("sqlite3", fmt.Sprintf("file:%s?_sync=1", p))
}

// Read opens it for reading.
func Read(p string) (*sqlx.DB, error) {
	return sqlx.Open("sqlite3", fmt.Sprintf("file:%s?mode=ro", p))
}

// Memory is no file.
func Memory() (*sql.DB, error) { return sql.Open("sqlite3", "file::memory:") }

// Server is another engine.
func Server(dsn string) (*sql.DB, error) { return sql.Open("mysql", dsn) }

// Plain has a name without a scheme.
func Plain(p string) (*sqlx.DB, error) {
	return sqlx.Open("sqlite3", p) // want `APP229`
}

// Given has options that are not known.
func Given(p, options string) (*sqlx.DB, error) {
	return sqlx.Open("sqlite3", "file:"+p+"?"+options) // want `APP229`
}

// Write writes.
func Write(db *sqlx.DB, name string) error {
	_, err := db.Exec("INSERT INTO t (name) VALUES (?)", name)
	return err
}
