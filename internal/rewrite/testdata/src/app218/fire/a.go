package main

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

type app struct{ driver string }

// connect opens the file of a tenant.
func (a *app) connect(id int64) (*sqlx.DB, error) {
	db, err := sqlx.Open(a.driver, fmt.Sprintf("file:../db/%d.db?mode=rw", id)) // want `APP218`
	if err != nil {
		return nil, fmt.Errorf("opening %d: %w", id, err)
	}
	return db, nil
}

func (a *app) names(ctx context.Context, id int64) (names []string, err error) {
	db, err := a.connect(id)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = db.SelectContext(ctx, &names, "SELECT name FROM player")
	return names, err
}

func (a *app) name(ctx context.Context, id int64) (string, error) {
	db, err := a.connect(id)
	if err != nil {
		return "", err
	}
	defer db.Close()
	return first(ctx, db)
}

func first(ctx context.Context, db sqlx.ExtContext) (name string, err error) {
	err = sqlx.GetContext(ctx, db, &name, "SELECT name FROM player LIMIT 1")
	return name, err
}

func main() {}
