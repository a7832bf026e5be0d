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

// Bars has an OR that is written with bars.
func Bars(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.owner_id = ? AND cars.kind = 3 || s.total > 5", owner)
	return rows, err
}

// Cases has an AND in a CASE.
func Cases(db *sqlx.DB) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE 1 = CASE WHEN s.total = 1 AND cars.kind = 3 AND s.total = 2 THEN 1 ELSE 1 END")
	return rows, err
}

// Between has an AND in a BETWEEN of the result.
func Between(db *sqlx.DB, most int) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE s.total BETWEEN cars.kind AND ?", most)
	return rows, err
}

// Alias has a condition on a name of the result, as SQLite allows.
func Alias(db *sqlx.DB) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, LENGTH(name) AS size, s.total FROM cars JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE size > 3")
	return rows, err
}

// AliasOfKnown has one beside a table whose columns are known.
func AliasOfKnown(db *sqlx.DB) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT users.id, LENGTH(name) AS size, s.total FROM users JOIN (SELECT user_id, COUNT(*) AS total FROM votes GROUP BY user_id) s ON s.user_id = users.id WHERE size > 3")
	return rows, err
}

// Unknown has a condition on a column that the table does not have.
func Unknown(db *sqlx.DB) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT users.id, s.total FROM users JOIN (SELECT user_id, COUNT(*) AS total FROM votes GROUP BY user_id) s ON s.user_id = users.id WHERE size > 3")
	return rows, err
}
