package catalog

import "fmt"

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
