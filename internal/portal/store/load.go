package store

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// longest is the longest line of a backup: a result with its log is far below.
const longest = 64 << 20

// A DamagedError is a backup that is not whole, or a database that does not give back what was
// put into it.
type DamagedError struct{ Why string }

func (e *DamagedError) Error() string { return "the backup is damaged: " + e.Why }

func damaged(format string, args ...any) error { return &DamagedError{fmt.Sprintf(format, args...)} }

// ErrNotEmpty is a database that has rows of a portal.
var ErrNotEmpty = errors.New("the database is not empty: a backup fills a new one only")

// Load fills a new database at an address with a backup, in one transaction, and reads it back:
// each table has the rows of the backup, to the byte. A backup of an older program is brought up to
// date afterwards, one of a newer program is refused with a NewerError.
func Load(ctx context.Context, address string, from io.Reader) (h *Head, sums Sums, err error) {
	zipped, err := gzip.NewReader(from)
	if err != nil {
		return nil, nil, damaged("%v", err)
	}
	in := &backup{lines: bufio.NewScanner(zipped)}
	in.lines.Buffer(nil, longest)
	if h, err = in.head(); err != nil {
		return nil, nil, err
	}
	s := &Store{point: func(string) {}, closed: make(chan struct{}), done: make(chan struct{})}
	if err := s.connect(address, Options{}); err != nil {
		return nil, nil, err
	}
	has, err := s.version(ctx)
	if err == nil && has != 0 && has != h.Schema {
		err = ErrNotEmpty // it is left as it is: its schema, too
	}
	if err == nil {
		err = s.start(ctx, h.Schema)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.db.Close())
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if in.tables, err = tables(h.Schema); err != nil {
		return nil, nil, err
	}
	fill := func(tx *Tx) error {
		sums, err = in.fill(tx)
		return err
	}
	if s.dialect == sqlite {
		err = s.Write(ctx, "restore", fill)
	} else {
		err = s.once(ctx, "restore", fill) // the backup is read once: no second try
	}
	if err != nil {
		return nil, nil, err
	}
	return h, sums, s.same(ctx, in.tables, sums)
}

// same compares what the database has with the sums of the backup.
func (s *Store) same(ctx context.Context, all []table, want Sums) error {
	return s.Read(ctx, func(tx *Tx) error {
		for i := range all {
			have, err := all[i].dump(tx, io.Discard)
			if err != nil {
				return err
			}
			if have != want[all[i].name] {
				return damaged("the table %s of the database has %d rows that differ from the %d of the backup", all[i].name, have.Rows, want[all[i].name].Rows)
			}
		}
		return nil
	})
}

// A backup is one that is read.
type backup struct {
	lines  *bufio.Scanner
	tables []table // of its schema
}

// next is the next line; it ends with its newline.
func (b *backup) next() ([]byte, error) {
	if b.lines.Scan() {
		return append(b.lines.Bytes(), '\n'), nil
	}
	if err := b.lines.Err(); err != nil {
		return nil, damaged("%v", err)
	}
	return nil, damaged("it ends too early")
}

// head reads the first line.
func (b *backup) head() (*Head, error) {
	line, err := b.next()
	if err != nil {
		return nil, err
	}
	var h Head
	if err := json.Unmarshal(line, &h); err != nil || h.Form == 0 || h.Schema < 1 {
		return nil, damaged("its first line is not that of a backup")
	}
	if h.Form > form {
		return nil, fmt.Errorf("the backup has form %d, this iikanji reads %d: use the newer program", h.Form, form)
	}
	if h.Schema > len(migrations) {
		return nil, &NewerError{h.Schema, len(migrations)}
	}
	return &h, nil
}

// fill writes all rows and compares their sums with the last line.
func (b *backup) fill(tx *Tx) (Sums, error) {
	if err := b.empty(tx); err != nil {
		return nil, err
	}
	sums := Sums{}
	var t *table
	var sum *summer
	for {
		line, err := b.next()
		if err != nil {
			return nil, err
		}
		if line[0] == '[' && t != nil {
			sum.add(line)
			if err := t.insert(tx, line); err != nil {
				return nil, fmt.Errorf("row %d of the table %s: %w", sum.rows, t.name, err)
			}
			continue
		}
		if t != nil {
			sums[t.name] = sum.sum()
		}
		last, next, err := b.table(line)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return sums, b.whole(sums, last)
		}
		if _, twice := sums[next.name]; twice {
			return nil, damaged("the table %s is there twice", next.name)
		}
		t, sum = next, newSum()
	}
}

// table reads the line before a table, or the last one: next is nil then.
func (b *backup) table(line []byte) (last Sums, next *table, err error) {
	var both struct {
		start
		end
	}
	if err := json.Unmarshal(line, &both); err != nil {
		return nil, nil, damaged("a line is neither a row nor a table")
	}
	if both.Table == "" {
		return both.Sums, nil, nil
	}
	at := slices.IndexFunc(b.tables, func(t table) bool { return t.name == both.Table })
	if at < 0 || b.tables[at].names() != strings.Join(both.Columns, ", ") {
		return nil, nil, damaged("the table %q is not one of its schema", both.Table)
	}
	return nil, &b.tables[at], nil
}

// whole compares the sums of what was read with the last line.
func (b *backup) whole(have, want Sums) error {
	if !maps.Equal(have, want) || len(have) != len(b.tables) {
		return damaged("its rows are not those of its sums")
	}
	if b.lines.Scan() {
		return damaged("it goes on after its end")
	}
	if err := b.lines.Err(); err != nil { // the sum of gzip
		return damaged("%v", err)
	}
	return nil
}

// empty refuses a database with rows. The leader's term has one from the beginning.
func (b *backup) empty(tx *Tx) error {
	if _, err := tx.Exec("DELETE FROM leader_term WHERE term = 0"); err != nil {
		return err
	}
	for _, t := range b.tables {
		n := 0
		if err := tx.Row("SELECT COUNT(*) FROM "+t.name, nil, &n); err != nil {
			return err
		}
		if n > 0 {
			return ErrNotEmpty
		}
	}
	return nil
}

// insert writes one row.
func (t *table) insert(tx *Tx, line []byte) error {
	var cells []json.RawMessage
	if err := json.Unmarshal(line, &cells); err != nil || len(cells) != len(t.columns) {
		return damaged("it has not the %d columns of the table", len(t.columns))
	}
	args := make([]any, len(cells))
	for i, c := range t.columns {
		p := c.kind.pointer()
		if err := json.Unmarshal(cells[i], p); err != nil || bytes.Equal(cells[i], []byte("null")) {
			return damaged("the column %s is no %s", c.name, c.kind)
		}
		switch p := p.(type) {
		case *int64:
			args[i] = *p
		case *float64:
			args[i] = *p
		case *string:
			args[i] = *p
		}
	}
	_, err := tx.Exec("INSERT INTO "+t.name+" ("+t.names()+") VALUES (?"+strings.Repeat(", ?", len(cells)-1)+")", args...)
	return err
}
