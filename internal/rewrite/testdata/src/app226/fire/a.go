package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/gofrs/flock"
	"github.com/jmoiron/sqlx"
)

type contest struct {
	ID       string        `db:"id"`
	Title    string        `db:"title"`
	Finished sql.NullInt64 `db:"finished_at"`
}

type visit struct {
	Player string `db:"player_id"`
	First  int64  `db:"first"`
}

type bill struct {
	ID                string
	Players, Visitors int64
}

type app struct{ db *sqlx.DB }

// Bill: an open contest costs nothing, but its visits and scores are read.
func (a *app) Bill(ctx context.Context, files *sqlx.DB, id string) (*bill, error) {
	c, err := load(id)
	if err != nil {
		return nil, err
	}
	var visits []visit
	if err := a.db.SelectContext(ctx, &visits, // want `APP226: the rows of a query are used under a condition that is known before it is sent; send it only if c.Finished.Valid`
		"SELECT player_id, MIN(created_at) AS first FROM visit WHERE contest_id = ? GROUP BY player_id", c.ID); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("reading the visits of %s: %w", c.ID, err)
	}
	kinds := map[string]string{}
	for _, v := range visits {
		if c.Finished.Valid && c.Finished.Int64 < v.First {
			continue // it was over
		}
		kinds[v.Player] = "visitor"
	}

	// Players with a score do not count as visitors.
	var scored []string
	if err := files.SelectContext(ctx, &scored, "SELECT DISTINCT player_id FROM score WHERE contest_id = ?", c.ID); err != nil {
		return nil, err
	}
	for _, player := range scored {
		kinds[player] = "player"
	}

	var players, visitors int64
	if c.Finished.Valid { // an open one is free
		// Each player counts once.
		for _, kind := range kinds {
			switch kind {
			case "player":
				players++
			case "visitor":
				visitors++
			}
		}
	}
	return &bill{c.ID, players, visitors}, nil
}

func load(id string) (*contest, error) {
	if id == "" {
		return nil, sql.ErrNoRows
	}
	return &contest{ID: id}, nil
}

func lockFile(id string) (*flock.Flock, error) {
	lock := flock.New(id + ".lock")
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// Locked takes a lock file for the reading.
func Locked(db *sqlx.DB, c *contest) (*bill, error) {
	lock, err := lockFile(c.ID)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	var scored []string
	if err := db.Select(&scored, "SELECT DISTINCT player_id FROM score WHERE contest_id = ?", c.ID); err != nil { // want `APP226.*send it only if c.Finished.Valid`
		return nil, err
	}
	n := int64(0)
	if c.Finished.Valid {
		n = int64(len(scored))
	}
	return &bill{ID: c.ID, Players: n}, nil
}

// LockedLater: what follows is read under the lock, which stays.
func LockedLater(db *sqlx.DB, c *contest, long bool) (string, error) {
	lock, err := lockFile(c.ID)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	var names []string
	if err := db.Select(&names, "SELECT name FROM users"); err != nil { // want `APP226`
		return "", err
	}
	out := ""
	if long {
		out = fmt.Sprint(names)
	}
	var n int
	if err := db.Get(&n, "SELECT COUNT(*) FROM score"); err != nil {
		return "", err
	}
	return out + fmt.Sprint(n), nil
}

// Checked: the check before the region is of another query, and stays.
func Checked(db *sqlx.DB, c *contest, long bool) (string, error) {
	err := db.Get(c, "SELECT * FROM contest WHERE id = ?", c.ID)
	if err != nil {
		return "", err
	}
	var names []string
	err = db.Select(&names, "SELECT name FROM users") // want `APP226`
	if err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(names), nil
	}
	return c.Title, nil
}

// Otherwise: only the other branch uses the rows.
func Otherwise(db *sqlx.DB, kept map[string]string, all bool) (string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users"); err != nil { // want `APP226.*do not send it if !all`
		return "", err
	}
	out := ""
	if !all {
		out = kept["names"]
	} else {
		for _, name := range names {
			out += name
		}
	}
	return out, nil
}

// Cursor reads row by row.
func Cursor(db *sql.DB, verbose bool) (string, error) {
	out := ""
	rows, err := db.Query("SELECT id, name FROM users") // want `APP226`
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var id int64
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			return "", err
		}
		if id > 10 {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	if verbose {
		for _, name := range names {
			out += name
		}
	}
	return out, nil
}

// Count needs the number for one kind of answer.
func Count(db *sql.DB, kind string) (string, error) {
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM users WHERE team_id = ?", 7).Scan(&n); err != nil { // want `APP226.*send it only if kind == "long"`
		return "", err
	}
	text := kind
	if kind == "long" {
		text += fmt.Sprint(n)
	}
	return text, nil
}

// CountGet does so with sqlx.
func CountGet(db *sqlx.DB, kind string) (string, error) {
	text := kind
	var n int
	err := db.Get(&n, "SELECT COUNT(*) FROM users") // want `APP226`
	if err != nil {
		log.Printf("counting: %v", err)
		return "", fmt.Errorf("counting: %w", err)
	}
	if kind == "long" {
		text += fmt.Sprint(n)
	}
	return text, nil
}

// Prepared prepares the query in the region.
func Prepared(db *sqlx.DB, name string, long bool) (string, error) {
	stmt, err := db.Preparex("SELECT name FROM users WHERE name <> ?")
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	var names []string
	if err := stmt.Select(&names, name); err != nil { // want `APP226`
		return "", err
	}
	if long {
		for _, n := range names {
			name += n
		}
	}
	return name, nil
}

// Each: the block is the body of a loop, and a failure goes on with the next element.
func Each(db *sqlx.DB, contests []contest) (out []bill) {
	for _, c := range contests {
		b := bill{ID: c.ID}
		var scored []string
		if err := db.Select(&scored, "SELECT player_id FROM score WHERE contest_id = ?", c.ID); err != nil { // want `APP226`
			log.Print(err)
			continue
		}
		if c.Finished.Valid {
			b.Players = int64(len(scored))
		}
		out = append(out, b)
	}
	return out
}

// Closure: the block is the body of a function literal.
func Closure(db *sqlx.DB, long bool) func() (string, error) {
	return func() (string, error) {
		var names []string
		if err := db.Select(&names, "SELECT name FROM users"); err != nil { // want `APP226`
			return "", err
		}
		out := ""
		if long {
			for _, name := range names {
				out += name
			}
		}
		return out, nil
	}
}

// SetAgain: err is set by the statement after the branch.
func SetAgain(db *sqlx.DB, id string, long bool) (string, error) {
	c, err := load(id)
	if err != nil {
		return "", err
	}
	rows, err := db.Queryx("SELECT name FROM users") // want `APP226`
	if err != nil {
		return "", err
	}
	defer rows.Close()
	out := c.Title
	if long {
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return "", err
			}
			out += name
		}
	}
	d, err := load(out)
	if err != nil {
		return "", err
	}
	return d.Title, nil
}

// Beside: the branch declares names of its own, one of them again.
func Beside(db *sqlx.DB, id string, long bool) (string, error) {
	rows, err := db.Queryx("SELECT name FROM users") // want `APP226`
	if err != nil {
		return "", err
	}
	defer rows.Close()
	if long {
		c, err := load(id)
		if err != nil {
			return "", err
		}
		for rows.Next() {
			id += c.Title
		}
	}
	return id, nil
}

// Nested: the block is a branch itself.
func Nested(db *sqlx.DB, c *contest, long bool) (string, error) {
	if c.Finished.Valid {
		ids := []string{}
		err := db.Select(&ids, "SELECT player_id FROM score WHERE contest_id = ?", c.ID) // want `APP226`
		if err != nil {
			return "", err
		}
		if long && c.Finished.Int64 > 7 {
			return fmt.Sprint(ids), nil
		}
	}
	return c.Title, nil
}

// Own: the region fills what it made.
func Own(db *sqlx.DB, long bool) (string, error) {
	index := make(map[string]int)
	first := &bill{}
	var visits []visit
	if err := db.Select(&visits, "SELECT player_id, first FROM visit"); err != nil { // want `APP226`
		return "", err
	}
	for i := range visits {
		visits[i].First *= 1000
		index[visits[i].Player]++
		first.Visitors += visits[i].First
	}
	if long {
		return fmt.Sprint(index, first.Visitors, visits), nil
	}
	return "", nil
}

// Refuses: the check needs no row.
func Refuses(db *sqlx.DB, c *contest, role string) ([]string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users WHERE contest_id = ?", c.ID); err != nil { // want `APP226: a query is sent before a check that ends without its rows; check first whether role != "organizer"`
		return nil, err
	}

	// Others may not see them.
	if role != "organizer" {
		log.Printf("%s refused", role)
		return nil, fmt.Errorf("role %s", role)
	}
	return names, nil
}

// Skips: a round of a loop ends.
func Skips(db *sqlx.DB, contests []contest) (out []string, err error) {
	for _, c := range contests {
		n := 0
		if err := db.Get(&n, "SELECT COUNT(*) FROM score WHERE contest_id = ?", c.ID); err != nil { // want `APP226.*check first whether !c.Finished.Valid`
			return nil, err
		}
		if !c.Finished.Valid {
			continue
		}
		out = append(out, fmt.Sprint(c.ID, n))
	}
	return out, nil
}

// RefusesLate: the error of the query is a variable that the function had before.
func RefusesLate(db *sqlx.DB, id, name string) (string, error) {
	c, err := load(id)
	if err != nil {
		return "", err
	}
	rows, err := db.Queryx("SELECT name FROM users") // want `APP226.*check first whether name == ""`
	if err != nil {
		return "", err
	}
	defer rows.Close()
	if name == "" {
		return "", errors.New("no name")
	}
	for rows.Next() {
		err = rows.Scan(&name)
	}
	return name + c.Title, err
}

func (a *app) names(team int64) ([]string, error) {
	var rows []visit
	if err := a.db.Select(&rows, "SELECT player_id, first FROM visit WHERE team_id = ?", team); err != nil {
		return nil, fmt.Errorf("reading the visits: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	var names []string
	for _, row := range rows {
		names = append(names, row.Player)
	}
	return names, nil
}

func count(db *sql.DB) (int, error) {
	var n int
	err := db.QueryRow("SELECT COUNT(*) FROM users").Scan(&n)
	return n, err
}

// Helper: functions of the package send the queries.
func (a *app) Helper(db *sql.DB, team int64, long bool) (string, error) {
	names, err := a.names(team) // want `APP226.*send it only if long`
	if err != nil {
		return "", err
	}
	n, err := count(db)
	if err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(names, n), nil
	}
	return "", nil
}

// HelperRefuses: the check comes before the functions are called.
func (a *app) HelperRefuses(team int64, role string) ([]string, error) {
	names, err := a.names(team) // want `APP226.*check first whether role == ""`
	if err != nil {
		return nil, err
	}
	if role == "" {
		return nil, errors.New("no role")
	}
	return names, nil
}

func main() {}
