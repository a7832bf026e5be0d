package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"time"
	"unicode/utf8"
)

// form is the version of a backup's form.
const form = 1

// A Head begins a backup. A backup is lines of JSON in gzip: the head, for each table a line with
// its name and columns and then one array a row, and at last the sums of the tables. It has no
// word of an engine: one of SQLite fills a PostgreSQL.
type Head struct {
	Form    int       `json:"backup"`
	Schema  int       `json:"schema"`
	Program string    `json:"program"`
	At      time.Time `json:"at"`
	// Files are secrets of the portal's folder, by their names.
	Files map[string]string `json:"files"`
}

// A Sum is what a table has: its rows, and the SHA-256 of their lines in the order of the key.
type Sum struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// Sums are those of all tables, by name.
type Sums map[string]Sum

// A start is the line before a table's rows.
type start struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

// An end is the last line.
type end struct {
	Sums Sums `json:"sums"`
}

// Dump writes a backup of all tables as one consistent state, while others may write. Form and
// Schema of the head are set here.
func (s *Store) Dump(ctx context.Context, w io.Writer, h Head) (Sums, error) {
	h.Form, h.Schema = form, len(migrations)
	zipped := gzip.NewWriter(w)
	if err := writeLine(zipped, h); err != nil {
		return nil, err
	}
	sums, err := s.rows(ctx, zipped, len(migrations))
	if err == nil {
		err = writeLine(zipped, end{sums})
	}
	if err == nil {
		err = zipped.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("writing the backup: %w", err)
	}
	return sums, nil
}

// Sums reads all tables.
func (s *Store) Sums(ctx context.Context) (Sums, error) {
	return s.rows(ctx, io.Discard, len(migrations))
}

// rows writes the rows of all tables of a schema as one transaction reads them.
func (s *Store) rows(ctx context.Context, w io.Writer, version int) (Sums, error) {
	all, err := tables(version)
	if err != nil {
		return nil, err
	}
	sums := Sums{}
	return sums, s.Read(ctx, func(tx *Tx) error {
		for i := range all {
			t := &all[i]
			line := start{Table: t.name}
			for _, c := range t.columns {
				line.Columns = append(line.Columns, c.name)
			}
			if err := writeLine(w, line); err != nil {
				return err
			}
			if sums[t.name], err = t.dump(tx, w); err != nil {
				return fmt.Errorf("table %s: %w", t.name, err)
			}
		}
		return nil
	})
}

// dump writes the rows of a table.
func (t *table) dump(tx *Tx, w io.Writer) (Sum, error) {
	sum := newSum()
	into := make([]any, len(t.columns))
	for i, c := range t.columns {
		into[i] = c.kind.pointer()
	}
	err := tx.Each("SELECT "+t.names()+" FROM "+t.name+" ORDER BY "+t.sorted(tx.dialect), nil, func(scan func(...any) error) error {
		if err := scan(into...); err != nil {
			return err
		}
		for i, p := range into {
			if s, ok := p.(*string); ok && !utf8.ValidString(*s) { // JSON would silently change it
				return fmt.Errorf("row %d has a text in the column %s that is not UTF-8", sum.rows+1, t.columns[i].name)
			}
		}
		line, err := lineOf(into)
		if err == nil {
			sum.add(line)
			_, err = w.Write(line)
		}
		return err
	})
	return sum.sum(), err
}

// pointer is where a value of a kind is scanned to.
func (k kind) pointer() any {
	switch k {
	case integer:
		return new(int64)
	case real:
		return new(float64)
	}
	return new(string)
}

// lineOf is a value as a line of JSON.
func lineOf(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func writeLine(w io.Writer, v any) error {
	line, err := lineOf(v)
	if err == nil {
		_, err = w.Write(line)
	}
	return err
}

// A summer makes a Sum of lines.
type summer struct {
	rows int64
	hash hash.Hash
}

func newSum() *summer { return &summer{hash: sha256.New()} }

func (s *summer) add(line []byte) {
	s.rows++
	s.hash.Write(line)
}

func (s *summer) sum() Sum { return Sum{s.rows, hex.EncodeToString(s.hash.Sum(nil))} }
