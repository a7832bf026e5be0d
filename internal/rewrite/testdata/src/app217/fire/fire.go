package fire

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/jmoiron/sqlx"
)

type site struct {
	db   *sql.DB
	xdb  *sqlx.DB
	name string
}

var admin *sqlx.DB

// Retried tries again, and formats in base 16.
func Retried(ctx context.Context) (string, error) {
	var id int64
	var last error
	for i := 0; i < 100; i++ {
		var ret sql.Result
		ret, err := admin.ExecContext(ctx, "REPLACE INTO numbers (stub) VALUES (?);", "a") // want `APP217: each id is taken by a write of its own to the table numbers`
		if err != nil {
			if errors.Is(err, sql.ErrConnDone) {
				last = fmt.Errorf("taking an id: %w", err)
				continue
			}
			return "", err
		}
		id, err = ret.LastInsertId()
		if err != nil {
			return "", err
		}
		break
	}
	if id != 0 {
		return fmt.Sprintf("%x", id), nil
	}
	return "", last
}

// Plain returns on every error.
func (s *site) Plain() (string, error) {
	res, err := s.db.Exec("REPLACE INTO plain_ids SET stub = 'a'") // want `APP217`
	if err != nil {
		return "", err
	}
	n, err := res.LastInsertId()
	if err != nil {
		return "", err
	}
	return "P" + strconv.FormatInt(n, 10), nil
}

// Duplicate counts one row up.
func (s *site) Duplicate(ctx context.Context) (string, error) {
	res, err := s.xdb.ExecContext(ctx, "INSERT INTO dup_ids (name, n) VALUES ('order', 1) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID(n + 1)") // want `APP217`
	if err != nil {
		return "", fmt.Errorf("id: %w", err)
	}
	n, err := res.LastInsertId()
	return fmt.Sprintf("order-%d", n), err
}

// Updated counts one row up by an UPDATE.
func Updated() string {
	res, err := admin.Exec("UPDATE up_ids SET id = LAST_INSERT_ID(id + 1)") // want `APP217`
	if err != nil {
		panic(err)
	}
	n, err := res.LastInsertId()
	if err != nil {
		panic(err)
	}
	return "U" + strconv.Itoa(int(n))
}

const next = `REPLACE INTO const_ids (stub)
VALUES ('x')`

// Const has its text in a constant; another statement empties the table.
func Const(db *sql.DB) (id string) {
	if _, err := db.Exec("DELETE FROM const_ids"); err != nil {
		return ""
	}
	if res, err := db.Exec(next); err == nil { // want `APP217`
		if n, err := res.LastInsertId(); err == nil {
			id = fmt.Sprintf("c%d", n)
		}
	}
	return id
}

// Assigned sets variables of the function.
func Assigned(db *sqlx.DB) (id string, err error) {
	var res sql.Result
	res, err = db.Exec("replace into low_ids (stub) values ('a')") // want `APP217`
	if err != nil {
		return
	}
	var n int64
	if n, err = res.LastInsertId(); err != nil {
		return
	}
	id = strconv.FormatUint(uint64(n), 36)
	return
}
