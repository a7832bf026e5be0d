package still

import (
	"database/sql"
	"fmt"
	"strconv"

	"github.com/jmoiron/sqlx"
)

// Number returns the id as a number: a column might not hold a larger one.
func Number(db *sql.DB) (int64, error) {
	res, err := db.Exec("REPLACE INTO number_ids (stub) VALUES ('a')") // want `APP217`
	if err != nil {
		return 0, err
	}
	n, err := res.LastInsertId()
	return n, err
}

// Read has another statement that reads the table.
func Read(db *sql.DB) (string, error) {
	res, err := db.Exec("REPLACE INTO read_ids (stub) VALUES ('a')") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return fmt.Sprint(n), err
}

// Most reads the last id.
func Most(db *sql.DB) (n int64, err error) {
	err = db.QueryRow("SELECT MAX(id) FROM read_ids").Scan(&n)
	return n, err
}

// InTransaction takes the id back with the transaction.
func InTransaction(tx *sql.Tx) (string, error) {
	res, err := tx.Exec("REPLACE INTO tx_ids (stub) VALUES ('a')") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return fmt.Sprint(n), err
}

// Order stores a row of its own.
func Order(db *sqlx.DB, name string) (string, error) {
	res, err := db.Exec("INSERT INTO orders (name) VALUES (?)", name)
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return fmt.Sprint(n), err
}

// Setting stores a value.
func Setting(db *sqlx.DB, value string) (string, error) {
	res, err := db.Exec("REPLACE INTO settings (name, value) VALUES ('color', ?)", value)
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return fmt.Sprint(n), err
}

// Affected asks how many rows were written.
func Affected(db *sql.DB) (string, error) {
	res, err := db.Exec("REPLACE INTO affected_ids (stub) VALUES ('a')")
	if err != nil {
		return "", err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return "", err
	}
	n, err := res.LastInsertId()
	return fmt.Sprint(n), err
}

// Unasked asks for no number.
func Unasked(db *sql.DB) error {
	_, err := db.Exec("REPLACE INTO unasked_ids (stub) VALUES ('a')")
	return err
}

// Two adds two rows.
func Two(db *sql.DB) (string, error) {
	res, err := db.Exec("REPLACE INTO two_ids (stub) VALUES ('a'), ('b')")
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return fmt.Sprint(n), err
}

// Returned gives the result to the caller.
func Returned(db *sql.DB) (sql.Result, error) {
	return db.Exec("REPLACE INTO returned_ids (stub) VALUES ('a')")
}

// Counter counts for more than ids.
func Counter(db *sql.DB) (string, error) {
	res, err := db.Exec("UPDATE counters SET n = LAST_INSERT_ID(n + 1) WHERE name = ?", "visits") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	if n > 100 {
		return "many", err
	}
	return fmt.Sprint(n), err
}

// Show shows the counter.
func Show(db *sql.DB) (n int64, err error) {
	err = db.QueryRow("SELECT n FROM counters WHERE name = ?", "visits").Scan(&n)
	return n, err
}

// Decimal has ids that a column of integers takes.
func Decimal(db *sql.DB) (string, error) {
	res, err := db.Exec("REPLACE INTO decimal_ids (stub) VALUES ('a')") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return strconv.FormatInt(n, 10), err
}

// Padded has zeros before the number.
func Padded(db *sql.DB) (string, error) {
	res, err := db.Exec("REPLACE INTO padded_ids (stub) VALUES ('a')") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return fmt.Sprintf("%08d", n), err
}

// Signed has no letter either.
func Signed(db *sql.DB) (string, error) {
	res, err := db.Exec("REPLACE INTO signed_ids (stub) VALUES ('a')") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return fmt.Sprintf("-%v", n), err
}

// Binary has digits only.
func Binary(db *sql.DB) (string, error) {
	res, err := db.Exec("REPLACE INTO binary_ids (stub) VALUES ('a')") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return strconv.FormatInt(n, 2), err
}

// Added has a number before it.
func Added(db *sql.DB) (string, error) {
	res, err := db.Exec("REPLACE INTO added_ids (stub) VALUES ('a')") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	return "7" + strconv.Itoa(int(n)), err
}
