package fire

import (
	"database/sql"
	"net/http"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

type Row struct {
	ID      int64     `db:"id"`
	UserID  int64     `db:"user_id"`
	Kind    string    `db:"kind"`
	Active  bool      `db:"active"`
	Score   int       `db:"score"`
	Created time.Time `db:"created_at"`
}

const pageSize = 20

func SkipsOthers(db *sqlx.DB, user int64) ([]string, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event ORDER BY id"); err != nil { // want `rows are read that the loop skips; add user_id = user`
		return nil, err
	}
	var out []string
	for _, r := range rows {
		if r.UserID != user {
			continue
		}
		out = append(out, r.Kind)
	}
	return out, nil
}

func OneBody(db *sqlx.DB, user int64) (sum int, err error) {
	rows := []Row{}
	if err = db.Select(&rows, "SELECT user_id, score, active FROM event WHERE kind = ?", "a"); err != nil { // want `rows are read that the loop skips; add user_id = user AND active = TRUE`
		return 0, err
	}
	for _, r := range rows {
		if r.UserID == user && r.Active {
			sum += r.Score
		}
	}
	return sum, nil
}

func Several(db *sqlx.DB, least int, kind string) (n int, err error) {
	var rows []Row
	err = db.Select(&rows, "select * from event where user_id = 1 or user_id = 2") // want `add score >= least AND active = FALSE AND kind = kind`
	if err != nil {
		return 0, err
	}
	for i := range rows {
		r := &rows[i]
		if r.Score < least || r.Active {
			continue
		}
		if !(r.Kind == kind) {
			continue
		}
		n += r.Score
	}
	return n, nil
}

type query struct{ User int64 }

func ByField(tx *sqlx.Tx, q query) (names []string, err error) {
	var rows []Row
	err = tx.Select(&rows, // want `add user_id = q.User`
		`SELECT * FROM event
		ORDER BY id`)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].UserID == q.User {
			names = append(names, rows[i].Kind)
		}
	}
	return names, nil
}

func Cursor(db *sql.DB, user int64) (out []string, err error) {
	rows, err := db.Query("SELECT user_id, kind FROM event") // want `add user_id = user`
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var owner int64
		var kind string
		if err := rows.Scan(&owner, &kind); err != nil {
			return nil, err
		}
		if owner != user {
			continue
		}
		out = append(out, kind)
	}
	return out, rows.Err()
}

func Since(db *sqlx.DB, w http.ResponseWriter) error {
	since := time.Now().Add(-time.Hour)
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event"); err != nil { // want `add created_at >= since`
		return err
	}
	for _, r := range rows {
		if r.Created.Before(since) {
			continue
		}
		w.Write([]byte(r.Kind))
	}
	return nil
}

func CutAtOnce(db *sqlx.DB) ([]Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event ORDER BY score DESC"); err != nil { // want `rows behind the cut are read; add LIMIT 20`
		return nil, err
	}
	if len(rows) > pageSize {
		rows = rows[:pageSize]
	}
	return rows, nil
}

func CutLiteral(db *sqlx.DB, user int64) ([]Row, error) {
	rows := []Row{}
	if err := db.Select(&rows, "SELECT * FROM event WHERE user_id = ? ORDER BY id DESC", user); err != nil { // want `add LIMIT 10`
		return nil, err
	}
	rows = rows[:min(len(rows), 10)]
	return rows, nil
}

func CutCopies(db *sqlx.DB) ([]string, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event ORDER BY id"); err != nil { // want `add LIMIT 20`
		return nil, err
	}
	names := make([]string, 0, len(rows))
	for _, r := range rows {
		names = append(names, strings.ToUpper(r.Kind))
	}
	if len(names) > pageSize {
		names = names[:pageSize]
	}
	return names, nil
}

func level(r Row) string {
	if strings.Contains(r.Kind, "bad") {
		return "critical"
	}
	return "info"
}

func Page(db *sqlx.DB, user int64, wanted map[string]bool) ([]string, error) {
	var rows []Row
	err := db.Select(&rows, "SELECT * FROM event WHERE user_id = ? ORDER BY id DESC", user) // want `the whole result is read although a page of it is answered`
	if err != nil {
		return nil, err
	}
	page := []string{}
	for _, r := range rows {
		if wanted[level(r)] {
			page = append(page, r.Kind)
		}
	}
	if len(page) > pageSize {
		page = page[:pageSize]
	}
	return page, nil
}

func PageOfTwo(tx *sqlx.Tx, newest bool, word string) ([]Row, error) {
	var rows []Row
	if newest {
		if err := tx.Select(&rows, "SELECT * FROM event ORDER BY id DESC"); err != nil { // want `read in growing chunks`
			return nil, err
		}
	} else {
		if err := tx.Select(&rows, "SELECT * FROM event WHERE active = TRUE ORDER BY id"); err != nil {
			return nil, err
		}
	}
	var page []Row
	for _, r := range rows {
		if !strings.Contains(r.Kind, word) {
			continue
		}
		page = append(page, r)
	}
	if len(page) > 5 {
		page = page[:5]
	}
	return page, nil
}

func OneGroup(db *sqlx.DB, user int64) ([]Row, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event ORDER BY id"); err != nil { // want `rows are grouped and one group is used; add user_id = user`
		return nil, err
	}
	byUser := map[int64][]Row{}
	for _, r := range rows {
		byUser[r.UserID] = append(byUser[r.UserID], r)
	}
	return byUser[user], nil
}

func CountOfOne(db *sqlx.DB, kind string) (int, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT id, kind FROM event"); err != nil { // want `add kind = kind`
		return 0, err
	}
	counts := make(map[string]int)
	for _, r := range rows {
		counts[r.Kind]++
	}
	return counts[kind], nil
}

type hour struct {
	start time.Time
	total int
}

func hours(db *sqlx.DB, user int64) ([]hour, error) {
	var rows []Row
	if err := db.Select(&rows, "SELECT * FROM event WHERE user_id = ? ORDER BY created_at", user); err != nil { // want `add created_at >= day AND created_at < day.Add\(24 \* time.Hour\)`
		return nil, err
	}
	var out []hour
	for _, r := range rows {
		start := r.Created.Truncate(time.Hour)
		if len(out) == 0 || !out[len(out)-1].start.Equal(start) {
			out = append(out, hour{start: start})
		}
		out[len(out)-1].total += r.Score
	}
	return out, nil
}

func Day(db *sqlx.DB, user, seconds int64) ([]int, error) {
	day := time.Unix(seconds, 0).Truncate(24 * time.Hour)
	all, err := hours(db, user)
	if err != nil {
		return nil, err
	}
	var out []int
	for at := day; at.Before(day.Add(24 * time.Hour)); at = at.Add(time.Hour) {
		n := 0
		for _, h := range all {
			if h.start.Equal(at) {
				n = h.total
			}
		}
		out = append(out, n)
	}
	return out, nil
}

type bucket struct {
	from time.Time
	n    int
}

func Between(db *sqlx.DB, text string) (sum int, err error) {
	first, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, err
	}
	last := first.Add(48 * time.Hour)
	rows, err := db.Queryx("SELECT * FROM event ORDER BY created_at") // want `add created_at >= first AND created_at < last.Add\(15 \* time.Minute\)`
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var buckets []bucket
	for rows.Next() {
		var r Row
		if err := rows.StructScan(&r); err != nil {
			return 0, err
		}
		buckets = append(buckets, bucket{from: r.Created.Truncate(15 * time.Minute), n: r.Score})
	}
	for _, b := range buckets {
		if b.from.Before(first) || !b.from.Before(last) {
			continue
		}
		sum += b.n
	}
	return sum, rows.Err()
}

// PreparedWithout: a prepared statement without an argument gets one.
func PreparedWithout(db *sqlx.DB, user int64) (n int, err error) {
	stmt, err := db.Preparex("SELECT id, user_id, score FROM event")
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	var rows []Row
	if err := stmt.Select(&rows); err != nil { // want `add user_id = user`
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

// CursorWithout: the same, row by row.
func CursorWithout(db *sql.DB, user int64) (n int, err error) {
	stmt, err := db.Prepare("SELECT user_id, score FROM event")
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	rows, err := stmt.Query() // want `add user_id = user`
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var owner int64
		var score int
		if err := rows.Scan(&owner, &score); err != nil {
			return 0, err
		}
		if owner != user {
			continue
		}
		n += score
	}
	return n, rows.Err()
}
