package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/jmoiron/sqlx"
)

type app struct {
	admin  *sqlx.DB
	driver string
}

func newApp(driver string) (*app, error) {
	db, err := connectAdmin()
	if err != nil {
		return nil, err
	}
	return &app{admin: db, driver: driver}, nil
}

func connectAdmin() (*sqlx.DB, error) { return sqlx.Open("mysql", "root@/admin") }

type score struct {
	Player string `db:"player_id"`
	Score  int64  `db:"score"`
}

// connect opens the file of a tenant.
func (a *app) connect(id int64) (*sqlx.DB, error) {
	db, err := sqlx.Open(a.driver, fmt.Sprintf("file:../db/%d.db?mode=rw&_pragma=busy_timeout(5000)", id))
	if err != nil {
		return nil, fmt.Errorf("opening %d: %w", id, err)
	}
	return db, nil
}

func (a *app) upload(ctx context.Context, id int64, rows []score) error {
	db, err := a.connect(id)
	if err != nil {
		return err
	}
	defer db.Close()
	return replace(ctx, db, rows)
}

// replace: the statement before the loop joins the transaction.
func replace(ctx context.Context, db *sqlx.DB, rows []score) error {
	if _, err := db.ExecContext(ctx, "DELETE FROM player_score"); err != nil {
		return fmt.Errorf("deleting: %w", err)
	}
	for _, row := range rows {
		if _, err := db.NamedExecContext(ctx, "INSERT INTO player_score (player_id, score) VALUES (:player_id, :score)", row); err != nil { // want `APP219`
			return fmt.Errorf("storing: %w", err)
		}
	}
	return nil
}

// newID takes an id of the server.
func (a *app) newID(ctx context.Context) (string, error) {
	var last error
	for range 3 {
		result, err := a.admin.ExecContext(ctx, "REPLACE INTO id_generator (stub) VALUES (?)", "a")
		if err != nil {
			last = err
			continue
		}
		id, err := result.LastInsertId()
		if err != nil {
			return "", err
		}
		return strconv.FormatInt(id, 16), nil
	}
	return "", last
}

func player(ctx context.Context, db sqlx.ExtContext, id string) (*score, error) {
	s := new(score)
	if err := sqlx.GetContext(ctx, db, s, "SELECT * FROM player WHERE id = ?", id); err != nil {
		return nil, fmt.Errorf("reading player %s: %w", id, err)
	}
	return s, nil
}

// addPlayers: the rows are read back by a function, and the ids are of a server.
func (a *app) addPlayers(ctx context.Context, tenant int64, names []string) (players []score, n int, err error) {
	db, err := a.connect(tenant)
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	for _, name := range names {
		id, err := a.newID(ctx)
		if err != nil {
			return nil, 0, err
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO player (id, name) VALUES (?, ?)", id, name); err != nil { // want `APP219`
			return nil, 0, fmt.Errorf("storing player %s: %w", id, err)
		}
		p, err := player(ctx, db, id)
		if err != nil {
			return nil, 0, err
		}
		players = append(players, *p)
	}
	return players, len(players), nil
}

// kept is a pool that stays open.
type kept struct {
	mu  sync.Mutex
	all map[string]*sql.DB
}

var files kept

func (k *kept) open(dsn string, again func() (*sql.DB, error)) (*sql.DB, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if db, ok := k.all[dsn]; ok {
		return db, nil
	}
	db, err := again()
	if err != nil {
		return nil, err
	}
	k.all[dsn] = db
	return db, nil
}

func openKept() (*sql.DB, error) {
	return files.open("file:kept.db?_pragma=busy_timeout(5000)", func() (*sql.DB, error) {
		return sql.Open("sqlite", "file:kept.db?_pragma=busy_timeout(5000)")
	})
}

// block gives out numbers from memory.
type block struct {
	mu   sync.Mutex
	next int64
}

func (b *block) take(db interface {
	Exec(query string, args ...any) (sql.Result, error)
}) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next++; b.next%1000 != 0 {
		return b.next, nil
	}
	if _, err := db.Exec("UPDATE counter SET n = ?", b.next); err != nil {
		return 0, err
	}
	return b.next, nil
}

var numbers block

// touch: without a context, a pool that a lever keeps open, and a mutex under which
// only the server is used.
func (a *app) touch(ids []int64) error {
	db, err := openKept()
	if err != nil {
		return err
	}
	for i := 0; i < len(ids); i++ {
		n, err := numbers.take(a.admin)
		if err != nil {
			return err
		}
		if n < 0 {
			return errors.New("no number")
		}
		_, err = db.Exec("UPDATE player SET n = ? WHERE id = ?", n, ids[i]) // want `APP219`
		if err != nil {
			return err
		}
	}
	if _, err := db.Exec("DELETE FROM player WHERE n = 0"); err != nil {
		return err
	}
	return nil
}

func main() {}
