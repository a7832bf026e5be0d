package fire

import (
	"context"
	"database/sql"
	"errors"
	"net/http"

	"github.com/jmoiron/sqlx"
)

const (
	teamCapacity   = 10
	courseSeats    = 50
	roomCapacity   = 12
	mostOpen       = 3
	mostSessions   = 200
	bookings       = 8
	mostWaiting    = 30
	mostConcurrent = 16
)

var errFull = errors.New("full")

// The constant is a parameter of the statement.
func BoundParameter(ctx context.Context, conn *sql.Conn) (bool, error) {
	var within bool
	err := conn.QueryRowContext(ctx, "SELECT COUNT(*) < ? AS within FROM teams WHERE contest = ?", teamCapacity, 1).Scan(&within) // want `no more than a fixed number is let in: teamCapacity \(10\)`
	return within, err
}

// The parameter is on the left, behind another one.
func MirroredParameter(db *sqlx.DB, day string) (full bool, err error) {
	err = db.Get(&full, "SELECT IF(? = '', 1, 0), ? <= COUNT(*) FROM visits WHERE day = ?", day, 40, day) // want `let in \(40\)`
	return full, err
}

// The number is in the text.
func InText(db *sql.DB, course int) (full bool, err error) {
	err = db.QueryRow("SELECT COUNT(id) >= 25 FROM members WHERE course = ?", course).Scan(&full) // want `let in \(25\)`
	return full, err
}

// A write is guarded by a count.
func GuardedWrite(db *sql.DB, name string) error {
	_, err := db.Exec("INSERT INTO stalls (name) SELECT ? FROM DUAL WHERE (SELECT COUNT(*) FROM stalls) < ?", name, 60) // want `let in \(60\)`
	return err
}

// The count is compared in Go.
func Compared(db *sqlx.DB, course int) error {
	var registered int
	if err := db.Get(&registered, "SELECT COUNT(*) FROM registrations WHERE course = ?", course); err != nil {
		return err
	}
	if registered >= courseSeats { // want `let in: courseSeats \(50\)`
		return errFull
	}
	_, err := db.Exec("INSERT INTO registrations (course) VALUES (?)", course)
	return err
}

type stats struct{ Total, Open int64 }

// The second item of the list is the count, and the branch below the constant writes.
func BelowWrites(tx *sql.Tx) error {
	var s stats
	if err := tx.QueryRow("SELECT MAX(id), COUNT(*) FROM orders WHERE open").Scan(&s.Total, &s.Open); err != nil {
		return err
	}
	if s.Open < mostOpen { // want `let in: mostOpen \(3\)`
		_, err := tx.Exec("INSERT INTO orders (open) VALUES (TRUE)")
		return err
	}
	return errFull
}

// The rows are listed, and the branch does not use them.
func Listed(db *sqlx.DB, hotel int) error {
	var guests []string
	if err := db.Select(&guests, "SELECT name FROM guests WHERE hotel = ?", hotel); err != nil {
		return err
	}
	if len(guests) > roomCapacity { // want `let in: roomCapacity \(12\)`
		return errFull
	}
	return nil
}

func countBookings(db *sql.DB) (int, error) {
	var n int
	err := db.QueryRow("SELECT COUNT(*) FROM bookings").Scan(&n)
	return n, err
}

// A function counts.
func Counted(db *sql.DB) error {
	n, err := countBookings(db)
	if err != nil {
		return err
	}
	if bookings <= n { // want `let in: bookings \(8\)`
		return errFull
	}
	return nil
}

// A function answers whether there is room.
func Answers(db *sql.DB) (bool, error) {
	var n int64
	if err := db.QueryRow("SELECT COUNT(*) FROM waiting").Scan(&n); err != nil {
		return false, err
	}
	return int(n) < mostWaiting, nil // want `let in: mostWaiting \(30\)`
}

type room struct {
	sessions map[string]int
	active   int
}

// Sessions are in memory.
func (o *room) Join(w http.ResponseWriter, r *http.Request) {
	if len(o.sessions) >= mostSessions { // want `let in: mostSessions \(200\)`
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	o.sessions[r.RemoteAddr] = 1
}

// What runs is counted in a field.
func (o *room) Run(w http.ResponseWriter, r *http.Request) {
	if o.active >= mostConcurrent { // want `let in: mostConcurrent \(16\)`
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	o.active++
}
