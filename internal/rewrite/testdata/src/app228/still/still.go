package still

import (
	"database/sql"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID    string        `db:"id"`
	Total sql.NullInt64 `db:"total"`
}

// Unrestricted needs all keys.
func Unrestricted(db *sqlx.DB) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars LEFT JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id ORDER BY cars.id")
	return rows, err
}

// OfResult has a condition on the result alone.
func OfResult(db *sqlx.DB, least int) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE s.total > ?", least)
	return rows, err
}

// Either has a condition that one of two may meet.
func Either(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars LEFT JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.owner_id = ? OR s.total > 5", owner)
	return rows, err
}

// Kept keeps the rows of the derived table that have no car.
func Kept(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s LEFT JOIN cars ON s.car_id = cars.id WHERE cars.gone IS NULL AND cars.kind = ?", owner)
	return rows, err
}

// Right keeps the rows of its right side.
func Right(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars RIGHT JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.owner_id = ?", owner)
	return rows, err
}

// Cut has a LIMIT in the derived table.
func Cut(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id ORDER BY total DESC LIMIT 10) s ON s.car_id = cars.id WHERE cars.owner_id = ?", owner) // want `APP228`
	return rows, err
}

// Ranked ranks all rows.
func Ranked(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, RANK() OVER (ORDER BY km DESC) AS total FROM legs) s ON s.car_id = cars.id WHERE cars.owner_id = ?", owner) // want `APP228`
	return rows, err
}

// Coarse is grouped by another column.
func Coarse(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT MIN(car_id) AS car_id, SUM(km) AS total FROM legs GROUP BY day) s ON s.car_id = cars.id WHERE cars.owner_id = ?", owner) // want `APP228`
	return rows, err
}

// Day is grouped by another column than the key.
func Day(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY day) s ON s.car_id = cars.id WHERE cars.owner_id = ?", owner) // want `APP228`
	return rows, err
}

// Already restricts the derived table itself.
func Already(db *sqlx.DB, car string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs WHERE car_id = ? GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.id = ?", car, car)
	return rows, err
}

// Locked locks the rows that it reads.
func Locked(tx *sqlx.Tx, owner string) (rows []Row, err error) {
	err = tx.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.owner_id = ? FOR UPDATE", owner)
	return rows, err
}

// Changing has an argument that is another value each time.
func Changing(db *sqlx.DB, next func() string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.owner_id = ?", next()) // want `APP228`
	return rows, err
}

// Spread has its arguments in a list.
func Spread(db *sqlx.DB, args []interface{}) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.owner_id = ?", args...) // want `APP228`
	return rows, err
}

// Counting numbers the rows by a variable.
func Counting(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, @n := @n + 1 AS total FROM legs) s ON s.car_id = cars.id WHERE cars.owner_id = ?", owner)
	return rows, err
}

// Random has a condition that is another one for each row.
func Random(db *sqlx.DB) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.share > RAND()")
	return rows, err
}
