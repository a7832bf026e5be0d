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

// A Dialect is the product and version of an SQL server. They determine its
// features.
type Dialect struct {
	Product string `json:"product"` // mariadb, mysql, sqlite
	Major   int    `json:"major"`
	Minor   int    `json:"minor"`
	Patch   int    `json:"patch"`
}

// String formats the dialect as in "mariadb 10.11.6".
func (d Dialect) String() string {
	return fmt.Sprintf("%s %d.%d.%d", d.Product, d.Major, d.Minor, d.Patch)
}

// AtLeast compares versions of the same product.
func (d Dialect) AtLeast(major, minor, patch int) bool {
	if d.Major != major {
		return d.Major > major
	}
	if d.Minor != minor {
		return d.Minor > minor
	}
	return d.Patch >= patch
}

// StoresDesc reports whether DESC key parts are stored in descending order: MySQL
// from 8.0.1, MariaDB from 10.8.1, SQLite always. Older servers accept the keyword
// and ignore it.
func (d Dialect) StoresDesc() bool {
	switch d.Product {
	case "mysql":
		return d.AtLeast(8, 0, 1)
	case "mariadb":
		return d.AtLeast(10, 8, 1)
	}
	return d.Product == "sqlite"
}

// HidesIndexes returns the keyword for an index that is maintained but not used:
// INVISIBLE in MySQL from 8.0, IGNORED in MariaDB from 10.6, "" otherwise.
func (d Dialect) HidesIndexes() string {
	switch {
	case d.Product == "mysql" && d.AtLeast(8, 0, 0):
		return "INVISIBLE"
	case d.Product == "mariadb" && d.AtLeast(10, 6, 0):
		return "IGNORED"
	}
	return ""
}

// SpatialWantsSRID reports whether the optimizer ignores a spatial index whose
// column declares no SRID: MySQL from 8.0.3.
func (d Dialect) SpatialWantsSRID() bool { return d.Product == "mysql" && d.AtLeast(8, 0, 3) }

// SkipsScans reports whether the server can use an index whose first column the
// query does not restrict (skip scan): MySQL from 8.0.13.
func (d Dialect) SkipsScans() bool { return d.Product == "mysql" && d.AtLeast(8, 0, 13) }

// MergesIndexes reports whether an OR over two columns can be read as the union
// of two indexes.
func (d Dialect) MergesIndexes() bool { return true }

// A QueryPlan is the execution plan of one statement, estimated or executed.
type QueryPlan struct {
	SQL   string      `json:"sql"`
	Ran   bool        `json:"ran,omitempty"` // the numbers were measured in an execution, not estimated
	Steps []QueryStep `json:"steps"`
	Sort  bool        `json:"sort,omitempty"`      // a filesort somewhere
	Temp  bool        `json:"temporary,omitempty"` // a temporary table somewhere
	Notes []string    `json:"notes,omitempty"`
}

// A QueryStep is the access to one table.
type QueryStep struct {
	Table    string   `json:"table"`  // alias as in the statement
	Access   string   `json:"access"` // ALL, index, range, ref, eq_ref, const, index_merge …
	Key      string   `json:"key,omitempty"`
	KeyParts []string `json:"key_parts,omitempty"`
	Possible []string `json:"possible,omitempty"`
	Rows     float64  `json:"rows"`               // rows read per loop; measured if Ran
	Foreseen float64  `json:"foreseen,omitempty"` // the estimate of Rows, if Ran
	Loops    float64  `json:"loops,omitempty"`
	Filtered float64  `json:"filtered"` // percentage of Rows that pass the conditions
	Covering bool     `json:"covering,omitempty"`
}
