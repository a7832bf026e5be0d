package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"
)

// Rows that a loop locks, in a transaction.

// Locks: each row is locked in its turn.
func Locks(tx *sqlx.Tx, posts []Post) (sum int, err error) {
	for _, p := range posts {
		var u User
		if err := tx.Get(&u, "SELECT * FROM users WHERE id = ? FOR UPDATE", p.UserID); err != nil { // want `APP205`
			return 0, err
		}
		sum += u.TeamID
	}
	return sum, nil
}

// RowLocks: the values are scanned.
func RowLocks(ctx context.Context, tx *sql.Tx, ids []int64) (missing []int64, err error) {
	for _, id := range ids {
		var team int
		var name string
		err := tx.QueryRowContext(ctx, "select team_id, name from users where id = ? lock in share mode", id).Scan(&team, &name) // want `APP205`
		if errors.Is(err, sql.ErrNoRows) {
			missing = append(missing, id)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

func lockedUser(tx *sqlx.Tx, name string) (*User, error) {
	u := &User{}
	err := tx.Get(u, "SELECT * FROM users WHERE name = ? FOR UPDATE", name)
	return u, err
}

// LocksByHelper: a function locks the row of a text key.
func LocksByHelper(tx *sqlx.Tx, names []string) (sum int, err error) {
	for i := range names {
		u, err := lockedUser(tx, names[i]) // want `APP205`
		if err != nil {
			return 0, err
		}
		sum += u.TeamID
	}
	return sum, nil
}
