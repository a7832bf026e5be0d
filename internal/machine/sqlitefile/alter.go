package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// lockWait is how long [Alter] waits for transactions of the app.
const lockWait = 30 * time.Second

// ErrForeign is the error of a table that is defined neither as before a change nor as
// after it.
var ErrForeign = errors.New("its table is neither as before the change nor as after it")

// An Alteration is statements on one table of a file.
type Alteration struct {
	Table      string
	Statements []string
	// Before and After report whether a definition of the table, as of [Definition],
	// is that before and after the statements.
	Before, After func(definition string) bool
}

// TableIn is the definition of a table in a file, "" if the file has no such table or
// does not exist any more.
func TableIn(ctx context.Context, path, table string) (_ string, err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	r, err := ReadRecovered(ctx, path)
	if gone(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return definitionIn(ctx, r.db, table)
}

func definitionIn(ctx context.Context, db querier, table string) (string, error) {
	all, err := tables(ctx, db, table)
	if err != nil || len(all) == 0 {
		return "", err
	}
	return Definition(all[0]), nil
}

// Alter executes an alteration in one transaction: the file has all of its statements
// or none, also if this process is killed. A file that has them already, one without
// the table, and one that was removed stay as they are.
func Alter(ctx context.Context, path string, a Alteration) (err error) {
	db, err := open(ctx, path, mode{write: true, wait: lockWait})
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// An index on millions of rows is built faster with its pages in memory.
	if _, err := db.ExecContext(ctx, "PRAGMA cache_size = -65536"); err != nil {
		return fmt.Errorf("altering %s: %w", path, err)
	}
	if err := a.run(ctx, db); err != nil {
		return fmt.Errorf("altering %s: %w", path, err)
	}
	return nil
}

func (a Alteration) run(ctx context.Context, db *sql.DB) (err error) {
	tx, err := db.BeginTx(ctx, nil) // immediate: no other writer from here on
	if err != nil {
		return err
	}
	defer func() {
		if e := tx.Rollback(); e != nil && !errors.Is(e, sql.ErrTxDone) {
			err = errors.Join(err, e)
		}
	}()
	was, err := definitionIn(ctx, tx, a.Table)
	switch {
	case err != nil:
		return err
	case was == "" || a.After(was):
		return nil
	case !a.Before(was):
		return ErrForeign
	}
	for _, s := range a.Statements {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	is, err := definitionIn(ctx, tx, a.Table)
	if err != nil {
		return err
	}
	if !a.After(is) {
		return fmt.Errorf("the statements made\n%s", is)
	}
	return tx.Commit()
}

// Trial executes statements in a database in memory: first those that create the table,
// then those of an alteration. It returns the table before and after the latter.
func Trial(ctx context.Context, table string, create, alter []string) (before, after catalog.Table, err error) {
	db, err := memory()
	if err != nil {
		return before, after, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if before, err = tried(ctx, db, table, create); err != nil {
		return before, after, err
	}
	after, err = tried(ctx, db, table, alter)
	return before, after, err
}

func tried(ctx context.Context, db *sql.DB, table string, statements []string) (catalog.Table, error) {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return catalog.Table{}, fmt.Errorf("%.80s: %w", s, err)
		}
	}
	all, err := tables(ctx, db, table)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("nothing creates table %s", table)
	}
	if err != nil {
		return catalog.Table{}, err
	}
	return all[0], nil
}

// Created are the statements that create a table and its indexes in a file, as the
// file has them.
func Created(ctx context.Context, path, table string) (_ []string, err error) {
	r, err := ReadRecovered(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var out []string
	err = each(ctx, r.db, func(row *sql.Rows) error {
		var text string
		if err := row.Scan(&text); err != nil {
			return err
		}
		out = append(out, text)
		return nil
	}, "SELECT sql FROM sqlite_master WHERE type IN ('table', 'index') AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL ORDER BY type DESC, name", table)
	if err != nil {
		return nil, fmt.Errorf("reading the statements of table %s: %w", table, err)
	}
	return out, nil
}

// IndexStatements are the statements of the table's indexes by their names in lower
// case. An index that belongs to the table's definition has none.
func (r *Reader) IndexStatements(ctx context.Context, table string) (map[string]string, error) {
	out := map[string]string{}
	err := each(ctx, r.db, func(row *sql.Rows) error {
		var name, text string
		if err := row.Scan(&name, &text); err != nil {
			return err
		}
		out[strings.ToLower(name)] = text
		return nil
	}, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL", table)
	if err != nil {
		return nil, fmt.Errorf("reading the indexes of table %s: %w", table, err)
	}
	return out, nil
}

// CreateIndex is the statement of a new index. columns is the list of its key parts.
func CreateIndex(name, table, columns string) string {
	return "CREATE INDEX " + sqltext.SQLite.Quote(name) + " ON " + sqltext.SQLite.Quote(table) + " " + columns
}

// DropIndex is the statement that drops an index.
func DropIndex(name string) string { return "DROP INDEX " + sqltext.SQLite.Quote(name) }

// Columns formats key parts as in DDL.
func Columns(parts []catalog.IndexPart) string {
	var out []string
	for _, p := range parts {
		text := sqltext.SQLite.Quote(p.Column)
		if p.Desc {
			text += " DESC"
		}
		out = append(out, text)
	}
	return "(" + strings.Join(out, ", ") + ")"
}
