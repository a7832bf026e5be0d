package still

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID      int64     `db:"id"`
	UserID  int64     `db:"user_id"`
	Kind    string    `db:"kind"`
	Score   float64   `db:"score"`
	Created time.Time `db:"created_at"`
}

const pageSize = 20

// The number of all rows is answered.
func Counted(db *sqlx.DB, user int64) (int, []Row, error) {
	var rows, mine []Row
	if err := db.Select(&rows, "SELECT * FROM event"); err != nil {
		return 0, nil, err
	}
	for _, r := range rows {
		if r.UserID != user {
			continue
		}
		mine = append(mine, r)
	}
	return len(rows), mine, nil
}

// The statement has a LIMIT: a condition would let other rows through.
func Limited(db *sqlx.DB, user int64) (out []Row, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT * FROM event ORDER BY id LIMIT 100"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.UserID == user {
			out = append(out, r)
		}
	}
	return out, nil
}

// Text that is unequal in Go may be equal for the database.
func Unequal(db *sqlx.DB, kind string) (out []Row, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT * FROM event"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Kind == kind {
			continue
		}
		out = append(out, r)
	}
	return out, nil
}

// The value changes in the loop.
func Changing(db *sqlx.DB) (out []Row, err error) {
	var rows []Row
	last := int64(0)
	if err = db.Select(&rows, "SELECT * FROM event ORDER BY user_id"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.UserID == last {
			continue
		}
		last = r.UserID
		out = append(out, r)
	}
	return out, nil
}

// The value is computed from the rows.
func FromRows(db *sqlx.DB) (out []Row, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT * FROM event ORDER BY id"); err != nil {
		return nil, err
	}
	first := rows[0].UserID
	for _, r := range rows {
		if r.UserID == first {
			out = append(out, r)
		}
	}
	return out, nil
}

// Numbers with a fraction are rounded on their way.
func Fractions(db *sqlx.DB, least float64) (out []Row, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT * FROM event"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Score < least {
			continue
		}
		out = append(out, r)
	}
	return out, nil
}

// Every row has an effect before the filter.
func Effect(db *sqlx.DB, w http.ResponseWriter, user int64) error {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event"); err != nil {
		return err
	}
	for _, r := range rows {
		fmt.Fprintln(w, r.ID)
		if r.UserID != user {
			continue
		}
		fmt.Fprintln(w, r.Kind)
	}
	return nil
}

// The position of a row is used.
func Position(db *sqlx.DB, user int64) (out []int, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT * FROM event ORDER BY id"); err != nil {
		return nil, err
	}
	for i, r := range rows {
		if r.UserID != user {
			continue
		}
		out = append(out, i)
	}
	return out, nil
}

// Rows of groups: a condition would change the sums.
func Grouped(db *sqlx.DB, user int64) (out []Row, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT user_id, MAX(id) AS id FROM event GROUP BY kind"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.UserID == user {
			out = append(out, r)
		}
	}
	return out, nil
}

// The rows are locked: fewer rows would be locked.
func Locked(tx *sqlx.Tx, user int64) (out []Row, err error) {
	var rows []Row
	if err = tx.Select(&rows, "SELECT * FROM event FOR UPDATE"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.UserID == user {
			out = append(out, r)
		}
	}
	return out, nil
}

// The column is an expression under another name.
func Alias(db *sqlx.DB, user int64) (out []Row, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT id, owner + 1 AS user_id FROM event"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.UserID == user {
			out = append(out, r)
		}
	}
	return out, nil
}

// A row of a joined table.
func Joined(db *sqlx.DB, user int64) (out []Row, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT event.* FROM event JOIN user ON user.id = event.user_id"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.UserID == user {
			out = append(out, r)
		}
	}
	return out, nil
}

// Both branches use the row.
func Both(db *sqlx.DB, user int64) (mine, others int, err error) {
	var rows []Row
	if err = db.Select(&rows, "SELECT * FROM event"); err != nil {
		return 0, 0, err
	}
	for _, r := range rows {
		if r.UserID == user {
			mine++
		} else {
			others++
		}
	}
	return mine, others, nil
}

// Each round of the page would print: it cannot be repeated.
func Printing(db *sqlx.DB, w http.ResponseWriter, word string) ([]Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event ORDER BY id"); err != nil {
		return nil, err
	}
	page := []Row{}
	for _, r := range rows {
		if strings.Contains(r.Kind, word) {
			fmt.Fprintln(w, r.ID)
			page = append(page, r)
		}
	}
	if len(page) > pageSize {
		page = page[:pageSize]
	}
	return page, nil
}

// A map from outside counts every row: it cannot be repeated.
func Counting(db *sqlx.DB, counts map[string]int, word string) ([]Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event ORDER BY id"); err != nil {
		return nil, err
	}
	page := []Row{}
	for _, r := range rows {
		counts[r.Kind]++
		if strings.Contains(r.Kind, word) {
			page = append(page, r)
		}
	}
	if len(page) > pageSize {
		page = page[:pageSize]
	}
	return page, nil
}

// Without an order the first rows are any rows.
func Unordered(db *sqlx.DB, word string) ([]Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event"); err != nil {
		return nil, err
	}
	page := []Row{}
	for _, r := range rows {
		if strings.Contains(r.Kind, word) {
			page = append(page, r)
		}
	}
	if len(page) > pageSize {
		page = page[:pageSize]
	}
	return page, nil
}

// The number of matches is answered beside the page.
func Matches(db *sqlx.DB, word string) (int, []Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event ORDER BY id"); err != nil {
		return 0, nil, err
	}
	page := []Row{}
	for _, r := range rows {
		if strings.Contains(r.Kind, word) {
			page = append(page, r)
		}
	}
	n := len(page)
	if len(page) > pageSize {
		page = page[:pageSize]
	}
	return n, page, nil
}

// All groups are used.
func AllGroups(db *sqlx.DB) (map[int64][]Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event"); err != nil {
		return nil, err
	}
	byUser := map[int64][]Row{}
	for _, r := range rows {
		byUser[r.UserID] = append(byUser[r.UserID], r)
	}
	return byUser, nil
}

// Two groups are used.
func TwoGroups(db *sqlx.DB, a, b int64) ([]Row, []Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event"); err != nil {
		return nil, nil, err
	}
	byUser := map[int64][]Row{}
	for _, r := range rows {
		byUser[r.UserID] = append(byUser[r.UserID], r)
	}
	return byUser[a], byUser[b], nil
}

type hour struct {
	start time.Time
	total float64
}

// The last hour is used beside those of the day.
func LastToo(db *sqlx.DB, day time.Time) (sum, last float64, err error) {
	rows, err := db.Queryx("SELECT * FROM event ORDER BY created_at")
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	var hours []hour
	for rows.Next() {
		var r Row
		if err := rows.StructScan(&r); err != nil {
			return 0, 0, err
		}
		hours = append(hours, hour{start: r.Created.Truncate(time.Hour), total: r.Score})
	}
	for _, h := range hours {
		if h.start.Equal(day) {
			sum += h.total
		}
	}
	return sum, hours[len(hours)-1].total, rows.Err()
}

type slot struct {
	start time.Time
	total float64
}

// The slots are used whole.
func Whole(db *sqlx.DB) ([]slot, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event ORDER BY created_at"); err != nil {
		return nil, err
	}
	var slots []slot
	for _, r := range rows {
		slots = append(slots, slot{start: r.Created.Truncate(time.Hour), total: r.Score})
	}
	return slots, nil
}

// LaterThanIn: the value is set after sqlx.In took its arguments.
func LaterThanIn(db *sqlx.DB, ids []int64, user int64) (n float64, err error) {
	text, args, err := sqlx.In("SELECT id, user_id, score FROM event WHERE id IN (?)", ids)
	if err != nil {
		return 0, err
	}
	user++
	var rows []Row
	if err := db.Select(&rows, text, args...); err != nil {
		return 0, err
	}
	for _, r := range rows {
		if r.UserID != user {
			continue
		}
		n += r.Score
	}
	return n, nil
}

// OtherArguments: the arguments are not those of sqlx.In.
func OtherArguments(db *sqlx.DB, ids []int64, more []interface{}, user int64) (n float64, err error) {
	text, _, err := sqlx.In("SELECT id, user_id, score FROM event WHERE id IN (?)", ids)
	if err != nil {
		return 0, err
	}
	var rows []Row
	if err := db.Select(&rows, db.Rebind(text), more...); err != nil {
		return 0, err
	}
	for _, r := range rows {
		if r.UserID != user {
			continue
		}
		n += r.Score
	}
	return n, nil
}

// PreparedTwice: another call needs all rows of the prepared statement.
func PreparedTwice(db *sqlx.DB, user int64) (n, all float64, err error) {
	stmt, err := db.Preparex("SELECT id, user_id, score FROM event")
	if err != nil {
		return 0, 0, err
	}
	defer stmt.Close()
	var rows, others []Row
	if err := stmt.Select(&rows); err != nil {
		return 0, 0, err
	}
	for _, r := range rows {
		if r.UserID != user {
			continue
		}
		n += r.Score
	}
	if err := stmt.Select(&others); err != nil {
		return 0, 0, err
	}
	for _, r := range others {
		all += r.Score
	}
	return n, all, nil
}
