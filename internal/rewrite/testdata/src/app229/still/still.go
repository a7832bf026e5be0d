package still

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

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

// Setting ends with a setting, which may have options: app.db?_busy_timeout=5000.
func Setting() (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+os.Getenv("DB")) // want `APP229`
}

// SettingByFormat ends with a setting in a format.
func SettingByFormat() (*sql.DB, error) {
	dsn := fmt.Sprintf("file:%s", os.Getenv("DB"))
	return sql.Open("sqlite3", dsn) // want `APP229`
}

// SettingOfPath joins a setting to a folder.
func SettingOfPath(dir string) (*sql.DB, error) {
	name := os.Getenv("DB")
	return sql.Open("sqlite3", "file:"+filepath.Join(dir, name)) // want `APP229`
}

// GivenByFormat has options that are not known in a format.
func GivenByFormat(p, options string) (*sqlx.DB, error) {
	return sqlx.Open("sqlite3", fmt.Sprintf("file:%s?%s", p, options)) // want `APP229`
}

// Write writes.
func Write(db *sqlx.DB, name string) error {
	_, err := db.Exec("INSERT INTO t (name) VALUES (?)", name)
	return err
}
