package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/gofrs/flock"
	"github.com/jmoiron/sqlx"
)

type score struct {
	Player string `db:"player_id"`
	Score  int64  `db:"score"`
}

func open(id int64) (*sqlx.DB, error) {
	return sqlx.Open("sqlite", fmt.Sprintf("file:%d.db?_pragma=busy_timeout(5000)", id))
}

func lockFile(id int64) (*flock.Flock, error) {
	lock := flock.New(fmt.Sprintf("%d.lock", id))
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	return lock, nil
}

// upload writes by one transaction.
func upload(ctx context.Context, id int64, rows []score) error {
	db, err := open(id)
	if err != nil {
		return err
	}
	defer db.Close()
	lock, err := lockFile(id)
	if err != nil {
		return err
	}
	defer lock.Close()
	return replace(ctx, db, rows)
}

func replace(ctx context.Context, db *sqlx.DB, rows []score) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "DELETE FROM score"); err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := tx.NamedExecContext(ctx, "INSERT INTO score (player_id, score) VALUES (:player_id, :score)", row); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// ranking: the names are of a table that is not written under the lock.
func ranking(ctx context.Context, id int64) ([]string, error) {
	db, err := open(id)
	if err != nil {
		return nil, err
	}
	defer db.Close()

	// Without the lock, an upload could show a part of its rows.
	lock, err := lockFile(id) // want `APP220`
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	return ranks(ctx, db)
}

func ranks(ctx context.Context, db *sqlx.DB) ([]string, error) {
	var rows []score
	if err := db.SelectContext(ctx, &rows, "SELECT * FROM score ORDER BY score"); err != nil {
		return nil, err
	}
	name := func(id string) (name string, err error) {
		err = db.GetContext(ctx, &name, "SELECT name FROM player WHERE id = ?", id)
		return name, err
	}
	var text strings.Builder
	add := func(to *int, n int) {
		fmt.Fprintf(&text, "%d,", n)
		*to += n
	}
	sum := 0
	add(&sum, len(rows))
	names, seen := make([]string, 0, len(rows)), map[string]bool{}
	for _, row := range rows {
		if seen[row.Player] {
			continue
		}
		seen[row.Player] = true
		n, err := name(row.Player)
		if err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
	return names, nil
}

// names: marks of a list are built at run time.
func names(ctx context.Context, id int64, players []any) (rows []score, err error) {
	db, err := open(id)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(id) // want `APP220`
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := db.SelectContext(ctx, &rows, "SELECT * FROM player WHERE id IN (?"+strings.Repeat(", ?", len(players)-1)+")", players...); err != nil {
		return nil, err
	}
	err = db.SelectContext(ctx, &rows, "SELECT * FROM score")
	return rows, err
}

// count: the lock is released by Unlock.
func count(ctx context.Context, id int64) (n int, err error) {
	db, err := open(id)
	if err != nil {
		return 0, err
	}
	lock, err := lockFile(id) // want `APP220`
	if err != nil {
		return 0, err
	}
	defer lock.Unlock()
	err = db.GetContext(ctx, &n, "SELECT COUNT(*) FROM score")
	return n, err
}

// built reads by one statement, whose text is collected in a buffer.
func built(ctx context.Context, id int64, players []any) (rows []score, err error) {
	db, err := open(id)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(id) // want `APP220`
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	var query strings.Builder
	for i := range players {
		if i > 0 {
			query.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&query, "SELECT *, %d AS n FROM score WHERE player_id = ?", i)
	}
	err = db.SelectContext(ctx, &rows, query.String(), players...)
	return rows, err
}

// each reads the table several times: the lock stays.
func each(ctx context.Context, id int64, players []string) (sum int, err error) {
	db, err := open(id)
	if err != nil {
		return 0, err
	}
	lock, err := lockFile(id)
	if err != nil {
		return 0, err
	}
	defer lock.Unlock()
	for _, p := range players {
		var n int
		if err := db.GetContext(ctx, &n, "SELECT COUNT(*) FROM score WHERE player_id = ?", p); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// branch takes the lock in a branch of a branch; what follows reads another table.
func branch(ctx context.Context, id int64, all, names bool) (n int, err error) {
	db, err := open(id)
	if err != nil {
		return 0, err
	}
	if all {
		n++
	} else if names {
		lock, err := lockFile(id) // want `APP220`
		if err != nil {
			return 0, err
		}
		defer lock.Unlock()
		if err := db.GetContext(ctx, &n, "SELECT COUNT(*) FROM score"); err != nil {
			return 0, err
		}
	}
	err = db.GetContext(ctx, &n, "SELECT COUNT(*) FROM player")
	return n, err
}

func main() {}
