// Package catalog has what a database reports of itself, as types: its tables with their
// columns, indexes and sizes, its product and version, and its query plans. It is pure data:
// package sqlschema reads the same from statements, as they are written.
package catalog

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Table is the definition of one table, as an SQL server reports it.
type Table struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Engine  string   `json:"engine,omitempty"`
	Columns []Column `json:"columns"`
	Indexes []Index  `json:"indexes"` // the primary key first
	Links   []Link   `json:"links,omitempty"`
}

// A Column is one column of a Table.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // as the server prints it, lower case: varchar(255), bigint(20) unsigned
	Nullable bool   `json:"nullable,omitempty"`
	// Width is the largest number of bytes of the column in an index entry; 0 for
	// columns that are too long to be indexed as a whole (blob, text, json).
	Width     iikanji.Bytes `json:"width,omitempty"`
	Collation string        `json:"collation,omitempty"`
	Generated bool          `json:"generated,omitempty"`
	Auto      bool          `json:"auto,omitempty"` // AUTO_INCREMENT
	SRID      *int          `json:"srid,omitempty"` // of spatial columns of MySQL 8 that declare an SRID
	// Whole: an index contains the whole column, whatever its type is, as in SQLite.
	Whole bool `json:"whole,omitempty"`
}

// Long reports whether an index cannot contain the whole column because of its
// type: blob, text, json.
func (c Column) Long() bool {
	if c.Whole {
		return false
	}
	for _, w := range []string{"blob", "text", "json"} {
		if strings.Contains(c.Type, w) {
			return true
		}
	}
	return false
}

// Spatial reports whether the column has a geometry type.
func (c Column) Spatial() bool {
	switch c.Type {
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
		"multipolygon", "geometrycollection", "geomcollection":
		return true
	}
	return false
}

// An Index is one index of a Table.
type Index struct {
	Name    string      `json:"name"`
	Kind    string      `json:"kind"` // btree, hash, spatial, fulltext
	Unique  bool        `json:"unique,omitempty"`
	Primary bool        `json:"primary,omitempty"`
	Hidden  bool        `json:"hidden,omitempty"` // ignored (MariaDB) or invisible (MySQL): maintained but not used
	Parts   []IndexPart `json:"parts"`
}

// An IndexPart is one key part of an Index.
type IndexPart struct {
	Column string `json:"column"` // empty for an expression
	Desc   bool   `json:"desc,omitempty"`
	Prefix int    `json:"prefix,omitempty"` // characters; 0 for the whole column
}

// String formats the part as in DDL: "created_at DESC".
func (p IndexPart) String() string {
	s := p.Column
	if p.Prefix > 0 {
		s += fmt.Sprintf("(%d)", p.Prefix)
	}
	if p.Desc {
		s += " DESC"
	}
	return s
}

// A Link is a foreign key.
type Link struct {
	Name      string   `json:"name"`
	Columns   []string `json:"columns"`
	Table     string   `json:"table"` // referenced table; in the same schema unless the name has a dot
	Reference []string `json:"reference"`
}

// A TableSize is the data of a Table that changes by itself.
type TableSize struct {
	Rows  int64         `json:"rows"` // the server's estimate, or an exact count
	Data  iikanji.Bytes `json:"data"`
	Index iikanji.Bytes `json:"index"`
	// Distinct is the number of distinct values by column, if known.
	Distinct map[string]float64 `json:"distinct,omitempty"`
	// Held is the number of distinct values in the server's own statistics, for
	// the columns that were counted later and that are the first column of an index.
	Held map[string]float64 `json:"held,omitempty"`
	// Lengths is the mean stored length of long columns, if known.
	Lengths map[string]iikanji.Bytes `json:"lengths,omitempty"`
}

// A FileGroup is SQLite files with the same tables. The facts of its tables are those of
// the largest file.
type FileGroup struct {
	Files    int           `json:"files"`
	WAL      int           `json:"wal,omitempty"` // files whose journal mode is WAL
	Size     iikanji.Bytes `json:"size"`          // of all files
	PageSize iikanji.Bytes `json:"page_size"`     // of the largest file
	Largest  string        `json:"largest"`       // its path
	LargeAs  iikanji.Bytes `json:"largest_size"`
}
