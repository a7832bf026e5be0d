package isuports

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite" // driver "sqlite"
)

// tenantSchema is the schema of a tenant's database.
const tenantSchema = "sql/tenant/10_schema.sql"

// fastPragmas are for files that are written once: without a journal an
// interrupted file is lost, and it is written again anyway.
const fastPragmas = "?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=locking_mode(exclusive)&_pragma=cache_size(-65536)"

// writeFile writes the tenant's pristine database into a folder. The file is
// complete or absent.
func (t *tenantData) writeFile(ctx context.Context, folder string) error {
	path := filepath.Join(folder, strconv.FormatInt(t.id, 10)+".db")
	unfinished := path + ".tmp"
	err := errors.Join(os.MkdirAll(folder, 0o755), os.RemoveAll(unfinished))
	if err == nil {
		err = t.fill(ctx, unfinished)
	}
	if err == nil {
		err = os.Chmod(unfinished, 0o644)
	}
	if err == nil {
		err = os.Rename(unfinished, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), os.RemoveAll(unfinished))
	}
	return nil
}

// fill writes all rows in one transaction.
func (t *tenantData) fill(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+fastPragmas)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, string(webapp.MustRead(tenantSchema))); err != nil {
		return fmt.Errorf("creating the tables: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = t.insertAll(ctx, tx)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// insertAll inserts the rows of the three tables.
func (t *tenantData) insertAll(ctx context.Context, tx *sql.Tx) error {
	err := t.insert(ctx, tx, "INSERT INTO player (id, tenant_id, display_name, is_disqualified, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
		func(add func(row ...any)) {
			for _, p := range t.players {
				add(p.id, t.id, p.name, p.disqualified, p.created, p.created)
			}
		})
	if err == nil {
		err = t.insert(ctx, tx, "INSERT INTO competition (id, tenant_id, title, finished_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
			func(add func(row ...any)) {
				for _, c := range t.competitions {
					finished := sql.NullInt64{Int64: c.finished, Valid: c.finished != 0}
					add(c.id, t.id, c.title, finished, c.created, max(c.created, c.finished))
				}
			})
	}
	if err == nil {
		err = t.insert(ctx, tx, "INSERT INTO player_score (id, tenant_id, player_id, competition_id, score, row_num, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			func(add func(row ...any)) {
				for _, c := range t.competitions {
					for i, s := range c.scores {
						add(idText(s.id), t.id, t.players[s.player].id, c.id, s.score, int64(i+1), s.at, s.at)
					}
				}
			})
	}
	return err
}

// insert executes one prepared statement for each row that rows adds, until the
// first error.
func (t *tenantData) insert(ctx context.Context, tx *sql.Tx, statement string, rows func(add func(row ...any))) error {
	stmt, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	rows(func(row ...any) {
		if err == nil {
			_, err = stmt.ExecContext(ctx, row...)
		}
	})
	return errors.Join(err, stmt.Close())
}
