package main

import (
	"database/sql"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// Loops that count between constants, and keys of several arguments, some of which are constant in
// the loop.

// Weekdays: the counter is the key.
func Weekdays(db *sqlx.DB) (counts [8]int, err error) {
	for day := 1; day <= 7; day++ {
		if err := db.Get(&counts[day], "SELECT COUNT(*) FROM comments WHERE post_id = ?", day); err != nil { // want `APP205`
			return counts, err
		}
	}
	return counts, nil
}

// Ranges: from one number to the next, in steps.
func Ranges(db *sql.DB, user int64) (sums []int64, err error) {
	for from := 0; from < 100; from += 20 {
		var n int64
		if err := db.QueryRow("SELECT COUNT(*) FROM comments WHERE id >= ? AND id < ? AND post_id = ?", from, from+20, user).Scan(&n); err != nil { // want `APP205`
			return nil, err
		}
		sums = append(sums, n)
	}
	return sums, nil
}

// Windows: the bounds are times.
func Windows(db *sqlx.DB, start time.Time) (sum int, err error) {
	for hour := 0; hour < 24; hour++ {
		from := start.Add(time.Duration(hour) * time.Hour)
		var n int
		if err := db.Get(&n, "SELECT COUNT(*) FROM posts WHERE at >= ? AND at < ?", from, from.Add(time.Hour)); err != nil { // want `APP205`
			return 0, err
		}
		sum = sum*2 + n
	}
	return sum, nil
}

// Flags: both truth values.
func Flags(db *sqlx.DB, post int64) (n [2]int, err error) {
	for i, open := range []bool{false, true} {
		if err := db.Get(&n[i], "SELECT COUNT(*) FROM comments WHERE open = ? AND post_id = ?", open, post); err != nil { // want `APP205`
			return n, err
		}
	}
	return n, nil
}

// Backwards: the counter goes down, and the loop may stop.
func Backwards(tx *sql.Tx, name string) (int, error) {
	for level := 9; level > 0; level -= 2 {
		var n int
		if err := tx.QueryRow("SELECT COUNT(*) FROM users WHERE team_id = ? AND name <> ?", level, name).Scan(&n); err != nil { // want `APP205`
			return 0, err
		}
		if n > 0 {
			return level, nil
		}
	}
	return 0, nil
}

// NestedCount: the key has a value of the loop around.
func NestedCount(db *sqlx.DB, posts []Post) (total int, err error) {
	for _, p := range posts {
		for kind := 0; kind < 3; kind++ {
			var n int
			if err := db.Get(&n, "SELECT COUNT(*) FROM comments WHERE post_id = ? AND kind = ? AND state = 'open'", p.ID, kind); err != nil { // want `APP205`
				return 0, err
			}
			total = total*3 + n
		}
	}
	return total, nil
}

func kindCount(db *sqlx.DB, post int64, kind string) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM comments WHERE post_id = ? AND kind = ?", post, kind)
	return n, err
}

// Kinds: a function is given a constant list, and a value of around.
func Kinds(db *sqlx.DB, post int64) (map[string]int, error) {
	out := map[string]int{}
	for _, kind := range []string{"sun", "half", "dark"} {
		n, err := kindCount(db, post, kind) // want `APP205`
		if err != nil {
			return nil, err
		}
		out[kind] = n
	}
	return out, nil
}

// TextInSQL: the name of the package is that of the text.
func TextInSQL(db *sqlx.DB, posts []Post) (out []User, err error) {
	sql := "SELECT * FROM users WHERE id = ?"
	for _, p := range posts {
		var u User
		if err := db.Get(&u, sql, p.UserID); err != nil { // want `APP205`
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// Called: the loop goes over what a call returns, once.
func Called(db *sqlx.DB, text string) (sum int, err error) {
	for i, name := range strings.Split(text, ",") {
		var n int
		if err := db.Get(&n, "SELECT COUNT(*) FROM users WHERE name = ?", name); err != nil { // want `APP205`
			return i, err
		}
		sum += n
	}
	return sum, nil
}
