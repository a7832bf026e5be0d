package cacheplan

import (
	"context"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// readSchema makes the tables in the empty database and reads what SQLite made of the
// definitions. Tables whose rows a conflict replaces count as tables with a trigger:
// a write may remove rows that it does not name.
func (f *tableFile) readSchema(ctx context.Context, definitions []string) (*Schema, error) {
	for _, text := range append([]string{"PRAGMA foreign_keys = ON"}, definitions...) {
		if _, err := f.conn.ExecContext(ctx, text); err != nil {
			return nil, fmt.Errorf("reading a table's definition: %q: %w", first(text), err)
		}
	}
	s := &Schema{Tables: map[string]*Table{}, Triggers: map[string]bool{}, Strict: true}
	f.roots = map[int64]string{}
	err := f.each(ctx, "SELECT type, lower(name), lower(tbl_name), rootpage, COALESCE(sql, '') FROM sqlite_schema", func(scan func(...any) error) error {
		var kind, name, table, text string
		var root int64
		if err := scan(&kind, &name, &table, &root, &text); err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(table, "sqlite_") && table != sequences:
			return nil
		case table == sequences:
		case kind == "trigger":
			s.Triggers[table] = true
		case kind == "table":
			s.Tables[name] = &Table{Name: name, Columns: map[string]Column{}, Unique: map[string]bool{}}
			if strings.Contains(strings.ToUpper(strings.Join(strings.Fields(text), " ")), "ON CONFLICT") {
				s.Triggers[name] = true
			}
		}
		if root > 0 {
			f.roots[root] = table
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the tables: %w", err)
	}
	for name, t := range s.Tables {
		if err := f.readTable(ctx, name, t); err != nil {
			return nil, fmt.Errorf("reading the columns of %s: %w", name, err)
		}
	}
	return s, nil
}

// readTable reads the columns of a table, and which of them are unique alone.
func (f *tableFile) readTable(ctx context.Context, name string, t *Table) error {
	keys, primary := 0, ""
	err := f.each(ctx, "SELECT lower(name), type, pk, hidden FROM pragma_table_xinfo(?)", func(scan func(...any) error) error {
		var column, kind string
		var pk, hidden int
		if err := scan(&column, &kind, &pk, &hidden); err != nil {
			return err
		}
		col := columnOfAffinity(kind)
		col.Key = col.Key && hidden == 0 // no expression computes it
		t.Columns[column] = col
		if pk > 0 {
			keys++
			primary = column
		}
		return nil
	}, name)
	if err != nil {
		return err
	}
	if keys == 1 {
		t.Unique[primary] = true
	}
	return f.each(ctx, `SELECT lower(min(c.name)) FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c
		WHERE i."unique" AND NOT i.partial GROUP BY i.name HAVING count(*) = 1 AND min(c.name) IS NOT NULL`, func(scan func(...any) error) error {
		var column string
		err := scan(&column)
		t.Unique[column] = true
		return err
	}, name)
}

// columnOfAffinity finds how values of a declared type compare, by the rules of SQLite
// in their order. Only those of the affinities INTEGER and TEXT are told apart.
func columnOfAffinity(declared string) Column {
	declared = strings.ToUpper(declared)
	switch {
	case strings.Contains(declared, "INT"):
		return Column{sqlcache.Integer, true}
	case strings.Contains(declared, "CHAR"), strings.Contains(declared, "CLOB"), strings.Contains(declared, "TEXT"):
		return Column{sqlcache.Text, true}
	}
	return Column{}
}

// each calls do with every row of a query.
func (f *tableFile) each(ctx context.Context, query string, do func(scan func(...any) error) error, args ...any) error {
	rows, err := f.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
