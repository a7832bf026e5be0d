package main

import (
	"database/sql"
	"fmt"
	"net/http"
)

// Loops over rows that have to stay as they are.

func nameFor(db *sql.DB, id int64) (name string, err error) {
	err = db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name)
	return name, err
}

// RowsStored stores something for each row.
func RowsStored(db *sql.DB) error {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return err
		}
		if _, err := db.Exec("INSERT INTO visits (name) VALUES (?)", name); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RowsAnswered sends each row when it comes.
func RowsAnswered(db *sql.DB, w http.ResponseWriter) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return
		}
		fmt.Fprintln(w, name)
	}
}

// RowsOutside reads into variables around the loop.
func RowsOutside(db *sql.DB) (last int64, names []string) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return 0, nil
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&last); err != nil {
			return 0, nil
		}
		name, err := nameFor(db, last)
		if err != nil {
			return 0, nil
		}
		names = append(names, name)
	}
	return last, names
}

// RowsRead goes on with the rows in the loop.
func RowsRead(db *sql.DB) (names []string) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil || !rows.Next() {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// RowsBytes keeps bytes that the next row takes.
func RowsBytes(db *sql.DB) (names []string) {
	rows, err := db.Query("SELECT id, title FROM posts")
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var title sql.RawBytes
		if err := rows.Scan(&id, &title); err != nil {
			return nil
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return nil
		}
		names = append(names, name+string(title))
	}
	return names
}

// RowsBefore asks before it reads the row.
func RowsBefore(db *sql.DB) (names []string) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return nil
	}
	defer rows.Close()
	id := int64(1)
	for rows.Next() {
		next := id + 1
		name, err := nameFor(db, next) // want `APP205`
		if err != nil {
			return nil
		}
		if err := rows.Scan(&id); err != nil {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// RowsUnchecked: the error of the Scan is checked behind another statement.
func RowsUnchecked(db *sql.DB) (names []string, err error) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		err = rows.Scan(&id)
		text := fmt.Sprint(id)
		if err != nil {
			return nil, err
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return nil, err
		}
		names = append(names, name+text)
	}
	return names, nil
}

// RowsDeclared: and the error is one of the round.
func RowsDeclared(db *sql.DB) (names []string) {
	rows, _ := db.Query("SELECT id FROM posts")
	defer rows.Close()
	for rows.Next() {
		var id int64
		err := rows.Scan(&id)
		text := fmt.Sprint(id)
		if err != nil {
			break
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return nil
		}
		names = append(names, name+text)
	}
	return names
}

// RowsOther: the check behind the Scan asks for something else.
func RowsOther(db *sql.DB) (names []string) {
	rows, _ := db.Query("SELECT id FROM posts")
	defer rows.Close()
	for rows.Next() {
		var id int64
		err := rows.Scan(&id)
		if id == 0 {
			continue
		}
		name, err2 := nameFor(db, id) // want `APP205`
		if err != nil || err2 != nil {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// RowsSet: the rest sets the error of the Scan and does not read it.
func RowsSet(db *sql.DB) (names []string) {
	rows, _ := db.Query("SELECT id FROM posts")
	defer rows.Close()
	for rows.Next() {
		var id int64
		err := rows.Scan(&id)
		if err != nil {
			break
		}
		name := ""
		name, err = nameFor(db, id) // want `APP205`
		names = append(names, name)
	}
	return names
}

// RowsStop: the loop stops early, and the other rows are not read.
func RowsStop(db *sql.DB) (names []string) {
	rows, _ := db.Query("SELECT id FROM posts")
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			continue
		}
		if names = append(names, name); len(names) == 20 {
			break
		}
	}
	return names
}

// RowsFound: so does a return of what is found.
func RowsFound(db *sql.DB) (string, error) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return "", err
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return "", err
		}
		if name != "" {
			return name, nil
		}
	}
	return "", rows.Err()
}

// RowsJump: a jump leaves two loops.
func RowsJump(db *sql.DB, teams []int64) (names []string) {
next:
	for _, team := range teams {
		rows, err := db.Query("SELECT id FROM posts WHERE team_id = ?", team) // want `APP205`
		if err != nil {
			return nil
		}
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				continue next
			}
			name, err := nameFor(db, id) // want `APP205`
			if err != nil {
				return nil
			}
			names = append(names, name)
		}
	}
	return names
}

// RowsResult: where a row cannot be read, the results have the rows before it.
func RowsResult(db *sql.DB) (names []string) {
	rows, _ := db.Query("SELECT id FROM posts")
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return
		}
		names = append(names, name)
	}
	return names
}

type ledger struct{ db *sql.DB }

func (l *ledger) stored(n int64) error {
	_, err := l.db.Exec("UPDATE users SET name = '' WHERE id = ?", n)
	return err
}

func (l *ledger) storing() func(int64) error { return l.stored }

func passed(f func(int64) error) func(int64) error { return f }

// Handed: a closure is a method that writes.
func (l *ledger) Handed(posts []Post) (names []string, err error) {
	store := l.storing()
	for _, p := range posts {
		name, err := nameFor(l.db, p.UserID) // want `APP205`
		if err != nil {
			return nil, err
		}
		store(p.UserID + 1)
		names = append(names, name)
	}
	return names, nil
}

// HandedBack: a function gives back what it was given.
func (l *ledger) HandedBack(posts []Post) (names []string, err error) {
	store := passed(l.stored)
	for _, p := range posts {
		name, err := nameFor(l.db, p.UserID) // want `APP205`
		if err != nil {
			return nil, err
		}
		store(p.UserID + 1)
		names = append(names, name)
	}
	return names, nil
}

// RowsLast: the error of the last Scan is answered behind the loop.
func RowsLast(db *sql.DB) (int, error) {
	rows, err := db.Query("SELECT id FROM posts")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var id int64
		if err = rows.Scan(&id); err != nil {
			break
		}
		var name string
		if name, err = nameFor(db, id); err == nil { // want `APP205`
			n += len(name)
		}
	}
	return n, err
}

// RowsHeld: what a parameter leads to has the rows before the one that cannot be read.
func RowsHeld(db *sql.DB, names map[int64]string) {
	rows, _ := db.Query("SELECT id FROM posts")
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return
		}
		name, err := nameFor(db, id) // want `APP205`
		if err != nil {
			return
		}
		names[id] = name
	}
}
