package main

import (
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// ListedShared: the values of a row share their memory.
func ListedShared(db *sql.DB, ids []int64) (texts [][]byte) {
	for _, id := range ids {
		rows, err := db.Query("SELECT text FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			return nil
		}
		for rows.Next() {
			var text []byte
			if rows.Scan(&text) == nil {
				texts = append(texts, text)
			}
		}
		rows.Close()
	}
	return texts
}

// ListedColumns: the names of the columns are asked for.
func ListedColumns(db *sql.DB, ids []int64) (n int) {
	for _, id := range ids {
		rows, err := db.Query("SELECT text FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			return 0
		}
		names, _ := rows.Columns()
		n += len(names)
		rows.Close()
	}
	return n
}

// ListedTwice: the rows are scanned at two places.
func ListedTwice(db *sql.DB, ids []int64) (n int64) {
	for _, id := range ids {
		rows, err := db.Query("SELECT id FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			return 0
		}
		var first, next int64
		if rows.Next() && rows.Scan(&first) == nil {
			for rows.Next() && rows.Scan(&next) == nil {
				n += next - first
			}
		}
		rows.Close()
	}
	return n
}

// ListedWrites: the loop writes the table.
func ListedWrites(db *sql.DB, ids []int64) (n int64) {
	for _, id := range ids {
		rows, err := db.Query("SELECT id FROM comments WHERE post_id = ?", id) // want `APP205`
		if err != nil {
			return 0
		}
		for rows.Next() {
			if rows.Scan(&n) != nil {
				break
			}
		}
		rows.Close()
		if _, err := db.Exec("DELETE FROM comments WHERE id = ?", n); err != nil {
			return 0
		}
	}
	return n
}

// A pager goes on while a page has rows.
type pager struct {
	db   *sql.DB
	more bool
}

func (p *pager) page(n int) (id int64) {
	p.more = p.db.QueryRow("SELECT id FROM comments WHERE id = ?", n).Scan(&id) == nil
	return id
}

// Pages: the condition does not count.
func Pages(p *pager) (sum int64) {
	for n := 1; p.more; n++ {
		sum += p.page(n) // want `APP205`
	}
	return sum
}

// Divided: the key cannot be computed in all rounds.
func Divided(db *sql.DB, counts []int64) (names []string) {
	for _, n := range counts {
		if n == 0 {
			continue
		}
		each := 1000 / n
		var text string
		if db.QueryRow("SELECT text FROM comments WHERE id = ?", each).Scan(&text) == nil { // want `APP205`
			names = append(names, text)
		}
	}
	return names
}

// Rebound: a statement of PostgreSQL that fails would end the transaction.
func Rebound(tx *sqlx.Tx, ids []int64) (sum int64, err error) {
	text := tx.Rebind("SELECT post_id FROM comments WHERE id = ?")
	for _, id := range ids {
		var post int64
		if err := tx.Get(&post, text, id); err != nil { // want `APP205`
			return 0, err
		}
		sum += post
	}
	return sum, nil
}

func eitherOf(db *sqlx.DB, id int64, old bool) (text string, err error) {
	query := "SELECT text FROM comments WHERE id = ?"
	if old {
		query = "SELECT title FROM book WHERE id = ?"
	}
	err = db.Get(&text, query, id)
	return text, err
}

// EitherWritten: the loop writes the table of one of two texts.
func EitherWritten(db *sqlx.DB, ids []int64, old bool) error {
	for _, id := range ids {
		text, err := eitherOf(db, id, old) // want `APP205`
		if err != nil {
			return err
		}
		if _, err := db.Exec("UPDATE book SET title = ? WHERE id = ?", text, id+1); err != nil {
			return err
		}
	}
	return nil
}

// OtherWritten: it writes the table of the other one.
func OtherWritten(db *sqlx.DB, ids []int64, old bool) error {
	for _, id := range ids {
		text, err := eitherOf(db, id, old) // want `APP205`
		if err != nil {
			return err
		}
		if _, err := db.Exec("UPDATE comments SET text = ? WHERE id = ?", text, id+1); err != nil {
			return err
		}
	}
	return nil
}
