package main

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/jmoiron/sqlx"
)

type app struct{ admin *sqlx.DB }

// newID: the id is returned as a text.
func (a *app) newID(ctx context.Context) (string, error) {
	result, err := a.admin.ExecContext(ctx, "REPLACE INTO id_generator (stub) VALUES (?)", "a") // want `APP217`
	if err != nil {
		return "", fmt.Errorf("making an id: %w", err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(id, 16), nil
}

// next: the key is a literal of the statement, and there is no context.
func next(db *sql.DB) (int64, error) {
	res, err := db.Exec("REPLACE INTO ticket (k) VALUES ('x')") // want `APP217`
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func main() {}
