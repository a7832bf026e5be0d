package main

import (
	"database/sql"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
)

type User struct {
	ID     int64  `db:"id"`
	Name   string `db:"name"`
	TeamID int    `db:"team_id"`
}

type Post struct {
	ID     int64 `db:"id"`
	UserID int64 `db:"user_id"`
	User   User  `db:"-"`
}

// Writes: the loop writes the table that it reads.
func Writes(tx *sqlx.Tx, posts []Post) error {
	for _, p := range posts {
		var u User
		if err := tx.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			return err
		}
		if _, err := tx.Exec("UPDATE users SET team_id = team_id + 1 WHERE id = ?", p.UserID); err != nil {
			return err
		}
	}
	return nil
}

// Hidden: a function of the loop writes.
func Hidden(tx *sqlx.Tx, posts []Post) error {
	for _, p := range posts {
		var u User
		if err := tx.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			return err
		}
		touch(tx, u)
	}
	return nil
}

func touch(tx *sqlx.Tx, u User) { tx.MustExec("UPDATE users SET seen = 1 WHERE id = ?", u.ID) }

// Fixed: the query does not depend on the element.
func Fixed(db *sqlx.DB, posts []Post) (n int, err error) {
	for range posts {
		var u User
		if err := db.Get(&u, "SELECT * FROM users WHERE id = 1"); err != nil {
			return 0, err
		}
		n += u.TeamID
	}
	return n, nil
}

// Walk: the next key comes from the row before.
func Walk(db *sqlx.DB, id int64) (names []string, err error) {
	for id != 0 {
		var u User
		if err := db.Get(&u, "SELECT * FROM users WHERE id = ?", id); err != nil {
			return nil, err
		}
		names = append(names, u.Name)
		id = int64(u.TeamID)
	}
	return names, nil
}

// Changed: the loop sets the key before.
func Changed(db *sqlx.DB, posts []Post) error {
	for _, p := range posts {
		p.UserID = p.ID
		var u User
		if err := db.Get(&u, "SELECT * FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Element: the element itself is the destination, and has a field that is no column.
func Element(db *sqlx.DB, posts []Post) error {
	for i := range posts {
		if err := db.Get(&posts[i], "SELECT * FROM users WHERE id = ?", posts[i].UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Channel: the elements come one after the other.
func Channel(db *sqlx.DB, ids <-chan int64) error {
	for id := range ids {
		var u User
		if err := db.Get(&u, "SELECT * FROM users WHERE id = ?", id); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Waits: time passes between the queries.
func Waits(db *sqlx.DB, ids []int64) error {
	for _, id := range ids {
		var u User
		if err := db.Get(&u, "SELECT * FROM users WHERE id = ?", id); err != nil { // want `APP205`
			return err
		}
		time.Sleep(time.Second)
	}
	return nil
}

func findUser(db sqlx.Ext, id int64) (*User, error) {
	var u User
	if err := sqlx.Get(db, &u, "SELECT * FROM users WHERE id = ?", id); err != nil {
		return nil, err
	}
	return &u, nil
}

// GetterWrites: the loop writes what the function reads.
func GetterWrites(db *sqlx.DB, posts []Post) error {
	for _, p := range posts {
		if _, err := findUser(db, p.UserID); err != nil { // want `APP205`
			return err
		}
		if _, err := db.Exec("UPDATE users SET team_id = team_id + 1 WHERE id = ?", p.UserID); err != nil {
			return err
		}
	}
	return nil
}

func rename(db *sqlx.DB, query string, id int64) error {
	_, err := db.Exec(query, id)
	return err
}

// AheadWrites: a function that the loop calls writes what the loop reads.
func AheadWrites(db *sqlx.DB) error {
	for i := int64(0); i < 100; i++ {
		if _, err := findUser(db, i); err != nil { // want `APP205`
			return err
		}
		if err := rename(db, "UPDATE users SET name = '' WHERE id = ?", i); err != nil {
			return err
		}
	}
	return nil
}

// AheadUnknown: nothing is known of the function that gives the keys.
func AheadUnknown(db *sqlx.DB, next func() int64) error {
	for {
		id := next()
		if _, err := findUser(db, id); err != nil { // want `APP205`
			return err
		}
	}
}

// AheadHandle: the handle is another one in each round.
func AheadHandle(dbs []*sqlx.DB) error {
	db := dbs[0]
	for i := range 100 {
		if _, err := findUser(db, int64(i)); err != nil { // want `APP205`
			return err
		}
		db = dbs[i]
	}
	return nil
}

// AheadServer: another server may write what the loop reads.
func AheadServer(db *sqlx.DB) error {
	for i := int64(0); i < 100; i++ {
		if _, err := findUser(db, i); err != nil { // want `APP205`
			return err
		}
		if _, err := http.Post("http://127.0.0.1/rename", "text/plain", nil); err != nil {
			return err
		}
	}
	return nil
}

func teamSize(db sqlx.Ext, id int64) (n int, err error) {
	var team int
	if err = sqlx.Get(db, &team, "SELECT team_id FROM users LIMIT 1"); err != nil {
		return 0, err
	}
	team += int(id)
	err = sqlx.Get(db, &n, "SELECT COUNT(*) FROM users WHERE team_id = ?", team)
	return n, err
}

// GetterTwo: the key is made of the row of another statement.
func GetterTwo(db *sqlx.DB, posts []Post) error {
	for _, p := range posts {
		if _, err := teamSize(db, p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

func nameOf(db *sql.DB, id int64) (name string, err error) {
	err = db.QueryRow("SELECT name FROM users WHERE id = ?", id).Scan(&name)
	return name, err
}

// GetterGuarded: the key is behind a pointer that may be nil.
func GetterGuarded(db *sql.DB, posts []*Post) error {
	for _, p := range posts {
		if p == nil {
			continue
		}
		if _, err := nameOf(db, p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

func filled(db sqlx.Ext, id int64) (*User, error) {
	u := &User{Name: "-", TeamID: 3}
	if err := sqlx.Get(db, u, "SELECT id, name FROM users WHERE id = ?", id); err != nil {
		return nil, err
	}
	return u, nil
}

// GetterFilled: the row keeps what the statement does not read.
func GetterFilled(db *sqlx.DB, posts []Post) error {
	for _, p := range posts {
		if _, err := filled(db, p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Filled: so does the row of a statement in the loop.
func Filled(db *sqlx.DB, posts []Post) error {
	for i, p := range posts {
		u := User{TeamID: i}
		if err := db.Get(&u, "SELECT id, name FROM users WHERE id = ?", p.UserID); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

// Stepped: the loop counts the key up.
func Stepped(db *sqlx.DB, ids []int64) error {
	for _, id := range ids {
		id++
		var u User
		if err := db.Get(&u, "SELECT * FROM users WHERE id = ?", id); err != nil { // want `APP205`
			return err
		}
	}
	return nil
}

func main() {}
