package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// A Reader is an open file that cannot be written.
type Reader struct {
	db *sql.DB
}

// Read opens a file for reading only.
func Read(ctx context.Context, path string) (*Reader, error) {
	db, err := open(ctx, path, mode{wait: busyWait})
	if err != nil {
		return nil, err
	}
	return &Reader{db: db}, nil
}

// ReadRecovered opens a file as Read does. If a process was killed within a transaction,
// its journal is rolled back first, which every program with the right to write does
// when it opens such a file. No statement of the reader can write.
func ReadRecovered(ctx context.Context, path string) (*Reader, error) {
	r, err := Read(ctx, path)
	if err == nil {
		var n int
		err = r.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&n)
		if !mustRecover(err) {
			return r, nil // any other error is that of the first statement, too
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	if !mustRecover(err) {
		return nil, err
	}
	db, err := open(ctx, path, mode{recover: true, wait: lockWait})
	if err != nil {
		return nil, err
	}
	return &Reader{db: db}, nil
}

// mustRecover reports whether a file has a journal or a write-ahead log that only a
// program with the right to write can recover.
func mustRecover(err error) bool {
	var refused *sqlite.Error
	return errors.As(err, &refused) && refused.Code()&0xff == readonly
}

// readonly is SQLITE_READONLY, the low byte of SQLITE_READONLY_ROLLBACK and
// SQLITE_READONLY_RECOVERY.
const readonly = 8

// Close closes the file.
func (r *Reader) Close() error { return r.db.Close() }

// Version is the version of SQLite's library in this program. The app may have
// another one.
func (r *Reader) Version(ctx context.Context) (catalog.Dialect, error) {
	d := catalog.Dialect{Product: string(iikanji.EngineSQLite)}
	var text string
	if err := r.db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&text); err != nil {
		return d, fmt.Errorf("reading SQLite's version: %w", err)
	}
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &d.Major, &d.Minor, &d.Patch); err != nil {
		return d, fmt.Errorf("reading SQLite's version %q: %w", text, err)
	}
	return d, nil
}

// Tables reads the definitions of the file's tables, sorted by name.
func (r *Reader) Tables(ctx context.Context) ([]catalog.Table, error) {
	return tables(ctx, r.db, "")
}

// A querier is a pool, a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// tables reads the definitions of all tables, or of one.
func tables(ctx context.Context, db querier, only string) ([]catalog.Table, error) {
	var out []catalog.Table
	err := each(ctx, db, func(row *sql.Rows) error {
		t := catalog.Table{Engine: "rowid"}
		var without bool
		if err := row.Scan(&t.Name, &without); err != nil {
			return err
		}
		if without {
			t.Engine = "without rowid"
		}
		if only == "" || strings.EqualFold(only, t.Name) {
			out = append(out, t)
		}
		return nil
	}, "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("reading the tables: %w", err)
	}
	for i := range out {
		if err := define(ctx, db, &out[i]); err != nil {
			return nil, fmt.Errorf("reading the definition of table %s: %w", out[i].Name, err)
		}
	}
	return out, nil
}

// define reads the columns, the indexes and the foreign keys of a table.
func define(ctx context.Context, db querier, t *catalog.Table) error {
	keys, err := columns(ctx, db, t)
	if err != nil {
		return err
	}
	if err := indexes(ctx, db, t, keys); err != nil {
		return err
	}
	return each(ctx, db, func(row *sql.Rows) error {
		var id, seq int
		var table, from string
		var to sql.NullString
		if err := row.Scan(&id, &seq, &table, &from, &to); err != nil {
			return err
		}
		if seq == 0 {
			t.Links = append(t.Links, catalog.Link{Name: fmt.Sprint(id), Table: table})
		}
		l := &t.Links[len(t.Links)-1]
		l.Columns, l.Reference = append(l.Columns, from), append(l.Reference, to.String)
		return nil
	}, `SELECT id, seq, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq`, t.Name)
}

// columns reads the columns and returns those of the primary key in their order.
func columns(ctx context.Context, db querier, t *catalog.Table) ([]string, error) {
	at := map[int]string{}
	err := each(ctx, db, func(row *sql.Rows) error {
		var c catalog.Column
		var strict bool
		var key, hidden int
		if err := row.Scan(&c.Name, &c.Type, &strict, &key, &hidden); err != nil {
			return err
		}
		c.Type, c.Nullable, c.Generated = strings.ToLower(c.Type), !strict, hidden > 1
		c.Whole, c.Width = true, entryWidth(c.Type)
		t.Columns = append(t.Columns, c)
		if key > 0 {
			at[key] = c.Name
		}
		return nil
	}, `SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid`, t.Name)
	var keys []string
	for i := 1; i <= len(at); i++ {
		keys = append(keys, at[i])
	}
	return keys, err
}

// entryWidth guesses the bytes of a value in an index entry. SQLite stores values by
// their length and not by the column's type: a number takes 0 to 8 bytes.
func entryWidth(kind string) iikanji.Bytes {
	for _, word := range []string{"int", "bool", "real", "floa", "doub", "numeric", "decimal", "date", "time"} {
		if strings.Contains(kind, word) {
			return 8
		}
	}
	return 24
}

// indexes reads the indexes of a table. A primary key is marked as such only if the
// rows are stored in its order: INTEGER PRIMARY KEY and WITHOUT ROWID. Any other one
// is a unique index beside the rows.
func indexes(ctx context.Context, db querier, t *catalog.Table, keys []string) error {
	partial := map[string]bool{}
	inKey := false
	err := each(ctx, db, func(row *sql.Rows) error {
		ix := catalog.Index{Kind: "btree"}
		var origin string
		var some bool
		if err := row.Scan(&ix.Name, &ix.Unique, &origin, &some); err != nil {
			return err
		}
		inKey = inKey || origin == "pk"
		ix.Primary = origin == "pk" && t.Engine == "without rowid"
		partial[ix.Name] = some
		t.Indexes = append(t.Indexes, ix)
		return nil
	}, `SELECT name, "unique", origin, partial FROM pragma_index_list(?) ORDER BY origin <> 'pk', name`, t.Name)
	if err != nil {
		return err
	}
	for i := range t.Indexes {
		if err := parts(ctx, db, &t.Indexes[i], partial[t.Indexes[i].Name]); err != nil {
			return err
		}
	}
	if len(keys) > 0 && !inKey { // the rowid itself
		ix := catalog.Index{Name: "rowid", Kind: "btree", Unique: true, Primary: true}
		for _, k := range keys {
			ix.Parts = append(ix.Parts, catalog.IndexPart{Column: k})
		}
		t.Indexes = slices.Insert(t.Indexes, 0, ix)
	}
	return nil
}

// parts reads the key columns of an index. An index of some rows only, and one with
// an expression, has its statement as its kind: no plan with it is predicted.
func parts(ctx context.Context, db querier, ix *catalog.Index, partial bool) error {
	opaque := partial
	err := each(ctx, db, func(row *sql.Rows) error {
		var name sql.NullString
		var p catalog.IndexPart
		if err := row.Scan(&name, &p.Desc); err != nil {
			return err
		}
		p.Column = name.String
		opaque = opaque || !name.Valid
		ix.Parts = append(ix.Parts, p)
		return nil
	}, `SELECT name, "desc" FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno`, ix.Name)
	if err != nil || !opaque {
		return err
	}
	var text sql.NullString
	err = db.QueryRowContext(ctx, "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", ix.Name).Scan(&text)
	ix.Kind = text.String
	return err
}

// each calls use with every row of a query.
func each(ctx context.Context, db querier, use func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := use(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Within bounds the reading of one file.
const Within = 5 * time.Second
