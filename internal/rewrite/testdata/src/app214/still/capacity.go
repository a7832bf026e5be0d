package main

import (
	"database/sql"
	"errors"
	"net/http"
	"net/url"
)

const perPage = 20

// Groups are chosen by their size.
func Groups(db *sql.DB) (*sql.Rows, error) {
	return db.Query("SELECT city FROM shops GROUP BY city HAVING COUNT(*) >= ?", perPage)
}

// Rows are chosen by a count.
func Popular(db *sql.DB) (*sql.Rows, error) {
	return db.Query("SELECT id FROM posts WHERE (SELECT COUNT(*) FROM comments WHERE comments.post = posts.id) > ?", perPage)
}

// Whether there is any is no capacity.
func Any(db *sql.DB, id int) (bool, error) {
	var n int
	err := db.QueryRow("SELECT COUNT(*) FROM posts WHERE id = ?", id).Scan(&n)
	return n >= 1, err
}

// More than one is a fault of the data.
func Unique(db *sql.DB, id int) error {
	var many bool
	if err := db.QueryRow("SELECT COUNT(*) > 1 FROM posts WHERE id = ?", id).Scan(&many); err != nil {
		return err
	}
	if many {
		return errors.New("not unique")
	}
	return nil
}

// The count of all rows decides whether there is a next page.
func NextPage(db *sql.DB) (next bool, err error) {
	var total int
	if err = db.QueryRow("SELECT COUNT(*) FROM posts").Scan(&total); err != nil {
		return false, err
	}
	if total > perPage {
		next = true
	}
	return next, nil
}

// A list is cut, and the rest is the answer.
func FirstPage(names []string) []string {
	if len(names) > perPage {
		return names[:perPage]
	}
	return names
}

// A list of the request is no list of what exists.
func (f *form) Check(w http.ResponseWriter, r *http.Request) {
	if len(f.Items) > perPage {
		http.Error(w, "too many", http.StatusBadRequest)
		return
	}
}

type form struct{ Items []string }

// The length of a text is no count.
func Password(w http.ResponseWriter, r *http.Request) {
	if len(r.FormValue("password")) < 8 {
		http.Error(w, "too short", http.StatusBadRequest)
		return
	}
}

// The bound comes from the request.
func Bound(db *sql.DB, q url.Values) (bool, error) {
	var full bool
	err := db.QueryRow("SELECT COUNT(*) >= ? FROM posts", q.Get("most")).Scan(&full)
	return full, err
}

// A sum is no count.
func Sum(db *sql.DB) (bool, error) {
	var rich bool
	err := db.QueryRow("SELECT SUM(price) > ? FROM posts", 500).Scan(&rich)
	return rich, err
}

type parser struct{ at int }

// A position that no request shares.
func (p *parser) Next() bool {
	if p.at >= 10 {
		return false
	}
	p.at++
	return true
}

type shape struct{ corners int }

// The variable of a type switch has no definition of its own.
func (p *parser) Grow(w http.ResponseWriter, v any) {
	switch v := v.(type) {
	case *shape:
		v.corners++
		if v.corners > perPage {
			http.Error(w, "too many corners", http.StatusBadRequest)
			return
		}
	}
}
