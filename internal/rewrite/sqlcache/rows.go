package sqlcache

import (
	"database/sql/driver"
	"io"
	"reflect"
)

// columnInfo is what a driver reports of an answer's columns.
type columnInfo struct {
	names []string
	types []columnType
}

type columnType struct {
	database                string
	scan                    reflect.Type
	length                  int64
	nullable                bool
	precision, scale        int64
	hasLength, hasNull, dec bool
}

// anything is the type of an empty interface.
var anything = reflect.TypeOf((*interface{})(nil)).Elem()

// firstError is the first of two errors that is not nil.
func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// describe copies the description of rows.
func describe(rows driver.Rows) *columnInfo {
	info := &columnInfo{names: append([]string{}, rows.Columns()...)}
	info.types = make([]columnType, len(info.names))
	for i := range info.types {
		t := &info.types[i]
		if r, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
			t.database = r.ColumnTypeDatabaseTypeName(i)
		}
		t.scan = anything
		if r, ok := rows.(driver.RowsColumnTypeScanType); ok {
			t.scan = r.ColumnTypeScanType(i)
		}
		if r, ok := rows.(driver.RowsColumnTypeLength); ok {
			t.length, t.hasLength = r.ColumnTypeLength(i)
		}
		if r, ok := rows.(driver.RowsColumnTypeNullable); ok {
			t.nullable, t.hasNull = r.ColumnTypeNullable(i)
		}
		if r, ok := rows.(driver.RowsColumnTypePrecisionScale); ok {
			t.precision, t.scale, t.dec = r.ColumnTypePrecisionScale(i)
		}
	}
	return info
}

// described gives the methods of driver.Rows that describe columns.
type described struct{ info *columnInfo }

func (d described) Columns() []string                       { return d.info.names }
func (d described) ColumnTypeDatabaseTypeName(i int) string { return d.info.types[i].database }
func (d described) ColumnTypeScanType(i int) reflect.Type   { return d.info.types[i].scan }
func (d described) ColumnTypeLength(i int) (int64, bool) {
	t := &d.info.types[i]
	return t.length, t.hasLength
}
func (d described) ColumnTypeNullable(i int) (nullable, ok bool) {
	t := &d.info.types[i]
	return t.nullable, t.hasNull
}
func (d described) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	t := &d.info.types[i]
	return t.precision, t.scale, t.dec
}

// keptRows reads an entry.
type keptRows struct {
	described
	values []driver.Value
	next   int
}

func (e *entry) open() *keptRows { return &keptRows{described{e.columns}, e.values, 0} }

func (r *keptRows) Close() error { r.next = len(r.values); return nil }

func (r *keptRows) Next(dest []driver.Value) error {
	n := len(r.info.names)
	if r.next+n > len(r.values) || n == 0 {
		return io.EOF
	}
	copy(dest, r.values[r.next:r.next+n])
	r.next += n
	return nil
}

// A read answer is the beginning of an answer, and the rows that are left if it
// is too large to keep.
type readAnswer struct {
	info   *columnInfo
	values []driver.Value
	bytes  int64
	rest   driver.Rows // nil: the answer is complete
}

// readAll reads an answer up to the size that is kept. It closes rows unless
// some are left.
func readAll(rows driver.Rows) (*readAnswer, error) {
	a := &readAnswer{info: describe(rows)}
	row := make([]driver.Value, len(a.info.names))
	for {
		switch err := rows.Next(row); {
		case err == io.EOF:
			return a, a.finish(rows)
		case err != nil:
			return nil, firstError(err, rows.Close())
		}
		for _, v := range row {
			v = own(v)
			a.bytes += size(v)
			a.values = append(a.values, v)
		}
		if a.bytes > mostEntryBytes {
			a.rest = rows
			return a, nil
		}
	}
}

// finish closes a complete answer. One with further result sets is not kept:
// its rows are left to the reader.
func (a *readAnswer) finish(rows driver.Rows) error {
	if more, ok := rows.(driver.RowsNextResultSet); ok && more.HasNextResultSet() {
		a.rest = rows
		return nil
	}
	return rows.Close()
}

// open gives the whole answer to the reader.
func (a *readAnswer) open() driver.Rows {
	head := &keptRows{described{a.info}, a.values, 0}
	if a.rest == nil {
		return head
	}
	return &headAndRest{keptRows: head, rest: a.rest}
}

// headAndRest is an answer whose beginning was read already.
type headAndRest struct {
	*keptRows
	rest driver.Rows
	past bool // the reader has gone on to a further result set
}

func (r *headAndRest) Columns() []string {
	if r.past {
		return r.rest.Columns()
	}
	return r.keptRows.Columns()
}

func (r *headAndRest) Next(dest []driver.Value) error {
	if !r.past {
		if err := r.keptRows.Next(dest); err == nil {
			return nil
		}
	}
	return r.rest.Next(dest)
}

func (r *headAndRest) Close() error { return r.rest.Close() }

func (r *headAndRest) HasNextResultSet() bool {
	more, ok := r.rest.(driver.RowsNextResultSet)
	return ok && more.HasNextResultSet()
}

func (r *headAndRest) NextResultSet() error {
	more, ok := r.rest.(driver.RowsNextResultSet)
	if !ok {
		return io.EOF
	}
	r.past = true
	return more.NextResultSet()
}

// writtenRows are the rows of a statement that writes (INSERT … RETURNING). The
// write has ended when they are closed.
type writtenRows struct {
	described
	base   driver.Rows
	done   func(error)
	failed error
}

func (r *writtenRows) Next(dest []driver.Value) error {
	err := r.base.Next(dest)
	if err != nil && err != io.EOF {
		r.failed = err
	}
	return err
}

func (r *writtenRows) HasNextResultSet() bool {
	more, ok := r.base.(driver.RowsNextResultSet)
	return ok && more.HasNextResultSet()
}

func (r *writtenRows) NextResultSet() error {
	more, ok := r.base.(driver.RowsNextResultSet)
	if !ok {
		return io.EOF
	}
	err := more.NextResultSet()
	if err != nil && err != io.EOF {
		r.failed = err
	}
	if err == nil {
		r.info = describe(r.base)
	}
	return err
}

func (r *writtenRows) Close() error {
	err := r.base.Close()
	if r.done != nil {
		r.done(firstError(r.failed, err))
		r.done = nil
	}
	return err
}
