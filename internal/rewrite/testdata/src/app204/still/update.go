package main

import (
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// UPDATEs that one statement for several rows would change otherwise.

type Named struct {
	ID    string
	Num   int64
	Name  string
	Any   any
	Bytes []byte
}

// SetsUnique: two rows may change their names with each other.
func SetsUnique(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE users SET name = ? WHERE id = ?", n.Name, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// SetsKey: a row gets the key of a later element.
func SetsKey(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE score SET player_id = ? WHERE player_id = ?", n.Name, n.ID); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// TextAdds: two texts may be one key of the database, whose row gets both.
func TextAdds(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE score SET points = points + ? WHERE player_id = ?", n.Num, n.ID); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// TextAsks: the second text of a row asks for what the first one set.
func TextAsks(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE score SET points = ? WHERE player_id = ? AND points < 10", n.Num, n.ID); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Interface: a row may have a text and another one a number.
func Interface(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE book SET title = ? WHERE id = ?", n.Any, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Bytes: a CASE of them is binary, whatever the column is.
func Bytes(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE book SET comment = ? WHERE id = ?", n.Bytes, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Affected: the result is used.
func Affected(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		res, err := tx.Exec("UPDATE book SET title = ? WHERE id = ?", n.Name, n.Num) // want `APP204`
		if err != nil {
			return err
		}
		if changed, _ := res.RowsAffected(); changed == 0 {
			return sql.ErrNoRows
		}
	}
	return nil
}

// Bounded: a further condition has a value of the element.
func Bounded(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE book SET title = ? WHERE id = ? AND `rank` < ?", n.Name, n.Num, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// UnknownTable: the schema does not show its keys.
func UnknownTable(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE somewhere SET title = ? WHERE id = ?", n.Name, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Subquery: a row is set from rows that the statement before has set.
func Subquery(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE score SET points = (SELECT COUNT(*) FROM book WHERE title = ?) WHERE row_num = ?", n.Name, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// JoinedTwice: a comment may be joined with several rows.
func JoinedTwice(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE comments JOIN shelf ON shelf.id = comments.post_id SET comments.text = ? WHERE shelf.label = ?", n.Name, n.ID); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// Read: the loop reads what it has set.
func Read(tx *sqlx.Tx, list []Named) (sum int, err error) {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE book SET `rank` = ? WHERE id = ?", n.Num, n.Num); err != nil { // want `APP204`
			return 0, err
		}
		if err := tx.Get(&sum, "SELECT SUM(`rank`) FROM book"); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// GoesOn: the others are changed where one fails.
func GoesOn(db *sqlx.DB, list []Named) {
	for _, n := range list {
		if _, err := db.Exec("UPDATE book SET `rank` = ? WHERE id = ?", n.Num, n.Num); err != nil { // want `APP204`
			continue
		}
	}
}

// FirstOf: which of the rows is changed is no matter of a key alone.
func FirstOf(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE book SET `rank` = ? WHERE id = ? LIMIT 1", n.Num, n.Num); err != nil {
			return err
		}
	}
	return nil
}

// EitherOf: two conditions, one of which is enough.
func EitherOf(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE book SET `rank` = ? WHERE id = ? OR title = ?", n.Num, n.Num, n.Name); err != nil {
			return err
		}
	}
	return nil
}

// DollarUpdate: PostgreSQL takes the values of a CASE for texts.
func DollarUpdate(tx *sql.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec("UPDATE book SET \"rank\" = $1 WHERE id = $2", n.Num, n.Num); err != nil {
			return err
		}
	}
	return nil
}

// Rebound: the statement may be one of PostgreSQL, which takes the values of a CASE for texts.
func Rebound(tx *sqlx.Tx, list []Named) error {
	for _, n := range list {
		if _, err := tx.Exec(tx.Rebind("UPDATE book SET title = ? WHERE id = ?"), n.Name, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// ReboundBefore: the text has the placeholders of PostgreSQL, perhaps, and rows would have others.
func ReboundBefore(tx *sqlx.Tx, list []Named) error {
	text := tx.Rebind("INSERT INTO book (title, id) VALUES (?, ?)")
	for _, n := range list {
		if _, err := tx.Exec(text, n.Name, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}

// ReboundSet: the variable is set again.
func ReboundSet(tx *sqlx.Tx, list []Named) error {
	text := "INSERT INTO book (title, id) VALUES (?, ?)"
	text = tx.Rebind(text)
	for _, n := range list {
		if _, err := tx.Exec(text, n.Name, n.Num); err != nil { // want `APP204`
			return err
		}
	}
	return nil
}
