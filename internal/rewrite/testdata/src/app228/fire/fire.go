package fire

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID    string         `db:"id"`
	Name  string         `db:"name"`
	Total sql.NullInt64  `db:"total"`
	Last  sql.NullString `db:"last"`
}

const ofOwner = "SELECT cars.id, trips.total FROM cars LEFT JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) AS trips ON trips.car_id = cars.id WHERE cars.owner_id = ? ORDER BY cars.id"

// Grouped has a sum for each key.
func Grouped(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, cars.name, s.total FROM cars LEFT JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE owner_id = ? ORDER BY cars.id", owner) // want `APP228: the derived table s is computed for all rows`
	return rows, err
}

// Windows has a window in a derived table of another one, and text keys.
func Windows(w http.ResponseWriter, r *http.Request, db *sqlx.DB, owner *Row) {
	rows := []Row{}
	err := db.SelectContext(r.Context(), &rows, // want `APP228`
		`SELECT id, name, IFNULL(total, 0) AS total, last
FROM cars
       LEFT JOIN (SELECT car_id, SUM(IFNULL(way, 0)) AS total, MAX(at) AS last
                  FROM (SELECT car_id, at,
                               ABS(x - LAG(x) OVER (PARTITION BY car_id ORDER BY at)) + ABS(y - LAG(y) OVER (PARTITION BY car_id ORDER BY at)) AS way
                        FROM places) steps
                  GROUP BY car_id) ways ON ways.car_id = cars.id
WHERE owner_id = ?`, owner.ID)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, rows)
}

// Constant has the text in a constant, and an alias with AS.
func Constant(ctx context.Context, db *sqlx.DB, owner string) (*sql.Rows, error) {
	return db.QueryContext(ctx, ofOwner, owner) // want `APP228`
}

// Several has several conditions, and an argument before the derived table.
func Several(tx *sqlx.Tx, rate int, owner string, from, to int) (rows []Row, err error) {
	err = tx.Select(&rows, "SELECT c.id, s.total * ? AS total FROM cars AS c JOIN (SELECT leg.car_id, COUNT(*) AS total FROM legs AS leg WHERE leg.km > ? GROUP BY leg.car_id HAVING COUNT(*) > 1) AS s ON c.id = s.car_id WHERE c.owner_id = ? AND s.total > 3 AND c.year BETWEEN ? AND ? ORDER BY c.id", rate, 10, owner, from, to) // want `APP228`
	return rows, err
}

// First has the derived table in the first place.
func First(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "select cars.id, s.total from (select car_id, max(km) as total from legs group by car_id) s inner join cars on cars.id = s.car_id where cars.owner_id = ? and cars.name <> 'x' order by cars.id", owner) // want `APP228`
	return rows, err
}

// Dollars has placeholders with numbers, which need no further argument.
func Dollars(db *sql.DB, owner string) (*sql.Rows, error) {
	return db.Query("SELECT cars.id, s.total FROM cars LEFT JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.owner_id = $1", owner) // want `APP228`
}

// Named has placeholders with names.
func Named(db *sqlx.DB, owner string) (*sqlx.Rows, error) {
	return db.NamedQuery("SELECT cars.id, s.total FROM cars LEFT JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id WHERE cars.owner_id = :owner", map[string]interface{}{"owner": owner}) // want `APP228`
}

// Star has all columns and a window.
func Star(db *sqlx.DB, name string) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM cars JOIN (SELECT *, ROW_NUMBER() OVER (PARTITION BY car_id ORDER BY id DESC) AS nth FROM legs) l ON l.car_id = cars.id AND l.nth = 1 WHERE cars.name = ?", name) // want `APP228`
	return n, err
}

// Comma joins by the condition.
func Comma(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars, (SELECT car_id AS car, SUM(km) AS total FROM legs WHERE km > 1 OR km < 0 GROUP BY car_id) s WHERE s.car = cars.id AND cars.owner_id IN (?, 'all')", owner) // want `APP228`
	return rows, err
}

// Inner joins in the derived table, and the condition is of a constant.
func Inner(db *sqlx.DB) (rows []Row, err error) {
	query := fmt.Sprintf("SELECT cars.id, s.total FROM cars JOIN (SELECT l.car_id, SUM(t.toll) AS total FROM legs l JOIN tolls t ON t.leg_id = l.id GROUP BY l.car_id) s ON s.car_id = cars.id WHERE cars.gone IS NULL AND cars.kind = %d", 3)
	err = db.Select(&rows, query) // want `APP228`
	return rows, err
}

// Third joins a table behind the derived one, and its condition is on the first.
func Third(db *sqlx.DB, owner string) (rows []Row, err error) {
	err = db.Select(&rows, "SELECT cars.id, s.total FROM cars LEFT JOIN (SELECT car_id, SUM(km) AS total FROM legs GROUP BY car_id) s ON s.car_id = cars.id LEFT JOIN owners ON owners.id = cars.owner_id WHERE cars.owner_id = ? AND owners.name LIKE ?", owner, "a%") // want `APP228`
	return rows, err
}
