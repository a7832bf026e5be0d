package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// Statements are the statements that make the file's tables, indexes, views and triggers,
// as their authors spelled them, in an order in which they can be executed.
func (r *Reader) Statements(ctx context.Context) (string, error) {
	var b strings.Builder
	err := each(ctx, r.db, func(row *sql.Rows) error {
		var text string
		if err := row.Scan(&text); err != nil {
			return err
		}
		b.WriteString(text)
		b.WriteString(";\n")
		return nil
	}, `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, lower(name)`)
	return b.String(), err
}

// StatementsOf reads the statements that make the tables of one file. A file that was
// removed, or that has no tables, has none.
func StatementsOf(ctx context.Context, path string) (_ string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	r, err := Read(ctx, path)
	if gone(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Statements(ctx)
}
