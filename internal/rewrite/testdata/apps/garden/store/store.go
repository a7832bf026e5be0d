// Package store reads rows for the handlers.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// A Keeper is a row of keepers.
type Keeper struct {
	ID    string         `db:"id"`
	Name  string         `db:"name"`
	Phone sql.NullString `db:"phone"`
}

// ErrNone means that there is no such row.
var ErrNone = errors.New("none")

// Keepers are the rows of keepers.
type Keepers struct{ db *sqlx.DB }

// New returns the keepers of a database.
func New(db *sqlx.DB) *Keepers { return &Keepers{db: db} }

// Find finds a keeper.
func (k *Keepers) Find(ctx context.Context, id string) (*Keeper, error) {
	row := Keeper{}
	err := k.db.GetContext(ctx, &row, "SELECT * FROM keepers WHERE id = ?", id)
	if err == sql.ErrNoRows {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("keeper %s: %w", id, err)
	}
	return &row, nil
}

// Notes counts the notes of a plant.
func Notes(db *sqlx.DB, plant string, least int64) (n int, err error) {
	err = db.QueryRow("SELECT COUNT(*) FROM notes WHERE plant_id = ? AND id >= ?", plant, least).Scan(&n)
	return n, err
}
